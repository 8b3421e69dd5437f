#include "rules/value_lists.hpp"

namespace lawful {

std::uint32_t ValueLists::extended(std::uint32_t list, std::uint32_t value) {
    for (std::uint32_t child = entries_[list].child; child != 0; child = entries_[child].sibling)
        if (entries_[child].value == value) return child;
    const auto made = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({list, value, 0, entries_[list].child});
    return entries_[list].child = made;
}

std::uint32_t ValueLists::joined(std::uint32_t set, std::uint32_t value) {
    const std::uint32_t whole = set;
    std::vector<std::uint32_t> larger;
    for (; set != 0 && entries_[set].value > value; set = entries_[set].list)
        larger.push_back(entries_[set].value);
    if (set != 0 && entries_[set].value == value) return whole;
    set = extended(set, value);
    for (std::size_t i = larger.size(); i-- > 0;) set = extended(set, larger[i]);
    return set;
}

void ValueLists::write(std::uint32_t list, std::vector<std::uint32_t>& values) const {
    for (; list != 0; list = entries_[list].list) values.push_back(entries_[list].value);
}

}  // namespace lawful
