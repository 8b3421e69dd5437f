#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lawful {

/// Numbers for lists of values: equal lists have equal numbers; 0 is the empty list.
class ValueLists {
public:
    ValueLists() : entries_(1) {}

    /// The list with one more value at its end.
    std::uint32_t extended(std::uint32_t list, std::uint32_t value);
    /// The set with one more value. Sets are sorted lists without repeats, so that equal sets have
    /// equal numbers.
    std::uint32_t joined(std::uint32_t set, std::uint32_t value);
    /// Appends the values of a list, the last one first.
    void write(std::uint32_t list, std::vector<std::uint32_t>& values) const;
    /// Bytes in use.
    std::size_t held() const { return entries_.capacity() * sizeof(Entry); }

private:
    struct Entry {
        std::uint32_t list, value;     // this list is `list` extended by `value`
        std::uint32_t child, sibling;  // its last extension; the one before it of the same `list`
    };
    std::vector<Entry> entries_;
};

}  // namespace lawful
