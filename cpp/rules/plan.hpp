#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rules/program.hpp"

namespace lawful {

/// Values have numbers from here on; these two are for a field that is missing, and for one that
/// has a default and occurs, but cannot be read.
enum ValueNumber : std::uint32_t { kMissing = 0, kUnreadable = 1, kFirstValue = 2 };

/// What a search remembers of a field while it goes from left to right: slots of its memory.
struct FieldPlan {
    static constexpr std::int32_t kNoSlot = -1;

    bool many = false;
    bool has_default = false;
    std::int32_t first = kNoSlot;      // the number of the first value that could be read
    std::int32_t disagrees = kNoSlot;  // 1 when there was another value
    std::int32_t count = kNoSlot;      // how often it occurs
    std::int32_t readable = kNoSlot;   // of a list: 1 all could be read, 2 none, 3 some
    std::int32_t sum = kNoSlot;        // of a list, by the lookup below
    std::int32_t least = kNoSlot;
    std::int32_t greatest = kNoSlot;
    std::int32_t all = kNoSlot;      // the list of all values; of one that is no list, the set
    std::int32_t numbers = kNoSlot;  // the lookup of a list's values as numbers
    double disagreement = 0;         // what another value costs
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

/// A rule as an equation: terms and a constant that must add up to zero, up to a tolerance.
struct Equation {
    enum Kind : std::uint8_t { kFirst, kSum, kSumOrZero, kCount };
    struct Term {
        Kind kind;
        std::uint32_t field;
        std::uint32_t lookup;  // of the field's values as numbers; not for kCount
        std::int64_t factor;
    };
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
    std::vector<std::uint32_t> lookup_slots;  // by lookup
    std::vector<RulePlan> rules;
    std::vector<Equation> equations;
};

/// What rules need to know about one document.
struct Facts {
    std::vector<Lookup> lookups;
    std::vector<double> missing;  // by field, what it costs when it is not there
};

/// Lists of values by number, so that equal lists have equal numbers; 0 is the empty one.
class Lists {
public:
    Lists() : entries_(1) {}

    std::uint32_t extended(std::uint32_t list, std::uint32_t value);
    /// The list without repeats and in order, with one more value: equal sets have equal numbers.
    std::uint32_t joined(std::uint32_t set, std::uint32_t value);
    /// Appends the values of a list, the last one first.
    void write(std::uint32_t list, std::vector<std::uint32_t>& values) const;
    std::size_t held() const { return entries_.capacity() * sizeof(Entry); }

private:
    struct Entry {
        std::uint32_t list, value;     // made from
        std::uint32_t child, sibling;  // lists made from this one
    };
    std::vector<Entry> entries_;
};

/// Follows what rules see from left to right: the memory before a span, and after it.
class Follower {
public:
    Follower(const Plan& plan, const Facts& facts);

    /// Whether a span of the field leaves any mark on the memory.
    bool remembers(std::uint32_t field) const { return remembers_[field]; }
    /// Takes a span in, of this value (0: it cannot be read); what that violates.
    double extend(std::span<Wide> memory, std::uint32_t field, std::uint32_t value);
    /// What is violated before there are any spans: rules that are never true.
    double begin(std::span<const Wide> memory) const;
    /// What is violated in the end, beyond what `extend` and `begin` said.
    double finish(std::span<const Wide> memory) const;
    /// Whether the field has occurred with a value.
    bool seen(std::span<const Wide> memory, std::uint32_t field) const;
    /// Whether something could not be decided here, and was taken for satisfied.
    bool undecided() const { return undecided_; }
    std::size_t held() const { return lists_.held(); }

private:
    /// Combinations of values that are tried for a rule; beyond, somebody else decides.
    static constexpr std::size_t kMostCombinations = 4096;

    bool decided(const RulePlan& rule, std::span<const Wide> memory) const;
    double price(const RulePlan& rule, std::span<const Wide> memory) const;
    Outcome any_of(const RulePlan& rule, std::span<const Wide> memory) const;

    const Plan& plan_;
    const Facts& facts_;
    Lists lists_;
    std::vector<bool> remembers_;
    mutable bool undecided_ = false;
    std::vector<bool> unsure_;                       // lists with a value whose number is not known
    std::vector<std::vector<std::uint32_t>> early_;  // by field, the rules that may be decided
};

}  // namespace lawful
