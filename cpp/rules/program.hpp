#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lawful {

/// Exact numbers: decimals as whole numbers of a fixed unit, with room for sums and products.
using Wide = __int128;
/// The one number that has no opposite: nothing comes to it.
constexpr Wide kLeastWide = Wide{1} << 127;

/// Decimals of a number: numbers count millionths. One with more decimals is left to Python.
constexpr int kScale = 6;
constexpr Wide kUnit = 1'000'000;

/// The values of a field are numbered from kFirst on. The two numbers before stand for a field that
/// is missing, and for a text that cannot be read.
struct ValueNumber {
    static constexpr std::uint32_t kMissing = 0;
    static constexpr std::uint32_t kUnreadable = 1;
    static constexpr std::uint32_t kFirst = 2;
};
constexpr bool is_readable(std::uint32_t value) { return value >= ValueNumber::kFirst; }

/// What an expression comes to. Missing: a field it needs is not there. Unsure: the number does
/// not fit, so that Python must decide. Idle: a rule that does not apply.
struct Outcome {
    enum State : std::uint8_t { kKnown, kMissing, kUnsure, kIdle };
    Wide number = 0;
    State state = kKnown;

    bool is(bool truth) const { return state == kKnown && (number != 0) == truth; }
};

enum class Op : std::uint8_t {
    kConstant,  // index: which one
    kAbsent,    // nothing is known
    kIdle,      // the rule does not apply
    kLookup,    // index: a table by the number of a field's value
    kSlot,      // index: a slot of the state
    kOfList,    // index: a slot about a list; operand: the slot that says whether
                // all of the list could be read
    kScale,     // times ten to the operand
    kAdd,
    kSubtract,
    kMultiply,
    kNegate,
    kAbs,
    kRound,  // index: the constant that is the unit; half goes up, away from zero
    kLeast,  // operand: of how many
    kGreatest,
    kEqual,  // index: the constant that is the tolerance
    kUnequal,
    kBelow,
    kAtMost,
    kAbove,
    kAtLeast,
    kAnd,  // operand: of how many; as Kleene has it
    kOr,
    kNot,
    kChoose,  // the second or the third, as the first is true or false
};

struct Instruction {
    Op op;
    std::uint16_t operand;
    std::uint32_t index;
};

/// A table of what an expression over one field comes to, by the number of the field's value.
class Lookup {
public:
    /// `slot` of the state holds the number of the field's value; a list's values are in no slot.
    explicit Lookup(std::uint32_t slot) : slot_(slot) {}

    std::uint32_t slot() const { return slot_; }
    std::size_t size() const { return outcomes_.size(); }
    const Outcome& at(std::size_t value) const { return outcomes_[value]; }
    bool has_unsure() const { return has_unsure_; }
    /// What it comes to for the value of the next number.
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
/// It says what the language says (`rules/language.py`), or that it is unsure.
class Program {
public:
    /// In a slot: a number that is not known exactly. What is above it tells such lists apart.
    static constexpr Wide kUnsure = Wide{1} << 126;

    /// Throws std::invalid_argument when instructions do not leave exactly one outcome.
    Program(std::vector<Instruction> instructions, std::vector<Wide> constants);

    Outcome run(std::span<const Wide> state, std::span<const Lookup> lookups) const;

    const std::vector<Instruction>& instructions() const { return instructions_; }
    const std::vector<Wide>& constants() const { return constants_; }

private:
    std::vector<Instruction> instructions_;
    std::vector<Wide> constants_;
};

}  // namespace lawful
