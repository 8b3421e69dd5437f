#include "search/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/costs.hpp"
#include "base/tuning.hpp"
#include "rules/residues.hpp"
#include "search/class_bound.hpp"
#include "search/projection.hpp"
#include "search/sum_bound.hpp"

namespace lawful {

namespace {

/// Whether coarse costs are fine enough for paths up to `most`.
bool is_coarse(double most) { return most < tuning::kMaxCoarseNats; }

template <class Classes>
std::unique_ptr<AddedBound> bound_of(Classes classes, bool coarse) {
    if (coarse) return std::make_unique<ClassBound<Classes, CoarseCosts>>(std::move(classes));
    return std::make_unique<ClassBound<Classes, ExactCosts>>(std::move(classes));
}

}  // namespace

Bounds::Bounds(const ReadingGraph& graph, const Plan* plan, const DocumentTables& tables,
               const StateTable& states, const Kinds& kinds, const std::vector<bool>& pruned)
    : graph_(graph), plan_(plan), tables_(tables), states_(states), kinds_(kinds) {
    if (pruned.empty()) return;
    steps_.resize(graph_.nodes());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
        for (const ReadingGraph::Step& step : graph_.steps_from(node))
            if (step.to == ReadingGraph::kEnd || !pruned[step.choice]) steps_[node].push_back(step);
}

bool Bounds::search_first(double known, double most, const Effort& effort, Clock& clock) {
    if (!kinds_.detours || !is_alone() || !sums_a_list(plan_->equations[0]) ||
        !plan_->rows.empty() || searched_by_ > 0)
        return false;
    const double rest = graph_.rest(ReadingGraph::kRoot);
    least_ = std::max(least_, known - rest);
    search_detours(kept_steps(open_costs()), most - rest, tuning::kDetourWorkAlone, effort.memory,
                   clock);
    forget_classes();
    return !detours_.empty() && detours_[0]->is_done();
}

bool Bounds::make(double known, double most, bool finer, const Effort& effort, Clock& clock) {
    const auto [work, memory] = effort;
    const double rest = graph_.rest(ReadingGraph::kRoot), all = most - rest;
    least_ = std::max(least_, known - rest);
    if (finer) ++fineness_;
    Added made;
    Left left{open_costs(), tables_.missing, all, work};
    const std::vector<std::uint32_t> equations = add_equations(made, left, memory, clock);
    // Where there are equations, others seldom tell more, so they are for very long searches.
    if (equations.empty() || fineness_ > 1) add_projections(made, equations, left, clock);
    auto kept = kept_steps(left.reduced);
    // They are about one equation; where there are several, bounds that add up tell more.
    const double of_detours =
        is_alone() ? tuning::kDetourWorkAlone *
                         std::pow(tuning::kTimesDetourWork,
                                  std::min(fineness_, tuning::kMaxTimesDetourWorkGrows) - 1)
                   : tuning::kDetourShareOfWork *
                         static_cast<double>(std::max(work, tuning::kMinWorkOfShare));
    // What was found for a higher limit is right, too.
    if (all < searched_up_to_ - tuning::kRoundingNats || of_detours > searched_by_)
        search_detours(kept, all, of_detours, memory, clock);
    // What tells less than the others together only takes time.
    const double by_others = all - left.most;
    std::erase_if(detours_, [&](const auto& bound) { return bound->least() < by_others; });
    steps_ = std::move(kept);
    added_ = std::move(made);
    forget_classes();
    return !bounds_.empty();
}

/// Makes room for the classes of all states, after bounds were made.
void Bounds::forget_classes() {
    bounds_.clear();
    for (const auto& bound : added_) bounds_.push_back(bound.get());
    for (const auto& bound : detours_) {
        bound->forget_classes();
        bounds_.push_back(bound.get());
    }
    bytes_ = 0;
    for (const Bound* bound : bounds_) bytes_ += bound->held();
    classified_.assign(states_.size(), false);
    classes_.resize(states_.size() * bounds_.size());
}

/// Finds the classes of a state, if they are not known.
void Bounds::classify(std::uint32_t state) {
    if (classified_.empty() || classified_[state]) return;
    classified_[state] = true;
    for (std::size_t i = 0; i < bounds_.size(); ++i)
        classes_[state * bounds_.size() + i] = bounds_[i]->class_of(states_[state]);
}

/// The reduced cost of the steps that are open.
ReducedCosts Bounds::open_costs() const {
    ReducedCosts reduced = reduced_costs_of(graph_);
    if (steps_.empty()) return reduced;
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
        const auto all = graph_.steps_from(node);
        auto open = steps_[node].begin();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (open != steps_[node].end() && open->to == all[i].to &&
                open->choice == all[i].choice)
                ++open;
            else
                reduced[node][i] = kForbidden;
    }
    return reduced;
}

