#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lawful {

/// A span of a labelling, half-open.
struct LabelSpan {
    std::int32_t type;
    std::uint32_t start, end;
};

/// How labels form spans of some types.
class LabelSpans {
public:
    /// All have one entry per label: `types` is the type of span that it is part of, -1 for none;
    /// `opens` and `closes` say whether it always begins or ends a span. Throws
    /// std::invalid_argument for different sizes.
    LabelSpans(std::span<const std::int32_t> types, std::span<const std::uint8_t> opens,
               std::span<const std::uint8_t> closes);

    /// The spans of a labelling, in order of words. It need not be legal: a label that continues
    /// nothing begins a span. Throws std::out_of_range for a label that does not exist.
    std::vector<LabelSpan> find(std::span<const std::uint32_t> labels) const;

private:
    struct Mark {
        std::int32_t type;
        bool opens, closes;
    };
    std::vector<Mark> marks_;
};

}  // namespace lawful
