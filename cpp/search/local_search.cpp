#include "search/local_search.hpp"

#include <algorithm>
#include <utility>

#include "base/costs.hpp"
#include "base/tuning.hpp"

namespace lawful {

LocalSearch::LocalSearch(const ReadingGraph& graph, const Plan& plan, const DocumentTables& tables)
    : graph_(graph), tracker_(plan, tables), start_(plan.slots) {}

std::optional<Search::Found> LocalSearch::improve(
    const std::optional<std::vector<std::uint32_t>>& from, double labelling, Clock& clock) {
    clock_ = &clock;
    labelling_ = labelling;
    total_ = kForbidden;
    partials_.assign(1, {0, 0, tracker_.begin(start_), start_});
    try {
        if (!begin(from)) return std::nullopt;
        double window = tuning::kFirstWindowNats;
        while (window <= tuning::kLastWindowNats)
            if (!sweep(window)) window *= tuning::kTimesWindow;
    } catch (const OutOfTime&) {
        if (total_ == kForbidden) return std::nullopt;
    }
    const double violated = partials_.back().prices + partials_.back().penalty;
    Search::Found found{total_ - violated, violated, {}};
    for (const Step* step : steps_)
        if (step->to != ReadingGraph::kEnd) found.choices.push_back(step->choice);
    return found;
}

/// Makes the first reading; false if it is forbidden, or all that were tried are.
bool LocalSearch::begin(const std::optional<std::vector<std::uint32_t>>& from) {
    struct Level {
        Partial at;
        std::span<const Step> steps;
        std::size_t tried = 0;
    };
    std::vector<const Step*> steps;
    std::vector<Level> levels;
    levels.push_back({partials_[0], graph_.steps_from(ReadingGraph::kRoot)});
    // The cheapest step that is not forbidden, or the one that is given; back where there is none.
    for (std::size_t left = tuning::kMaxFirstSteps; !levels.empty() && left > 0;) {
        Level& last = levels.back();
        if (last.tried == last.steps.size()) {
            levels.pop_back();
            if (!steps.empty()) steps.pop_back();
            continue;
        }
        const Step& step = last.steps[last.tried++];
        const bool ends = step.to == ReadingGraph::kEnd;
        if (from && (ends != (steps.size() == from->size()) ||
                     (!ends && step.choice != (*from)[steps.size()])))
            continue;
        Partial next = last.at;
        --left;
        if (!take(next, step, kForbidden)) continue;
        steps.push_back(&step);
        if (ends) return follow(std::move(steps), 0, kForbidden);
        levels.push_back({std::move(next), graph_.steps_from(step.to)});
    }
    return false;
}

/// The step from a node that goes to the end, or has a span value, as another one does.
const LocalSearch::Step* LocalSearch::find(std::uint32_t node, const Step& like) {
    const std::span<const Step> steps = graph_.steps_from(node);
    clock_->tick(steps.size());
    const bool ends = like.to == ReadingGraph::kEnd;
    const auto found = std::ranges::find_if(steps, [&](const Step& step) {
        return (step.to == ReadingGraph::kEnd) == ends && (ends || step.choice == like.choice);
    });
    return found == steps.end() ? nullptr : &*found;
}

/// Takes a step; false if the reading cannot cost less than `most` any more.
bool LocalSearch::take(Partial& at, const Step& step, double most) {
    clock_->tick(tuning::kWorkPerRuleUpdate);
    at.cost += step.cost;
    if (step.to == ReadingGraph::kEnd) {
        at.penalty += tracker_.finish(at.state);
    } else {
        const SpanValue& value = graph_.span_value(step.choice);
        const SpanPlace place = graph_.span_of(step.choice).place();
        at.prices += value.price;
        if (tracker_.tracks(place.field))
            at.penalty += tracker_.extend(at.state, place, value.value);
    }
    return at.cost + at.penalty + graph_.rest(step.to) < most &&
           at.cost - at.prices + graph_.rest_of_labels(step.to) <= labelling_;
}

/// Makes these steps the reading, which begins as before; false, with nothing changed, if it does
/// not cost less than `most`.
bool LocalSearch::follow(std::vector<const Step*> steps, std::size_t from, double most) {
    Partial at = partials_[from];
    for (std::size_t i = from; i < steps.size(); ++i)
        if (!take(at, *steps[i], most)) return false;
    partials_.resize(from + 1);
    steps_ = std::move(steps);
    for (std::size_t i = from; i < steps_.size(); ++i) {
        partials_.push_back(partials_[i]);
        take(partials_.back(), *steps_[i], kForbidden);
    }
    total_ = partials_.back().cost + partials_.back().penalty;
    return true;
}

/// Makes all changes that are worth it and whose labels cost up to `window` more on the cheapest
/// way to the end; whether there was one.
bool LocalSearch::sweep(double window) {
    bool changed = false;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const std::uint32_t node = i == 0 ? ReadingGraph::kRoot : steps_[i - 1]->to;
        for (const Step& step : graph_.steps_from(node)) {
            if (step.cost + graph_.rest(step.to) > graph_.rest(node) + window) break;
            changed |= change(i, step);
        }
    }
    return changed;
}

/// Takes another step at a place if that makes the reading cheaper: a span value that stands before
/// the next one or in place of those that it overlaps, or the step after the next one.
bool LocalSearch::change(std::size_t at, const Step& step) {
    if (&step == steps_[at]) return false;
    const bool ends = step.to == ReadingGraph::kEnd;
    const auto is_like = [&](const Step& other) {
        return other.to == step.to && (ends || other.choice == step.choice);
    };
    std::size_t next = at;  // the first of the old steps that it does not replace
    if (at + 1 < steps_.size() && is_like(*steps_[at + 1])) {
        next = at + 2;
    } else {
        if (ends) return false;
        const FieldSpan& span = graph_.span_of(step.choice);
        const auto stands = [&](std::size_t i) -> const FieldSpan& {
            return graph_.span_of(steps_[i]->choice);
        };
        if (at + 1 < steps_.size() && stands(at).end <= span.start) return false;
        while (next + 1 < steps_.size() && stands(next).start < span.end) ++next;
    }
    std::vector<const Step*> steps(steps_.begin(),
                                   steps_.begin() + static_cast<std::ptrdiff_t>(at));
    steps.push_back(&step);
    if (!ends) {
        steps.push_back(find(step.to, *steps_[next]));
        if (steps.back() == nullptr) return false;
        steps.insert(steps.end(), steps_.begin() + static_cast<std::ptrdiff_t>(next) + 1,
                     steps_.end());
    }
    return follow(std::move(steps), at, total_ - tuning::kMinGainNats);
}

}  // namespace lawful
