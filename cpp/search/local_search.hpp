#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "rules/rule_tracker.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"

namespace lawful {

/// A good reading, found by changing one span value of another at a time: one more, one less, or
/// one in place of those that it overlaps. Proves nothing.
///
/// For pages on which so many rules are violated that no search ends: there, the best reading is
/// often the model's own with some of them repaired.
class LocalSearch {
public:
    LocalSearch(const ReadingGraph& graph, const Plan& plan, const DocumentTables& tables);

    /// The reading at which it ends, from these span values, in order, or from those of the
    /// cheapest labels; nothing if a hard rule forbids them, or they are not on a path of the
    /// graph. Labels cost at most `labelling`. When the time is up, the best one so far.
    std::optional<Search::Found> improve(const std::optional<std::vector<std::uint32_t>>& from,
                                         double labelling, Clock& clock);

private:
    using Step = ReadingGraph::Step;
    /// A partial reading.
    struct Partial {
        double cost = 0, prices = 0, penalty = 0;
        std::vector<Wide> state;
    };

    bool begin(const std::optional<std::vector<std::uint32_t>>& from);
    const Step* find(std::uint32_t node, const Step& like);
    bool take(Partial& at, const Step& step, double most);
    bool follow(std::vector<const Step*> steps, std::size_t from, double most);
    bool sweep(double window);
    bool change(std::size_t at, const Step& step);

    const ReadingGraph& graph_;
    RuleTracker tracker_;
    Clock* clock_ = nullptr;
    double labelling_ = std::numeric_limits<double>::infinity();
    std::vector<const Step*> steps_;  // of the reading; the last one goes to the end
    std::vector<Partial> partials_;   // before each step, and at the end
    std::vector<Wide> start_;
    double total_ = std::numeric_limits<double>::infinity();
};

}  // namespace lawful
