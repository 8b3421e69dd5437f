#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace lawful {

/// Mixes all bits of a key into all bits of its hash (splitmix64).
inline std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// Finds the indices of things by their keys, with open addressing; the things live elsewhere.
///
/// `Keys` knows them: `hash(key)`, `hash_of(index)` and `equal(index, key)`.
template <class Keys>
class HashTable {
public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    HashTable() : entries_(std::size_t{1} << 8, kNone) {}

    /// The index of the thing with this key, or kNone.
    template <class Key>
    std::uint32_t find(const Keys& keys, const Key& key) const {
        return entries_[place_of(keys, key)];
    }

    /// The entry of this key, to be written by the caller where it is kNone. Valid until the next
    /// call.
    template <class Key>
    std::uint32_t& entry(const Keys& keys, const Key& key) {
        if (2 * used_ >= entries_.size()) grow(keys);
        std::uint32_t& found = entries_[place_of(keys, key)];
        if (found == kNone) ++used_;
        return found;
    }

    std::size_t held() const { return entries_.capacity() * sizeof(std::uint32_t); }

private:
    template <class Key>
    std::size_t place_of(const Keys& keys, const Key& key) const {
        std::size_t place = keys.hash(key) & mask();
        while (entries_[place] != kNone && !keys.equal(entries_[place], key))
            place = (place + 1) & mask();
        return place;
    }

    void grow(const Keys& keys) {
        const std::vector<std::uint32_t> old = std::move(entries_);
        entries_.assign(2 * old.size(), kNone);
        used_ = 0;
        for (const std::uint32_t index : old) {
            if (index == kNone) continue;
            std::size_t place = keys.hash_of(index) & mask();
            while (entries_[place] != kNone) place = (place + 1) & mask();
            entries_[place] = index;
            ++used_;
        }
    }

    std::size_t mask() const { return entries_.size() - 1; }

    std::vector<std::uint32_t> entries_;
    std::size_t used_ = 0;
};

}  // namespace lawful
