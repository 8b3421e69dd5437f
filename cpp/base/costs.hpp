#pragma once

#include <limits>

namespace lawful {

/// The cost of what may not be; every other cost is less.
constexpr double kForbidden = std::numeric_limits<double>::infinity();

}  // namespace lawful
