#include "search/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/costs.hpp"
#include "rules/residues.hpp"
#include "search/presence.hpp"
#include "search/projection.hpp"
#include "search/sum_bound.hpp"

namespace lawful {

namespace {

constexpr double kRounding = 1e-9;
// A long search gets finer bounds. A prime of 127 is enough to drop most steps.
constexpr std::array<std::size_t, 5> kLargestPrimes{127, 1021, 8191, 16381, 32749};
constexpr std::array<std::size_t, 5> kLargestExactPrimes{127, 509, 2039, 4093, 8191};
constexpr std::size_t kWorkPerRowStep = 256;
constexpr std::size_t kWorkPerVisit = 64;
constexpr std::size_t kMostClasses = 512;  // of a projection
// The work in searches of detours, the first time, and how it grows, if there is one equation;
// among others, their share of the work in bounds, and for what work at least.
constexpr double kWorkAlone = 1 << 24, kGrowthAlone = 4;
constexpr std::size_t kMostGrowth = 3;  // times
constexpr double kShareAmongOthers = 1.0 / 32;
constexpr std::size_t kLeastWork = std::size_t{1} << 24;

/// Whether coarse costs are fine enough for paths up to `most`.
bool is_coarse(double most) { return most < 256; }

template <class Classes>
std::unique_ptr<RestBound> bound_of(Classes classes, bool coarse) {
    if (coarse) return std::make_unique<ClassBound<Classes, CoarseCosts>>(std::move(classes));
    return std::make_unique<ClassBound<Classes, ExactCosts>>(std::move(classes));
}

}  // namespace

Bounds::Bounds(const ReadingGraph& graph, const Plan* plan, const DocumentTables& tables,
               const StateTable& states, const Kinds& kinds, const std::vector<bool>& closed)
    : graph_(graph), plan_(plan), tables_(tables), states_(states), kinds_(kinds) {
    if (closed.empty()) return;
    steps_.resize(graph_.nodes());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
        for (const ReadingGraph::Step& step : graph_.steps_from(node))
            if (step.to == ReadingGraph::kEnd || !closed[step.choice]) steps_[node].push_back(step);
}

bool Bounds::search_first(double known, double most, const Effort& effort, Clock& clock) {
    if (!kinds_.detours || !is_alone() || !sums_a_list(plan_->equations[0]) ||
        !plan_->rows.empty() || searched_by_ > 0)
        return false;
    const double rest = graph_.rest(ReadingGraph::kRoot);
    least_ = std::max(least_, known - rest);
    search_detours(kept_steps(left_by_rows()), most - rest, kWorkAlone, effort.memory, clock);
    forget_classes();
    return !detours_.empty() && detours_[0]->is_done();
}

bool Bounds::make(std::uint32_t first, double known, double most, bool finer, const Effort& effort,
                  Clock& clock) {
    const auto [work, memory] = effort;
    if (finer && !row_bound_ && !plan_->rows.empty() && kinds_.rows) {
        auto rows =
            std::make_unique<RowBound>(graph_, *plan_, tables_, work / kWorkPerRowStep, clock);
        if (!rows->empty()) row_bound_ = std::move(rows);
        classify_rows();
    }
    const std::uint32_t root = ReadingGraph::kRoot;
    const double all = most - graph_.rest(root);
    least_ = std::max(least_, known - graph_.rest(root));
    most -= row_bound_ ? row_bound_->rest(root, row_classes_[first]) : graph_.rest(root);
    if (finer) ++fineness_;
    Made made;
    Left left{left_by_rows(), tables_.missing, most, work};
    add_presence(made, left, clock);
    const std::vector<std::uint32_t> equations = add_equations(made, left, memory, clock);
    // Where there are equations, others seldom tell more, so they are for very long searches.
    if (equations.empty() || fineness_ > 1) add_projections(made, equations, left, clock);
    auto kept = kept_steps(left.excess);
    // They are about one equation; where there are several, bounds that add up tell more.
    const double of_detours =
        is_alone() ? kWorkAlone * std::pow(kGrowthAlone, std::min(fineness_, kMostGrowth) - 1)
                   : kShareAmongOthers * static_cast<double>(std::max(work, kLeastWork));
    // What was found for a higher limit is right, too.
    if (all < searched_up_to_ - kRounding || of_detours > searched_by_)
        search_detours(kept, all, of_detours, memory, clock);
    // What tells less than the others together only takes time.
    const double by_others = all - left.most;
    std::erase_if(detours_, [&](const auto& bound) { return bound->least() < by_others; });
    steps_ = std::move(kept);
    bounds_ = std::move(made);
    forget_classes();
    return row_bound_ || !bounds_.empty() || !detours_.empty();
}

/// Makes room for the classes of all states, after bounds were made.
void Bounds::forget_classes() {
    bytes_ = row_bound_ ? row_bound_->held() : 0;
    for (const auto& bound : bounds_) bytes_ += bound->held();
    for (const auto& bound : detours_) bytes_ += bound->held();
    classified_.assign(states_.size(), false);
    classes_.resize(states_.size() * bounds_.size());
    detour_classes_.resize(states_.size() * detours_.size());
}

/// Finds the classes of a state, if they are not known.
void Bounds::classify(std::uint32_t state) {
    if (classified_.empty() || classified_[state]) return;
    classified_[state] = true;
    for (std::size_t i = 0; i < bounds_.size(); ++i)
        classes_[state * bounds_.size() + i] = bounds_[i]->class_of(states_[state]);
    for (std::size_t i = 0; i < detours_.size(); ++i)
        detour_classes_[state * detours_.size() + i] = detours_[i]->class_of(states_[state]);
}

void Bounds::drop_doubles(const RuleTracker& tracker) {
    if (!kinds_.doubles) return;
    struct Effect {
        std::uint32_t to, field, value, row, start;
        auto operator<=>(const Effect&) const = default;
    };
    const auto effect_of = [&](const ReadingGraph::Step& step) {
        Effect effect{step.to, 0, 0, 0, 0};
        if (step.to == ReadingGraph::kEnd) return effect;
        const SpanPlace place = graph_.span_of(step.choice).place();
        if (!tracker.tracks(place.field)) return effect;
        const FieldPlan& field = plan_->fields[place.field];
        effect.field = place.field + 1;
        effect.value = graph_.span_value(step.choice).value;
        if (field.rows) effect.row = 2 * place.row + place.closes;
        if (field.places) effect.start = place.start;
        return effect;
    };
    std::vector<std::pair<Effect, std::uint32_t>> effects;
    std::vector<std::vector<ReadingGraph::Step>> kept(graph_.nodes());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
        const auto steps = steps_from(node);
        effects.clear();
        for (std::uint32_t i = 0; i < steps.size(); ++i)
            effects.emplace_back(effect_of(steps[i]), i);
        // Of equal effects, the first step is the cheapest one.
        std::sort(effects.begin(), effects.end());
        const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        effects.erase(std::unique(effects.begin(), effects.end(), same), effects.end());
        std::sort(effects.begin(), effects.end(),
                  [](const auto& a, const auto& b) { return a.second < b.second; });
        for (const auto& [effect, i] : effects) kept[node].push_back(steps[i]);
    }
    steps_ = std::move(kept);
}

