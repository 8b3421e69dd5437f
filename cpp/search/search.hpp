#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/clock.hpp"
#include "base/hash_table.hpp"
#include "base/tuning.hpp"
#include "rules/plan.hpp"
#include "rules/rule_tracker.hpp"
#include "search/bounds.hpp"
#include "search/reading_graph.hpp"
#include "search/state_table.hpp"

namespace lawful {

/// Readings by rising cost: the cost of the best labelling with this reading, plus its penalty.
///
/// An A* search from left to right. A partial reading is a node of the graph and the state of the
/// rules there; of two with the same node and state, only the cheaper one is kept. The bound of a
/// partial reading is its cost so far plus the exact rest of the graph without rules; if the search
/// turns out to be long, rules raise it (`Bounds`). Readings that end in the same state count as
/// one; without a plan, all are different.
class Search {
public:
    /// The first value of a field, by number, or kMissing if it has none.
    struct Fixed {
        std::uint32_t field, value;
    };
    struct Limits {
        /// The most that a labelling may cost, without its penalty.
        double labelling = std::numeric_limits<double>::infinity();
        /// The most that a reading may cost, if not the graph's limit.
        std::optional<double> reading = {};
        std::size_t memory = std::numeric_limits<std::size_t>::max();
        std::size_t patience =
            tuning::kStepsBeforeBounds;  // steps that are tried before bounds are made
        std::size_t later = 0;           // the same for finer bounds, at least
        Bounds::Kinds bounds = {};
        std::vector<Fixed> fixed = {};  // what readings must have
        std::vector<bool> pruned = {};  // span values that they do not have; if empty, none
        std::size_t shared = tuning::kMinCaseEquations;  // equations that read a field by whose
                                                         // values a search is split
    };
    struct Found {
        double cost;                         // of the labelling, above Lattice::least()
        double violated;                     // the penalty: weights and prices
        std::vector<std::uint32_t> choices;  // indices of its span values, in order

        double total() const { return cost + violated; }
    };
    enum class Status { kFound, kNothing, kPaused };
    static constexpr std::size_t kNeverPauses = std::numeric_limits<std::size_t>::max();

    /// Without a plan, all readings of the graph are found. A state has one slot more than the
    /// plan: the prices so far, which matter if the cost of labellings is limited.
    Search(std::shared_ptr<const ReadingGraph> graph, std::shared_ptr<const Plan> plan,
           DocumentTables tables, const Limits& limits, Clock& clock);
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    /// Searches until one more reading is found (kFound), `extensions` more partial readings were
    /// extended, `tried` steps tried in all or a good reading was found early (kPaused), or no
    /// reading is left up to the graph's limit or stop_above (kNothing). Throws OutOfMemoryBudget;
    /// or OutOfTime if the clock does, after which the search may go on.
    Status next(std::size_t extensions, Clock& clock, std::size_t tried = kNeverPauses);
    /// Drops all readings that cost more: next() finds nothing above.
    void stop_above(double cost);
    /// Tells that no reading costs less.
    void nothing_below(double cost);
    /// Completes open partial readings from left to right, of which it follows the `width` best at
    /// each node; found() is then the cheapest, a good reading that is not proven to be the best.
    /// False if none reaches the end.
    bool dive(std::size_t width, Clock& clock);
    /// A good reading that bounds have found and no dive has returned yet.
    const std::optional<Found>& incumbent() const { return incumbent_; }
    /// The last reading found.
    const Found& found() const { return found_; }
    /// A lower bound on the cost of all readings not yet found.
    double bound() const;
    /// Partial readings extended so far.
    std::size_t extended() const { return extended_; }
    /// Steps tried so far.
    std::size_t tried() const { return tried_; }
    /// By span value, whether no reading up to the limit has it.
    std::vector<bool> pruned() const;
    /// Bytes in use, without the graph.
    std::size_t held() const;
    const ReadingGraph& graph() const { return *graph_; }

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    struct Partial {
        double cost;      // penalty included
        double violated;  // the penalty alone
        std::uint32_t node;
        std::uint32_t state;
        std::uint32_t before;
        std::uint32_t choice;
    };
    struct Open {
        double bound;
        std::uint32_t partial;

        /// Cheaper first; of equals the one made last, which is nearest to the end.
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

    /// The best partial readings at every node, while the search dives.
    struct Beam {
        /// Partial readings; those that the search has made before, with their index.
        std::vector<std::pair<Partial, std::uint32_t>> made;
        std::vector<std::vector<Open>> at;  // by node, a heap with the dearest first
        std::size_t width;

        bool takes(std::uint32_t node, double bound) const;
        void add(const Partial& partial, double bound, std::uint32_t seed);
    };

    void extend(std::uint32_t index);
    void follow(Beam& beam, const Open& at, std::optional<Partial>& best, Clock& clock);
    bool advance(const Partial& from, std::uint32_t index, const ReadingGraph::Step& step,
                 Partial& next);
    double update_state(Partial& partial);
    bool lost(const Partial& partial) const;
    void add(const Partial& partial, double at_least);
    bool enter_if_cheaper(const Partial& partial);
    bool is_cheapest(std::uint32_t index) const;
    void find_gone(Clock& clock);
    double root_cost() const { return partials_[0].cost; }
    double rest_of(const Partial& partial) {
        return bounds_.rest(partial.node, partial.state, partial.cost - root_cost());
    }
    void make_bounds(Clock& clock);
    void take_incumbent();
    /// Whether no reading is cheaper than the incumbent.
    bool is_proven() const {
        return incumbent_ && incumbent_->total() <= bound() + tuning::kRoundingNats;
    }
    std::optional<Found> replay(std::span<const std::uint32_t> choices);
    void drop_above();
    void collect(const Partial& last, std::span<const std::uint32_t> more = {});

    std::shared_ptr<const ReadingGraph> graph_;
    std::shared_ptr<const Plan> plan_;
    DocumentTables tables_;
    Limits limits_;
    double most_;         // that readings may cost
    bool lower_ = false;  // bounds were made for more
    double least_ =
        -std::numeric_limits<double>::infinity();  // that readings cost, for all we know
    std::optional<Found> incumbent_;               // a good reading that bounds have found
    bool has_found_ = false;                       // a reading, in order
    RuleTracker tracker_;
    Arena arena_;
    StateTable states_;
    Chunked<Partial> partials_;
    std::vector<Open> open_;           // a heap
    HashTable<PartialKeys> cheapest_;  // partial readings by node and state
    Bounds bounds_;
    std::uint64_t required_ = 0;       // required fields, one bit each
    std::vector<std::uint64_t> gone_;  // by node, fields of which no first value can follow
    std::vector<Wide> scratch_;
    std::size_t extended_ = 0;
    std::size_t tried_ = 0;  // steps
    Found found_{};
};

}  // namespace lawful
