#include "search/least_costs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/costs.hpp"

namespace lawful {

LeastCosts::LeastCosts(const ReadingGraph& graph, const Plan& plan, std::span<const double> missing,
                       const std::vector<bool>& closed, Clock& clock)
    : graph_(graph),
      presence_(plan, missing, field_values(graph)),
      rest_(graph.nodes() * presence_.classes(), kForbidden) {
    const std::size_t sets = presence_.classes();
    for (std::size_t node = graph_.nodes(); node-- > 0;) {
        double* const here = rest_.data() + node * sets;
        const auto steps = graph_.steps_from(static_cast<std::uint32_t>(node));
        clock.tick(sets * steps.size());
        for (const ReadingGraph::Step& step : steps) {
            if (step.to == ReadingGraph::kEnd) {
                here[sets - 1] = std::min(here[sets - 1], step.cost);
                continue;
            }
            if (closed[step.choice]) continue;
            const double* const there = rest_.data() + step.to * sets;
            presence_.each_range(
                step.choice, [&](std::size_t before, std::size_t after, std::size_t length) {
                    for (std::size_t i = 0; i < length; ++i)
                        here[before + i] = std::min(here[before + i], step.cost + there[after + i]);
                });
        }
    }
}

}  // namespace lawful
