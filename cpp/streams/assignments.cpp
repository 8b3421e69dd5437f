#include "streams/assignments.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "base/costs.hpp"

namespace lawful {

AssignmentStream::AssignmentStream(std::span<const double> costs, std::size_t words,
                                   std::size_t labels, std::size_t memory)
    : Stream(words, labels, memory), rank_bits_(std::bit_width(labels - 1)) {
    if (labels > 0 && (rank_bits_ > 31 || words > std::uint64_t{1} << (32 - rank_bits_)))
        throw OutOfIndices{"words times labels"};
    check_costs(costs, words, labels);
    costs_ = arena_.allocate<double>(costs.size());
    std::copy(costs.begin(), costs.end(), costs_);

    std::vector<std::uint32_t> best(words);
    double cost = 0;
    for (std::size_t word = 0; word < words; ++word) {
        const double* row = costs_ + word * labels;
        const double* least = std::min_element(row, row + labels);
        if (*least == kForbidden) return;
        best[word] = static_cast<std::uint32_t>(least - row);
        cost += *least;
    }
    start(cost, std::move(best));
}

void AssignmentStream::expand(std::uint32_t index) {
    if (index == 0) {
        sort_rows();
        if (!rows_.empty()) frontier_.push({rows_[0].first_gap, 0, step(0, 1)});
        return;
    }
    const Candidate candidate = found_[index];
    const std::size_t row = row_of(candidate.step), rank = rank_of(candidate.step);
    const double prefix_cost = found_[candidate.prefix].cost;

    Ranking& ranks = ranking(rows_[row]);
    if (rank + 1 < ranks.size()) {
        const double gap = ranks[rank + 1].cost - rows_[row].least;
        frontier_.push({prefix_cost + gap, candidate.prefix, candidate.step + 1});
    }
    if (row + 1 == rows_.size()) return;
    const double gap = rows_[row + 1].first_gap;
    frontier_.push({candidate.cost + gap, index, step(row + 1, 1)});
    if (rank == 1) frontier_.push({prefix_cost + gap, candidate.prefix, step(row + 1, 1)});
}

void AssignmentStream::list_changes(std::uint32_t index, std::vector<Change>& changes) {
    while (index != 0) {
        const Candidate& candidate = found_[index];
        Row& row = rows_[row_of(candidate.step)];
        const std::size_t rank = rank_of(candidate.step);
        changes.push_back({row.word, rank == 1 ? row.first_label : row.ranking[rank].label});
        index = candidate.prefix;
    }
}

/// Finds the words with two or more possible labels, sorted by the cost of their first change.
void AssignmentStream::sort_rows() {
    const std::size_t labels = this->labels();
    for (std::size_t word = 0; word < words(); ++word) {
        const double* row = costs_ + word * labels;
        const std::uint32_t best = best_label(word);
        Option first{kForbidden, 0};
        for (std::size_t label = 0; label < labels; ++label)
            if (label != best && row[label] < first.cost)
                first = {row[label], static_cast<std::uint32_t>(label)};
        if (first.cost != kForbidden)
            rows_.push_back({row[best], first.cost - row[best], static_cast<std::uint32_t>(word),
                             first.label, Ranking{}});
    }
    // Of equal costs, the later word comes first: the order of the paper's Table 1.
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
        return a.first_gap != b.first_gap ? a.first_gap < b.first_gap : a.word > b.word;
    });
}

Ranking& AssignmentStream::ranking(Row& row) {
    if (row.ranking.made()) return row.ranking;
    const double* costs = costs_ + row.word * labels();
    Option* options = arena_.allocate<Option>(labels());
    std::size_t count = 0;
    for (std::size_t label = 0; label < labels(); ++label)
        if (costs[label] != kForbidden)
            options[count++] = {costs[label], static_cast<std::uint32_t>(label)};
    return row.ranking = Ranking({options, count});
}

}  // namespace lawful
