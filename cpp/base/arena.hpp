#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace lawful {

/// Thrown when a stream or a search would exceed its memory budget; earlier results stay valid.
struct OutOfMemoryBudget : std::exception {};

/// All memory of one stream or search: allocated in pieces, freed together, never above a budget.
///
/// No destructors run, so only trivial types may live here.
class Arena {
public:
    explicit Arena(std::size_t budget = std::numeric_limits<std::size_t>::max())
        : budget_(budget) {}

    /// Uninitialised space for `count` objects; throws OutOfMemoryBudget.
    template <class T>
    T* allocate(std::size_t count) {
        static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
        if (count > (std::numeric_limits<std::size_t>::max() - kAlignment) / sizeof(T))
            throw OutOfMemoryBudget{};
        const std::size_t bytes = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
        if (bytes > left_) refill(bytes);
        std::byte* piece = top_;
        top_ += bytes;
        left_ -= bytes;
        return reinterpret_cast<T*>(piece);
    }

    /// Bytes in use.
    std::size_t held() const { return held_; }

private:
    static constexpr std::size_t kAlignment = 16;
    static constexpr std::size_t kSmallestSlab = std::size_t{1} << 12;
    static constexpr std::size_t kLargestSlab = std::size_t{1} << 18;

    void refill(std::size_t bytes) {
        // Slabs grow with the arena: a short stream stays small, a long one allocates rarely.
        const std::size_t usual = std::clamp(held_, kSmallestSlab, kLargestSlab);
        const std::size_t room = budget_ - held_;
        if (bytes > room) throw OutOfMemoryBudget{};
        const std::size_t size = std::min(std::max(bytes, usual), room);
        slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
        top_ = slabs_.back().get();
        left_ = size;
        held_ += size;
    }

    std::size_t budget_;
    std::size_t held_ = 0;
    std::size_t left_ = 0;
    std::byte* top_ = nullptr;
    std::vector<std::unique_ptr<std::byte[]>> slabs_;
};

/// A list that grows without moving: 32-bit indices stay valid and so do references.
template <class T>
class Chunked {
public:
    explicit Chunked(Arena& arena) : arena_(arena) {}

    std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return chunks_[index >> kShift][index & kMask]; }
    const T& operator[](std::size_t index) const { return chunks_[index >> kShift][index & kMask]; }

    /// Appends and returns the new element's index.
    std::uint32_t push(const T& value) {
        if ((size_ & kMask) == 0) {
            chunks_.push_back(arena_.allocate<T>(kMask + 1));
        }
        chunks_[size_ >> kShift][size_ & kMask] = value;
        return static_cast<std::uint32_t>(size_++);
    }

private:
    static constexpr std::size_t kShift = 8;
    static constexpr std::size_t kMask = (std::size_t{1} << kShift) - 1;

    Arena& arena_;
    std::size_t size_ = 0;
    std::vector<T*> chunks_;
};

}  // namespace lawful
