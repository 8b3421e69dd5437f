#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lawful {

/// Lists of values by number, so that equal lists have equal numbers; 0 is the empty one.
class ValueLists {
public:
    ValueLists() : entries_(1) {}

    std::uint32_t extended(std::uint32_t list, std::uint32_t value);
    /// The list without repeats and in order, with one more value: equal sets have equal numbers.
    std::uint32_t joined(std::uint32_t set, std::uint32_t value);
    /// Appends the values of a list, the last one first.
    void write(std::uint32_t list, std::vector<std::uint32_t>& values) const;
    std::size_t held() const { return entries_.capacity() * sizeof(Entry); }

private:
    struct Entry {
        std::uint32_t list, value;     // made from
        std::uint32_t child, sibling;  // lists made from this one
    };
    std::vector<Entry> entries_;
};

}  // namespace lawful
