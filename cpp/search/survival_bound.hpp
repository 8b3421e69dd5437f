#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "rules/residues.hpp"

namespace lawful {

/// How much an equation leaves of the probability that has come to a word, at most.
///
/// What comes there goes on in many ways; those that violate the equation count less. Which ones do
/// is known modulo a prime (see `Residues`), so the share that is left is an upper bound, and far
/// below one where no way on makes the sum right.
class SurvivalBound {
public:
    /// The ways on from a word, as shares of what stands at the boundary before it, or at a label
    /// of no field before it.
    struct Word {
        struct Label {
            double begins, ends;  // the share that begins with it; of that, what ends after it
            std::vector<std::pair<std::uint32_t, double>> next;  // labels after it within its span
        };
        struct Way {
            std::uint32_t reading, end;
            double share;
        };
        std::vector<Label> labels;
        std::vector<Way> ways;
        double unread;  // the share of ways that nobody knows
    };

    /// Empty when the equation is too large for `work` elementary steps or `memory` bytes.
    SurvivalBound(Residues residues, const std::vector<Word>& words, std::size_t work,
                  std::size_t memory, Clock& clock);

    bool empty() const { return boundary_.empty(); }
    std::uint32_t class_of(std::span<const Wide> state) const { return residues_.class_of(state); }
    /// The share that is left of what stands at a boundary, and of what is within a span of no
    /// field there.
    double at_boundary(std::size_t word, std::uint32_t residue_class) const {
        return residue_class == Residues::kFree
                   ? 1
                   : boundary_[word * residues_.classes() + residue_class];
    }
    double within(std::size_t word, std::uint32_t residue_class) const {
        return residue_class == Residues::kFree
                   ? 1
                   : within_[word * residues_.classes() + residue_class];
    }

private:
    void fill(const std::vector<Word>& words, Clock& clock);

    Residues residues_;
    std::vector<double> boundary_, within_;  // (words + 1, classes)
};

}  // namespace lawful
