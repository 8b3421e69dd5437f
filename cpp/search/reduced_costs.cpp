#include "search/reduced_costs.hpp"

#include <algorithm>

#include "base/costs.hpp"

namespace lawful {

ReducedCosts reduced_costs_of(const ReadingGraph& graph) {
    ReducedCosts reduced(graph.nodes());
    for (std::uint32_t node = 0; node < graph.nodes(); ++node)
        for (const ReadingGraph::Step& step : graph.steps_from(node))
            reduced[node].push_back(
                std::max(0.0, step.cost + graph.rest(step.to) - graph.rest(node)));
    return reduced;
}

std::size_t open_steps(const ReducedCosts& reduced) {
    std::size_t open = 0;
    for (const std::vector<double>& steps : reduced)
        open += static_cast<std::size_t>(
            std::count_if(steps.begin(), steps.end(), [](double e) { return e < kForbidden; }));
    return open;
}

}  // namespace lawful
