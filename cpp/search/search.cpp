#include "search/search.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/costs.hpp"
#include "base/tuning.hpp"

namespace lawful {

namespace {

const Plan kNoPlan;

}  // namespace

Search::Search(std::shared_ptr<const ReadingGraph> graph, std::shared_ptr<const Plan> plan,
               DocumentTables tables, const Limits& limits, Clock& clock)
    : graph_(std::move(graph)),
      plan_(std::move(plan)),
      tables_(std::move(tables)),
      limits_(limits),
      most_(limits.reading.value_or(graph_->limit())),
      tracker_(plan_ ? *plan_ : kNoPlan, tables_),
      arena_(limits.memory),
      states_(arena_, plan_ ? plan_->slots + 1 : 1),
      partials_(arena_),
      bounds_(*graph_, plan_.get(), tables_, states_, limits.bounds, limits.pruned),
      scratch_(plan_ ? plan_->slots + 1 : 1) {
    if (plan_) find_gone(clock);
    const std::uint32_t nothing = states_.number_of(scratch_);
    const double violated = plan_ ? tracker_.begin(scratch_) : 0;
    const Partial root{violated, violated, ReadingGraph::kRoot, nothing, kNone, 0};
    if (!lost(root)) add(root, graph_->rest(ReadingGraph::kRoot));
}

std::size_t Search::held() const {
    return arena_.held() + tracker_.held() + open_.capacity() * sizeof(Open) + cheapest_.held() +
           bounds_.held();
}

double Search::bound() const {
    return open_.empty() ? kForbidden : std::max(open_.front().bound, least_);
}

std::vector<bool> Search::pruned() const {
    std::vector<bool> pruned(graph_->span_values(), true);
    for (std::uint32_t node = 0; node < graph_->nodes(); ++node)
        for (const ReadingGraph::Step& step : bounds_.steps_from(node))
            if (step.to != ReadingGraph::kEnd) pruned[step.choice] = false;
    return pruned;
}

Search::Status Search::next(std::size_t extensions, Clock& clock, std::size_t tried) {
    while (!open_.empty()) {
        const Open first = open_.front();
        const Partial& partial = partials_[first.partial];
        const bool ended = partial.node == ReadingGraph::kEnd;
        if (!ended && (extensions == 0 || tried_ >= tried)) return Status::kPaused;
        std::pop_heap(open_.begin(), open_.end());
        open_.pop_back();
        if (!is_cheapest(first.partial)) continue;
        if (ended) {
            collect(partial);
            has_found_ = true;
            incumbent_.reset();
            return Status::kFound;
        }
        --extensions;
        extend(first.partial);
        clock.tick(64 * bounds_.steps_from(partial.node).size());
        ++extended_;
        const bool is_long =
            tried_ >= limits_.patience &&
            extended_ >= std::min(limits_.patience, tuning::kMinExtensionsForBounds);
        if ((is_long && tried_ < tried) || lower_) {
            make_bounds(clock);
            if (!incumbent_) continue;
            if (is_proven()) {
                found_ = *std::exchange(incumbent_, std::nullopt);
                has_found_ = true;
                return Status::kFound;
            }
            if (incumbent_->total() < most_ - tuning::kMinGainNats) return Status::kPaused;
            incumbent_.reset();  // the caller knows one that is as good
        }
    }
    return Status::kNothing;
}

void Search::extend(std::uint32_t index) {
    const Partial from = partials_[index];
    for (const ReadingGraph::Step& step : bounds_.steps_from(from.node)) {
        if (from.cost + step.cost + graph_->rest(step.to) > most_) return;  // all others
        ++tried_;
        const double rest = bounds_.rest_after(from.state, from.cost - root_cost(), step);
        if (from.cost + step.cost + rest > most_) continue;
        Partial next;
        if (advance(from, index, step, next)) add(next, rest_of(next));
    }
}

/// Takes one more step; false if that is forbidden or a required field is lost.
bool Search::advance(const Partial& from, std::uint32_t index, const ReadingGraph::Step& step,
                     Partial& next) {
    next = {from.cost + step.cost, from.violated, step.to, from.state, index, step.choice};
    double violated = 0;
    if (step.to != ReadingGraph::kEnd) {
        next.violated += graph_->span_value(step.choice).price;
        if (plan_) violated = update_state(next);
    } else if (plan_) {
        violated = tracker_.finish(states_[from.state]);
    }
    next.cost += violated;
    next.violated += violated;
    return violated < kForbidden && !lost(next);
}

bool Search::dive(std::size_t width, Clock& clock) {
    if (width == 0) return false;
    if (incumbent_) {
        found_ = *std::exchange(incumbent_, std::nullopt);
        return true;
    }
    Beam beam{{}, std::vector<std::vector<Open>>(graph_->nodes()), width};
    std::optional<Partial> best;
    for (const Open& open : open_) {
        const Partial& partial = partials_[open.partial];
        if (partial.node != ReadingGraph::kEnd)
            beam.add(partial, open.bound, open.partial);
        else if (!best || partial.cost < best->cost)
            best = partial;
    }
    const double least = best ? best->cost : kForbidden;
    try {
        for (std::uint32_t node = 0; node < graph_->nodes(); ++node)
            for (const Open& at : beam.at[node]) follow(beam, at, best, clock);
    } catch (const OutOfTime&) {
    } catch (const OutOfMemoryBudget&) {
    }
    if (!best) return false;
    std::vector<std::uint32_t> choices;
    if (best->cost == least) {
        collect(*best);
        return true;
    }
    std::uint32_t local = best->before;
    for (; beam.made[local].second == kNone; local = beam.made[local].first.before)
        choices.push_back(beam.made[local].first.choice);
    std::reverse(choices.begin(), choices.end());
    best->before = beam.made[local].second;
    collect(*best, choices);
    return true;
}

/// Extends a partial reading of a beam by those steps that enter the beam, or end below `best`.
void Search::follow(Beam& beam, const Open& at, std::optional<Partial>& best, Clock& clock) {
    const Partial from = beam.made[at.partial].first;
    const double most = best ? best->cost : most_;
    const auto steps = bounds_.steps_from(from.node);
    clock.tick(64 * steps.size());
    for (const ReadingGraph::Step& step : steps) {
        const double cost = from.cost + step.cost;
        if (cost + graph_->rest(step.to) >= most) return;  // all others
        const bool ended = step.to == ReadingGraph::kEnd;
        const double expected =
            cost + bounds_.rest_after(from.state, from.cost - root_cost(), step);
        if (expected >= most || (!ended && !beam.takes(step.to, expected))) continue;
        Partial next;
        if (!advance(from, at.partial, step, next)) continue;
        const double labelling = next.cost - next.violated + graph_->rest_of_labels(next.node);
        const double bound = next.cost + rest_of(next);
        if (bound >= most || labelling > limits_.labelling) continue;
        if (!ended)
            beam.add(next, bound, kNone);
        else if (!best || next.cost < best->cost)
            best = next;
    }
}

bool Search::Beam::takes(std::uint32_t node, double bound) const {
    return at[node].size() < width || bound < at[node].front().bound;
}

void Search::Beam::add(const Partial& partial, double bound, std::uint32_t seed) {
    std::vector<Open>& there = at[partial.node];
    if (!takes(partial.node, bound)) return;
    const auto dearer = [](const Open& a, const Open& b) { return a.bound < b.bound; };
    const auto same = std::find_if(there.begin(), there.end(), [&](const Open& open) {
        return made[open.partial].first.state == partial.state;
    });
    if (same != there.end()) {
        if (same->bound <= bound) return;
        there.erase(same);
        std::make_heap(there.begin(), there.end(), dearer);
    } else if (there.size() == width) {
        std::pop_heap(there.begin(), there.end(), dearer);
        there.pop_back();
    }
    there.push_back({bound, static_cast<std::uint32_t>(made.size())});
    std::push_heap(there.begin(), there.end(), dearer);
    made.emplace_back(partial, seed);
}

/// Updates the state by the last span value; returns the cost besides its price.
double Search::update_state(Partial& partial) {
    const SpanValue& chosen = graph_->span_value(partial.choice);
    const SpanPlace place = graph_->span_of(partial.choice).place();
    // If the cost of labellings is limited, a cheaper labelling with a larger penalty is kept too.
    const bool priced = limits_.labelling < kForbidden && chosen.price > 0;
    if (!tracker_.tracks(place.field) && !priced) return 0;
    const std::span<const Wide> before = states_[partial.state];
    for (const Fixed& fixed : limits_.fixed)
        if (fixed.field == place.field && fixed.value != chosen.value &&
            is_readable(chosen.value) && !tracker_.seen(before, place.field))
            return kForbidden;
    std::copy(before.begin(), before.end(), scratch_.begin());
    if (priced)
        scratch_.back() = std::bit_cast<std::uint64_t>(
            std::bit_cast<double>(static_cast<std::uint64_t>(scratch_.back())) + chosen.price);
    const double violated = tracker_.extend(scratch_, place, chosen.value);
    if (violated == kForbidden) return violated;
    const std::size_t known = states_.size();
    const std::uint32_t number = states_.number_of(scratch_);
    if (states_.size() > known) bounds_.add_state(partial.state, partial.choice);
    partial.state = number;
    return violated;
}

/// Finds the required fields and, by node, the fields of which no span value follows that may be
/// the first one.
void Search::find_gone(Clock& clock) {
    for (std::size_t field = 0; field < tables_.missing.size() && field < 64; ++field)
        if (tables_.missing[field] == kForbidden) required_ |= std::uint64_t{1} << field;
    if (required_ == 0) return;
    std::vector<std::uint64_t> brings(graph_->span_values());  // by span value, its field as a bit
    for (std::uint32_t r = 0; r < brings.size(); ++r) {
        const std::uint32_t field = graph_->span_of(r).seen_as();
        const std::uint32_t value = graph_->span_value(r).value;
        if (field >= 64 || !is_readable(value)) continue;
        if (!limits_.pruned.empty() && limits_.pruned[r]) continue;
        std::fill(scratch_.begin(), scratch_.end(), 0);
        const bool refused = tracker_.extend(scratch_, {field}, value) == kForbidden;
        if (!refused) brings[r] = std::uint64_t{1} << field;
    }
    std::fill(scratch_.begin(), scratch_.end(), 0);
    gone_.assign(graph_->nodes(), ~std::uint64_t{0});
    for (std::uint32_t node = static_cast<std::uint32_t>(graph_->nodes()); node-- > 0;) {
        clock.tick(bounds_.steps_from(node).size());
        for (const ReadingGraph::Step& step : bounds_.steps_from(node))
            if (step.to != ReadingGraph::kEnd) gone_[node] &= gone_[step.to] & ~brings[step.choice];
    }
}

/// Whether a required field has not occurred and cannot follow.
bool Search::lost(const Partial& partial) const {
    if (partial.node == ReadingGraph::kEnd || required_ == 0) return false;
    for (std::uint64_t gone = required_ & gone_[partial.node]; gone != 0; gone &= gone - 1)
        if (!tracker_.seen(states_[partial.state], std::countr_zero(gone))) return true;
    return false;
}

void Search::add(const Partial& partial, double at_least) {
    const double bound = partial.cost + at_least;
    if (!(bound <= most_)) return;
    const double labelling = partial.cost - partial.violated;
    if (labelling + graph_->rest_of_labels(partial.node) > limits_.labelling) return;
    const auto index = static_cast<std::uint32_t>(partials_.size());
    if (index == kNone || held() > limits_.memory) throw OutOfMemoryBudget{};
    if (!enter_if_cheaper(partial)) return;
    open_.push_back({bound, index});
    std::push_heap(open_.begin(), open_.end());
}

/// Keeps a partial reading unless one with the same node and state costs no more.
bool Search::enter_if_cheaper(const Partial& partial) {
    if (!plan_) {
        partials_.push(partial);
        return true;
    }
    std::uint32_t& entry = cheapest_.entry(PartialKeys{partials_}, partial);
    if (entry != kNone && partials_[entry].cost <= partial.cost) return false;
    entry = partials_.push(partial);
    return true;
}

/// Whether no cheaper partial reading with the same node and state has been found since.
bool Search::is_cheapest(std::uint32_t index) const {
    return !plan_ || cheapest_.find(PartialKeys{partials_}, partials_[index]) == index;
}

/// Makes bounds, or finer ones, and applies them to the partial readings that are open.
void Search::make_bounds(Clock& clock) {
    const bool finer = tried_ >= limits_.patience;
    if (finer) limits_.patience = std::max(tuning::kTimesStepsBeforeFiner * tried_, limits_.later);
    lower_ = false;
    if (!plan_) return;
    const Partial& root = partials_[0];
    const Bounds::Effort effort{
        .work = std::clamp(tuning::kBoundWorkPerStep * tried_, tuning::kMinBoundWork,
                           tuning::kMaxBoundWork),
        // Half is left to the search itself.
        .memory = std::min(limits_.memory / 2, tuning::kMaxBoundBytes),
    };
    const double known = bound() - root.cost, most = most_ - root.cost;
    if (!bounds_.made() && bounds_.search_first(known, most, effort, clock)) {
        take_incumbent();
        if (is_proven() || !(least_ <= most_)) return drop_above();
    }
    if (!bounds_.make(known, most, finer, effort, clock)) return;
    take_incumbent();
    for (Open& open : open_) {
        const Partial& partial = partials_[open.partial];
        open.bound = std::max(open.bound, partial.cost + rest_of(partial));
    }
    drop_above();
}

/// Takes over what bounds have found.
void Search::take_incumbent() {
    least_ = std::max(least_, root_cost() + bounds_.least());
    for (const std::vector<std::uint32_t>& choices : bounds_.met()) {
        const auto found = has_found_ ? std::nullopt : replay(choices);
        if (found && (!incumbent_ || found->total() < incumbent_->total())) incumbent_ = found;
    }
}

/// The reading with these span values, in order; none if it is forbidden or not cheap enough.
std::optional<Search::Found> Search::replay(std::span<const std::uint32_t> choices) {
    Partial at = partials_[0];
    const auto take = [&](auto&& is_next) {
        for (const ReadingGraph::Step& step : graph_->steps_from(at.node)) {
            if (!is_next(step)) continue;
            Partial next;
            if (!advance(at, kNone, step, next)) return false;
            at = next;
            return true;
        }
        return false;
    };
    for (const std::uint32_t choice : choices)
        if (!take([&](const ReadingGraph::Step& step) {
                return step.to != ReadingGraph::kEnd && step.choice == choice;
            }))
            return std::nullopt;
    if (!take([](const ReadingGraph::Step& step) { return step.to == ReadingGraph::kEnd; }))
        return std::nullopt;
    if (!(at.cost <= most_) || at.cost - at.violated > limits_.labelling) return std::nullopt;
    return Found{at.cost - at.violated, at.violated, {choices.begin(), choices.end()}};
}

void Search::drop_above() {
    std::erase_if(open_,
                  [&](const Open& open) { return !(open.bound <= most_) || !(least_ <= most_); });
    std::make_heap(open_.begin(), open_.end());
}

void Search::stop_above(double cost) {
    if (!(cost < most_)) return;
    // With a much lower limit, bounds drop many more steps.
    lower_ = bounds_.made() && most_ - cost > (cost - bound()) / tuning::kLowerLimitDivisor;
    most_ = cost;
    if (incumbent_ && incumbent_->total() > most_) incumbent_.reset();
    drop_above();
}

void Search::nothing_below(double cost) {
    if (cost > bound() + tuning::kFarNats)
        limits_.patience = std::min(limits_.patience, tuning::kStepsBeforeBoundsIfFar);
    least_ = std::max(least_, cost);
}

/// Stores a complete reading: the choices up to the partial reading before `last`, then `more`.
void Search::collect(const Partial& last, std::span<const std::uint32_t> more) {
    found_ = {last.cost - last.violated, last.violated, {}};
    for (std::uint32_t at = last.before; partials_[at].before != kNone; at = partials_[at].before)
        found_.choices.push_back(partials_[at].choice);
    std::reverse(found_.choices.begin(), found_.choices.end());
    found_.choices.insert(found_.choices.end(), more.begin(), more.end());
}

}  // namespace lawful
