#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rules/program.hpp"

namespace lawful {

/// The slots of the state for one field, each present only if some rule needs it.
struct FieldPlan {
    using Slot = std::optional<std::uint32_t>;

    bool many = false;
    bool has_default = false;
    Slot first;      // the number of the first readable value
    Slot disagrees;  // 1 if another value occurred
    Slot count;      // occurrences of the field
    Slot readable;   // of a list: 1 if all texts were readable, 2 none, 3 some
    Slot sum;        // of a list, as numbers of the lookup below
    Slot least;
    Slot greatest;
    Slot all;     // the number of the list of all values; of the set, if the field is no list
    Slot places;  // the number of the list of the edges of all spans
    Slot in_row;  // the number of the first readable value in the open row
    Slot kept;    // how many of the places that must have a value have one
    std::optional<std::uint32_t> rows;     // the kind of rows that the field belongs to
    std::optional<std::uint32_t> numbers;  // the lookup that gives a list's values as numbers
    /// The lookup that gives equal values one number. Without it, values with different numbers
    /// differ; with it, they may also be the same number printed in two ways.
    std::optional<std::uint32_t> equal;
    double disagreement = 0;  // the cost of another value
    bool whole = false;       // all that the slots tell apart matters, also to rules in Python
};

/// A compiled rule.
struct RulePlan {
    Program program;
    double weight;     // the cost of violating it
    double unchecked;  // the cost if a value that it needs is missing
    /// The fields whose first value the rule reads. `early`: it reads nothing else, so it is
    /// decided as soon as all of them have occurred; other rules are decided at the end.
    std::vector<std::uint32_t> fields;
    bool early;
    /// The fields of which the rule may take any value: it holds if one combination satisfies it.
    std::vector<std::uint32_t> any;
};

/// The slots of a list of values, each present only if some rule needs it.
struct ListSlots {
    FieldPlan::Slot count, readable, sum, least, greatest;  // as those of a field
};

/// A section: rows that belong together. Its state has the values of its own fields, as that of a
/// row has, and lists of the values in its rows.
struct SectionPlan {
    bool by_page;                        // a section is a page
    std::optional<std::uint32_t> ender;  // the field that ends one, with the printed line it is on
    std::uint32_t ended;  // the slot of the line that the open section ends with, plus 1; or 0
    std::vector<std::pair<std::uint32_t, ListSlots>> held;  // by field of its rows
};

/// The sum of a field over the rows for which a condition holds, added up at the end of each row.
struct RowSum {
    Program condition;
    std::uint32_t lookup;    // of the value in the open row
    std::uint32_t readable;  // the slot that says whether all that it needs was known: 1 or 3
    std::uint32_t sum;       // the slot of the sum
};

/// A kind of rows, such as the lines of an invoice. A row goes from one span of `starter` to the
/// next, or the spans have numbers of rows. Its rules are judged at the end of every row, which is
/// then forgotten.
struct RowPlan {
    std::uint32_t open;     // the slot of the number of the open row, from 1; 0 if none is open
    std::uint32_t history;  // the slot of the list of values that rules could not judge here
    std::optional<std::uint32_t> starter;  // the field that begins a row
    bool always;                           // even if the document has rows of its own
    std::vector<RulePlan> rules;
    /// Slots of values in the open row, and the slots of the same values in the row before.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> previous;
    bool remembers;  // whether all values are added to the history, for rules in Python
    /// Slots of values in the open row without which a row costs something, and how much.
    std::vector<std::pair<std::uint32_t, double>> required;
    std::vector<RowSum> sums;
    std::optional<SectionPlan> section;  // if its rows are sections
};

/// Fields in the order in which they should occur: a span that comes after one of a later field
/// costs `weight`.
struct OrderPlan {
    std::uint32_t slot;                // the largest rank so far
    std::vector<std::uint32_t> ranks;  // by field, its place in the order from 1; 0 if it has none
    double weight;
};

/// A number that an equation reads from one field, times a factor.
struct Term {
    enum class Kind : std::uint8_t { kFirst, kSum, kSumOrZero, kCount };
    Kind kind;
    std::uint32_t field;
    std::uint32_t lookup;  // gives the field's values as numbers; unused for kCount
    std::int64_t factor;
};

/// A rule as an equation: terms and a constant that must add up to zero within a tolerance.
struct Equation {
    std::vector<Term> terms;
    Wide constant;
    Wide tolerance;
    double weight;
    double unchecked;
    bool early;  // as for its rule
};

/// Whether an equation reads more of a field than its first value.
bool sums_a_list(const Equation& equation);

/// All compiled rules: made once for all documents.
struct Plan {
    std::vector<FieldPlan> fields;
    std::size_t slots = 0;
    std::vector<RulePlan> rules;
    std::vector<Equation> equations;
    std::vector<RowPlan> rows;
    std::vector<OrderPlan> orders;
    FieldPlan::Slot constant;  // stays 0: its lookups depend on nothing but the document
};

/// Words in which a value of some field must begin.
struct KeptPlace {
    std::uint32_t start, end;
};

/// The inputs of compiled rules that depend on the document.
struct DocumentTables {
    std::vector<Lookup> lookups;
    std::vector<double> missing;  // by field, the cost of its absence
    bool has_rows = false;        // spans have numbers of rows
    /// By field, the places that must have a readable value, in order; empty if there are none.
    std::vector<std::vector<KeptPlace>> kept = {};
    bool shares_labels = false;  // spans with the labels of a field may be seen as another one

    /// Whether two readable values of a field are equal.
    bool equal(const FieldPlan& field, std::uint32_t one, std::uint32_t other) const {
        if (one == other || !field.equal) return one == other;
        const Lookup& lookup = lookups[*field.equal];
        return one < lookup.size() && other < lookup.size() &&
               lookup.at(one).number == lookup.at(other).number;
    }
};

/// Whether a field that has the slot for it has occurred with a readable value.
inline bool is_seen(const FieldPlan& field, std::span<const Wide> state) {
    return field.many ? (state[*field.readable] & 1) != 0
                      : state[*field.first] >= ValueNumber::kFirst;
}
/// The slots of a field that are there.
std::vector<std::uint32_t> slots_of(const FieldPlan& field);
/// The slots that a program reads.
std::vector<std::uint32_t> slots_of(const Program& program, const DocumentTables& tables);

/// Throws std::invalid_argument unless all slots and fields are in range, no two slots are the
/// same, every field has the slots that rules and equations read, and no cost is negative or NaN.
void check(const Plan& plan);
/// Throws std::invalid_argument unless the tables have all that a checked plan looks up; `most` is
/// by field the largest number of a value in the document.
void check(const DocumentTables& tables, const Plan& plan, std::span<const std::uint32_t> most);

}  // namespace lawful
