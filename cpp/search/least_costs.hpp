#pragma once

#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "search/presence.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// The cheapest paths over open span values that have the fields which must be present, whatever
/// else rules say.
class LeastCosts {
public:
    /// `missing` is what the absence of fields costs; `closed` are the span values that do not
    /// occur, one flag for each.
    LeastCosts(const ReadingGraph& graph, const Plan& plan, std::span<const double> missing,
               const std::vector<bool>& closed, Clock& clock);

    /// The cost of the cheapest path.
    double least() const { return rest_[ReadingGraph::kRoot * presence_.classes()]; }

private:
    const ReadingGraph& graph_;
    Presence presence_;
    std::vector<double> rest_;  // (nodes, sets of fields that have occurred)
};

}  // namespace lawful
