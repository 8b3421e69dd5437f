#include "search/label_spans.hpp"

#include <stdexcept>
#include <string>

namespace lawful {

LabelSpans::LabelSpans(std::span<const std::int32_t> types, std::span<const std::uint8_t> opens,
                       std::span<const std::uint8_t> closes) {
    if (opens.size() != types.size() || closes.size() != types.size())
        throw std::invalid_argument("types, opens and closes have different sizes");
    for (std::size_t i = 0; i < types.size(); ++i)
        marks_.push_back({types[i], opens[i] != 0, closes[i] != 0});
}

std::vector<LabelSpan> LabelSpans::find(std::span<const std::uint32_t> labels) const {
    std::vector<LabelSpan> found;
    std::int32_t open = -1;  // the type of span that the next word may continue
    for (std::uint32_t at = 0; at < labels.size(); ++at) {
        if (labels[at] >= marks_.size())
            throw std::out_of_range("word " + std::to_string(at) +
                                    " has a label that does not exist: there are " +
                                    std::to_string(marks_.size()));
        const Mark& mark = marks_[labels[at]];
        if (mark.type < 0) {
            open = -1;
            continue;
        }
        if (mark.type != open || mark.opens) found.push_back({mark.type, at, at});
        found.back().end = at + 1;
        open = mark.closes ? -1 : mark.type;
    }
    return found;
}

}  // namespace lawful
