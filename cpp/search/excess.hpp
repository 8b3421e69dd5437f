#pragma once

#include <cstddef>
#include <vector>

#include "search/reading_graph.hpp"

namespace lawful {

/// By node and step of a graph, how much the cheapest path over the step costs more than the
/// cheapest path from the node, as far as no bound has counted it yet. Infinite for steps on no
/// path that is wanted.
using StepExcess = std::vector<std::vector<double>>;

/// The excess of steps if no rule plays a part.
StepExcess excess_of(const ReadingGraph& graph);
/// The number of steps that are not forbidden.
std::size_t open_steps(const StepExcess& excess);

}  // namespace lawful
