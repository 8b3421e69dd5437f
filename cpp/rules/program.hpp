#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lawful {

/// Exact numbers: decimals as whole numbers of a fixed unit, with room for sums and products.
using Wide = __int128;

/// What an expression comes to. Missing: a field it needs is not there. Unsure: the number does
/// not fit, so that somebody else must decide. Idle: a rule that does not apply.
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
    kSlot,      // index: a slot of the memory
    kOfList,    // index: a slot of the memory about a list; operand: the slot that says whether
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

/// A table of what an expression over one field comes to, by the number of the field's value; 0 is
/// for a field that is not there.
struct Lookup {
    std::uint32_t slot = 0;  // of the memory that holds the value's number
    std::vector<Wide> numbers;
    std::vector<std::uint8_t> states;

    Outcome at(std::size_t value) const {
        return {numbers[value], static_cast<Outcome::State>(states[value])};
    }
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

    Outcome run(std::span<const Wide> memory, std::span<const Lookup> lookups) const;

private:
    std::vector<Instruction> instructions_;
    std::vector<Wide> constants_;
};

}  // namespace lawful