std::size_t Bounds::largest_prime(bool coarse) const {
    const auto& largest = coarse ? tuning::kMaxPrimes : tuning::kMaxExactPrimes;
    return largest[std::min(fineness_, largest.size()) - 1];
}

/// Fills a bound, and adds it if it raises the cost or drops a step.
void Bounds::add_if_it_tells(Added& made, std::unique_ptr<AddedBound> bound, Left& left,
                             Clock& clock) const {
    Left after = left;
    const double more = bound->fill(graph_, after.reduced, after.missing, left.most, clock);
    if (more <= 0 && open_steps(after.reduced) == open_steps(left.reduced)) return;
    left = std::move(after);
    left.most -= more;
    made.push_back(std::move(bound));
}

/// Adds the bounds of equations, smallest first: each drops steps that others need not look at.
/// Returns the equations that have a bound.
std::vector<std::uint32_t> Bounds::add_equations(Added& made, Left& left, std::size_t memory,
                                                 Clock& clock) const {
    const std::vector<Residues::FieldValue> values = field_values(graph_);
    std::vector<Residues> equations;
    std::vector<std::uint32_t> order, bounded;
    if (!kinds_.equations) return bounded;
    for (const Equation& equation : plan_->equations) {
        order.push_back(static_cast<std::uint32_t>(order.size()));
        equations.emplace_back(*plan_, equation, tables_, values);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return equations[a].masks() < equations[b].masks();
    });
    for (const std::uint32_t i : order) {
        if (left.most < -tuning::kRoundingNats) break;
        if (auto bound = sum_bound(equations[i], left, clock)) {
            made.push_back(std::move(bound));
            bounded.push_back(i);
            continue;
        }
        const bool coarse = is_coarse(left.most);
        const std::size_t cell = coarse ? sizeof(CoarseCosts::Cell) : sizeof(ExactCosts::Cell);
        const std::size_t steps = open_steps(left.reduced) * cell / 4 + 1;
        if (!equations[i].choose_prime(steps, left.work, 2 * graph_.nodes() * cell,
                                       memory / equations.size(), largest_prime(coarse)))
            continue;
        left.work -= std::min(left.work, steps * equations[i].classes());
        auto bound = bound_of(std::move(equations[i]), coarse);
        left.most -= bound->fill(graph_, left.reduced, left.missing, left.most, clock);
        made.push_back(std::move(bound));
        bounded.push_back(i);
    }
    return bounded;
}

/// The bound of an equation over the sums that occur; none if there are too many.
std::unique_ptr<AddedBound> Bounds::sum_bound(Residues equation, Left& left, Clock& clock) const {
    if (equation.sums_lists() || !equation.choose_prime(0, 0, 0, 0, tuning::kMaxPrimes.back()))
        return nullptr;
    auto bound = std::make_unique<SumBound>(std::move(equation));
    const std::size_t most = left.work / tuning::kWorkPerSumVisit;
    if (!bound->list(graph_, left.reduced, left.missing, left.most, most, clock)) return nullptr;
    left.work -= tuning::kWorkPerSumVisit * bound->visits();
    left.most -= bound->fill(graph_, left.reduced, left.missing, left.most, clock);
    return bound;
}

/// Adds the bounds of what no equation bounds, if they tell anything: presence and agreement of
/// each field with the rules that read it alone, orders, and other rules.
void Bounds::add_projections(Added& made, std::span<const std::uint32_t> equations, Left& left,
                             Clock& clock) const {
    if (!kinds_.projections) return;
    const std::vector<Residues::FieldValue> values = field_values(graph_);
    for (Subject& subject : subjects(*plan_, tables_, equations, left.missing)) {
        if (left.most < -tuning::kRoundingNats) return;
        const std::size_t steps = 2 * open_steps(left.reduced) + 1;
        const std::size_t most = std::min(tuning::kMaxProjectionClasses, left.work / steps);
        auto classes = std::make_unique<Projection>(*plan_, tables_, subject, values);
        bool few = classes->list_classes(most);
        if (!few && subject.disagreement) {
            subject.disagreement = false;
            classes = std::make_unique<Projection>(*plan_, tables_, subject, values);
            few = classes->list_classes(most);
        }
        clock.tick(64 * classes->classes());
        if (!few) continue;
        left.work -= std::min(left.work, steps * classes->classes());
        add_if_it_tells(made, bound_of(std::move(*classes), is_coarse(left.most)), left, clock);
    }
}

