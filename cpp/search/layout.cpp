#include "search/layout.hpp"

#include <stdexcept>

namespace lawful {

namespace {

std::size_t checked_count(std::size_t fields) {
    if (fields > Layout::kMaxFields) throw std::invalid_argument("too many fields");
    return fields;
}

}  // namespace

Layout::Layout(std::span<const std::uint8_t> start, std::span<const std::uint8_t> between,
               std::span<const std::uint8_t> end, std::span<const std::int32_t> types,
               std::span<const std::uint8_t> opens, std::span<const std::uint8_t> closes,
               std::size_t fields)
    : types_(types.begin(), types.end()),
      begins_(start.begin(), start.end()),
      ends_(end.begin(), end.end()),
      in_field_(types.size()),
      opens_again_(types.size()),
      continues_(types.size() * types.size()),
      before_(types.size()),
      after_(types.size()),
      continued_(types.size()),
      members_(checked_count(fields)) {
    const std::size_t size = labels();
    const bool same_sizes = start.size() == size && between.size() == size * size &&
                            end.size() == size && opens.size() == size && closes.size() == size;
    if (size == 0 || !same_sizes)
        throw std::invalid_argument("the tables of a scheme differ in their numbers of labels");
    for (std::uint32_t label = 0; label < size; ++label) {
        in_field_[label] = types[label] >= 0 && static_cast<std::size_t>(types[label]) < fields;
        (in_field_[label] ? members_[types[label]] : others_).push_back(label);
    }
    for (std::uint32_t from = 0; from < size; ++from) {
        for (std::uint32_t to = 0; to < size; ++to) {
            const bool allowed = between[from * size + to];
            const bool boundary = ends_[from] && begins_[to];
            if (boundary && !allowed)
                throw std::invalid_argument("a label that may end is followed by too few labels");
            const bool same = types[from] >= 0 && types[from] == types[to];
            const bool goes_on = same && !closes[from] && !opens[to];
            continues_[from * size + to] = allowed && goes_on;
            if (allowed && goes_on) continued_[to].push_back(from);
            if (allowed && !boundary) {
                if (!same) throw std::invalid_argument("a span is followed by part of another");
                before_[to].push_back(from);
                after_[from].push_back(to);
            }
            if (allowed && same && !goes_on && ends_[from]) opens_again_[to] = true;
        }
    }
    for (std::uint32_t label = 0; label < size; ++label)
        sticky_ = sticky_ || (in_field_[label] && opens_again_[label] != begins_[label]);
}

}  // namespace lawful
