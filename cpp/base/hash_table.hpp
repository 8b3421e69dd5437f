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

/// Indices of objects by key, with open addressing; the objects themselves live elsewhere.
///
/// `Keys` provides `hash(key)` and `equal(index, key)`. Half of each hash is stored next to its
/// index, so that an object is compared only if these halves agree, and never to grow the table.
template <class Keys>
class HashTable {
public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    HashTable() : entries_(std::size_t{1} << 8) {}

    /// The index of the object with this key, or kNone.
    template <class Key>
    std::uint32_t find(const Keys& keys, const Key& key) const {
        return entries_[place_of(keys, key, hash_of(keys, key))].index;
    }

    /// The index of the object with this key. If it is kNone, the caller must write the index of a
    /// new object there. The reference is valid until the next call.
    template <class Key>
    std::uint32_t& entry(const Keys& keys, const Key& key) {
        if (2 * used_ >= entries_.size()) grow();
        const std::uint32_t hash = hash_of(keys, key);
        Entry& found = entries_[place_of(keys, key, hash)];
        if (found.index == kNone) {
            found.hash = hash;
            ++used_;
        }
        return found.index;
    }

    /// Bytes in use.
    std::size_t held() const { return entries_.capacity() * sizeof(Entry); }

private:
    struct Entry {
        std::uint32_t index = kNone;
        std::uint32_t hash = 0;
    };

    template <class Key>
    static std::uint32_t hash_of(const Keys& keys, const Key& key) {
        return static_cast<std::uint32_t>(keys.hash(key));
    }

    template <class Key>
    std::size_t place_of(const Keys& keys, const Key& key, std::uint32_t hash) const {
        std::size_t place = hash & mask();
        for (; entries_[place].index != kNone; place = (place + 1) & mask())
            if (entries_[place].hash == hash && keys.equal(entries_[place].index, key)) break;
        return place;
    }

    void grow() {
        const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * mask() + 2));
        for (const Entry& entry : old) {
            if (entry.index == kNone) continue;
            std::size_t place = entry.hash & mask();
            while (entries_[place].index != kNone) place = (place + 1) & mask();
            entries_[place] = entry;
        }
    }

    std::size_t mask() const { return entries_.size() - 1; }

    std::vector<Entry> entries_;
    std::size_t used_ = 0;
};

}  // namespace lawful
