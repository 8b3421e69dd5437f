#include "search/cell_loops.hpp"

#include <algorithm>

// One version for processors with AVX2 and one for all others, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define LAWFUL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define LAWFUL_CLONES
#endif

namespace lawful {

namespace {

using Cell = std::int16_t;

// Cells that one or two instructions look at. Most ranges have few blocks, so the cells after the
// last whole block matter: they are in a block that begins before, whose first cells are done
// twice, which changes nothing.
constexpr std::size_t kBlock = 16;

void lower(Cell& here, Cell there, Cell cost) {
    const auto through = static_cast<Cell>(cost + there);
    here = here < through ? here : through;
}

LAWFUL_CLONES void lower_blocks(Cell* __restrict here, const Cell* __restrict there,
                                std::size_t blocks, Cell cost) {
    for (std::size_t k = 0; k < blocks * kBlock; ++k) lower(here[k], there[k], cost);
}

LAWFUL_CLONES void lower_bytes(std::uint8_t* __restrict here, const std::uint8_t* __restrict there,
                               std::size_t length, std::uint8_t cost) {
    for (std::size_t k = 0; k < length; ++k) {
        const auto sum = static_cast<std::uint8_t>(there[k] + cost);
        const std::uint8_t through = sum < cost ? 255 : sum;
        here[k] = here[k] < through ? here[k] : through;
    }
}

/// What does not change from cell to cell.
struct Pass {
    Cell cost, left, never;
};

Cell pass(Cell& reach_there, Cell reach, Cell here, Cell there, Pass by) {
    const bool within = static_cast<Cell>(reach + there) <= by.left;
    const auto through = static_cast<Cell>(reach + by.cost);
    const Cell reached = within ? through : by.never;
    reach_there = reach_there < reached ? reach_there : reached;
    const auto difference = static_cast<Cell>(there - here);
    return within ? difference : by.never;
}

LAWFUL_CLONES Cell pass_blocks(Cell* __restrict reach_there, const Cell* __restrict reach,
                               const Cell* __restrict here, const Cell* __restrict there,
                               std::size_t blocks, Pass by) {
    Cell least = by.never;
    for (std::size_t k = 0; k < blocks * kBlock; ++k) {
        const Cell more = pass(reach_there[k], reach[k], here[k], there[k], by);
        least = least < more ? least : more;
    }
    return least;
}

LAWFUL_CLONES std::size_t count_blocks(const Cell* __restrict one, const Cell* __restrict other,
                                       std::size_t blocks, Cell limit) {
    std::size_t count = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        Cell here = 0;
        for (std::size_t k = b * kBlock; k < (b + 1) * kBlock; ++k)
            here = static_cast<Cell>(here + (static_cast<Cell>(one[k] + other[k]) <= limit));
        count += static_cast<std::size_t>(here);
    }
    return count;
}

template <class Number>
void list_cells(const Number* one, const Number* other, std::size_t begin, std::size_t end,
                Number limit, std::vector<std::uint32_t>& within) {
    for (std::size_t k = begin; k < end; ++k)
        if (one[k] + other[k] <= limit) within.push_back(static_cast<std::uint32_t>(k));
}

}  // namespace

void lower_cells(Cell* here, const Cell* there, std::size_t length, Cell cost) {
    if (length < kBlock) {
        for (std::size_t k = 0; k < length; ++k) lower(here[k], there[k], cost);
        return;
    }
    lower_blocks(here, there, length / kBlock, cost);
    const std::size_t last = length - kBlock;
    if (length % kBlock != 0) lower_blocks(here + last, there + last, 1, cost);
}

void lower_cells(std::uint8_t* here, const std::uint8_t* there, std::size_t length,
                 std::uint8_t cost) {
    lower_bytes(here, there, length, cost);
}

void lower_cells(double* here, const double* there, std::size_t length, double cost) {
    for (std::size_t k = 0; k < length; ++k) here[k] = std::min(here[k], cost + there[k]);
}

Cell pass_cells(Cell* reach_there, const Cell* reach, const Cell* here, const Cell* there,
                std::size_t length, Cell cost, Cell limit, Cell never) {
    const Pass by{cost, static_cast<Cell>(limit - cost), never};
    if (length < kBlock) {
        Cell least = never;
        for (std::size_t k = 0; k < length; ++k)
            least = std::min(least, pass(reach_there[k], reach[k], here[k], there[k], by));
        return least;
    }
    const Cell least = pass_blocks(reach_there, reach, here, there, length / kBlock, by);
    const std::size_t last = length - kBlock;
    if (length % kBlock == 0) return least;
    return std::min(
        least, pass_blocks(reach_there + last, reach + last, here + last, there + last, 1, by));
}

double pass_cells(double* reach_there, const double* reach, const double* here, const double* there,
                  std::size_t length, double cost, double limit, double never) {
    double least = never;
    for (std::size_t k = 0; k < length; ++k) {
        if (!(reach[k] + cost + there[k] <= limit)) continue;
        reach_there[k] = std::min(reach_there[k], reach[k] + cost);
        least = std::min(least, there[k] - here[k]);
    }
    return least;
}

std::size_t count_within(const Cell* one, const Cell* other, std::size_t length, Cell limit) {
    const std::size_t whole = length / kBlock * kBlock;
    std::size_t count = count_blocks(one, other, length / kBlock, limit);
    for (std::size_t k = whole; k < length; ++k) count += one[k] + other[k] <= limit;
    return count;
}

std::size_t count_within(const double* one, const double* other, std::size_t length, double limit) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < length; ++k) count += one[k] + other[k] <= limit;
    return count;
}

void list_within(const Cell* one, const Cell* other, std::size_t length, Cell limit,
                 std::vector<std::uint32_t>& within) {
    within.clear();
    const std::size_t whole = length / kBlock * kBlock;
    // Most blocks have no such cell.
    for (std::size_t k = 0; k < whole; k += kBlock)
        if (count_blocks(one + k, other + k, 1, limit) > 0)
            list_cells(one, other, k, k + kBlock, limit, within);
    list_cells(one, other, whole, length, limit, within);
}

void list_within(const double* one, const double* other, std::size_t length, double limit,
                 std::vector<std::uint32_t>& within) {
    within.clear();
    list_cells(one, other, 0, length, limit, within);
}

}  // namespace lawful
