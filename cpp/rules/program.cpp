#include "rules/program.hpp"

#include <array>
#include <stdexcept>

namespace lawful {

namespace {

constexpr std::size_t kDeepest = 128;
constexpr int kLargestPower = 38;  // of ten, in 127 bits
constexpr Outcome kNotSure{0, Outcome::kUnsure};
constexpr Outcome kNotThere{0, Outcome::kMissing};
constexpr Outcome kDoesNotApply{0, Outcome::kIdle};

Outcome truth(bool value) { return {value, Outcome::kKnown}; }

Wide power_of_ten(int exponent) {
    Wide power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

/// The outcome of two operands if one of them is not known.
Outcome lacking(const Outcome& a, const Outcome& b) {
    return a.state == Outcome::kMissing || b.state == Outcome::kMissing ? kNotThere : kNotSure;
}

bool known(const Outcome& a, const Outcome& b) {
    return a.state == Outcome::kKnown && b.state == Outcome::kKnown;
}

Outcome arithmetic(Op op, const Outcome& a, const Outcome& b) {
    if (!known(a, b)) return lacking(a, b);
    Wide result;
    const bool overflow = op == Op::kAdd        ? add_overflows(a.number, b.number, result)
                          : op == Op::kSubtract ? subtract_overflows(a.number, b.number, result)
                                                : multiply_overflows(a.number, b.number, result);
    return overflow || result == kMinWide ? kNotSure : Outcome{result, Outcome::kKnown};
}

/// Numbers within the tolerance are equal; the other comparisons follow from this.
Outcome compare(Op op, const Outcome& a, const Outcome& b, Wide tolerance) {
    const Outcome apart = arithmetic(Op::kSubtract, a, b);
    if (apart.state != Outcome::kKnown) return apart;
    const Wide d = apart.number;
    switch (op) {
        case Op::kEqual:
            return truth(-tolerance <= d && d <= tolerance);
        case Op::kUnequal:
            return truth(d < -tolerance || tolerance < d);
        case Op::kBelow:
            return truth(d < -tolerance);
        case Op::kAtMost:
            return truth(d <= tolerance);
        case Op::kAbove:
            return truth(d > tolerance);
        default:
            return truth(d >= -tolerance);
    }
}

/// `decisive` is the truth that settles the outcome: false for and, true for or.
Outcome connect(std::span<const Outcome> parts, bool decisive) {
    Outcome result = truth(!decisive);
    for (const Outcome& part : parts) {
        if (part.is(decisive)) return truth(decisive);
        if (part.state == Outcome::kUnsure)
            result = kNotSure;
        else if (part.state == Outcome::kMissing && result.state == Outcome::kKnown)
            result = kNotThere;
    }
    return result;
}

Outcome extreme(std::span<const Outcome> parts, bool least) {
    Outcome result = parts[0];
    for (const Outcome& part : parts.subspan(1)) {
        if (!known(result, part))
            result = lacking(result, part);
        else if (least ? part.number < result.number : part.number > result.number)
            result = part;
    }
    return result;
}

Outcome rounded(const Outcome& a, Wide unit) {
    if (a.state != Outcome::kKnown) return a;
    const Wide size = a.number < 0 ? -a.number : a.number;
    if (Wide sum; add_overflows(size, unit, sum)) return kNotSure;
    const Wide whole = (size + unit / 2) / unit * unit;
    return {a.number < 0 ? -whole : whole, Outcome::kKnown};
}

/// The number of operands that an instruction takes off the stack.
std::size_t takes(const Instruction& instruction) {
    switch (instruction.op) {
        case Op::kConstant:
        case Op::kAbsent:
        case Op::kIdle:
        case Op::kLookup:
        case Op::kSlot:
        case Op::kOfList:
            return 0;
        case Op::kScale:
        case Op::kNegate:
        case Op::kAbs:
        case Op::kRound:
        case Op::kNot:
            return 1;
        case Op::kLeast:
        case Op::kGreatest:
        case Op::kAnd:
        case Op::kOr:
            return instruction.operand;
        case Op::kChoose:
            return 3;
        default:
            return 2;
    }
}

/// Throws unless the constants and operands of an instruction are there, and a unit is positive.
void check(const Instruction& instruction, std::span<const Wide> constants) {
    const bool compares = instruction.op >= Op::kEqual && instruction.op <= Op::kAtLeast;
    const bool rounds = instruction.op == Op::kRound;
    if (instruction.op == Op::kConstant || compares || rounds) {
        if (instruction.index >= constants.size())
            throw std::invalid_argument("an instruction reads a constant out of range");
        if (rounds && constants[instruction.index] <= 0)
            throw std::invalid_argument("a unit to round to is not positive");
    }
    if (instruction.op == Op::kScale && instruction.operand > kLargestPower)
        throw std::invalid_argument("a power of ten does not fit into 127 bits");
    const bool chooses = instruction.op == Op::kLeast || instruction.op == Op::kGreatest;
    if (chooses && instruction.operand == 0)
        throw std::invalid_argument("an instruction lacks operands");
}

}  // namespace

Program::Program(std::vector<Instruction> instructions, std::vector<Wide> constants)
    : instructions_(std::move(instructions)), constants_(std::move(constants)) {
    std::size_t depth = 0;
    for (const Instruction& instruction : instructions_) {
        check(instruction, constants_);
        const std::size_t taken = takes(instruction);
        if (taken > depth) throw std::invalid_argument("an instruction lacks operands");
        depth += 1 - taken;
        if (depth > kDeepest) throw std::invalid_argument("a program is too deep");
    }
    if (depth != 1) throw std::invalid_argument("a program must leave one outcome");
}

Outcome Program::run(std::span<const Wide> state, std::span<const Lookup> lookups) const {
    std::array<Outcome, kDeepest> stack;
    std::size_t depth = 0;
    for (const Instruction& i : instructions_) {
        const std::size_t taken = takes(i);
        depth -= taken;
        Outcome* const in = stack.data() + depth;  // the operands; the outcome replaces the first
        const std::span<const Outcome> operands(in, taken);
        switch (i.op) {
            case Op::kConstant:
                *in = {constants_[i.index], Outcome::kKnown};
                break;
            case Op::kAbsent:
                *in = kNotThere;
                break;
            case Op::kIdle:
                *in = kDoesNotApply;
                break;
            case Op::kLookup: {
                const Lookup& lookup = lookups[i.index];
                *in = lookup.at(static_cast<std::size_t>(state[lookup.slot()]));
                break;
            }
            case Op::kSlot:
                *in = {state[i.index], Outcome::kKnown};
                break;
            case Op::kOfList:
                *in = state[i.operand] != 1       ? kNotThere
                      : state[i.index] >= kUnsure ? kNotSure
                                                  : Outcome{state[i.index], Outcome::kKnown};
                break;
            case Op::kScale:
                *in = arithmetic(Op::kMultiply, *in, {power_of_ten(i.operand), Outcome::kKnown});
                break;
            case Op::kAdd:
            case Op::kSubtract:
            case Op::kMultiply:
                *in = arithmetic(i.op, in[0], in[1]);
                break;
            case Op::kNegate:
                in->number = -in->number;
                break;
            case Op::kAbs:
                if (in->number < 0) in->number = -in->number;
                break;
            case Op::kRound:
                *in = rounded(*in, constants_[i.index]);
                break;
            case Op::kLeast:
            case Op::kGreatest:
                *in = extreme(operands, i.op == Op::kLeast);
                break;
            case Op::kAnd:
            case Op::kOr:
                *in = connect(operands, i.op == Op::kOr);
                break;
            case Op::kNot:
                if (in->state == Outcome::kKnown) *in = truth(in->number == 0);
                break;
            case Op::kChoose:
                if (in[0].state == Outcome::kKnown) *in = in[0].number != 0 ? in[1] : in[2];
                break;
            default:
                *in = compare(i.op, in[0], in[1], constants_[i.index]);
        }
        ++depth;
    }
    return stack[0];
}

}  // namespace lawful
