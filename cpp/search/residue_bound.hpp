#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "rules/residues.hpp"
#include "search/reading_graph.hpp"
#include "search/row_bound.hpp"

namespace lawful {

/// A lower bound on the cost of an equation from every node on: exact modulo a prime.
///
/// Exact costs would need a class for every partial sum, and the number of partial sums is
/// exponential in the number of items. Partial sums modulo a prime are few, and the cheapest path
/// by these is a lower bound (see `Residues`).
class ResidueBound {
public:
    /// Empty if the equation is too large for `work` elementary steps or `memory` bytes.
    ResidueBound(const ReadingGraph& graph, const StepExcess& excess, const Plan& plan,
                 const Equation& equation, const DocumentTables& tables, std::size_t work,
                 std::size_t memory, Clock& clock);

    bool empty() const { return more_.empty(); }
    /// Bytes in use.
    std::size_t held() const { return more_.capacity() * sizeof(double); }

    /// The class of a state; Residues::kFree if the equation does not bound its cost.
    std::uint32_t class_of(std::span<const Wide> state) const { return residues_.class_of(state); }
    /// How much more the rest from a node costs because of this equation: what it demands of the
    /// steps, and its violation.
    double more(std::uint32_t node, std::uint32_t residue_class) const {
        return residue_class == Residues::kFree ? 0
                                                : more_[node * residues_.classes() + residue_class];
    }

private:
    void fill(const ReadingGraph& graph, const StepExcess& excess, Clock& clock);

    Residues residues_;
    std::vector<double> more_;  // (nodes, classes)
};

}  // namespace lawful
