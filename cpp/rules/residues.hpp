#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rules/plan.hpp"

namespace lawful {

/// An equation modulo a prime: classes of states, and what each class costs at the end.
///
/// The class of a state is the set of the equation's fields that have occurred, and the residue of
/// the sum so far. Sums that satisfy the equation also satisfy it modulo the prime p; of the
/// others, about one in p does. So costs by class are lower bounds, and close ones, whatever the
/// sums are.
class Residues {
public:
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t kNoBit = 32;

    /// A span value, as far as equations depend on it.
    struct FieldValue {
        std::uint32_t field, value;
    };
    /// The contribution of a span value to the sum, in units of the common divisor of all addends.
    struct Addend {
        std::uint32_t bit = kNoBit;  // in the mask of fields that have occurred
        Wide first = 0, each = 0;    // added by the first readable span of a field; by every span
        bool free = false;           // the equation can no longer be decided
    };

    Residues(const Plan& plan, const Equation& equation, const DocumentTables& tables,
             std::span<const FieldValue> values);

    /// Chooses the largest prime that fits into `work` elementary steps and `memory` bytes, where
    /// each class takes `steps` and `bytes`; false if only primes fit that are too small to help.
    bool choose_prime(std::size_t steps, std::size_t work, std::size_t bytes, std::size_t memory);
    std::size_t prime() const { return prime_; }
    std::uint32_t masks() const { return std::uint32_t{1} << bits_.size(); }
    std::size_t classes() const { return prime_ * masks(); }

    const Addend& addend(std::uint32_t choice) const { return addends_[choice]; }
    /// The class of a state; kFree if the equation is decided already, or cannot be decided.
    std::uint32_t class_of(std::span<const Wide> state) const;
    /// By class, the cost at the end: of the equation, and of its fields that are missing.
    std::vector<double> ends() const;

    /// Calls `take(before, after, length)` for the ranges of classes that an addend connects.
    template <class Take>
    void each_range(const Addend& addend, Take&& take) const {
        for (std::uint32_t mask = 0; mask < masks(); ++mask) {
            const std::uint32_t set =
                addend.bit == kNoBit ? mask : mask | std::uint32_t{1} << addend.bit;
            const std::size_t shift =
                residue(set == mask ? addend.each : addend.each + addend.first);
            take(mask * prime_, set * prime_ + shift, prime_ - shift);
            take(mask * prime_ + prime_ - shift, set * prime_, shift);
        }
    }

private:
    /// The terms of one field.
    struct FieldTerms {
        std::uint32_t bit = kNoBit;
        std::vector<Term> first, each;
        bool sum = false;  // of a list: an unreadable span leaves the equation undecided
    };

    void sort_terms();
    Addend addend_of(const FieldValue& given) const;
    /// Whether an absent field leaves the equation undecided; if not, adds its default to `sum`.
    bool open_without(std::uint32_t field, Wide& sum) const;
    std::uint32_t residue(Wide number) const {
        const Wide rest = number % static_cast<Wide>(prime_);
        return static_cast<std::uint32_t>(rest < 0 ? rest + static_cast<Wide>(prime_) : rest);
    }

    const Plan& plan_;
    const Equation& equation_;
    const DocumentTables& tables_;
    std::vector<FieldTerms> fields_;
    std::vector<std::uint32_t> bits_;  // by bit, the field
    std::vector<Addend> addends_;      // by span value
    Wide divisor_ = 0;
    Wide tolerance_ = 0;
    std::size_t prime_ = 0;
};

}  // namespace lawful
