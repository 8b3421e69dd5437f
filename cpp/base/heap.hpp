#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/arena.hpp"

namespace lawful {

/// A candidate, stored as a change to an earlier one: `prefix` with one more `step`.
struct Candidate {
    double cost;  // above the cheapest candidate's, so never negative
    std::uint32_t prefix;
    std::uint32_t step;
};
static_assert(sizeof(Candidate) == 16);

/// The priority queue of all streams: a radix heap over the bits of the cost.
///
/// A radix heap requires that no cost is pushed below the last one popped, and the costs of a
/// stream never fall. A candidate sits in the bucket of the highest bit in which its cost differs
/// from the last popped cost. So a push is an append, and the many candidates that are never
/// reached are never compared with anything. Ties pop in an order that depends on the pushes alone.
class RadixHeap {
public:
    explicit RadixHeap(Arena& arena) : arena_(arena) {}

    bool empty() const { return occupied_ == 0; }

    /// `candidate.cost` is finite, not negative and not below the last popped cost.
    void push(const Candidate& candidate) { put(bucket_of(key(candidate)), candidate); }

    /// The cheapest candidate; the heap must not be empty.
    Candidate pop() {
        if ((occupied_ & 1) == 0) spread(std::countr_zero(occupied_));
        return take(0);
    }

private:
    static constexpr std::uint32_t kBlock = 32;
    struct Block {
        Block* below;
        std::array<Candidate, kBlock> entries;
    };
    struct Bucket {  // a stack of blocks, full but for the top one
        Block* top = nullptr;
        std::uint32_t used = 0;
    };

    // Non-negative doubles compare like their bits. Adding 0.0 clears the sign of -0.0.
    static std::uint64_t key(const Candidate& candidate) {
        return std::bit_cast<std::uint64_t>(candidate.cost + 0.0);
    }
    int bucket_of(std::uint64_t key) const { return std::bit_width(key ^ last_); }

    void put(int index, const Candidate& candidate) {
        Bucket& bucket = buckets_[index];
        if (bucket.top == nullptr || bucket.used == kBlock) {
            Block* block = free_;
            if (block != nullptr)
                free_ = block->below;
            else
                block = arena_.allocate<Block>(1);
            block->below = bucket.top;
            bucket = {block, 0};
        }
        bucket.top->entries[bucket.used++] = candidate;
        occupied_ |= std::uint64_t{1} << index;
    }

    Candidate take(int index) {
        Bucket& bucket = buckets_[index];
        const Candidate candidate = bucket.top->entries[--bucket.used];
        if (bucket.used == 0) {
            Block* emptied = bucket.top;
            bucket = {emptied->below, kBlock};
            release(emptied);
            if (bucket.top == nullptr) occupied_ &= ~(std::uint64_t{1} << index);
        }
        return candidate;
    }

    void release(Block* block) {
        block->below = free_;
        free_ = block;
    }

    /// Makes the cheapest cost of a bucket the new origin; its candidates move to lower buckets.
    void spread(int index) {
        Bucket bucket = std::exchange(buckets_[index], {});
        occupied_ &= ~(std::uint64_t{1} << index);
        std::uint64_t least = ~std::uint64_t{0};
        std::uint32_t used = bucket.used;
        for (const Block* block = bucket.top; block != nullptr; block = block->below) {
            for (std::uint32_t i = 0; i < used; ++i)
                least = std::min(least, key(block->entries[i]));
            used = kBlock;
        }
        last_ = least;
        used = bucket.used;
        for (Block* block = bucket.top; block != nullptr;) {
            for (std::uint32_t i = 0; i < used; ++i) push(block->entries[i]);
            used = kBlock;
            release(std::exchange(block, block->below));
        }
    }

    Arena& arena_;
    std::uint64_t last_ = 0;
    std::uint64_t occupied_ = 0;  // bit i: bucket i holds something
    std::array<Bucket, 64> buckets_{};
    Block* free_ = nullptr;
};

}  // namespace lawful
