#include "search/least_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/costs.hpp"
#include "base/tuning.hpp"

namespace lawful {

namespace {

/// By span value, the required field that it makes present, as a bit; the bits of all of them.
std::vector<std::size_t> required_bits(const ReadingGraph& graph, std::span<const double> missing,
                                       std::size_t& all) {
    std::vector<std::size_t> bit_of(missing.size());
    std::size_t bit = 1;
    for (std::size_t field = 0; field < missing.size() && bit >> tuning::kMaxRequiredFields == 0;
         ++field)
        if (missing[field] == kForbidden) {
            bit_of[field] = bit;
            bit *= 2;
        }
    all = bit - 1;
    std::vector<std::size_t> bits;
    for (const Residues::FieldValue& value : field_values(graph))
        bits.push_back(is_readable(value.value) ? bit_of[value.field] : 0);
    return bits;
}

}  // namespace

double least_cost(const ReadingGraph& graph, std::span<const double> missing,
                  const std::vector<bool>& pruned, Clock& clock) {
    std::size_t all = 0;
    const std::vector<std::size_t> bits = required_bits(graph, missing, all);
    // By node and set of fields that have occurred.
    std::vector<double> rest(graph.nodes() * (all + 1), kForbidden);
    for (std::size_t node = graph.nodes(); node-- > 0;) {
        double* const here = rest.data() + node * (all + 1);
        const auto steps = graph.steps_from(static_cast<std::uint32_t>(node));
        clock.tick((all + 1) * steps.size());
        for (const ReadingGraph::Step& step : steps) {
            if (step.to == ReadingGraph::kEnd) {
                here[all] = std::min(here[all], step.cost);
                continue;
            }
            if (pruned[step.choice]) continue;
            const double* const there = rest.data() + step.to * (all + 1);
            for (std::size_t set = 0; set <= all; ++set)
                here[set] = std::min(here[set], step.cost + there[set | bits[step.choice]]);
        }
    }
    return rest[ReadingGraph::kRoot * (all + 1)];
}

}  // namespace lawful
