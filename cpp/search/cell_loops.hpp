#pragma once

#include <cstddef>
#include <cstdint>

namespace lawful {

/// The loop over cells of tables of costs in which bounds spend most of their time:
/// here[k] = min(here[k], cost + there[k])
void lower_cells(std::int16_t* here, const std::int16_t* there, std::size_t length,
                 std::int16_t cost);
void lower_cells(double* here, const double* there, std::size_t length, double cost);

}  // namespace lawful