/// The excess of the steps that are open, without what rules of rows demand.
StepExcess Bounds::left_by_rows() const {
    StepExcess excess = row_bound_ ? row_bound_->excess() : excess_of(graph_);
    if (steps_.empty()) return excess;
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
        const auto all = graph_.steps_from(node);
        auto open = steps_[node].begin();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (open != steps_[node].end() && open->to == all[i].to &&
                open->choice == all[i].choice)
                ++open;
            else
                excess[node][i] = kForbidden;
    }
    return excess;
}

std::size_t Bounds::largest_prime(bool coarse) const {
    const auto& largest = coarse ? kLargestPrimes : kLargestExactPrimes;
    return largest[std::min(fineness_, largest.size()) - 1];
}

/// Adds the bound of fields that must be present, if it tells anything: it drops many steps at a
/// low price.
void Bounds::add_presence(Made& made, Left& left, Clock& clock) const {
    if (!kinds_.presence) return;
    Presence presence(*plan_, left.missing, field_values(graph_));
    if (presence.empty()) return;
    add_if_it_tells(made, bound_of(std::move(presence), is_coarse(left.most)), left, clock);
}

/// Fills a bound, and adds it if it raises the cost or drops a step.
void Bounds::add_if_it_tells(Made& made, std::unique_ptr<RestBound> bound, Left& left,
                             Clock& clock) const {
    Left after = left;
    const double more = bound->fill(graph_, after.excess, after.missing, left.most, clock);
    if (more <= 0 && open_steps(after.excess) == open_steps(left.excess)) return;
    left = std::move(after);
    left.most -= more;
    made.push_back(std::move(bound));
}

