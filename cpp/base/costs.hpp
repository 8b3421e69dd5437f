#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>

namespace lawful {

/// The cost of anything forbidden; every other cost is less.
constexpr double kForbidden = std::numeric_limits<double>::infinity();

/// Throws std::invalid_argument if some cost is NaN or -inf.
inline void check_costs(std::span<const double> costs) {
    if (!std::ranges::all_of(costs, [](double cost) { return cost > -kForbidden; }))
        throw std::invalid_argument("a cost is NaN or -inf");
}

/// The same for a matrix of words x labels, of one label or more.
inline void check_costs(std::span<const double> costs, std::size_t words, std::size_t labels) {
    if (labels == 0 || costs.size() != words * labels)
        throw std::invalid_argument("the costs are not words x labels, or there are no labels");
    check_costs(costs);
}

}  // namespace lawful
