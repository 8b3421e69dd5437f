// Compiled rules for Python: programs, equations and plans, and the lookups of a document.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "python/module.hpp"
#include "python/wide.hpp"
#include "rules/plan.hpp"
#include "rules/program.hpp"

namespace lawful {
namespace {

using namespace nb::literals;

using Indices = std::vector<std::uint32_t>;

void bind_programs(nb::module_& m) {
    nb::enum_<Op>(m, "Op")
        .value("constant", Op::kConstant)
        .value("absent", Op::kAbsent)
        .value("idle", Op::kIdle)
        .value("lookup", Op::kLookup)
        .value("slot", Op::kSlot)
        .value("of_list", Op::kOfList)
        .value("scale", Op::kScale)
        .value("add", Op::kAdd)
        .value("subtract", Op::kSubtract)
        .value("multiply", Op::kMultiply)
        .value("negate", Op::kNegate)
        .value("abs", Op::kAbs)
        .value("round", Op::kRound)
        .value("least", Op::kLeast)
        .value("greatest", Op::kGreatest)
        .value("equal", Op::kEqual)
        .value("unequal", Op::kUnequal)
        .value("below", Op::kBelow)
        .value("at_most", Op::kAtMost)
        .value("above", Op::kAbove)
        .value("at_least", Op::kAtLeast)
        .value("and_", Op::kAnd)
        .value("or_", Op::kOr)
        .value("not_", Op::kNot)
        .value("choose", Op::kChoose);
    nb::class_<Instruction>(m, "Instruction")
        .def(
            "__init__",
            [](Instruction* self, Op op, std::uint16_t operand, std::uint32_t index) {
                new (self) Instruction{op, operand, index};
            },
            "op"_a, "operand"_a = 0, "index"_a = 0)
        .def_ro("op", &Instruction::op)
        .def_ro("operand", &Instruction::operand)
        .def_ro("index", &Instruction::index);
    nb::class_<Program>(m, "Program")
        .def(
            "__init__",
            [](Program* self, std::vector<Instruction> instructions,
               const std::vector<nb::int_>& constants) {
                std::vector<Wide> numbers;
                for (const nb::int_& constant : constants) {
                    numbers.emplace_back();
                    if (!read_wide(constant.ptr(), numbers.back())) raise_too_wide(constant);
                }
                new (self) Program(std::move(instructions), std::move(numbers));
            },
            "instructions"_a, "constants"_a)
        .def_prop_ro("instructions", &Program::instructions)
        .def_prop_ro("constants", &Program::constants);
}

void bind_lookups(nb::module_& m) {
    m.attr("SCALE") = kScale;
    m.attr("MISSING") = ValueNumber::kMissing;
    m.attr("UNREADABLE") = ValueNumber::kUnreadable;
    m.attr("FIRST_VALUE") = ValueNumber::kFirst;
    m.attr("NUMBER_LIMIT") = nb::cast(Program::kUnsure);
    nb::enum_<Outcome::State>(m, "OutcomeState")
        .value("known", Outcome::kKnown)
        .value("missing", Outcome::kMissing)
        .value("unsure", Outcome::kUnsure)
        .value("idle", Outcome::kIdle);
    nb::class_<Lookup>(m, "Lookup")
        .def(nb::init<std::uint32_t>(), "slot"_a)
        .def(
            "append",
            [](Lookup& self, Outcome::State state, Wide number) { self.append({number, state}); },
            "state"_a, "number"_a = Wide{0})
        .def("__len__", &Lookup::size);
}

void bind_plans(nb::module_& m) {
    nb::class_<FieldPlan>(m, "FieldPlan")
        .def(
            "__init__",
            [](FieldPlan* self, bool many, bool has_default, double disagreement,
               FieldPlan::Slot first, FieldPlan::Slot disagrees, FieldPlan::Slot count,
               FieldPlan::Slot readable, FieldPlan::Slot sum, FieldPlan::Slot least,
               FieldPlan::Slot greatest, FieldPlan::Slot all, FieldPlan::Slot places,
               FieldPlan::Slot in_row, FieldPlan::Slot kept, std::optional<std::uint32_t> rows,
               std::optional<std::uint32_t> numbers, std::optional<std::uint32_t> equal,
               bool whole) {
                new (self) FieldPlan{.many = many,
                                     .has_default = has_default,
                                     .first = first,
                                     .disagrees = disagrees,
                                     .count = count,
                                     .readable = readable,
                                     .sum = sum,
                                     .least = least,
                                     .greatest = greatest,
                                     .all = all,
                                     .places = places,
                                     .in_row = in_row,
                                     .kept = kept,
                                     .rows = rows,
                                     .numbers = numbers,
                                     .equal = equal,
                                     .disagreement = disagreement,
                                     .whole = whole};
            },
            nb::kw_only(), "many"_a, "has_default"_a, "disagreement"_a, "first"_a = nb::none(),
            "disagrees"_a = nb::none(), "count"_a = nb::none(), "readable"_a = nb::none(),
            "sum"_a = nb::none(), "least"_a = nb::none(), "greatest"_a = nb::none(),
            "all"_a = nb::none(), "places"_a = nb::none(), "in_row"_a = nb::none(),
            "kept"_a = nb::none(), "rows"_a = nb::none(), "numbers"_a = nb::none(),
            "equal"_a = nb::none(), "whole"_a = false);
    nb::class_<RulePlan>(m, "RulePlan")
        .def(
            "__init__",
            [](RulePlan* self, Program program, double weight, double unchecked, Indices fields,
               bool early, Indices any) {
                new (self) RulePlan{std::move(program), weight, unchecked,
                                    std::move(fields),  early,  std::move(any)};
            },
            nb::kw_only(), "program"_a, "weight"_a, "unchecked"_a, "fields"_a, "early"_a, "any"_a);
    nb::class_<ListSlots>(m, "ListSlots")
        .def(
            "__init__",
            [](ListSlots* self, FieldPlan::Slot count, FieldPlan::Slot readable,
               FieldPlan::Slot sum, FieldPlan::Slot least, FieldPlan::Slot greatest) {
                new (self) ListSlots{count, readable, sum, least, greatest};
            },
            nb::kw_only(), "count"_a = nb::none(), "readable"_a = nb::none(), "sum"_a = nb::none(),
            "least"_a = nb::none(), "greatest"_a = nb::none());
    nb::class_<SectionPlan>(m, "SectionPlan")
        .def(
            "__init__",
            [](SectionPlan* self, bool by_page, std::optional<std::uint32_t> ender,
               std::uint32_t ended, std::vector<std::pair<std::uint32_t, ListSlots>> held) {
                new (self) SectionPlan{by_page, ender, ended, std::move(held)};
            },
            nb::kw_only(), "by_page"_a, "ender"_a = nb::none(), "ended"_a, "held"_a);
    nb::class_<RowSum>(m, "RowSum")
        .def(
            "__init__",
            [](RowSum* self, Program condition, std::uint32_t lookup, std::uint32_t readable,
               std::uint32_t sum) {
                new (self) RowSum{std::move(condition), lookup, readable, sum};
            },
            nb::kw_only(), "condition"_a, "lookup"_a, "readable"_a, "sum"_a);
    nb::class_<RowPlan>(m, "RowPlan")
        .def(
            "__init__",
            [](RowPlan* self, std::uint32_t open, std::uint32_t history,
               std::optional<std::uint32_t> starter, bool always, std::vector<RulePlan> rules,
               std::vector<std::pair<std::uint32_t, std::uint32_t>> previous, bool remembers,
               std::vector<std::pair<std::uint32_t, double>> required, std::vector<RowSum> sums,
               std::optional<SectionPlan> section) {
                new (self) RowPlan{open,
                                   history,
                                   starter,
                                   always,
                                   std::move(rules),
                                   std::move(previous),
                                   remembers,
                                   std::move(required),
                                   std::move(sums),
                                   std::move(section)};
            },
            nb::kw_only(), "open"_a, "history"_a, "starter"_a.none(), "always"_a, "rules"_a,
            "previous"_a, "remembers"_a,
            "required"_a = std::vector<std::pair<std::uint32_t, double>>(),
            "sums"_a = std::vector<RowSum>(), "section"_a = nb::none());
    nb::class_<OrderPlan>(m, "OrderPlan")
        .def(
            "__init__",
            [](OrderPlan* self, std::uint32_t slot, Indices ranks, double weight) {
                new (self) OrderPlan{slot, std::move(ranks), weight};
            },
            nb::kw_only(), "slot"_a, "ranks"_a, "weight"_a);
    nb::enum_<Term::Kind>(m, "TermKind")
        .value("first", Term::Kind::kFirst)
        .value("sum", Term::Kind::kSum)
        .value("sum_or_zero", Term::Kind::kSumOrZero)
        .value("count", Term::Kind::kCount);
    nb::class_<Term>(m, "Term").def(
        "__init__",
        [](Term* self, Term::Kind kind, std::uint32_t field, std::uint32_t lookup,
           std::int64_t factor) { new (self) Term{kind, field, lookup, factor}; },
        nb::kw_only(), "kind"_a, "field"_a, "lookup"_a, "factor"_a);
    nb::class_<Equation>(m, "Equation")
        .def(
            "__init__",
            [](Equation* self, std::vector<Term> terms, Wide constant, Wide tolerance,
               double weight, double unchecked, bool early) {
                new (self)
                    Equation{std::move(terms), constant, tolerance, weight, unchecked, early};
            },
            nb::kw_only(), "terms"_a, "constant"_a, "tolerance"_a, "weight"_a, "unchecked"_a,
            "early"_a);
    nb::class_<Plan>(m, "Plan").def(
        "__init__",
        [](Plan* self, std::vector<FieldPlan> fields, std::size_t slots,
           std::vector<RulePlan> rules, std::vector<Equation> equations, std::vector<RowPlan> rows,
           std::vector<OrderPlan> orders, FieldPlan::Slot constant) {
            Plan plan{
                std::move(fields), slots,   std::move(rules), std::move(equations), std::move(rows),
                std::move(orders), constant};
            check(plan);
            new (self) Plan(std::move(plan));
        },
        nb::kw_only(), "fields"_a, "slots"_a, "rules"_a, "equations"_a,
        "rows"_a = std::vector<RowPlan>(), "orders"_a = std::vector<OrderPlan>(),
        "constant"_a = nb::none());
}

}  // namespace

void bind_rules(nb::module_& m) {
    bind_programs(m);
    bind_lookups(m);
    bind_plans(m);
}

}  // namespace lawful
