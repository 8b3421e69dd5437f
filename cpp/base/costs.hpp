#pragma once

#include <limits>

namespace lawful {

/// The cost of anything forbidden; every other cost is less.
constexpr double kForbidden = std::numeric_limits<double>::infinity();

}  // namespace lawful
