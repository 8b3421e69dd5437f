#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "base/clock.hpp"
#include "base/hash_table.hpp"
#include "rules/plan.hpp"
#include "rules/rule_tracker.hpp"
#include "search/excess.hpp"
#include "search/reading_graph.hpp"
#include "search/state_table.hpp"

namespace lawful {

/// A lower bound on the cost from every node on: exact under the rules of rows alone.
///
/// These rules forget a row at its end, so the part of a state that they see has few values at each
/// node, however many rows there are.
class RowBound {
public:
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

    /// Empty if no rule can be judged on a row alone, or if there are more than `most` steps to
    /// judge.
    RowBound(const ReadingGraph& graph, const Plan& plan, const DocumentTables& tables,
             std::size_t most, Clock& clock);
    RowBound(const RowBound&) = delete;
    RowBound& operator=(const RowBound&) = delete;

    bool empty() const { return pairs_.empty(); }
    /// Bytes in use.
    std::size_t held() const;

    /// The number of the part of a state that rules of rows see; kFree if it was not met.
    std::uint32_t class_of(std::span<const Wide> state);
    /// Whether the bound from this node on is known for a class.
    bool knows(std::uint32_t node, std::uint32_t row_class) const {
        return row_class != kFree && index_.find(Keys{pairs_}, Pair{node, row_class, 0}) != kFree;
    }
    /// The least cost from a node to the end, for a class that is known there.
    double rest(std::uint32_t node, std::uint32_t row_class) const {
        return pairs_[index_.find(Keys{pairs_}, Pair{node, row_class, 0})].rest;
    }
    /// The excess of steps under rules of rows: the least over all classes.
    const StepExcess& excess() const { return excess_; }

private:
    struct Pair {
        std::uint32_t node, state;
        double rest;
    };
    struct Arc {
        double violated;
        std::uint32_t to;  // a pair; kFree at the end
    };
    struct Keys {
        const std::vector<Pair>& pairs;

        static std::uint64_t hash(const Pair& pair) {
            return mixed(std::uint64_t{pair.node} << 32 | pair.state);
        }
        bool equal(std::uint32_t index, const Pair& pair) const {
            return pairs[index].node == pair.node && pairs[index].state == pair.state;
        }
    };

    bool make_pairs(std::size_t most, Clock& clock);
    Arc arc(std::uint32_t pair, const ReadingGraph::Step& step);
    std::uint32_t pair_of(std::uint32_t node, std::uint32_t state);
    void find_rest(Clock& clock);
    void find_excess();

    const ReadingGraph& graph_;
    Plan plan_;  // nothing but rules of rows
    DocumentTables tables_;
    RuleTracker tracker_;
    Arena arena_;
    StateTable states_;
    std::vector<Wide> scratch_;
    std::vector<Pair> pairs_;
    HashTable<Keys> index_;
    std::vector<std::vector<std::uint32_t>> pairs_at_;  // by node
    std::vector<std::size_t> first_arc_;                // by pair
    std::vector<Arc> arcs_;                             // by pair and step of its node
    StepExcess excess_;
};

}  // namespace lawful
