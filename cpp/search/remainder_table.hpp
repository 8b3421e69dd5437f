#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/costs.hpp"
#include "search/cell_loops.hpp"

namespace lawful {

/// Costs up to a limit as whole numbers of a small unit, rounded down, in a byte each.
struct ByteCosts {
    using Cell = std::uint8_t;
    static constexpr Cell kNever = 255, kLargest = 254;

    explicit ByteCosts(double limit) : unit(std::max(limit, 1e-3) / (kLargest - 1)) {}
    Cell cell(double cost) const {
        return cost < unit * kNever ? static_cast<Cell>(cost / unit) : kNever;
    }
    double cost(Cell cell) const { return cell == kNever ? kForbidden : cell * unit; }

    double unit;
};

/// The remainder of a number, which may be negative.
inline std::uint32_t remainder_of(std::int64_t number, std::uint32_t modulus) {
    const std::int64_t rest = number % static_cast<std::int64_t>(modulus);
    return static_cast<std::uint32_t>(rest < 0 ? rest + static_cast<std::int64_t>(modulus) : rest);
}

/// Costs by row and remainder of a modulus.
class RemainderTable {
public:
    using Cell = ByteCosts::Cell;

    explicit RemainderTable(std::uint32_t modulus) : modulus_(modulus) {}

    std::uint32_t modulus() const { return modulus_; }
    std::uint32_t remainder(std::int64_t number) const { return remainder_of(number, modulus_); }
    /// The remainder of the difference of two numbers with these remainders.
    std::uint32_t difference(std::uint32_t one, std::uint32_t other) const {
        return one + (one < other ? modulus_ : 0) - other;
    }

    /// Makes room for so many rows, whose costs are not set.
    void resize(std::size_t rows) {
        rows_ = rows;
        cells_ = std::make_unique_for_overwrite<Cell[]>(rows * modulus_);
    }
    const Cell* operator[](std::uint32_t row) const {
        return cells_.get() + std::size_t{row} * modulus_;
    }
    /// No cost is possible.
    void close(std::uint32_t row) { std::fill_n(at(row), modulus_, ByteCosts::kNever); }
    void copy(std::uint32_t row, std::uint32_t from) {
        std::copy_n((*this)[from], modulus_, at(row));
    }
    void lower(std::uint32_t row, std::uint32_t remainder, Cell cost) {
        Cell& here = at(row)[remainder];
        here = std::min(here, cost);
    }
    /// Lowers a row to the costs of another one, whose remainders are `shift` less, plus a cost.
    void lower_by(std::uint32_t row, std::uint32_t from, std::uint32_t shift, Cell cost) {
        Cell* const here = at(row);
        const Cell* const there = (*this)[from];
        lower_cells(here + shift, there, modulus_ - shift, cost);
        lower_cells(here, there + modulus_ - shift, shift, cost);
    }
    /// Bytes in use.
    std::size_t held() const { return rows_ * modulus_ * sizeof(Cell); }

private:
    Cell* at(std::uint32_t row) { return cells_.get() + std::size_t{row} * modulus_; }

    std::uint32_t modulus_;
    std::size_t rows_ = 0;
    std::unique_ptr<Cell[]> cells_;
};

}  // namespace lawful
