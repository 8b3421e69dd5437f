#include "rules/forgetting.hpp"

#include <algorithm>
#include <limits>

namespace lawful {

namespace {

constexpr Wide kAny = std::numeric_limits<std::int64_t>::max();

bool compares(Op op) { return op >= Op::kEqual && op <= Op::kAtLeast; }

/// The largest number that a program compares the count in a slot with, or kAny if it uses the
/// count in another way.
Wide most_compared(const Program& program, std::uint32_t slot) {
    const auto& code = program.instructions();
    Wide most = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (code[i].op == Op::kOfList && (code[i].index == slot || code[i].operand == slot))
            return kAny;
        if (code[i].op != Op::kSlot || code[i].index != slot) continue;
        // The count and a constant, in either order, and the comparison of the two.
        const bool then = i + 2 < code.size() && code[i + 1].op == Op::kConstant;
        const bool before = i > 0 && i + 1 < code.size() && code[i - 1].op == Op::kConstant;
        const std::size_t constant = then ? i + 1 : i - 1, compare = then ? i + 2 : i + 1;
        if (!(then || before) || !compares(code[compare].op)) return kAny;
        const Wide number = program.constants()[code[constant].index];
        const Wide tolerance = program.constants()[code[compare].index];
        if (number >= kAny / 4 || tolerance >= kAny / 4) return kAny;
        most = std::max(most, number + tolerance + 1);
    }
    return most;
}

}  // namespace

Forgetting::Forgetting(const Plan& plan, const DocumentTables& tables)
    : plan_(plan), most_count_(plan.fields.size(), kAny) {
    for (std::uint32_t field = 0; field < plan.fields.size(); ++field)
        first_.push_back(only_decides(field, tables));
    limit_counts();
}

void Forgetting::limit_counts() {
    for (std::uint32_t field = 0; field < plan_.fields.size(); ++field) {
        const FieldPlan& f = plan_.fields[field];
        if (!f.count || f.whole) continue;
        Wide most = 1;
        for (const RulePlan& rule : plan_.rules)
            most = std::max(most, most_compared(rule.program, *f.count));
        most_count_[field] = most;
    }
}

/// Whether the first value of a field decides rules when it occurs, and is not looked at again.
bool Forgetting::only_decides(std::uint32_t field, const DocumentTables& tables) const {
    const FieldPlan& f = plan_.fields[field];
    if (f.many || !f.first || f.disagrees || f.whole) return false;
    return std::all_of(plan_.rules.begin(), plan_.rules.end(), [&](const RulePlan& rule) {
        const std::vector<std::uint32_t> read = slots_of(rule.program, tables);
        const bool reads = std::find(read.begin(), read.end(), *f.first) != read.end();
        const auto& code = rule.program.instructions();
        const bool unsure = std::any_of(code.begin(), code.end(), [&](const Instruction& each) {
            return each.op == Op::kLookup && tables.lookups[each.index].has_unsure();
        });
        const bool any = std::find(rule.any.begin(), rule.any.end(), field) != rule.any.end();
        const bool alone = rule.early && rule.fields.size() == 1 && rule.fields[0] == field;
        // Of a rule that is left to Python, different values must lead to different states.
        return !any && (!reads || (alone && !unsure));
    });
}

void Forgetting::apply(std::span<Wide> state) const {
    for (std::uint32_t field = 0; field < plan_.fields.size(); ++field) {
        const FieldPlan& f = plan_.fields[field];
        if (f.count) state[*f.count] = std::min(state[*f.count], most_count_[field]);
        if (first_[field]) state[*f.first] = std::min(state[*f.first], Wide{ValueNumber::kFirst});
    }
}

}  // namespace lawful
