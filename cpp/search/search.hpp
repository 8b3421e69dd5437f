#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "base/clock.hpp"
#include "base/hash_table.hpp"
#include "rules/plan.hpp"
#include "rules/rule_tracker.hpp"
#include "search/reading_graph.hpp"
#include "search/residue_bound.hpp"
#include "search/state_table.hpp"

namespace lawful {

/// The best readings under rules, by rising cost: a labelling's cost plus what it violates.
///
/// An A* search from left to right. A partial reading is a node of the graph and the state of the
/// rules there; of two with the same node and state only the cheaper one lives. What it will cost
/// at least is what it has cost, plus the exact rest of the graph without rules or, when the search
/// turns out to be long, the rest under one of the equations (`ResidueBound`), whichever is more.
/// Readings that rules see alike count as one; without a plan, all are different.
class Search {
public:
    struct Limits {
        double labelling = std::numeric_limits<double>::infinity();  // without violations
        std::size_t memory = std::numeric_limits<std::size_t>::max();
        std::size_t patience =
            256;  // extensions until equations bound the rest; later, more finely
    };
    struct Found {
        double cost;      // of the labelling, above every word's least cost
        double violated;  // and the weights and prices on top
        std::vector<std::uint32_t> readings;
    };
    enum class Status { kFound, kNothing, kPaused };

    /// A state has one slot more than the plan says: the prices paid, where they must be told
    /// apart. `plan` may be null: then the readings are those of the graph, whatever rules say.
    Search(std::shared_ptr<const ReadingGraph> graph, std::shared_ptr<const Plan> plan,
           DocumentTables tables, const Limits& limits, Clock& clock);
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    /// Goes on until one more reading is found, or so many more partial readings were extended.
    /// kNothing: there is none up to the graph's limit. Throws OutOfMemoryBudget.
    /// Throws OutOfTime when the clock does; the search may go on after that.
    Status next(std::size_t extensions, Clock& clock);
    /// Follows the best partial readings to the end, each along its most promising steps, and
    /// finds the cheapest of them: good answers, but not proven. False when none reaches the end.
    bool dive(std::size_t tries, Clock& clock);
    /// The last reading found.
    const Found& found() const { return found_; }
    /// No reading that is still to come costs less.
    double bound() const;
    std::size_t extended() const { return extended_; }
    /// Bytes in use, without the graph.
    std::size_t held() const;
    const ReadingGraph& graph() const { return *graph_; }

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    // ResidueBound are worth it when a search is long, and finer ones when it is very long.
    static constexpr std::size_t kFirstWork = std::size_t{1} << 20;
    static constexpr std::size_t kGrowth = 8;
    static constexpr std::size_t kMostWork = std::size_t{1} << 27;

    struct Partial {
        double cost;      // with what it violates
        double violated;  // weights and prices alone
        std::uint32_t node;
        std::uint32_t state;
        std::uint32_t before;
        std::uint32_t reading;
    };
    struct Open {
        double bound;
        std::uint32_t partial;

        /// Cheaper first; of equals the one made last, which is the nearest to the end.
        friend bool operator<(const Open& a, const Open& b) {
            return a.bound != b.bound ? a.bound > b.bound : a.partial < b.partial;
        }
    };

    struct PartialKeys {
        const Chunked<Partial>& partials;

        static std::uint64_t hash(const Partial& partial) {
            return mixed(std::uint64_t{partial.node} << 32 | partial.state);
        }
        bool equal(std::uint32_t index, const Partial& partial) const {
            return partials[index].node == partial.node && partials[index].state == partial.state;
        }
    };

    void extend(std::uint32_t index);
    bool dive_from(std::uint32_t index, Partial& last, std::vector<std::uint32_t>& readings,
                   Clock& clock);
    bool advance(const Partial& from, std::uint32_t index, const ReadingGraph::Step& step,
                 Partial& next);
    double remember(Partial& partial);
    bool lost(const Partial& partial) const;
    void add(const Partial& partial, double at_least);
    bool enter_if_cheaper(const Partial& partial);
    bool is_cheapest(std::uint32_t index) const;
    double rest(std::uint32_t node, std::uint32_t state) const;
    std::uint32_t number_of(std::span<const Wide> state);
    void find_gone(Clock& clock);
    void make_bounds(Clock& clock);
    void collect(const Partial& last, std::span<const std::uint32_t> more = {});

    std::shared_ptr<const ReadingGraph> graph_;
    std::shared_ptr<const Plan> plan_;
    DocumentTables tables_;
    Limits limits_;
    RuleTracker tracker_;
    Arena arena_;
    StateTable states_;
    Chunked<Partial> partials_;
    std::vector<Open> open_;            // a heap
    HashTable<PartialKeys> cheapest_;   // partial readings by node and state
    std::vector<ResidueBound> bounds_;  // one per equation, where that can be
    std::size_t bound_work_ = kFirstWork;
    std::vector<std::uint32_t> bound_classes_;  // (states, bounds)
    std::uint64_t kept_ = 0;                    // fields that must be there, one bit each
    std::vector<std::uint64_t> gone_;  // by node, fields of which no first value can come any more
    std::vector<Wide> scratch_;
    std::size_t extended_ = 0;
    Found found_{};
};

}  // namespace lawful
