#include "search/least_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/costs.hpp"
#include "search/presence.hpp"

namespace lawful {

double least_cost(const ReadingGraph& graph, const Plan& plan, std::span<const double> missing,
                  const std::vector<bool>& closed, Clock& clock) {
    const Presence presence(plan, missing, field_values(graph));
    const std::size_t sets = presence.classes();
    // By node and set of fields that have occurred.
    std::vector<double> rest(graph.nodes() * sets, kForbidden);
    for (std::size_t node = graph.nodes(); node-- > 0;) {
        double* const here = rest.data() + node * sets;
        const auto steps = graph.steps_from(static_cast<std::uint32_t>(node));
        clock.tick(sets * steps.size());
        for (const ReadingGraph::Step& step : steps) {
            if (step.to == ReadingGraph::kEnd) {
                here[sets - 1] = std::min(here[sets - 1], step.cost);
                continue;
            }
            if (closed[step.choice]) continue;
            const double* const there = rest.data() + step.to * sets;
            presence.each_range(
                step.choice, [&](std::size_t before, std::size_t after, std::size_t length) {
                    for (std::size_t i = 0; i < length; ++i)
                        here[before + i] = std::min(here[before + i], step.cost + there[after + i]);
                });
        }
    }
    return rest[ReadingGraph::kRoot * sets + Presence::begin()];
}

}  // namespace lawful
