#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rules/plan.hpp"

namespace lawful {

/// An equation modulo a prime: where partial readings stand in it, and what that costs in the end.
///
/// A class of states is given by which fields have been there and the residue of the sum so far.
/// What the equation accepts, it also accepts modulo the prime; of what it does not, one in a prime
/// goes unnoticed. So costs by class are lower bounds, and close ones, whatever the sums are.
class Residues {
public:
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t kNoBit = 32;

    /// The field and the value of a reading of a span.
    struct Reading {
        std::uint32_t field, value;
    };
    /// What a reading adds, in units of the common divisor; free: the equation is left open.
    struct Addend {
        std::uint32_t bit = kNoBit;  // of the mask that says which fields were there
        Wide first = 0, each = 0;    // the first one with a value, and every one
        bool free = false;
    };

    Residues(const Plan& plan, const Equation& equation, const DocumentTables& tables,
             std::span<const Reading> readings);

    /// Takes the largest prime whose classes, each worth so many elementary steps and bytes, fit;
    /// false when there is none that tells enough.
    bool choose_prime(std::size_t steps, std::size_t work, std::size_t bytes, std::size_t memory);
    std::size_t prime() const { return prime_; }
    std::uint32_t masks() const { return std::uint32_t{1} << bits_.size(); }
    std::size_t classes() const { return prime_ * masks(); }

    const Addend& addend(std::uint32_t reading) const { return addends_[reading]; }
    /// The class of a state; kFree when the equation is decided, or will stay open.
    std::uint32_t class_of(std::span<const Wide> state) const;
    /// By class, what it costs in the end, with what fields that are missing cost.
    std::vector<double> ends() const;

    /// Calls `take(to, from, length)` for the ranges of classes that a reading leads from and to.
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
    /// What spans of a field add.
    struct FieldTerms {
        std::uint32_t bit = kNoBit;
        std::vector<Term> first, each;
        bool sum = false;  // of a list: a span that cannot be read leaves the equation open
    };

    void sort_terms();
    Addend addend_of(const Reading& reading) const;
    /// Whether an absent field leaves the equation open; else what it adds.
    bool open_without(std::uint32_t field, Wide& sum) const;
    std::uint32_t residue(Wide number) const {
        const Wide rest = number % static_cast<Wide>(prime_);
        return static_cast<std::uint32_t>(rest < 0 ? rest + static_cast<Wide>(prime_) : rest);
    }

    const Plan& plan_;
    const Equation& equation_;
    const DocumentTables& tables_;
    std::vector<FieldTerms> fields_;
    std::vector<std::uint32_t> bits_;  // by bit, its field
    std::vector<Addend> addends_;      // by reading
    Wide divisor_ = 0;
    Wide tolerance_ = 0;
    std::size_t prime_ = 0;
};

}  // namespace lawful
