#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "streams/ranking.hpp"
#include "streams/stream.hpp"

namespace lawful {

/// Independent words: every assignment of finite cost, cheapest first.
///
/// Words are rows, sorted by the cost of their first change. A candidate is a prefix with one
/// more row moved to some rank, always a row after those the prefix moved. Its successors are
///
///   - the same row, one rank further,
///   - the next row at rank 1, on top of this candidate,
///   - the next row at rank 1, instead of this row (only if this row is at rank 1).
///
/// So every assignment has exactly one parent, and no successor is cheaper. Costs are always
/// `prefix + gap`, never a difference of sums: they depend on the assignment alone, and rounding
/// cannot disorder them.
class AssignmentStream final : public Stream {
public:
    /// `costs` is words x labels, row-major; +inf forbids a label. It is read during construction
    /// only. `memory` bounds the bytes that the stream holds. Throws std::invalid_argument for
    /// another size, NaN or -inf.
    AssignmentStream(std::span<const double> costs, std::size_t words, std::size_t labels,
                     std::size_t memory);

private:
    /// A word with two or more possible labels.
    struct Row {
        double least;      // the cost of rank 0
        double first_gap;  // of rank 1 above rank 0
        std::uint32_t word;
        std::uint32_t first_label;  // the label of rank 1
        Ranking ranking;            // made when rank 2 is needed
    };

    void expand(std::uint32_t index) override;
    void list_changes(std::uint32_t index, std::vector<Change>& changes) override;

    void sort_rows();
    Ranking& ranking(Row& row);
    std::uint32_t step(std::size_t row, std::size_t rank) const {
        return static_cast<std::uint32_t>(row << rank_bits_ | rank);
    }
    std::size_t row_of(std::uint32_t step) const { return step >> rank_bits_; }
    std::size_t rank_of(std::uint32_t step) const {
        return step & ((std::uint32_t{1} << rank_bits_) - 1);
    }

    double* costs_ = nullptr;  // (words, labels)
    int rank_bits_ = 0;
    std::vector<Row> rows_;
};

}  // namespace lawful
