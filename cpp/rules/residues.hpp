#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
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
    /// Whether a span value shifts long ranges of classes, and costs nothing.
    static constexpr bool kShifts = true;

    /// A span value, as far as equations depend on it.
    struct FieldValue {
        std::uint32_t field, value;
    };

    static constexpr std::uint32_t kNoBit = 32;
    /// The contribution of a span value to the sum, in units of the common divisor of all addends.
    struct Addend {
        std::uint32_t bit = kNoBit;  // in the mask of fields that have occurred
        Wide first = 0, each = 0;    // added by the first readable span of a field; by every span
        bool free = false;           // the equation can no longer be decided
        bool first_frees = false;    // the same, unless the field has occurred before
        bool unreadable = false;     // only until a readable span: it rules out a default
        std::uint32_t shift = 0, shift_first = 0;  // the residues of `each`; of both
    };

    Residues(const Plan& plan, const Equation& equation, const DocumentTables& tables,
             std::span<const FieldValue> values);

    const Addend& addend(std::uint32_t choice) const { return addends_[choice]; }
    std::size_t choices() const { return addends_.size(); }
    /// How far from zero the sum may be, in the same units.
    Wide tolerance() const { return tolerance_; }

    /// Chooses the largest prime up to `largest` that fits into `work` elementary steps and
    /// `memory` bytes, where each class takes `steps` and `bytes`, or if that is too small to help,
    /// the least larger one; false if none fits.
    bool choose_prime(std::size_t steps, std::size_t work, std::size_t bytes, std::size_t memory,
                      std::size_t largest = 4093);
    std::size_t prime() const { return prime_; }
    std::uint32_t masks() const { return std::uint32_t{1} << bits_.size(); }
    /// A few of them, between the prime and the next power of two, stand for nothing.
    std::size_t classes() const { return std::size_t{masks()} << width_; }
    /// Whether values of a list add up, which makes many different sums.
    bool sums_lists() const { return sums_a_list(equation_); }
    /// The fields whose absence matters.
    std::span<const std::uint32_t> needed() const { return bits_; }

    /// The class of the state before the first span.
    static std::uint32_t begin() { return 0; }
    /// The fields that have occurred, as bits, and the sum so far in units of the common divisor.
    struct Sum {
        std::uint32_t mask;
        Wide sum;
    };
    /// The sum of a state; none if the equation cannot be decided.
    std::optional<Sum> sum_of(std::span<const Wide> state) const;
    /// The class of a state; kFree if the equation is decided already, or cannot be decided.
    std::uint32_t class_of(std::span<const Wide> state) const;
    /// Whether the equation is decided as soon as all of its fields have occurred.
    bool is_early() const { return equation_.early; }
    /// Whether the equation is decided after such a class, so that its violation is charged.
    bool decided(std::uint32_t residue_class) const {
        return equation_.early && (residue_class >> width_) + 1 == masks();
    }
    /// What a span value costs at once; an equation counts as open until the end.
    static double charge(std::uint32_t, std::uint32_t) { return 0; }
    /// The class after a span value; the class before it is not kFree.
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) const {
        const Addend& addend = addends_[choice];
        const std::uint32_t mask = before >> width_;
        const bool first = addend.bit != kNoBit && (mask >> addend.bit & 1) == 0;
        if (addend.free || (first && addend.first_frees)) return kFree;
        if (!first) return shifted(before, addend.shift);
        return shifted(before | std::uint32_t{1} << addend.bit << width_, addend.shift_first);
    }
    /// The same if a readable span of its field follows an unreadable one: it replaces it, so that
    /// the state has the class again that it would have without the unreadable one.
    std::uint32_t next_if_readable(std::uint32_t before, std::uint32_t choice) const {
        const Addend& addend = addends_[choice];
        return addend.unreadable ? shifted(before, addend.shift) : next(before, choice);
    }
    /// What the end costs after some fields have occurred, and others are missing.
    struct End {
        double absent;  // the cost of missing fields, and of an equation that is not decided
        bool open;      // whether the equation is not decided
        Wide sum;       // of constants and defaults, in units of the common divisor
    };
    /// By mask, where `missing` is the cost by field.
    std::vector<End> ends_by_mask(std::span<const double> missing) const;
    /// The cost of a class at the end: of the equation, and of its fields that are missing.
    double end(std::span<const End> by_mask, std::uint32_t residue_class) const;
    /// The same by class.
    std::vector<double> ends(std::span<const double> missing) const;
    /// The cost of a violation.
    double weight() const { return equation_.weight; }

    /// Whether the class after a span value is kFree, at least if it is the first of its field.
    bool frees(std::uint32_t choice) const {
        return addends_[choice].free || addends_[choice].first_frees;
    }
    /// Calls `take(before, after, length)` for the ranges of classes that a span value connects.
    template <class Take>
    void each_range(std::uint32_t choice, Take&& take) const {
        const Addend& addend = addends_[choice];
        if (addend.bit == kNoBit && addend.shift == 0) return take(0, 0, classes());
        for (std::uint32_t mask = 0; mask < masks(); ++mask) {
            const std::uint32_t set =
                addend.bit == kNoBit ? mask : mask | std::uint32_t{1} << addend.bit;
            const std::size_t shift = set == mask ? addend.shift : addend.shift_first;
            const std::size_t before = std::size_t{mask} << width_;
            const std::size_t after = std::size_t{set} << width_;
            take(before, after + shift, prime_ - shift);
            take(before + prime_ - shift, after, shift);
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
    std::uint32_t shifted(std::uint32_t residue_class, std::uint32_t shift) const {
        const std::uint32_t residues = (std::uint32_t{1} << width_) - 1;
        std::uint32_t residue = (residue_class & residues) + shift;
        if (residue >= prime_) residue -= static_cast<std::uint32_t>(prime_);
        return (residue_class & ~residues) | residue;
    }
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
    std::uint32_t width_ = 0;  // bits of a residue
};

}  // namespace lawful