/// Adds the bounds of equations, smallest first: each drops steps that others need not look at.
/// Returns the equations that have a bound.
std::vector<std::uint32_t> Bounds::add_equations(Made& made, Left& left, std::size_t memory,
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
        if (left.most < -kRounding) break;
        if (auto bound = sum_bound(equations[i], left, clock)) {
            made.push_back(std::move(bound));
            bounded.push_back(i);
            continue;
        }
        const bool coarse = is_coarse(left.most);
        const std::size_t cell = coarse ? sizeof(CoarseCosts::Cell) : sizeof(ExactCosts::Cell);
        const std::size_t steps = open_steps(left.excess) * cell / 4 + 1;
        if (!equations[i].choose_prime(steps, left.work, 2 * graph_.nodes() * cell,
                                       memory / equations.size(), largest_prime(coarse)))
            continue;
        left.work -= std::min(left.work, steps * equations[i].classes());
        auto bound = bound_of(std::move(equations[i]), coarse);
        left.most -= bound->fill(graph_, left.excess, left.missing, left.most, clock);
        made.push_back(std::move(bound));
        bounded.push_back(i);
    }
    return bounded;
}

/// The bound of an equation over the sums that occur; none if there are too many.
std::unique_ptr<RestBound> Bounds::sum_bound(Residues equation, Left& left, Clock& clock) const {
    if (equation.sums_lists() || !equation.choose_prime(0, 0, 0, 0, kLargestPrimes.back()))
        return nullptr;
    auto bound = std::make_unique<SumBound>(std::move(equation));
    const std::size_t most = left.work / kWorkPerVisit;
    if (!bound->list(graph_, left.excess, left.missing, left.most, most, clock)) return nullptr;
    left.work -= kWorkPerVisit * bound->visits();
    left.most -= bound->fill(graph_, left.excess, left.missing, left.most, clock);
    return bound;
}

