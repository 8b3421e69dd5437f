#include "rules/rule_tracker.hpp"

#include <algorithm>
#include <functional>

namespace lawful {

RuleTracker::RuleTracker(const Plan& plan, const DocumentTables& tables)
    : plan_(plan),
      tables_(tables),
      forgetting_(plan, tables),
      early_(plan.fields.size()),
      in_row_(plan.rows.size()) {
    for (const FieldPlan& f : plan.fields) {
        tracks_.push_back(f.first || f.count || f.readable || f.sum || f.least || f.greatest ||
                          f.all || f.places || f.rows);
        for (const OrderPlan& order : plan.orders)
            if (order.ranks[tracks_.size() - 1] != 0) tracks_.back() = true;
        if (f.in_row) in_row_[*f.rows].push_back(*f.in_row);
        unsure_.push_back(f.numbers && tables.lookups[*f.numbers].has_unsure());
    }
    for (std::uint32_t r = 0; r < plan.rules.size(); ++r)
        if (plan.rules[r].early)
            for (const std::uint32_t field : plan.rules[r].fields) early_[field].push_back(r);
}

double RuleTracker::extend(std::span<Wide> state, const SpanPlace& place, std::uint32_t value) {
    const FieldPlan& f = plan_.fields[place.field];
    double violated = f.rows ? enter_row(state, place, value) : 0;
    for (const OrderPlan& order : plan_.orders) violated += follow(state, order, place.field);
    count(state, place.field, value);
    if (f.places) {
        Wide& places = state[*f.places];
        for (const std::uint32_t edge : {place.start, place.end})
            places = lists_.extended(static_cast<std::uint32_t>(places), edge);
    }
    if (f.many)
        extend_list(state, place.field, value);
    else
        violated += extend_single(state, place.field, value);
    if (f.rows && place.closes && by_number(plan_.rows[*f.rows]))
        violated += close_row(state, *f.rows);
    return violated;
}

/// The cost of a span that comes after one of a later field in an order.
double RuleTracker::follow(std::span<Wide> state, const OrderPlan& order, std::uint32_t field) {
    const Wide rank = order.ranks[field];
    if (rank == 0) return 0;
    if (rank < state[order.slot]) return order.weight;
    state[order.slot] = rank;
    return 0;
}

/// Adds a value to its row; if that is another one than the open row, this one is closed first.
double RuleTracker::enter_row(std::span<Wide> state, const SpanPlace& place, std::uint32_t value) {
    const FieldPlan& f = plan_.fields[place.field];
    const RowPlan& rows = plan_.rows[*f.rows];
    const bool starts = !by_number(rows) && rows.starter == place.field;
    const Wide number = by_number(rows) ? Wide{place.row} : starts ? Wide{1} : state[rows.open];
    if (number == 0) return 0;  // in no row
    double violated = 0;
    if (starts || state[rows.open] != number) violated = close_row(state, *f.rows);
    if (rows.remembers) {
        if (state[rows.open] == 0) remember(state, rows, 0);
        remember(state, rows, Wide{value} * plan_.fields.size() + place.field + 1);
    }
    state[rows.open] = number;
    if (f.in_row && state[*f.in_row] < ValueNumber::kFirst) state[*f.in_row] = value;
    return violated;
}

/// Judges the open row, if there is one, and forgets it.
double RuleTracker::close_row(std::span<Wide> state, std::uint32_t rows) const {
    const RowPlan& plan = plan_.rows[rows];
    if (state[plan.open] == 0) return 0;
    double violated = 0;
    bool unsure = false;
    for (const RulePlan& rule : plan.rules) {
        const Outcome outcome = rule.program.run(state, tables_.lookups);
        unsure = unsure || outcome.state == Outcome::kUnsure;
        violated += price(rule, outcome);
    }
    // Python will decide, and it sees all values, so different rows must have different states.
    if (unsure)
        for (const std::uint32_t slot : in_row_[rows]) remember(state, plan, state[slot]);
    for (const auto& [now, before] : plan.previous) state[before] = state[now];
    for (const std::uint32_t slot : in_row_[rows]) state[slot] = ValueNumber::kMissing;
    state[plan.open] = 0;
    return violated;
}

void RuleTracker::remember(std::span<Wide> state, const RowPlan& rows, Wide what) const {
    const auto list = static_cast<std::uint32_t>(state[rows.history]);
    state[rows.history] = lists_.extended(list, static_cast<std::uint32_t>(what));
}

void RuleTracker::count(std::span<Wide> state, std::uint32_t index, std::uint32_t value) {
    const FieldPlan& field = plan_.fields[index];
    if (field.count && state[*field.count] < forgetting_.most_count(index)) ++state[*field.count];
    if (!field.all || !is_readable(value)) return;
    const auto list = static_cast<std::uint32_t>(state[*field.all]);
    // Of a field that is no list, only the set of values matters.
    state[*field.all] = field.many ? lists_.extended(list, value) : lists_.joined(list, value);
}

void RuleTracker::extend_list(std::span<Wide> state, std::uint32_t field, std::uint32_t value) {
    const FieldPlan& f = plan_.fields[field];
    const bool first = f.readable && !seen(state, field);
    if (f.readable) state[*f.readable] |= is_readable(value) ? 1 : 2;
    if (!is_readable(value) || !f.numbers) return;
    if (unsure_[field]) {
        keep_apart(state, f, value);
        return;
    }
    const Outcome number = tables_.lookups[*f.numbers].at(value);
    const bool known = number.state == Outcome::kKnown;
    if (f.sum) {
        Wide& sum = state[*f.sum];
        if (!known || sum == Program::kUnsure || add_overflows(sum, number.number, sum))
            sum = Program::kUnsure;
    }
    const auto extend_extreme = [&](FieldPlan::Slot slot, auto beats) {
        if (!slot) return;
        Wide& extreme = state[*slot];
        if (!known || (!first && extreme == Program::kUnsure))
            extreme = Program::kUnsure;
        else if (first || beats(number.number, extreme))
            extreme = number.number;
    };
    extend_extreme(f.least, std::less<>());
    extend_extreme(f.greatest, std::greater<>());
}

/// Replaces a sum, least or greatest number that is not known by the number of the list itself.
/// Python will decide, and it sees all values, so different lists must have different states.
void RuleTracker::keep_apart(std::span<Wide> state, const FieldPlan& field, std::uint32_t value) {
    for (const FieldPlan::Slot slot : {field.sum, field.least, field.greatest}) {
        if (!slot) continue;
        Wide& kept = state[*slot];
        const Wide list = kept == 0 ? Wide{0} : kept - Program::kUnsure;
        kept = Program::kUnsure + lists_.extended(static_cast<std::uint32_t>(list), value);
    }
}

double RuleTracker::extend_single(std::span<Wide> state, std::uint32_t field, std::uint32_t value) {
    const FieldPlan& f = plan_.fields[field];
    if (!f.first) return 0;
    Wide& first = state[*f.first];
    if (!is_readable(value)) {
        if (first == ValueNumber::kMissing && f.has_default) first = ValueNumber::kUnreadable;
        return 0;
    }
    if (!seen(state, field)) {
        first = value;
        double violated = 0;
        for (const std::uint32_t r : early_[field])
            if (const RulePlan& rule = plan_.rules[r]; decided(rule, state))
                violated += price(rule, outcome_of(rule, state));
        if (forgetting_.forgets_first(field)) first = ValueNumber::kFirst;
        return violated;
    }
    if (!f.disagrees || state[*f.disagrees] != 0) return 0;
    if (tables_.equal(f, static_cast<std::uint32_t>(first), value)) return 0;
    state[*f.disagrees] = 1;
    return f.disagreement;
}

double RuleTracker::begin(std::span<const Wide> state) const {
    double violated = 0;
    for (const RulePlan& rule : plan_.rules)
        if (rule.early && rule.fields.empty()) violated += price(rule, outcome_of(rule, state));
    return violated;
}

double RuleTracker::finish(std::span<const Wide> state) const {
    double violated = 0;
    for (std::uint32_t field = 0; field < plan_.fields.size(); ++field)
        if (tables_.missing[field] > 0 && !seen(state, field)) violated += tables_.missing[field];
    for (const RulePlan& rule : plan_.rules)
        if (!decided(rule, state)) violated += price(rule, outcome_of(rule, state));
    if (plan_.rows.empty()) return violated;
    std::vector<Wide> last(state.begin(), state.end());
    for (std::uint32_t rows = 0; rows < plan_.rows.size(); ++rows)
        violated += close_row(last, rows);
    return violated;
}

bool RuleTracker::seen(std::span<const Wide> state, std::uint32_t field) const {
    return is_seen(plan_.fields[field], state);
}

bool RuleTracker::decided(const RulePlan& rule, std::span<const Wide> state) const {
    return rule.early && std::all_of(rule.fields.begin(), rule.fields.end(),
                                     [&](std::uint32_t field) { return seen(state, field); });
}

Outcome RuleTracker::outcome_of(const RulePlan& rule, std::span<const Wide> state) const {
    return rule.any.empty() ? rule.program.run(state, tables_.lookups) : any_of(rule, state);
}

double RuleTracker::price(const RulePlan& rule, const Outcome& outcome) const {
    if (outcome.state == Outcome::kUnsure) undecided_ = true;
    if (outcome.state == Outcome::kMissing) return rule.unchecked;
    return outcome.is(false) ? rule.weight : 0;
}

/// The first true or unsure outcome of a combination of values; without one, false if any is
/// false, else missing or idle.
Outcome RuleTracker::any_of(const RulePlan& rule, std::span<const Wide> state) const {
    std::vector<std::vector<std::uint32_t>> values;  // by field of `any`
    std::vector<std::size_t> chosen;
    std::size_t combinations = 1;
    for (const std::uint32_t field : rule.any) {
        const FieldPlan& f = plan_.fields[field];
        std::vector<std::uint32_t>& some = values.emplace_back();
        lists_.write(static_cast<std::uint32_t>(state[*f.all]), some);
        if (some.empty()) some.push_back(static_cast<std::uint32_t>(state[*f.first]));
        chosen.push_back(0);
        if (combinations > kMostCombinations / some.size()) return {0, Outcome::kUnsure};
        combinations *= some.size();
    }
    std::vector<Wide> now(state.begin(), state.end());
    Outcome best{0, Outcome::kIdle};
    for (;; --combinations) {
        for (std::size_t i = 0; i < chosen.size(); ++i)
            now[*plan_.fields[rule.any[i]].first] = values[i][chosen[i]];
        const Outcome outcome = rule.program.run(now, tables_.lookups);
        if (outcome.is(true) || outcome.state == Outcome::kUnsure) return outcome;
        if (outcome.is(false) || best.state == Outcome::kIdle) best = outcome;
        if (combinations == 1) return best;
        for (std::size_t i = 0; ++chosen[i] == values[i].size(); ++i) chosen[i] = 0;
    }
}

}  // namespace lawful
