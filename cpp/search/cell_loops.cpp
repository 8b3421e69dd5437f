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

}  // namespace lawful
