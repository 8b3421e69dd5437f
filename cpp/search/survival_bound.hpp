#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "rules/residues.hpp"

namespace lawful {

/// An upper bound on the share of a word's probability that an equation leaves at the end.
///
/// Labellings that violate the equation weigh less. Modulo a prime (see `Residues`), some of them
/// seem to satisfy it, so the share is an upper bound. It is far below one where no continuation
/// satisfies the equation.
class SurvivalBound {
public:
    /// The steps from the boundary before a word, as shares of the probability there.
    struct Word {
        struct Label {
            double begins, ends;  // the share that begins with it; the part of that which ends
            std::vector<std::pair<std::uint32_t, double>> next;  // the parts by next label
        };
        struct Span {
            std::uint32_t choice, end;  // the span value, and the boundary after it
            double share;
        };
        std::vector<Label> labels;  // of no field
        std::vector<Span> spans;
        double unlisted;  // the share of spans that are not listed
    };

    /// `missing` is the cost of absence by field. Empty if the equation is too large for `work`
    /// elementary steps or `memory` bytes.
    SurvivalBound(Residues residues, std::span<const double> missing,
                  const std::vector<Word>& words, std::size_t work, std::size_t memory,
                  Clock& clock);

    bool empty() const { return boundary_.empty(); }
    std::uint32_t class_of(std::span<const Wide> state) const { return residues_.class_of(state); }
    /// The share that is left of the probability at a boundary with a state of this class.
    double at_boundary(std::size_t word, std::uint32_t residue_class) const {
        return residue_class == Residues::kFree
                   ? 1
                   : boundary_[word * residues_.classes() + residue_class];
    }
    /// The same within a span of no field, before its next word.
    double within(std::size_t word, std::uint32_t residue_class) const {
        return residue_class == Residues::kFree
                   ? 1
                   : within_[word * residues_.classes() + residue_class];
    }

private:
    void fill(const std::vector<Word>& words, std::span<const double> missing, Clock& clock);
    using Runs = std::vector<std::vector<double>>;  // (labels, classes), within a span
    void add_labels(const Word& word, std::size_t at, const Runs& next_runs, Runs& runs,
                    Clock& clock);
    void add_spans(const Word& word, std::size_t at, Clock& clock);

    Residues residues_;
    std::vector<double> boundary_, within_;  // (words + 1, classes)
};

}  // namespace lawful
