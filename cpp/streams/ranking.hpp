#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lawful {

/// A label and its cost.
struct Option {
    double cost;
    std::uint32_t label;

    /// Cheaper first; equal costs by label, so that every order in the core is total.
    friend bool operator<(const Option& a, const Option& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.label < b.label;
    }
};

/// Options by rank, sorted lazily: O(options) to make, O(log options) per rank.
class Ranking {
public:
    Ranking() = default;

    /// Takes over `options` (finite costs only) and reorders them in place.
    explicit Ranking(std::span<Option> options) : options_(options), made_(true) {
        std::make_heap(options_.begin(), options_.end(), dearer);
    }

    /// Whether options were given, possibly none.
    bool made() const { return made_; }
    std::size_t size() const { return options_.size(); }

    /// The option of that rank, 0 being the cheapest; `rank` is below size().
    const Option& operator[](std::size_t rank) {
        // pop_heap leaves the cheapest at the end, so the tail fills up with ranks in reverse.
        for (; sorted_ <= rank; ++sorted_)
            std::pop_heap(options_.begin(), options_.end() - sorted_, dearer);
        return options_[options_.size() - 1 - rank];
    }

private:
    static bool dearer(const Option& a, const Option& b) { return b < a; }

    std::span<Option> options_;
    std::size_t sorted_ = 0;
    bool made_ = false;
};

}  // namespace lawful
