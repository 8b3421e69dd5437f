#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"

namespace lawful {

/// A span of a list that adds a number to a sum.
struct ListedSpan {
    std::uint32_t index;       // as the caller likes
    std::uint32_t start, end;  // words; only their order matters
    std::int64_t number;
    bool admitted;
};

/// Which of the sorted numbers `wanted` are within a tolerance of the sum of some spans that do not
/// overlap, by index; a span of which no such choice is a part is no longer `admitted`. Nothing is
/// known if there are too many sums to tell. Spans may come back in another order, at other words.
std::optional<std::vector<bool>> reached_sums(std::vector<ListedSpan>& spans,
                                              std::span<const std::int64_t> wanted,
                                              std::int64_t tolerance, Clock& clock);

}  // namespace lawful
