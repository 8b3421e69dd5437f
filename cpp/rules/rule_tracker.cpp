#include "rules/rule_tracker.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/costs.hpp"

namespace lawful {

RuleTracker::RuleTracker(const Plan& plan, const DocumentTables& tables)
    : plan_(plan),
      tables_(tables),
      forgetting_(plan, tables),
      early_(plan.fields.size()),
      in_row_(plan.rows.size()),
      sections_(plan.fields.size()) {
    for (std::uint32_t rows = 0; rows < plan.rows.size(); ++rows) {
        if (!plan.rows[rows].section) continue;
        for (const auto& [field, slots] : plan.rows[rows].section->held)
            sections_[field].push_back(rows);
        for (std::uint32_t field = 0; field < plan.fields.size(); ++field)
            if (plan.fields[field].rows == rows) sections_[field].push_back(rows);
    }
    for (const FieldPlan& f : plan.fields) {
        tracks_.push_back(f.first || f.count || f.readable || f.sum || f.least || f.greatest ||
                          f.all || f.places || f.rows || !sections_[tracks_.size()].empty());
        for (const OrderPlan& order : plan.orders)
            if (order.ranks[tracks_.size() - 1] != 0) tracks_.back() = true;
        if (f.in_row) in_row_[*f.rows].push_back(*f.in_row);
        if (const std::size_t i = tracks_.size() - 1; f.kept && i < tables.kept.size())
            if (!tables.kept[i].empty()) {
                kept_.push_back(static_cast<std::uint32_t>(i));
                tracks_.back() = true;
            }
        unsure_.push_back(f.numbers && tables.lookups[*f.numbers].has_unsure());
    }
    for (std::uint32_t r = 0; r < plan.rules.size(); ++r)
        if (plan.rules[r].early)
            for (const std::uint32_t field : plan.rules[r].fields) early_[field].push_back(r);
}

double RuleTracker::extend(std::span<Wide> state, const SpanPlace& place, std::uint32_t value) {
    if (lacks_before(state, place.start)) return kForbidden;
    keep(state, place, value);
    const FieldPlan& f = plan_.fields[place.field];
    const bool in_row = f.rows && !plan_.rows[*f.rows].section;
    double violated = in_row ? enter_row(state, place, value) : 0;
    for (const std::uint32_t rows : sections_[place.field])
        violated += enter_section(state, rows, place, value);
    for (const OrderPlan& order : plan_.orders) violated += follow(state, order, place.field);
    count(state, place.field, value);
    if (f.places) {
        Wide& places = state[*f.places];
        for (const std::uint32_t edge : {place.start, place.end})
            places = lists_.extended(static_cast<std::uint32_t>(places), edge);
    }
    if (f.many)
        extend_list(state, {{}, f.readable, f.sum, f.least, f.greatest}, place.field, value);
    else
        violated += extend_single(state, place.field, value);
    if (in_row && place.closes && by_number(plan_.rows[*f.rows]))
        violated += close_row(state, *f.rows);
    return violated;
}

/// Whether a place that must have a value ends before a word without one.
bool RuleTracker::lacks_before(std::span<const Wide> state, std::uint32_t word) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](std::uint32_t field) {
        const std::vector<KeptPlace>& places = tables_.kept[field];
        const auto met = static_cast<std::size_t>(state[*plan_.fields[field].kept]);
        return met < places.size() && places[met].end <= word;
    });
}

