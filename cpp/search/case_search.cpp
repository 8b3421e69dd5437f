#include "search/case_search.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/arena.hpp"
#include "base/costs.hpp"
#include "base/tuning.hpp"
#include "search/admission.hpp"
#include "search/least_cost.hpp"
#include "search/local_search.hpp"

namespace lawful {

CaseSearch::CaseSearch(std::shared_ptr<const ReadingGraph> graph, std::shared_ptr<const Plan> plan,
                       DocumentTables tables, const Search::Limits& limits, Clock& clock)
    : graph_(std::move(graph)),
      plan_(std::move(plan)),
      tables_(std::move(tables)),
      limits_(limits),
      most_(graph_->limit()) {
    if (plan_) {
        equations_of_.resize(plan_->fields.size());
        for (const Equation& equation : plan_->equations) {
            std::set<std::uint32_t> fields;
            for (const Term& term : equation.terms)
                if (term.kind == Term::Kind::kFirst) fields.insert(term.field);
            for (const std::uint32_t field : fields) ++equations_of_[field];
        }
    }
    cases_.push_back(std::make_unique<Case>(Case{0, {}, {}}));
    cases_[0]->search = std::make_unique<Search>(graph_, plan_, tables_, limits_, clock);
    cases_[0]->bound = cases_[0]->search->bound();
}

double CaseSearch::bound() const { return cases_.empty() ? kForbidden : cases_.front()->bound; }

std::size_t CaseSearch::held() const {
    std::size_t bytes = 0;
    for (const auto& each : cases_)
        bytes += sizeof(Case) + each->pruned.size() / 8 + (each->search ? each->search->held() : 0);
    return bytes;
}

Search::Status CaseSearch::next(std::size_t extensions, Clock& clock) {
    while (!cases_.empty()) {
        Case& first = *cases_.front();
        if (first.found) {
            found_ = *std::exchange(first.found, std::nullopt);
            first.bound = std::max(first.bound, first.search->bound());
            replace_first();
            return Search::Status::kFound;
        }
        if (!first.search && !first.admitted && limits_.bounds.admission) {
            admit(first, clock);
            replace_first();
            continue;
        }
        if (!first.search) open(first, clock);
        const std::size_t before = first.search->extended();
        const std::size_t slice =
            cases_.size() == 1 ? extensions : std::min(extensions, tuning::kCaseSliceExtensions);
        const std::size_t splits = limits_.patience / tuning::kSplitPatienceDivisor;
        const auto field = field_to_split(first);
        const Search::Status status =
            first.search->next(slice, clock, field ? splits : Search::kNeverPauses);
        const std::size_t done = first.search->extended() - before;
        extensions -= std::min(extensions, done);
        extended_ += done;
        const bool has_incumbent = first.search->incumbent().has_value();
        if (status == Search::Status::kNothing) {
            std::pop_heap(cases_.begin(), cases_.end(), comes_later);
            cases_.pop_back();
            continue;
        }
        if (status == Search::Status::kFound) {
            first.found = first.search->found();
            first.has_found = true;
            first.bound = std::max(first.bound, first.found->total());
        } else {
            first.bound = std::max(first.bound, first.search->bound());
            if (!has_incumbent && field && first.search->tried() >= splits) {
                split(first, *field, clock);
                continue;
            }
        }
        replace_first();
        if (cases_.size() > 1 && held() > limits_.memory) throw OutOfMemoryBudget{};
        if (status == Search::Status::kPaused && (extensions == 0 || has_incumbent)) return status;
    }
    return Search::Status::kNothing;
}

void CaseSearch::stop_above(double cost) {
    if (!(cost < most_)) return;
    most_ = cost;
    for (const auto& each : cases_)
        if (each->search) each->search->stop_above(cost);
    std::erase_if(cases_, [&](const auto& each) { return !(each->bound <= most_); });
    std::make_heap(cases_.begin(), cases_.end(), comes_later);
}

void CaseSearch::nothing_below(double cost) {
    for (const auto& each : cases_) {
        each->bound = std::max(each->bound, cost);
        if (each->search) each->search->nothing_below(cost);
    }
    std::make_heap(cases_.begin(), cases_.end(), comes_later);
}

bool CaseSearch::dive(std::size_t width, Clock& clock) {
    std::vector<Case*> best;
    for (const auto& each : cases_) best.push_back(each.get());
    const auto early = std::ranges::find_if(
        best, [](const Case* each) { return each->search && each->search->incumbent(); });
    if (early != best.end()) {
        (*early)->search->dive(width, clock);
        found_ = (*early)->search->found();
        return true;
    }
    const std::size_t tries = std::min(best.size(), tuning::kMaxCaseDives);
    std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(tries), best.end(),
                      [](const Case* a, const Case* b) { return a->bound < b->bound; });
    for (std::size_t i = 0; i < tries; ++i) {
        if (!best[i]->search) continue;
        if (best[i]->found) {
            found_ = *best[i]->found;
            return true;
        }
        if (!best[i]->search->dive(width, clock)) continue;
        found_ = best[i]->search->found();
        return true;
    }
    return false;
}

bool CaseSearch::dive_beyond(double most, std::size_t width, Clock& clock) {
    const std::size_t others = held();
    if (others > limits_.memory) return false;
    Search::Limits limits = limits_;
    limits.memory -= others;
    limits.reading = most;
    try {
        Search whole(graph_, plan_, tables_, limits, clock);
        if (!whole.dive(width, clock)) return false;
        found_ = whole.found();
        return true;
    } catch (const OutOfTime&) {
    } catch (const OutOfMemoryBudget&) {
    }
    return false;
}

