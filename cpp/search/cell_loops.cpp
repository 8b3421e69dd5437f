#include "search/cell_loops.hpp"

#include <algorithm>

// One version for processors with AVX2 and one for all others, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define LAWFUL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define LAWFUL_CLONES
#endif

namespace lawful {

LAWFUL_CLONES void lower_cells(std::int16_t* here, const std::int16_t* there, std::size_t length,
                               std::int16_t cost) {
    for (std::size_t k = 0; k < length; ++k) {
        const auto through = static_cast<std::int16_t>(cost + there[k]);
        here[k] = here[k] < through ? here[k] : through;
    }
}

void lower_cells(double* here, const double* there, std::size_t length, double cost) {
    for (std::size_t k = 0; k < length; ++k) here[k] = std::min(here[k], cost + there[k]);
}

LAWFUL_CLONES std::int16_t pass_cells(std::int16_t* reach_there, const std::int16_t* reach,
                                      const std::int16_t* here, const std::int16_t* there,
                                      std::size_t length, std::int16_t cost, std::int16_t limit,
                                      std::int16_t never) {
    std::int16_t least = never;
    const auto left = static_cast<std::int16_t>(limit - cost);
    for (std::size_t k = 0; k < length; ++k) {
        const bool within = static_cast<std::int16_t>(reach[k] + there[k]) <= left;
        const auto through = static_cast<std::int16_t>(reach[k] + cost);
        const std::int16_t reached = within ? through : never;
        reach_there[k] = reach_there[k] < reached ? reach_there[k] : reached;
        const auto difference = static_cast<std::int16_t>(there[k] - here[k]);
        const std::int16_t more = within ? difference : never;
        least = least < more ? least : more;
    }
    return least;
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

}  // namespace lawful
