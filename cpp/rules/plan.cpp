#include "rules/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace lawful {

namespace {

constexpr std::size_t kSlotsOfField = 12;
constexpr std::size_t kSlotsOfRows = 3;
constexpr std::size_t kSlotsOfList = 5;

void require(bool condition, const std::string& claim) {
    if (!condition) throw std::invalid_argument(claim);
}

bool is_cost(double cost) { return cost >= 0; }

/// The slot that says whether a field has occurred with a readable value.
FieldPlan::Slot presence_of(const FieldPlan& field) {
    return field.many ? field.readable : field.first;
}

std::size_t row_index(const Plan& plan, const RowPlan& rows) {
    return static_cast<std::size_t>(&rows - plan.rows.data());
}

/// The field that has this slot in the open row of a kind, or the number of fields.
std::size_t field_in_row(const Plan& plan, const RowPlan& rows, std::uint32_t slot) {
    const auto has = [&](const FieldPlan& f) {
        return f.rows == row_index(plan, rows) && f.in_row == slot;
    };
    return static_cast<std::size_t>(std::find_if(plan.fields.begin(), plan.fields.end(), has) -
                                    plan.fields.begin());
}

void check_slots(const Plan& plan) {
    std::size_t most = kSlotsOfField * plan.fields.size() + kSlotsOfRows * plan.rows.size() +
                       plan.orders.size() + 1;
    for (const RowPlan& rows : plan.rows)
        most +=
            2 * rows.sums.size() + (rows.section ? kSlotsOfList * rows.section->held.size() : 0);
    require(plan.slots <= most, "a plan has more slots than its fields can have");
    std::vector<bool> taken(plan.slots);
    const auto take = [&](std::uint32_t slot) {
        require(slot < plan.slots, "a slot is out of range");
        require(!taken[slot], "two slots are the same");
        taken[slot] = true;
    };
    for (const RowPlan& rows : plan.rows) {
        take(rows.open);
        take(rows.history);
        for (const auto& [now, before] : rows.previous) take(before);
        const auto is_own = [&](std::uint32_t field) {
            return field < plan.fields.size() && plan.fields[field].rows == row_index(plan, rows);
        };
        require(rows.starter ? is_own(*rows.starter) : rows.section.has_value(),
                "a row starts with a field that is not in it");
        for (const RowSum& sum : rows.sums) {
            take(sum.readable);
            take(sum.sum);
        }
        if (!rows.section) continue;
        take(rows.section->ended);
        require(!rows.section->ender || is_own(*rows.section->ender),
                "a section ends with a field that is not in it");
        for (const auto& [field, slots] : rows.section->held) {
            require(field < plan.fields.size(), "a section has values of a field out of range");
            for (const FieldPlan::Slot slot :
                 {slots.count, slots.readable, slots.sum, slots.least, slots.greatest})
                if (slot) take(*slot);
        }
    }
    for (const OrderPlan& order : plan.orders) {
        take(order.slot);
        require(order.ranks.size() == plan.fields.size(), "an order has no rank for some field");
        require(is_cost(order.weight), "an order costs less than nothing");
    }
    if (plan.constant) take(*plan.constant);
    for (const FieldPlan& f : plan.fields) {
        require(is_cost(f.disagreement), "a disagreement costs less than nothing");
        for (const std::uint32_t slot : slots_of(f)) take(slot);
        require(!f.rows || *f.rows < plan.rows.size(), "a kind of rows is out of range");
        require(!f.in_row || f.rows, "a field in no row has a slot in a row");
    }
    for (const RowPlan& rows : plan.rows)
        for (const auto& [now, before] : rows.previous)
            require(field_in_row(plan, rows, now) < plan.fields.size(),
                    "a value of the row before is that of no field");
    for (const RowPlan& rows : plan.rows)
        for (const auto& [slot, weight] : rows.required)
            require(field_in_row(plan, rows, slot) < plan.fields.size() && is_cost(weight),
                    "a value that a row needs is that of no field");
}

void check_program(const Program& program, const Plan& plan) {
    for (const Instruction& instruction : program.instructions()) {
        const bool reads = instruction.op == Op::kSlot || instruction.op == Op::kOfList;
        require(!reads || instruction.index < plan.slots, "a program reads a slot out of range");
        require(instruction.op != Op::kOfList || instruction.operand < plan.slots,
                "a program reads a slot out of range");
    }
}

void check_rule(const RulePlan& rule, const Plan& plan) {
    require(is_cost(rule.weight) && is_cost(rule.unchecked), "a rule costs less than nothing");
    check_program(rule.program, plan);
    for (const std::uint32_t field : rule.fields) {
        require(field < plan.fields.size(), "a rule reads a field out of range");
        require(!rule.early || presence_of(plan.fields[field]),
                "an early rule reads a field without the slot of its first value");
    }
    for (const std::uint32_t field : rule.any) {
        require(field < plan.fields.size(), "a rule reads a field out of range");
        const FieldPlan& f = plan.fields[field];
        require(!f.many && f.first && f.all, "a rule takes any value of a field without slots");
    }
}

void check_term(const Term& term, const Plan& plan) {
    require(term.field < plan.fields.size(), "an equation reads a field out of range");
    const FieldPlan& f = plan.fields[term.field];
    const bool has_slots = term.kind == Term::Kind::kFirst   ? !f.many && f.first
                           : term.kind == Term::Kind::kCount ? f.count.has_value()
                                                             : f.many && f.readable && f.sum;
    require(has_slots, "an equation reads a field without slots");
}

/// Requires a lookup that has an outcome for every value of a field.
void check_lookup(std::size_t index, std::uint32_t field, const DocumentTables& tables,
                  std::span<const std::uint32_t> most) {
    require(index < tables.lookups.size(), "a lookup is out of range");
    const std::uint32_t last = std::max(most[field], ValueNumber::kUnreadable);
    require(last < tables.lookups[index].size(), "a lookup has too few outcomes for its field");
}

void check_kept(const DocumentTables& tables, const Plan& plan) {
    require(tables.kept.empty() || tables.kept.size() == plan.fields.size(),
            "a plan has another number of fields than the document");
    for (std::size_t field = 0; field < tables.kept.size(); ++field) {
        std::uint32_t last = 0;
        for (const KeptPlace& place : tables.kept[field]) {
            require(plan.fields[field].kept.has_value(),
                    "a field with places has no slot for them");
            require(last <= place.start && place.start < place.end, "places are not in order");
            last = place.end;
        }
    }
}

}  // namespace

