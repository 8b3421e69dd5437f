#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "rules/residues.hpp"
#include "search/bound.hpp"
#include "search/detour_bound.hpp"
#include "search/reading_graph.hpp"
#include "search/reduced_costs.hpp"
#include "search/state_table.hpp"

namespace lawful {

/// Lower bounds on the cost of the rest of a reading, made when a search turns out to be long.
///
/// Without rules, the rest of the graph is known exactly; each bound adds what its rules demand on
/// top. Steps that are on no path up to the limit are dropped, so bounds that are made again are
/// tighter.
class Bounds {
public:
    /// Which bounds are made; the optimum does not depend on it.
    struct Kinds {
        bool equations = true;
        bool detours = true;
        bool projections = true;
        bool admission = true;  // whether values that no hard equation admits are dropped
        bool cases = true;      // whether a long search is split into cases
    };

    /// `pruned` are the span values that do not occur, one flag for each; none if it is empty.
    Bounds(const ReadingGraph& graph, const Plan* plan, const DocumentTables& tables,
           const StateTable& states, const Kinds& kinds, const std::vector<bool>& pruned);

    struct Effort {
        std::size_t work;    // elementary steps, about
        std::size_t memory;  // bytes
    };
    /// Looks for the cheapest reading under the only equation, if it sums a list, before bounds are
    /// made; the arguments are those of `make`. True if it is known.
    bool search_first(double known, double most, const Effort& effort, Clock& clock);
    /// Makes the bounds, or makes them again. Readings cost `known` or more and may cost up to
    /// `most`; `finer` than before, or for a lower `most` alone. False if there are none. If time
    /// runs out, the bounds are those before.
    bool make(double known, double most, bool finer, const Effort& effort, Clock& clock);

    /// Whether bounds were made.
    bool made() const { return fineness_ > 0; }
    /// The steps from a node that may be on a path up to the limit.
    std::span<const ReadingGraph::Step> steps_from(std::uint32_t node) const {
        return steps_.empty() ? graph_.steps_from(node) : steps_[node];
    }
    /// A lower bound on the cost of all readings.
    double least() const;
    /// The cheapest readings that satisfy each equation about a list, if no other rule plays a
    /// part, as far as they are known: their span values in order.
    std::span<const std::vector<std::uint32_t>> met() const { return met_; }
    /// A lower bound on the cost of the rest from a node on, for the state with this number, on
    /// paths that have cost as much since the root.
    double rest(std::uint32_t node, std::uint32_t state, double cost);
    /// A lower bound on the cost after a step, with what rules charge for the step.
    double rest_after(std::uint32_t state, double cost, const ReadingGraph::Step& step);
    /// Tells that the last state came after a span value in another state.
    void add_state(std::uint32_t before, std::uint32_t choice);
    /// Bytes in use.
    std::size_t held() const {
        return bytes_ + classes_.capacity() * sizeof(std::uint32_t) +
               detours_.size() * states_.size() * DetourBound::kBytesPerClass;
    }

private:
    using Added = std::vector<std::unique_ptr<AddedBound>>;
    using Detours = std::vector<std::unique_ptr<DetourBound>>;

    ReducedCosts open_costs() const;
    /// What is left to be counted while bounds are made.
    struct Left {
        ReducedCosts reduced;
        std::vector<double> missing;
        double most;
        std::size_t work;
    };

    std::size_t largest_prime(bool coarse) const;
    void add_if_it_tells(Added& made, std::unique_ptr<AddedBound> bound, Left& left,
                         Clock& clock) const;
    std::vector<std::uint32_t> add_equations(Added& made, Left& left, std::size_t memory,
                                             Clock& clock) const;
    std::unique_ptr<AddedBound> sum_bound(Residues equation, Left& left, Clock& clock) const;
    void add_projections(Added& made, std::span<const std::uint32_t> equations, Left& left,
                         Clock& clock) const;
    std::vector<std::vector<ReadingGraph::Step>> kept_steps(const ReducedCosts& reduced) const;
    void search_detours(std::span<const std::vector<ReadingGraph::Step>> steps, double most,
                        double work, std::size_t memory, Clock& clock);
    bool is_alone() const { return plan_->equations.size() == 1; }
    template <class More>
    double with_rules(double rest, std::uint32_t state, More more);
    void classify(std::uint32_t state);
    void forget_classes();

    const ReadingGraph& graph_;
    const Plan* plan_;
    const DocumentTables& tables_;
    const StateTable& states_;
    Kinds kinds_;
    std::size_t fineness_ = 0;  // how often finer bounds were made
    Added added_;
    Detours detours_;                                     // of equations that sum lists
    std::vector<double> shares_;                          // by equation, of earlier searches
    std::vector<std::vector<std::uint32_t>> met_;         // by them
    double least_ = 0;                                    // above the cheapest reading of all
    double searched_up_to_ = kForbidden;                  // the limit that they are for
    double searched_by_ = 0;                              // work
    std::size_t bytes_ = 0;                               // of the bounds
    std::vector<bool> classified_;                        // by state: few old ones are asked for
    std::vector<Bound*> bounds_;                          // those that add up, then the others
    std::vector<std::uint32_t> classes_;                  // (states, bounds)
    std::vector<std::vector<ReadingGraph::Step>> steps_;  // by node; empty if all are open
};

}  // namespace lawful
