#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/program.hpp"
#include "search/reading_graph.hpp"
#include "search/reduced_costs.hpp"

namespace lawful {

/// A lower bound on what some rules add to the cost of the rest of a reading.
///
/// It depends on the node and on the class of the state: a number for all that the bound needs to
/// know of it. It is never above what the rules will really add (admissible). Along a path, the
/// bound of the whole reading may fall, so the search compares costs wherever it comes again to a
/// node and state, and does not rely on the first time.
class Bound {
public:
    /// The class of states that a bound says nothing about.
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

    virtual ~Bound() = default;

    /// The class of a state.
    virtual std::uint32_t class_of(std::span<const Wide> state) = 0;
    /// The class of the state after a span value.
    virtual std::uint32_t next(std::uint32_t before, std::uint32_t choice) = 0;
    /// How much more the rest from a node costs because of the rules, on paths that cost `spent`
    /// more than the cheapest one of all if they go on as cheaply as they can.
    virtual double more(std::uint32_t node, std::uint32_t at, double spent) const = 0;
    /// The same before a span value that leads to the node: with what rules charge for it.
    virtual double more_with(std::uint32_t choice, std::uint32_t node, std::uint32_t before,
                             double spent) const = 0;
    /// Bytes in use.
    virtual std::size_t held() const = 0;
};

/// A bound that may be added to others of its kind.
///
/// Each takes what it counts from the reduced costs of steps and from the cost of missing fields,
/// and the next one counts only what is left (saturated cost partitioning).
class AddedBound : public Bound {
public:
    /// Finds the bound for these reduced costs and fields whose absence costs `missing`, and takes
    /// from both what it counts. Forbids the steps that are on no path of reduced cost up to `most`
    /// from the root on. Returns the bound at the root.
    virtual double fill(const ReadingGraph& graph, ReducedCosts& reduced,
                        std::vector<double>& missing, double most, Clock& clock) = 0;
};

}  // namespace lawful
