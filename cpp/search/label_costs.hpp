#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lawful {

/// The costs of all labels of all words: (words, labels). Does not own them.
class LabelCosts {
public:
    /// Throws std::invalid_argument unless there are as many costs.
    LabelCosts(std::span<const double> costs, std::size_t words, std::size_t labels);

    /// The cost of a labelling: the sum of those of its labels. Throws std::invalid_argument for
    /// another number of words, and std::out_of_range for a label that does not exist.
    double of(std::span<const std::uint32_t> labelling) const;

    /// Whether in all labellings that cost up to `most`, transitions aside, each word has a label
    /// of the same kind as in this one. `kinds` has one entry per label. Throws as `of` does.
    bool have_one_kind(std::span<const std::uint32_t> labelling,
                       std::span<const std::uint32_t> kinds, double most) const;

private:
    void check(std::span<const std::uint32_t> labelling) const;
    std::span<const double> of_word(std::size_t word) const {
        return costs_.subspan(word * labels_, labels_);
    }

    std::span<const double> costs_;
    std::size_t words_, labels_;
};

}  // namespace lawful
