#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/costs.hpp"
#include "rules/plan.hpp"
#include "rules/residues.hpp"

namespace lawful {

/// Classes of states by the set of fields that have occurred, of a few that must be present.
///
/// For `ClassBound`. The bound is what it costs to have all of them.
class Presence {
public:
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
    static constexpr bool kShifts = false;

    /// `missing` is what the absence of fields costs, and `values` are the span values of a graph.
    Presence(const Plan& plan, std::span<const double> missing,
             std::span<const Residues::FieldValue> values)
        : plan_(plan) {
        std::vector<std::uint32_t> bit_of(plan.fields.size());
        for (std::uint32_t field = 0; field < missing.size() && fields_.size() < kMostFields;
             ++field)
            if (missing[field] == kForbidden) {
                bit_of[field] = std::uint32_t{1} << fields_.size();
                fields_.push_back(field);
            }
        for (const Residues::FieldValue& value : values)
            bits_.push_back(is_readable(value.value) ? bit_of[value.field] : 0);
    }

    bool empty() const { return fields_.empty(); }
    std::size_t classes() const { return std::size_t{1} << fields_.size(); }
    std::span<const std::uint32_t> needed() const { return fields_; }

    static std::uint32_t begin() { return 0; }
    std::uint32_t class_of(std::span<const Wide> state) const {
        std::uint32_t seen = 0;
        for (std::size_t i = 0; i < fields_.size(); ++i)
            if (is_seen(plan_.fields[fields_[i]], state)) seen |= std::uint32_t{1} << i;
        return seen;
    }
    static bool decided(std::uint32_t) { return false; }
    static bool frees(std::uint32_t) { return false; }
    static double charge(std::uint32_t, std::uint32_t) { return 0; }
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) const {
        return before | bits_[choice];
    }
    std::vector<double> ends(std::span<const double>) const {
        std::vector<double> ends(classes(), kForbidden);
        ends.back() = 0;
        return ends;
    }

    /// Calls `take(before, after, length)` for the ranges of classes that a span value connects.
    template <class Take>
    void each_range(std::uint32_t choice, Take&& take) const {
        const std::size_t bit = bits_[choice];
        if (bit == 0) return take(0, 0, classes());
        for (std::size_t begin = 0; begin < classes(); begin += 2 * bit) {
            take(begin, begin + bit, bit);
            take(begin + bit, begin + bit, bit);
        }
    }

private:
    static constexpr std::size_t kMostFields = 6;

    const Plan& plan_;
    std::vector<std::uint32_t> fields_;
    std::vector<std::uint32_t> bits_;  // by span value, the field that it makes present
};

}  // namespace lawful