/// Adds the bounds of what no equation bounds, if they tell anything: presence and agreement of
/// each field with the rules that read it alone, orders, and other rules.
void Bounds::add_projections(Made& made, std::span<const std::uint32_t> equations, Left& left,
                             Clock& clock) const {
    if (!kinds_.projections) return;
    const std::vector<Residues::FieldValue> values = field_values(graph_);
    for (Subject& subject : subjects(*plan_, tables_, equations, left.missing)) {
        if (left.most < -kRounding) return;
        const std::size_t steps = 2 * open_steps(left.excess) + 1;
        const std::size_t most = std::min(kMostClasses, left.work / steps);
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

/// The steps whose excess is finite.
std::vector<std::vector<ReadingGraph::Step>> Bounds::kept_steps(const StepExcess& excess) const {
    std::vector<std::vector<ReadingGraph::Step>> kept(graph_.nodes());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
        for (std::size_t i = 0; i < excess[node].size(); ++i)
            if (excess[node][i] < kForbidden) kept[node].push_back(graph_.steps_from(node)[i]);
    return kept;
}

/// Searches for detours under equations that sum lists, over these steps, on paths up to `most`
/// above the cheapest one.
void Bounds::search_detours(std::span<const std::vector<ReadingGraph::Step>> steps, double most,
                            double work, std::size_t memory, Clock& clock) {
    if (!kinds_.detours || std::ranges::none_of(plan_->equations, sums_a_list)) return;
    Detours made;
    const std::vector<Residues::FieldValue> values = field_values(graph_);
    const std::vector<bool> never_repeated = this->never_repeated(values, most);
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
        if (!bound->search(graph_, steps, never_repeated, tables_.missing, most,
                           {work, memory, found}, clock))
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

/// By span value, whether it never comes after another value of its field: they would disagree,
/// which is forbidden or costs as much as paths may at most.
std::vector<bool> Bounds::never_repeated(std::span<const Residues::FieldValue> values,
                                         double most) const {
    std::vector<bool> never(values.size());
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < values.size(); ++i) {
        const FieldPlan& field = plan_->fields[values[i].field];
        if (field.disagrees && field.disagreement >= most - 2 * kRounding &&
            is_readable(values[i].value))
            order.push_back(i);
    }
    // Equal values have the same number in the lookup, or the same number of their own.
    const auto key = [&](std::uint32_t i) {
        const auto [field, value] = values[i];
        const auto& equal = plan_->fields[field].equal;
        const bool known = equal && value < tables_.lookups[*equal].size();
        return std::tuple(field, known, known ? tables_.lookups[*equal].at(value).number : value);
    };
    std::ranges::sort(order, {}, key);
    for (std::size_t i = 0; i < order.size(); ++i)
        never[order[i]] = (i == 0 || key(order[i - 1]) != key(order[i])) &&
                          (i + 1 == order.size() || key(order[i + 1]) != key(order[i]));
    return never;
}

double Bounds::least() const { return graph_.rest(ReadingGraph::kRoot) + least_; }

double Bounds::rest(std::uint32_t node, std::uint32_t state, double cost) {
    if (node == ReadingGraph::kEnd) return 0;
    classify(state);
    double rest = graph_.rest(node), by_detours = 0;
    const double spent = cost + rest - graph_.rest(ReadingGraph::kRoot);
    for (std::size_t i = 0; i < detours_.size(); ++i)
        by_detours =
            std::max(by_detours,
                     detours_[i]->more(node, detour_classes_[state * detours_.size() + i], spent));
    by_detours += rest;
    if (row_bound_) {
        // What equations add is on top of the rest under rules of rows, so that must be known.
        if (!row_bound_->knows(node, row_classes_[state])) return by_detours;
        rest = row_bound_->rest(node, row_classes_[state]);
    }
    for (std::size_t i = 0; i < bounds_.size(); ++i)
        rest += bounds_[i]->more(node, classes_[state * bounds_.size() + i]);
    return std::max(rest, by_detours);
}

double Bounds::rest_after(std::uint32_t node, std::uint32_t state, double cost,
                          const ReadingGraph::Step& step) {
    double rest = graph_.rest(step.to), by_detours = 0;
    if (step.to == ReadingGraph::kEnd) return rest;
    classify(state);
    const double spent = cost + step.cost + rest - graph_.rest(ReadingGraph::kRoot);
    for (std::size_t i = 0; i < detours_.size(); ++i) {
        const DetourBound::Class& before = detour_classes_[state * detours_.size() + i];
        by_detours = std::max(
            by_detours, detours_[i]->more(step.to, detours_[i]->next(before, step.choice), spent));
    }
    by_detours += rest;
    if (row_bound_ && !row_bound_->knows(node, row_classes_[state])) return by_detours;
    for (std::size_t i = 0; i < bounds_.size(); ++i)
        rest += bounds_[i]->more_with(step.choice, step.to, classes_[state * bounds_.size() + i]);
    return std::max(rest, by_detours);
}

void Bounds::add_state(std::uint32_t number, std::uint32_t before, std::uint32_t choice) {
    if (row_bound_)
        row_classes_.push_back(row_bound_->class_of(states_[number].first(plan_->slots)));
    if (classified_.empty()) return;
    classify(before);
    classified_.push_back(true);
    for (std::size_t i = 0; i < bounds_.size(); ++i)
        classes_.push_back(bounds_[i]->next(classes_[before * bounds_.size() + i], choice));
    for (std::size_t i = 0; i < detours_.size(); ++i)
        detour_classes_.push_back(
            detours_[i]->next(detour_classes_[before * detours_.size() + i], choice));
}

void Bounds::classify_rows() {
    if (!row_bound_) return;
    for (std::uint32_t state = 0; state < states_.size(); ++state)
        row_classes_.push_back(row_bound_->class_of(states_[state].first(plan_->slots)));
}

}  // namespace lawful
