#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lawful {

/// Which label may follow which, and at what cost; made once, then shared by all streams.
///
/// Labels that may be followed by the same labels at the same costs form a class: only the class
/// of the last label matters for the next one. Arcs that all classes share are stored once, as
/// `common`. BIO over L labels has about L/2 classes with one arc of their own each, so a word
/// takes O(L) steps and not O(L^2).
class Transitions {
public:
    struct Arc {
        std::uint32_t label;
        double cost;
    };

    /// `between` is labels x labels (from, to), row-major; `start` and `end` have one cost
    /// per label; +inf forbids. Throws std::invalid_argument for other sizes, NaN or -inf.
    Transitions(std::span<const double> start, std::span<const double> between,
                std::span<const double> end);

    std::size_t labels() const { return end_.size(); }
    std::size_t classes() const { return first_arc_.size() - 1; }
    std::uint32_t class_of(std::size_t label) const { return class_of_[label]; }

    std::span<const Arc> start() const { return start_; }
    std::span<const Arc> common() const { return common_; }
    /// The arcs of a class that are not common.
    std::span<const Arc> own(std::size_t index) const {
        return std::span(own_).subspan(first_arc_[index],
                                       first_arc_[index + 1] - first_arc_[index]);
    }
    double end(std::size_t label) const { return end_[label]; }

    /// The cost that all paths of `words` words share. It is subtracted from all the costs above,
    /// so that a large one does not swamp the differences between paths.
    double offset(std::size_t words) const {
        return words == 0
                   ? 0
                   : start_offset_ + end_offset_ + static_cast<double>(words - 1) * between_offset_;
    }

private:
    std::vector<std::uint32_t> class_of_;
    std::vector<Arc> start_, common_, own_;
    std::vector<std::size_t> first_arc_;  // (classes + 1)
    std::vector<double> end_;
    double start_offset_, between_offset_, end_offset_;
};

}  // namespace lawful
