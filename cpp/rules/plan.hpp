#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rules/program.hpp"

namespace lawful {

/// The slots of a search's state that hold what rules need to know of one field.
struct FieldPlan {
    using Slot = std::optional<std::uint32_t>;  // none: rules need not know it

    bool many = false;
    bool has_default = false;
    Slot first;      // the number of the first value that could be read
    Slot disagrees;  // 1 when there was another value
    Slot count;      // how often it occurs
    Slot readable;   // of a list: 1 all could be read, 2 none, 3 some
    Slot sum;        // of a list, by the lookup below
    Slot least;
    Slot greatest;
    Slot all;  // the list of all values; of one that is no list, the set
    std::optional<std::uint32_t> numbers;  // the lookup of a list's values as numbers
    double disagreement = 0;               // what another value costs
};

/// A rule that was compiled.
struct RulePlan {
    Program program;
    double weight;     // what it costs when it is violated
    double unchecked;  // and when a field it needs is missing
    /// The fields that it reads by their first value. `early`: these are all, so it is decided as
    /// soon as they are there; else it is decided in the end.
    std::vector<std::uint32_t> fields;
    bool early;
    /// The fields of which it may take any value: it holds if it holds for one combination.
    std::vector<std::uint32_t> any;
};

/// A multiple of what an equation reads of one field.
struct Term {
    enum class Kind : std::uint8_t { kFirst, kSum, kSumOrZero, kCount };
    Kind kind;
    std::uint32_t field;
    std::uint32_t lookup;  // of the field's values as numbers; not for kCount
    std::int64_t factor;
};

/// A rule as an equation: terms and a constant that must add up to zero, up to a tolerance.
struct Equation {
    std::vector<Term> terms;
    Wide constant;
    Wide tolerance;
    double weight;
    double unchecked;
    bool early;  // as its rule is: decided with the last of its fields
};

/// Everything the search must know about the rules: made once for all documents.
struct Plan {
    std::vector<FieldPlan> fields;
    std::size_t slots = 0;
    std::vector<RulePlan> rules;
    std::vector<Equation> equations;
};

/// What rules need to know about one document.
struct DocumentTables {
    std::vector<Lookup> lookups;
    std::vector<double> missing;  // by field, what it costs when it is not there
};

}  // namespace lawful
