#include "rules/plan.hpp"

#include <algorithm>

namespace lawful {

std::uint32_t Lists::extended(std::uint32_t list, std::uint32_t value) {
    for (std::uint32_t child = entries_[list].child; child != 0; child = entries_[child].sibling)
        if (entries_[child].value == value) return child;
    const auto made = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({list, value, 0, entries_[list].child});
    return entries_[list].child = made;
}

std::uint32_t Lists::joined(std::uint32_t set, std::uint32_t value) {
    const std::uint32_t whole = set;
    std::vector<std::uint32_t> larger;
    for (; set != 0 && entries_[set].value > value; set = entries_[set].list)
        larger.push_back(entries_[set].value);
    if (set != 0 && entries_[set].value == value) return whole;
    set = extended(set, value);
    for (std::size_t i = larger.size(); i-- > 0;) set = extended(set, larger[i]);
    return set;
}

void Lists::write(std::uint32_t list, std::vector<std::uint32_t>& values) const {
    for (; list != 0; list = entries_[list].list) values.push_back(entries_[list].value);
}

Follower::Follower(const Plan& plan, const Facts& facts)
    : plan_(plan), facts_(facts), early_(plan.fields.size()) {
    for (const FieldPlan& f : plan.fields)
        remembers_.push_back(std::max({f.first, f.count, f.readable, f.sum, f.least, f.greatest,
                                       f.all}) != FieldPlan::kNoSlot);
    for (const FieldPlan& f : plan.fields) {
        const bool numbered = f.numbers != FieldPlan::kNoSlot;
        unsure_.push_back(
            numbered && std::ranges::count(facts.lookups[f.numbers].states, Outcome::kUnsure) > 0);
    }
    for (std::uint32_t r = 0; r < plan.rules.size(); ++r)
        if (plan.rules[r].early)
            for (const std::uint32_t field : plan.rules[r].fields) early_[field].push_back(r);
}

double Follower::extend(std::span<Wide> memory, std::uint32_t field, std::uint32_t value) {
    const FieldPlan& f = plan_.fields[field];
    const auto slot = [&](std::int32_t index) -> Wide& { return memory[index]; };
    double violated = 0;
    if (f.count != FieldPlan::kNoSlot) ++slot(f.count);
    if (f.all != FieldPlan::kNoSlot && value != 0) {
        const auto list = static_cast<std::uint32_t>(slot(f.all));
        // Of a field that is no list, only which values there are counts.
        slot(f.all) = f.many ? lists_.extended(list, value) : lists_.joined(list, value);
    }
    if (f.many) {
        const bool first = f.readable != FieldPlan::kNoSlot && (slot(f.readable) & 1) == 0;
        if (f.readable != FieldPlan::kNoSlot) slot(f.readable) |= value != 0 ? 1 : 2;
        if (value == 0 || f.numbers == FieldPlan::kNoSlot) return 0;
        if (unsure_[field]) {
            // Somebody else decides, who sees all values: so no two lists may be mixed up.
            for (const std::int32_t index : {f.sum, f.least, f.greatest}) {
                if (index == FieldPlan::kNoSlot) continue;
                const Wide list = slot(index) == 0 ? Wide{0} : slot(index) - Program::kUnsure;
                slot(index) =
                    Program::kUnsure + lists_.extended(static_cast<std::uint32_t>(list), value);
            }
            return 0;
        }
        const Outcome number = facts_.lookups[f.numbers].at(value);
        if (f.sum != FieldPlan::kNoSlot) {
            Wide& sum = slot(f.sum);
            const bool known = number.state == Outcome::kKnown && sum != Program::kUnsure;
            sum = known ? sum + number.number : Program::kUnsure;
        }
        for (const auto& [index, least] : {std::pair{f.least, true}, {f.greatest, false}}) {
            if (index == FieldPlan::kNoSlot) continue;
            Wide& extreme = slot(index);
            const Wide now = number.number;
            if (number.state != Outcome::kKnown || (!first && extreme == Program::kUnsure))
                extreme = Program::kUnsure;
            else if (first || (least ? now < extreme : now > extreme))
                extreme = now;
        }
        return 0;
    }
    if (f.first == FieldPlan::kNoSlot) return 0;
    if (value == 0) {
        if (slot(f.first) == kMissing && f.has_default) slot(f.first) = kUnreadable;
        return 0;
    }
    if (slot(f.first) < kFirstValue) {
        slot(f.first) = value;
        for (const std::uint32_t r : early_[field])
            if (decided(plan_.rules[r], memory)) violated += price(plan_.rules[r], memory);
    } else if (f.disagrees != FieldPlan::kNoSlot && slot(f.first) != value &&
               slot(f.disagrees) == 0) {
        slot(f.disagrees) = 1;
        violated += f.disagreement;
    }
    return violated;
}

double Follower::begin(std::span<const Wide> memory) const {
    double violated = 0;
    for (const RulePlan& rule : plan_.rules)
        if (rule.early && rule.fields.empty()) violated += price(rule, memory);
    return violated;
}

double Follower::finish(std::span<const Wide> memory) const {
    double violated = 0;
    for (std::uint32_t field = 0; field < plan_.fields.size(); ++field)
        if (facts_.missing[field] > 0 && !seen(memory, field)) violated += facts_.missing[field];
    for (const RulePlan& rule : plan_.rules)
        if (!decided(rule, memory)) violated += price(rule, memory);
    return violated;
}

bool Follower::seen(std::span<const Wide> memory, std::uint32_t field) const {
    const FieldPlan& f = plan_.fields[field];
    return f.many ? (memory[f.readable] & 1) != 0 : memory[f.first] >= kFirstValue;
}

bool Follower::decided(const RulePlan& rule, std::span<const Wide> memory) const {
    return rule.early && std::all_of(rule.fields.begin(), rule.fields.end(),
                                     [&](std::uint32_t field) { return seen(memory, field); });
}

double Follower::price(const RulePlan& rule, std::span<const Wide> memory) const {
    const Outcome outcome =
        rule.any.empty() ? rule.program.run(memory, facts_.lookups) : any_of(rule, memory);
    if (outcome.state == Outcome::kUnsure) undecided_ = true;
    if (outcome.state == Outcome::kMissing) return rule.unchecked;
    return outcome.is(false) ? rule.weight : 0;
}

/// True if one combination of values is; else false if one is; else missing, or idle.
Outcome Follower::any_of(const RulePlan& rule, std::span<const Wide> memory) const {
    std::vector<std::vector<std::uint32_t>> values;  // by field, those to choose from
    std::vector<std::size_t> chosen;
    std::size_t combinations = 1;
    for (const std::uint32_t field : rule.any) {
        const FieldPlan& f = plan_.fields[field];
        std::vector<std::uint32_t>& some = values.emplace_back();
        lists_.write(static_cast<std::uint32_t>(memory[f.all]), some);
        if (some.empty()) some.push_back(static_cast<std::uint32_t>(memory[f.first]));
        chosen.push_back(0);
        if (combinations > kMostCombinations / some.size()) return {0, Outcome::kUnsure};
        combinations *= some.size();
    }
    std::vector<Wide> now(memory.begin(), memory.end());
    Outcome best{0, Outcome::kIdle};
    for (;; --combinations) {
        for (std::size_t i = 0; i < chosen.size(); ++i)
            now[plan_.fields[rule.any[i]].first] = values[i][chosen[i]];
        const Outcome outcome = rule.program.run(now, facts_.lookups);
        if (outcome.is(true) || outcome.state == Outcome::kUnsure) return outcome;
        if (outcome.is(false) || best.state == Outcome::kIdle) best = outcome;
        if (combinations == 1) return best;
        for (std::size_t i = 0; ++chosen[i] == values[i].size(); ++i) chosen[i] = 0;
    }
}

}  // namespace lawful
