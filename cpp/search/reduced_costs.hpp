#pragma once

#include <cstddef>
#include <vector>

#include "search/reading_graph.hpp"

namespace lawful {

/// By node and step of a graph, its reduced cost: how much the cheapest path over the step costs
/// more than the cheapest path from the node, as far as no bound has counted it yet. Infinite for
/// steps on no path that is wanted.
using ReducedCosts = std::vector<std::vector<double>>;

/// The reduced costs if no rule plays a part.
ReducedCosts reduced_costs_of(const ReadingGraph& graph);
/// The number of steps that are not forbidden.
std::size_t open_steps(const ReducedCosts& reduced);

}  // namespace lawful
