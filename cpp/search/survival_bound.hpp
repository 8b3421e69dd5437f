#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "rules/residues.hpp"

namespace lawful {

/// Upper bounds on what is left at the end of a share of probability: of all of it, and of those
/// labellings that give a field its answer, or something else.
///
/// Rules only lower weights, so without rules these are bounds already. With an equation, those
/// that violate it weigh less. Modulo a prime (see `Residues`), some of them seem to satisfy it, so
/// these are still upper bounds. They are far below one where no continuation satisfies it.
class SurvivalBound {
public:
    /// The steps from the boundary before a word, as shares of the probability there.
    struct Word {
        struct Run {
            std::uint32_t end;  // the boundary after words of no field
            double share;
        };
        struct Span {
            std::uint32_t choice, end;  // the span value, and the boundary after it
            double share;
        };
        std::vector<Run> runs;
        std::vector<Span> spans;
        double unlisted = 0;              // the share of what is not listed
        std::vector<double> unlisted_of;  // by field, the part of it that may bring a value
    };

    /// What has been seen of a field's answer: its first values, or something else.
    static constexpr std::uint32_t kBroken = 0xFFFF;
    /// The answer of a field, and what each span value means for it.
    struct Answer {
        std::uint32_t field = 0;
        static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
        bool many = false;
        std::uint32_t size = 0;  // values
        /// By span value, its group of equal ones; kNothing if it is no readable value of the
        /// field.
        std::vector<std::uint32_t> groups;
        std::vector<std::uint32_t> wanted;  // by value of the answer, its group

        /// Whether a field that has come so far may still turn out either way.
        bool is_open(std::uint32_t seen) const { return seen != kBroken && (many || seen == 0); }
        /// How far it is after one more span value.
        std::uint32_t after(std::uint32_t seen, std::uint32_t choice) const {
            if (groups[choice] == kNothing || !is_open(seen)) return seen;
            return seen < size && wanted[seen] == groups[choice] ? seen + 1 : kBroken;
        }
    };

    /// What is left of a share: at most so much, with the answer, and with something else.
    struct Left {
        double all = 1, same = 1, other = 1;
    };

    /// The bound of an equation on all, and on the answers of some fields. Empty if the equation is
    /// too large for `work` elementary steps or `memory` bytes. `missing` is the cost of absence by
    /// field. Answers and words must outlive it.
    SurvivalBound(std::optional<Residues> residues, std::span<const double> missing,
                  const std::vector<Word>& words, std::vector<const Answer*> answers,
                  std::size_t work, std::size_t memory, Clock& clock);

    bool empty() const { return boundary_.empty(); }
    std::uint32_t class_of(std::span<const Wide> state) const {
        return residues_ ? residues_->class_of(state) : 0;
    }
    /// The class after a span value.
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) const {
        if (!residues_ || before == Residues::kFree) return before;
        return residues_->frees(choice) ? Residues::kFree : residues_->next(before, choice);
    }
    /// What is left of a share at a boundary with a state of this class.
    double all(std::size_t word, std::uint32_t residue_class) const {
        return residue_class == Residues::kFree ? 1 : cells(word)[residue_class];
    }
    /// What is left of a share that an unlisted step takes: some boundary from the word on follows.
    Left unlisted(const Answer* answer, std::uint32_t seen, std::size_t word) const;
    /// Lowers what is left of one answer, which is open, by what this bound knows of it.
    void lower(Left& left, const Answer* answer, std::uint32_t seen, std::size_t word,
               std::uint32_t residue_class) const;

private:
    /// The blocks of an answer: with it, and with something else, by how far it is.
    struct Blocks {
        const Answer* answer;
        std::size_t first;
        std::uint32_t open() const { return answer->many ? answer->size + 1 : 1; }
        std::size_t same(std::uint32_t seen) const { return first + seen; }
        std::size_t other(std::uint32_t seen) const { return first + open() + seen; }
    };

    void fill(const std::vector<Word>& words, std::span<const double> missing, Clock& clock);
    void fill_end(double* end, std::span<const double> missing) const;
    void add_steps(const Word& word, std::size_t at, Clock& clock);
    void find_most(std::size_t at);
    void add_unlisted(const Word& word, std::size_t at);
    std::size_t blocks() const { return width_ / classes_; }
    void pass(double* here, const double* there, const Word::Span& span) const;
    const double* cells(std::size_t word) const { return boundary_.data() + word * width_; }

    std::optional<Residues> residues_;
    std::vector<Blocks> answers_;
    std::size_t classes_ = 1;
    std::size_t width_ = 0;         // cells per boundary: blocks, the first of all, by class
    std::vector<double> boundary_;  // (words + 1, blocks, classes)
    std::vector<double> most_;      // (words + 1, blocks), at any boundary from there on
};

}  // namespace lawful