/// The steps whose reduced cost is finite.
std::vector<std::vector<ReadingGraph::Step>> Bounds::kept_steps(const ReducedCosts& reduced) const {
    std::vector<std::vector<ReadingGraph::Step>> kept(graph_.nodes());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
        for (std::size_t i = 0; i < reduced[node].size(); ++i)
            if (reduced[node][i] < kForbidden) kept[node].push_back(graph_.steps_from(node)[i]);
    return kept;
}

/// Searches for detours under equations that sum lists, over these steps, on paths up to `most`
/// above the cheapest one.
void Bounds::search_detours(std::span<const std::vector<ReadingGraph::Step>> steps, double most,
                            double work, std::size_t memory, Clock& clock) {
    if (!kinds_.detours || std::ranges::none_of(plan_->equations, sums_a_list)) return;
    Detours made;
    const std::vector<Residues::FieldValue> values = field_values(graph_);
    shares_.resize(plan_->equations.size(), 1);
    for (std::size_t i = 0; i < plan_->equations.size(); ++i) {
        const Equation& equation = plan_->equations[i];
        if (!sums_a_list(equation)) continue;
        const auto old =
            std::ranges::find(detours_, i, [](const auto& each) { return each->number(); });
        auto bound = std::make_unique<DetourBound>(static_cast<std::uint32_t>(i),
                                                   Residues(*plan_, equation, tables_, values),
                                                   shares_[i], least_);
        const bool found = old != detours_.end() && (*old)->is_done();
        if (!bound->search(graph_, steps, tables_.missing, most, {work, memory, found}, clock))
            continue;
        shares_[i] = bound->share();
        made.push_back(std::move(bound));
    }
    // An earlier search is better than none. From here on, time cannot run out.
    for (auto& old : detours_) {
        const auto bound = std::ranges::find_if(
            made, [&](const auto& each) { return each->number() == old->number(); });
        if (bound != made.end() && !(*bound)->has_searched()) *bound = std::move(old);
    }
    detours_ = std::move(made);
    searched_up_to_ = most;
    searched_by_ = work;
    met_.clear();
    for (const auto& bound : detours_) {
        least_ = std::max(least_, bound->least());
        if (!bound->met().empty()) met_.push_back(bound->met());
    }
}

double Bounds::least() const { return graph_.rest(ReadingGraph::kRoot) + least_; }

/// The cost of the rest, and what bounds add to it for the class of a state.
template <class More>
double Bounds::with_rules(double rest, std::uint32_t state, More more) {
    if (bounds_.empty()) return rest;
    classify(state);
    const std::uint32_t* const classes = classes_.data() + state * bounds_.size();
    double sum = rest, most = 0;
    std::size_t i = 0;
    for (; i < added_.size(); ++i) sum += more(*bounds_[i], classes[i]);
    for (; i < bounds_.size(); ++i) most = std::max(most, more(*bounds_[i], classes[i]));
    return std::max(sum, rest + most);
}

double Bounds::rest(std::uint32_t node, std::uint32_t state, double cost) {
    if (node == ReadingGraph::kEnd) return 0;
    const double rest = graph_.rest(node);
    const double spent = cost + rest - graph_.rest(ReadingGraph::kRoot);
    return with_rules(rest, state, [&](const Bound& bound, std::uint32_t at) {
        return bound.more(node, at, spent);
    });
}

double Bounds::rest_after(std::uint32_t state, double cost, const ReadingGraph::Step& step) {
    const double rest = graph_.rest(step.to);
    if (step.to == ReadingGraph::kEnd) return rest;
    const double spent = cost + step.cost + rest - graph_.rest(ReadingGraph::kRoot);
    return with_rules(rest, state, [&](const Bound& bound, std::uint32_t at) {
        return bound.more_with(step.choice, step.to, at, spent);
    });
}

void Bounds::add_state(std::uint32_t before, std::uint32_t choice) {
    if (classified_.empty()) return;
    classify(before);
    classified_.push_back(true);
    for (std::size_t i = 0; i < bounds_.size(); ++i)
        classes_.push_back(bounds_[i]->next(classes_[before * bounds_.size() + i], choice));
}

}  // namespace lawful
