#pragma once

#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// The cost of the cheapest path over open span values that has the fields which must be present,
/// or a few of them, whatever else rules say.
///
/// `missing` is what the absence of fields costs; `closed` are the span values that do not occur,
/// one flag for each.
double least_cost(const ReadingGraph& graph, const Plan& plan, std::span<const double> missing,
                  const std::vector<bool>& closed, Clock& clock);

}  // namespace lawful
