#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.hpp"

namespace lawful {

// Decimals are exact: whole numbers of a fixed unit, with room for sums and products.

/// The one number without an opposite; no outcome has it.
constexpr Wide kMinWide = Wide{1} << 127;

/// Numbers count millionths; those with more decimals are left to Python.
constexpr int kScale = 6;
constexpr Wide kUnit = 1'000'000;

/// The values of a field are numbered from kFirst on; the two numbers before stand for a missing
/// field and for an unreadable text.
struct ValueNumber {
    static constexpr std::uint32_t kMissing = 0;
    static constexpr std::uint32_t kUnreadable = 1;
    static constexpr std::uint32_t kFirst = 2;
};
constexpr bool is_readable(std::uint32_t value) { return value >= ValueNumber::kFirst; }

/// The result of an expression. Missing: a value that it needs is missing. Unsure: the number does
/// not fit, so Python must decide. Idle: the rule does not apply.
struct Outcome {
    enum State : std::uint8_t { kKnown, kMissing, kUnsure, kIdle };
    Wide number = 0;
    State state = kKnown;

    bool is(bool truth) const { return state == kKnown && (number != 0) == truth; }
};

enum class Op : std::uint8_t {
    kConstant,  // index: the constant
    kAbsent,    // missing
    kIdle,      // the rule does not apply
    kLookup,    // index: the lookup, used with the number of the field's value
    kSlot,      // index: the slot of the state
    kOfList,    // index: a slot of a list; operand: the list's slot `readable`
    kScale,     // times ten to the power of the operand
    kAdd,
    kSubtract,
    kMultiply,
    kNegate,
    kAbs,
    kRound,  // index: the constant that is the unit; halves round away from zero
    kLeast,  // operand: how many numbers
    kGreatest,
    kEqual,  // index: the constant that is the tolerance
    kUnequal,
    kBelow,
    kAtMost,
    kAbove,
    kAtLeast,
    kAnd,  // operand: how many truths; Kleene's logic
    kOr,
    kNot,
    kChoose,  // the second operand if the first is true, else the third
};

struct Instruction {
    Op op;
    std::uint16_t operand;
    std::uint32_t index;
};

/// The outcomes of an expression over one field, by the number of the field's value.
class Lookup {
public:
    /// `slot` of the state holds the number of the field's value; lists have no such slot.
    explicit Lookup(std::uint32_t slot) : slot_(slot) {}

    std::uint32_t slot() const { return slot_; }
    std::size_t size() const { return outcomes_.size(); }
    const Outcome& at(std::size_t value) const { return outcomes_[value]; }
    bool has_unsure() const { return has_unsure_; }
    /// Adds the outcome for the value with the next number.
    void append(const Outcome& outcome) {
        outcomes_.push_back(outcome);
        has_unsure_ = has_unsure_ || outcome.state == Outcome::kUnsure;
    }

private:
    std::uint32_t slot_;
    bool has_unsure_ = false;
    std::vector<Outcome> outcomes_;
};

/// An expression of the rule language, compiled to a stack machine.
///
/// Its outcome is what the language defines (`rules/language.py`), or unsure.
class Program {
public:
    /// A slot with this number or a larger one is not known exactly; larger ones tell lists apart.
    static constexpr Wide kUnsure = Wide{1} << 126;

    /// Throws std::invalid_argument unless the instructions leave exactly one outcome, and the
    /// constants that they read are there.
    Program(std::vector<Instruction> instructions, std::vector<Wide> constants);

    Outcome run(std::span<const Wide> state, std::span<const Lookup> lookups) const;

    const std::vector<Instruction>& instructions() const { return instructions_; }
    const std::vector<Wide>& constants() const { return constants_; }

private:
    std::vector<Instruction> instructions_;
    std::vector<Wide> constants_;
};

}  // namespace lawful
