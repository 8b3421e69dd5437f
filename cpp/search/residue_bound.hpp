#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "rules/residues.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// What an equation costs from every node on: exactly, but for sums that agree modulo a prime.
///
/// The true costs would need a state for every partial sum, of which sixty items have more than
/// anybody can count. Partial sums modulo a prime are few, and the cheapest way by these is a lower
/// bound (see `Residues`).
class Sums {
public:
    /// Empty when the equation is too large for `work` elementary steps or `memory` bytes.
    Sums(const Graph& graph, const Plan& plan, const Equation& equation, const Facts& facts,
         std::size_t work, std::size_t memory, Clock& clock);

    bool empty() const { return rest_.empty(); }
    std::size_t held() const { return rest_.capacity() * sizeof(double); }

    /// Where a memory stands in the equation; Residues::kFree when it makes no difference.
    std::uint32_t state_of(std::span<const Wide> memory) const {
        return residues_.state_of(memory);
    }
    /// The least cost from a node to the end, violations of this equation included.
    double rest(std::uint32_t node, std::uint32_t state) const {
        return state == Residues::kFree ? 0 : rest_[node * residues_.states() + state];
    }

private:
    void fill(const Graph& graph, Clock& clock);

    Residues residues_;
    std::vector<double> rest_;  // (nodes, states)
};

}  // namespace lawful
