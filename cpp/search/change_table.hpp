#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace lawful {

/// What a detour and others after it change together.
struct Change {
    std::int64_t change;
    double cost;
    std::uint16_t place;         // where the first detour leaves the way
    std::uint16_t remainder;     // of the change
    std::uint32_t detour, rest;  // the first detour, and the index of what the others change
    std::uint32_t other;         // in the same slot of the table
};

/// Changes in the order in which they are added, and by number, within a tolerance.
///
/// Most numbers that are asked for have no change; a bit per few numbers tells that soon.
class ChangeTable {
public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    /// Forgets all changes.
    void clear(std::int64_t tolerance) {
        tolerance_ = tolerance;
        changes_.clear();
        make_slots(kLeastSlots);
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(changes_.size()); }
    const Change& operator[](std::uint32_t index) const { return changes_[index]; }
    /// Bytes in use.
    std::size_t held() const {
        return changes_.capacity() * sizeof(Change) + slots_.capacity() * sizeof(slots_[0]) +
               filter_.capacity() * sizeof(filter_[0]);
    }

    /// Makes room for so many more changes.
    void reserve(std::size_t more) {
        if (size() + more > slots_.size()) make_slots(2 * (size() + more));
    }
    /// Adds a change unless another one changes as much, costs no more and `serves`.
    template <class Serves>
    void add(const Change& change, Serves&& serves) {
        const std::uint64_t hash = hash_of(bucket_of(change.change));
        std::uint32_t& head = slots_[hash >> shift_];
        if (may_have(hash))
            for (std::uint32_t c = head; c != kNone; c = changes_[c].other)
                if (changes_[c].change == change.change && changes_[c].cost <= change.cost &&
                    serves(changes_[c]))
                    return;
        mark(hash);
        changes_.push_back(change);
        changes_.back().other = std::exchange(head, size() - 1);
    }

    /// Whether a number is within the tolerance of nothing at all.
    bool is_enough(std::int64_t needed) const {
        return -tolerance_ <= needed && needed <= tolerance_;
    }
    /// False only if there is no change within the tolerance of this number, and it is not enough.
    bool may_satisfy(std::int64_t needed) const {
        if (may_have(hash_of(bucket_of(needed - tolerance_)))) return true;
        return is_enough(needed) ||
               (tolerance_ > 0 && may_have(hash_of(bucket_of(needed + tolerance_))));
    }
    /// The cheapest change within the tolerance of a number that costs less than `below` and
    /// `serves`; or kNone.
    template <class Serves>
    std::uint32_t cheapest(std::int64_t needed, double below, Serves&& serves) const {
        std::uint32_t cheapest = kNone;
        if (slots_.empty()) return cheapest;
        const std::int64_t last = bucket_of(needed + tolerance_);
        for (std::int64_t bucket = bucket_of(needed - tolerance_); bucket <= last; ++bucket) {
            const std::uint64_t hash = hash_of(bucket);
            if (!may_have(hash)) continue;
            for (std::uint32_t c = slots_[hash >> shift_]; c != kNone; c = changes_[c].other)
                if (is_enough(needed - changes_[c].change) && changes_[c].cost < below &&
                    serves(changes_[c])) {
                    below = changes_[c].cost;
                    cheapest = c;
                }
        }
        return cheapest;
    }

    static std::uint64_t hash_of(std::int64_t number) {
        return static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15;
    }

private:
    static constexpr std::size_t kLeastSlots = 256;
    static constexpr int kFilterBits = 3;  // more than those of a slot's number

    /// Numbers within the tolerance of each other are in the same bucket or in the next one.
    std::int64_t bucket_of(std::int64_t change) const {
        const std::int64_t width = 2 * tolerance_ + 1;
        if (width == 1) return change;
        return (change >= 0 ? change : change - width + 1) / width;
    }
    bool may_have(std::uint64_t hash) const {
        const std::uint64_t bit = hash >> (shift_ - kFilterBits);
        return filter_[bit / 64] >> (bit % 64) & 1;
    }
    void mark(std::uint64_t hash) {
        const std::uint64_t bit = hash >> (shift_ - kFilterBits);
        filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    void make_slots(std::size_t room) {
        const std::size_t slots = std::bit_ceil(std::max(room, kLeastSlots));
        shift_ = 64 - std::countr_zero(slots);
        slots_.assign(slots, kNone);
        filter_.assign((slots << kFilterBits) / 64, 0);
        for (std::uint32_t c = 0; c < size(); ++c) {
            const std::uint64_t hash = hash_of(bucket_of(changes_[c].change));
            changes_[c].other = std::exchange(slots_[hash >> shift_], c);
            mark(hash);
        }
    }

    std::int64_t tolerance_ = 0;
    std::vector<Change> changes_;
    std::vector<std::uint32_t> slots_;   // the last change of each
    std::vector<std::uint64_t> filter_;  // bits
    int shift_ = 63;                     // from hashes to slots
};

}  // namespace lawful