bool CaseSearch::improve(const std::optional<std::vector<std::uint32_t>>& from, Clock& clock) {
    if (!plan_) return false;
    LocalSearch near(*graph_, *plan_, tables_);
    const auto found = near.improve(from, limits_.labelling, clock);
    if (!found) return false;
    found_ = *found;
    return true;
}

/// Makes the search of a case.
void CaseSearch::open(Case& first, Clock& clock) {
    ++opened_;
    Search::Limits limits = limits_;
    const std::size_t others = held();
    if (others > limits.memory) throw OutOfMemoryBudget{};
    limits.memory -= others;
    limits.later = limits.patience;
    limits.patience = 1;  // bounds are what cases are for
    limits.fixed = first.fixed;
    limits.pruned = first.pruned;
    DocumentTables tables = tables_;
    tables.missing = missing_in(first);
    first.search = std::make_unique<Search>(graph_, plan_, std::move(tables), limits, clock);
    first.search->stop_above(most_);
    first.search->nothing_below(first.bound);
}

/// Puts the first case where it belongs by its new bound.
void CaseSearch::replace_first() {
    std::pop_heap(cases_.begin(), cases_.end(), comes_later);
    if (!(cases_.back()->bound <= most_))
        cases_.pop_back();
    else
        std::push_heap(cases_.begin(), cases_.end(), comes_later);
}

/// The field that most equations read, if there is one that is not fixed.
std::optional<std::uint32_t> CaseSearch::field_to_split(const Case& whole) const {
    std::optional<std::uint32_t> best;
    if (!limits_.bounds.cases || whole.has_found ||
        extended_ < tuning::kExtensionsPerCase * opened_)
        return best;
    for (std::uint32_t field = 0; field < equations_of_.size(); ++field) {
        const FieldPlan& f = plan_->fields[field];
        if (equations_of_[field] < limits_.shared || !f.disagrees || f.disagreement < kForbidden)
            continue;
        if (std::ranges::find(whole.whole, field) != whole.whole.end()) continue;
        if (!best || equations_of_[field] > equations_of_[*best]) best = field;
    }
    return best;
}

/// Replaces the first case by one for each value of a field, and one without a value.
void CaseSearch::split(Case& whole, std::uint32_t field, Clock& clock) {
    whole.whole.push_back(field);
    std::vector<bool> pruned = whole.search->pruned();
    std::set<std::uint32_t> values;
    for (std::uint32_t r = 0; r < pruned.size(); ++r)
        if (!pruned[r] && graph_->span_of(r).seen_as() == field &&
            is_readable(graph_->span_value(r).value))
            values.insert(graph_->span_value(r).value);
    const bool absent = tables_.missing[field] < kForbidden;
    if (values.size() + absent < 2 || values.size() > tuning::kMaxCaseValues) {
        replace_first();
        return;
    }
    whole.pruned = std::move(pruned);
    // All cases are made before they replace the whole one: no reading is lost if time runs out.
    std::vector<std::unique_ptr<Case>> made;
    for (const std::uint32_t value : values)
        made.push_back(make_case(whole, {field, value}, clock));
    if (absent) made.push_back(make_case(whole, {field, ValueNumber::kMissing}, clock));
    std::pop_heap(cases_.begin(), cases_.end(), comes_later);
    cases_.pop_back();
    for (std::unique_ptr<Case>& each : made) {
        if (!each) continue;
        cases_.push_back(std::move(each));
        std::push_heap(cases_.begin(), cases_.end(), comes_later);
    }
}

/// The case of a value; nothing if it has no reading that is cheap enough.
std::unique_ptr<CaseSearch::Case> CaseSearch::make_case(const Case& whole,
                                                        const Search::Fixed& fixed,
                                                        Clock& clock) const {
    auto made = std::make_unique<Case>(Case{whole.bound, whole.fixed, whole.pruned, whole.whole});
    made->fixed.push_back(fixed);
    const FieldPlan& f = plan_->fields[fixed.field];
    for (std::uint32_t r = 0; r < graph_->span_values(); ++r) {
        const std::uint32_t value = graph_->span_value(r).value;
        if (graph_->span_of(r).seen_as() != fixed.field || !is_readable(value)) continue;
        const bool missing = !is_readable(fixed.value);
        if (missing || !tables_.equal(f, fixed.value, value)) made->pruned[r] = true;
    }
    clock.tick(16 * graph_->span_values());
    made->bound =
        std::max(made->bound, least_cost(*graph_, missing_in(*made), made->pruned, clock));
    if (!(made->bound <= most_)) return nullptr;
    return made;
}

/// What the absence of fields costs in a case.
std::vector<double> CaseSearch::missing_in(const Case& each) const {
    std::vector<double> missing = tables_.missing;
    for (const Search::Fixed& fixed : each.fixed)
        if (is_readable(fixed.value)) missing[fixed.field] = kForbidden;
    return missing;
}

/// Prunes the span values that hard equations do not admit in a case, and raises its bound.
void CaseSearch::admit(Case& each, Clock& clock) const {
    DocumentTables tables = tables_;
    tables.missing = missing_in(each);
    std::vector<std::uint32_t> left;
    std::vector<SpanValue> values;
    for (std::uint32_t r = 0; r < graph_->span_values(); ++r) {
        if (each.pruned[r]) continue;
        left.push_back(r);
        values.push_back(graph_->span_value(r));
    }
    const auto admitted = admitted_values(*plan_, tables, graph_->spans(), values, clock);
    each.pruned.assign(graph_->span_values(), true);
    if (admitted)
        for (const std::uint32_t i : *admitted) each.pruned[left[i]] = false;
    each.bound = admitted
                     ? std::max(each.bound, least_cost(*graph_, tables.missing, each.pruned, clock))
                     : kForbidden;
    each.admitted = true;
}

}  // namespace lawful
