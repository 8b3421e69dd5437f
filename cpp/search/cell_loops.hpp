#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lawful {

// The loops over cells of tables of costs in which bounds spend most of their time.

/// here[k] = min(here[k], cost + there[k])
void lower_cells(std::int16_t* here, const std::int16_t* there, std::size_t length,
                 std::int16_t cost);
/// The same, where sums above the largest number are that number.
void lower_cells(std::uint8_t* here, const std::uint8_t* there, std::size_t length,
                 std::uint8_t cost);
void lower_cells(double* here, const double* there, std::size_t length, double cost);

/// Lowers reach_there[k] to reach[k] + cost where reach[k] + cost + there[k] <= limit; returns the
/// least there[k] - here[k] among these, or `never` if there are none. Costs from `never` on, of
/// which the sum of two does not overflow, are above the limit.
std::int16_t pass_cells(std::int16_t* reach_there, const std::int16_t* reach,
                        const std::int16_t* here, const std::int16_t* there, std::size_t length,
                        std::int16_t cost, std::int16_t limit, std::int16_t never);
double pass_cells(double* reach_there, const double* reach, const double* here, const double* there,
                  std::size_t length, double cost, double limit, double never);

/// The number of cells k for which `one[k] + other[k] <= limit`.
std::size_t count_within(const std::int16_t* one, const std::int16_t* other, std::size_t length,
                         std::int16_t limit);
std::size_t count_within(const double* one, const double* other, std::size_t length, double limit);
/// Replaces `within` by these cells, in order.
void list_within(const std::int16_t* one, const std::int16_t* other, std::size_t length,
                 std::int16_t limit, std::vector<std::uint32_t>& within);
void list_within(const double* one, const double* other, std::size_t length, double limit,
                 std::vector<std::uint32_t>& within);

}  // namespace lawful