bool sums_a_list(const Equation& equation) {
    return std::ranges::any_of(equation.terms,
                               [](const Term& term) { return term.kind != Term::Kind::kFirst; });
}

std::vector<std::uint32_t> slots_of(const FieldPlan& field) {
    std::vector<std::uint32_t> slots;
    for (const FieldPlan::Slot slot :
         {field.first, field.disagrees, field.count, field.readable, field.sum, field.least,
          field.greatest, field.all, field.places, field.in_row, field.kept})
        if (slot) slots.push_back(*slot);
    return slots;
}

std::vector<std::uint32_t> slots_of(const Program& program, const DocumentTables& tables) {
    std::vector<std::uint32_t> slots;
    for (const Instruction& instruction : program.instructions()) {
        if (instruction.op == Op::kLookup)
            slots.push_back(tables.lookups[instruction.index].slot());
        if (instruction.op == Op::kSlot || instruction.op == Op::kOfList)
            slots.push_back(instruction.index);
        if (instruction.op == Op::kOfList) slots.push_back(instruction.operand);
    }
    return slots;
}

void check(const Plan& plan) {
    check_slots(plan);
    for (const RulePlan& rule : plan.rules) check_rule(rule, plan);
    for (const RowPlan& rows : plan.rows) {
        for (const RulePlan& rule : rows.rules) check_rule(rule, plan);
        for (const RowSum& sum : rows.sums) check_program(sum.condition, plan);
    }
    for (const Equation& equation : plan.equations) {
        require(is_cost(equation.weight) && is_cost(equation.unchecked) && equation.tolerance >= 0,
                "an equation costs less than nothing");
        for (const Term& term : equation.terms) check_term(term, plan);
    }
}

void check(const DocumentTables& tables, const Plan& plan, std::span<const std::uint32_t> most) {
    const std::size_t size = plan.fields.size();
    require(tables.missing.size() == size && most.size() == size,
            "a plan has another number of fields than the document");
    for (std::uint32_t field = 0; field < size; ++field) {
        const FieldPlan& f = plan.fields[field];
        require(is_cost(tables.missing[field]), "a missing field costs less than nothing");
        require(tables.missing[field] == 0 || presence_of(f),
                "a field that may not be missing has no slot of its first value");
        if (f.numbers) check_lookup(*f.numbers, field, tables, most);
        if (f.equal) check_lookup(*f.equal, field, tables, most);
    }
    check_kept(tables, plan);
    for (const Equation& equation : plan.equations)
        for (const Term& term : equation.terms)
            if (term.kind != Term::Kind::kCount)
                check_lookup(term.lookup, term.field, tables, most);
    std::vector<std::uint32_t> field_of(plan.slots, static_cast<std::uint32_t>(size));
    for (std::uint32_t field = 0; field < size; ++field)
        for (const FieldPlan::Slot slot : {plan.fields[field].first, plan.fields[field].in_row})
            if (slot) field_of[*slot] = field;
    for (const RowPlan& rows : plan.rows)
        for (const auto& [now, before] : rows.previous) field_of[before] = field_of[now];
    const auto check_program = [&](const Program& program) {
        for (const Instruction& instruction : program.instructions()) {
            if (instruction.op != Op::kLookup) continue;
            require(instruction.index < tables.lookups.size(), "a lookup is out of range");
            const std::uint32_t slot = tables.lookups[instruction.index].slot();
            if (slot == plan.constant) {
                require(tables.lookups[instruction.index].size() > ValueNumber::kMissing,
                        "a lookup has no outcome");
                continue;
            }
            require(slot < plan.slots && field_of[slot] < size,
                    "the slot of a lookup is not the first value of a field");
            check_lookup(instruction.index, field_of[slot], tables, most);
        }
    };
    for (const RulePlan& rule : plan.rules) check_program(rule.program);
    for (const RowPlan& rows : plan.rows) {
        for (const RulePlan& rule : rows.rules) check_program(rule.program);
        for (const RowSum& sum : rows.sums) {
            check_program(sum.condition);
            require(sum.lookup < tables.lookups.size(), "a lookup is out of range");
            const std::uint32_t slot = tables.lookups[sum.lookup].slot();
            require(slot < plan.slots && field_of[slot] < size, "a sum is that of no field");
            check_lookup(sum.lookup, field_of[slot], tables, most);
        }
    }
}

}  // namespace lawful
