#pragma once

#include <span>
#include <vector>

#include "base/clock.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// The cost of the cheapest path over open span values that has the fields which must be present,
/// or a few of them, whatever else rules say.
///
/// `missing` is what the absence of fields costs; `pruned` are the span values that do not occur,
/// one flag for each.
double least_cost(const ReadingGraph& graph, std::span<const double> missing,
                  const std::vector<bool>& pruned, Clock& clock);

}  // namespace lawful