/// Counts the place that a value begins in, if it is the first one there.
void RuleTracker::keep(std::span<Wide> state, const SpanPlace& place, std::uint32_t value) const {
    if (!is_readable(value) || std::ranges::find(kept_, place.field) == kept_.end()) return;
    const std::vector<KeptPlace>& places = tables_.kept[place.field];
    Wide& met = state[*plan_.fields[place.field].kept];
    const auto next = static_cast<std::size_t>(met);
    if (next < places.size() && places[next].start <= place.start && place.start < places[next].end)
        ++met;
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

/// Adds a value of a section or of its rows to the open section, after closing this one if it ended
/// before the span.
double RuleTracker::enter_section(std::span<Wide> state, std::uint32_t index,
                                  const SpanPlace& place, std::uint32_t value) {
    const RowPlan& rows = plan_.rows[index];
    const SectionPlan& section = *rows.section;
    const bool starts = rows.starter == place.field;
    Wide& ended = state[section.ended];
    const Wide number = section.by_page ? Wide{place.page} : Wide{1};
    double violated = 0;
    if (starts || (section.by_page && state[rows.open] != number) ||
        (ended != 0 && (place.row == 0 || ended != Wide{place.row} + 1)))
        violated = close_row(state, index);
    if (number == 0 || (state[rows.open] == 0 && rows.starter && !starts)) return violated;
    if (rows.remembers) {
        if (state[rows.open] == 0) remember(state, rows, 0);
        remember(state, rows, Wide{value} * plan_.fields.size() + place.field + 1);
    }
    state[rows.open] = number;
    const FieldPlan& f = plan_.fields[place.field];
    if (f.rows == index && f.in_row && state[*f.in_row] < ValueNumber::kFirst)
        state[*f.in_row] = value;
    for (const auto& [field, slots] : section.held) {
        if (field != place.field) continue;
        if (slots.count) ++state[*slots.count];
        extend_list(state, slots, field, value);
    }
    if (section.ender == place.field && ended == 0) ended = Wide{place.row} + 1;
    if (ended != 0 && place.closes) violated += close_row(state, index);
    return violated;
}

/// Adds the open row to a sum of some rows; returns whether only Python knows what the sum is.
bool RuleTracker::add_up(std::span<Wide> state, const RowPlan& plan, const RowSum& sum) const {
    const Outcome chosen = sum.condition.run(state, tables_.lookups);
    Wide& readable = state[sum.readable];
    if (chosen.is(false)) {
        readable |= 1;
        return false;
    }
    const Lookup& lookup = tables_.lookups[sum.lookup];
    const Outcome value = lookup.at(static_cast<std::size_t>(state[lookup.slot()]));
    const bool lacks = chosen.state == Outcome::kMissing || value.state == Outcome::kMissing;
    readable |= lacks && chosen.state != Outcome::kUnsure ? 3 : 1;
    if (lacks && chosen.state != Outcome::kUnsure) return false;
    Wide& total = state[sum.sum];
    const bool known = chosen.state == Outcome::kKnown && value.state == Outcome::kKnown;
    if (known && total < Program::kUnsure && !add_overflows(total, value.number, total))
        return false;
    remember_all(state, plan, total);  // the rows before differ in nothing else
    total = Program::kUnsure;
    return true;
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
    for (const auto& [slot, weight] : plan.required)
        if (state[slot] < ValueNumber::kFirst) violated += weight;
    for (const RowSum& sum : plan.sums) unsure = add_up(state, plan, sum) || unsure;
    // Python will decide, and it sees all values, so different rows must have different states.
    if (unsure)
        for (const std::uint32_t slot : in_row_[rows]) remember(state, plan, state[slot]);
    if (plan.section) forget_section(state, plan, unsure);
    for (const auto& [now, before] : plan.previous) state[before] = state[now];
    for (const std::uint32_t slot : in_row_[rows]) state[slot] = ValueNumber::kMissing;
    state[plan.open] = 0;
    return violated;
}

/// Empties the lists of a section, after remembering them if Python has to judge it.
void RuleTracker::forget_section(std::span<Wide> state, const RowPlan& plan, bool unsure) const {
    state[plan.section->ended] = 0;
    for (const auto& [field, slots] : plan.section->held)
        for (const FieldPlan::Slot slot :
             {slots.count, slots.readable, slots.sum, slots.least, slots.greatest}) {
            if (!slot) continue;
            if (unsure) remember_all(state, plan, state[*slot]);
            state[*slot] = 0;
        }
}

void RuleTracker::remember(std::span<Wide> state, const RowPlan& rows, Wide what) const {
    const auto list = static_cast<std::uint32_t>(state[rows.history]);
    state[rows.history] = lists_.extended(list, static_cast<std::uint32_t>(what));
}

/// Remembers a number of any size.
void RuleTracker::remember_all(std::span<Wide> state, const RowPlan& rows, Wide what) const {
    constexpr Wide kPart = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t bits = 0; bits < 128; bits += 32) remember(state, rows, what >> bits & kPart);
}

void RuleTracker::count(std::span<Wide> state, std::uint32_t index, std::uint32_t value) {
    const FieldPlan& field = plan_.fields[index];
    if (field.count && state[*field.count] < forgetting_.most_count(index)) ++state[*field.count];
    if (!field.all || !is_readable(value)) return;
    const auto list = static_cast<std::uint32_t>(state[*field.all]);
    // Of a field that is no list, only the set of values matters.
    state[*field.all] = field.many ? lists_.extended(list, value) : lists_.joined(list, value);
}

void RuleTracker::extend_list(std::span<Wide> state, const ListSlots& slots, std::uint32_t field,
                              std::uint32_t value) const {
    const FieldPlan& f = plan_.fields[field];
    const bool first = slots.readable && (state[*slots.readable] & 1) == 0;
    if (slots.readable) state[*slots.readable] |= is_readable(value) ? 1 : 2;
    if (!is_readable(value) || !f.numbers) return;
    if (unsure_[field]) {
        keep_apart(state, slots, value);
        return;
    }
    const Outcome number = tables_.lookups[*f.numbers].at(value);
    const bool known = number.state == Outcome::kKnown;
    if (slots.sum) {
        Wide& sum = state[*slots.sum];
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
    extend_extreme(slots.least, std::less<>());
    extend_extreme(slots.greatest, std::greater<>());
}

/// Replaces a sum, least or greatest number that is not known by the number of the list itself.
/// Python will decide, and it sees all values, so different lists must have different states.
void RuleTracker::keep_apart(std::span<Wide> state, const ListSlots& slots,
                             std::uint32_t value) const {
    for (const FieldPlan::Slot slot : {slots.sum, slots.least, slots.greatest}) {
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
    if (lacks_before(state, std::numeric_limits<std::uint32_t>::max())) return kForbidden;
    std::vector<Wide> last(state.begin(), state.end());  // sums of some rows need the last row
    double violated = 0;
    for (std::uint32_t rows = 0; rows < plan_.rows.size(); ++rows)
        violated += close_row(last, rows);
    for (std::uint32_t field = 0; field < plan_.fields.size(); ++field)
        if (tables_.missing[field] > 0 && !seen(state, field)) violated += tables_.missing[field];
    for (const RulePlan& rule : plan_.rules)
        if (!decided(rule, last)) violated += price(rule, outcome_of(rule, last));
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
        if (combinations > kMaxCombinations / some.size()) return {0, Outcome::kUnsure};
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
