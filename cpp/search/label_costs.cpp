#include "search/label_costs.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/costs.hpp"

namespace lawful {

LabelCosts::LabelCosts(std::span<const double> costs, std::size_t words, std::size_t labels)
    : costs_(costs), words_(words), labels_(labels) {
    if (costs.size() != words * labels)
        throw std::invalid_argument("the costs are not words x labels");
}

void LabelCosts::check(std::span<const std::uint32_t> labelling) const {
    if (labelling.size() != words_)
        throw std::invalid_argument("there are costs of " + std::to_string(words_) +
                                    " words, but labels of " + std::to_string(labelling.size()));
    for (std::size_t word = 0; word < words_; ++word)
        if (labelling[word] >= labels_)
            throw std::out_of_range("word " + std::to_string(word) +
                                    " has a label that does not exist: there are " +
                                    std::to_string(labels_));
}

double LabelCosts::of(std::span<const std::uint32_t> labelling) const {
    check(labelling);
    double cost = 0;
    for (std::size_t word = 0; word < words_; ++word) cost += of_word(word)[labelling[word]];
    return cost;
}

bool LabelCosts::have_one_kind(std::span<const std::uint32_t> labelling,
                               std::span<const std::uint32_t> kinds, double most) const {
    check(labelling);
    if (kinds.size() != labels_)
        throw std::invalid_argument("there are " + std::to_string(labels_) + " labels, but " +
                                    std::to_string(kinds.size()) + " kinds");
    std::vector<double> least(words_, kForbidden);
    for (std::size_t word = 0; word < words_; ++word)
        for (const double cost : of_word(word)) least[word] = std::min(least[word], cost);
    // A labelling with some label of a word costs at least as much as its other words must.
    for (const double cost : least) most -= cost;
    for (std::size_t word = 0; word < words_; ++word)
        for (std::size_t label = 0; label < labels_; ++label)
            if (kinds[label] != kinds[labelling[word]] &&
                of_word(word)[label] - least[word] <= most)
                return false;
    return true;
}

}  // namespace lawful
