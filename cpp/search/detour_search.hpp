#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "search/remainder_table.hpp"

namespace lawful {

/// Finds the cheapest detours that together change a sum by a given number.
///
/// A way leads from stop to stop; at each, detours may leave it. First, for each stop and each
/// remainder of a few moduli, dynamic programming finds the least cost of detours from there on
/// that change the sum by as much, but for a multiple of the modulus. These are lower bounds. Then
/// sets of detours are listed from the root on with what they change exactly, as far as all moduli
/// admit that they can be completed within the limit: few of the others are.
class DetourSearch {
public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    /// Where a way leads that is beyond the limit.
    static constexpr std::uint32_t kNowhere = kNone - 1;

    struct Detour {
        std::int64_t change;
        double cost;
        std::uint32_t to;      // a stop that was added before, or kNone at the end
        std::uint32_t number;  // for the caller
    };
    /// Small ones first: they are soon looked up.
    using Moduli = std::array<std::uint32_t, 3>;

    /// Changes within the tolerance of what is needed will do; costs up to `limit` matter.
    DetourSearch(const Moduli& moduli, std::int64_t tolerance, double limit);

    /// Adds a stop from where the way leads to another one, to the end (kNone) or nowhere.
    /// Returns its index.
    std::uint32_t add_stop(std::uint32_t next);
    /// Adds a detour from the last stop.
    void add_detour(const Detour& detour);
    /// Finds the least costs; to be called when all stops were added, the root last.
    void fill(Clock& clock);

    double limit() const { return limit_; }
    /// A lower bound, up to the limit, on the cost of changing the sum from a stop on.
    double least(std::uint32_t stop, std::int64_t change) const;

    struct Found {
        double cost;
        std::vector<std::uint32_t> detours;  // in order, by their numbers
    };
    struct Effort {
        std::size_t steps, memory;  // elementary steps and bytes, about
    };
    /// To be called once: lists sets of detours from the root on up to costs that rise, until the
    /// cheapest one that changes the sum by `needed` is known, or that was effort enough. The last
    /// one of `costs` is up to the limit.
    void find(std::int64_t needed, std::span<const double> costs, const Effort& enough,
              Clock& clock);
    /// The cheapest set that was found, which may be the cheapest of all or not.
    const std::optional<Found>& found() const { return found_; }
    /// The cost up to which all sets that change the sum as needed are known.
    double reached() const { return reached_; }
    /// Elementary steps that were done, about.
    std::size_t steps() const { return steps_; }
    /// Bytes in use.
    std::size_t held() const;

private:
    using Cell = RemainderTable::Cell;
    using Remainders = Moduli;  // one of each

    struct Stop {
        std::uint32_t next;
        std::uint32_t first, last;  // detours
    };
    struct Edge {
        Detour detour;
        Remainders change;
        Cell cost;
    };
    /// A detour that is the last one of a set, and the one before it.
    struct Taken {
        std::uint32_t edge, before;
    };
    /// A set of detours up to a stop.
    struct Set {
        std::int64_t needed;  // what is still to be changed
        double cost;
        Remainders remainders;  // of what is needed
        std::uint32_t taken;    // its last detour
    };
    /// A set that may go on to a stop, and how many cells it is then below the highest cost.
    struct Passing {
        std::uint32_t index;
        std::int32_t left;
    };
    /// A set that goes on later, because its cost is too high for now.
    struct Waiting {
        Set set;
        std::uint32_t stop;
        std::int32_t left;
    };

    /// What is needed while sets are listed.
    struct Listed {
        std::vector<std::vector<Set>> at;  // by stop
        std::vector<Waiting> waiting;
        std::vector<Taken> taken;
        std::size_t most = 0;            // of these that fit into memory
        std::uint32_t last = kNone;      // detour of the set that was found
        std::vector<std::int32_t> left;  // by set at a stop, what it may cost more, in cells
        std::vector<Passing> passing;
        std::vector<Set> grouped;         // by a hash
        std::vector<std::uint32_t> ends;  // of these groups
    };
    // Each set is in a list or waits, and vectors double when they grow.
    static constexpr std::size_t kBytesPerSet = sizeof(Taken) + 2 * sizeof(Waiting);

    Remainders remainders(std::int64_t number) const;
    bool is_enough(std::int64_t needed) const {
        return -tolerance_ <= needed && needed <= tolerance_;
    }
    void fill(RemainderTable& table, std::size_t index, Clock& clock);
    void lower_ends(RemainderTable& table, std::uint32_t stop, std::int64_t change, Cell cost);
    void list(std::span<const double> costs, std::size_t enough, Clock& clock);
    void drop_dearer(std::vector<Set>& sets);
    bool go_on(std::uint32_t stop, std::int32_t too_little, double most);
    std::span<const Passing> passing(std::span<const Set> sets, std::uint32_t stop,
                                     const Remainders& change, Cell cost);
    void keep_if_best(const Set& set, double cost, std::uint32_t edge);

    std::vector<RemainderTable> tables_;  // by modulus, with a row for each stop
    std::int64_t tolerance_;
    double limit_;
    ByteCosts costs_;
    std::vector<Stop> stops_;
    std::vector<Edge> edges_;
    std::optional<Found> found_;
    double reached_ = 0;
    std::size_t steps_ = 0;
    Listed listed_;
};

}  // namespace lawful
