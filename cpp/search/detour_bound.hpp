#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/costs.hpp"
#include "rules/residues.hpp"
#include "search/change_table.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// The cheapest reading that satisfies one equation about a list, such as `subtotal == sum(items)`,
/// and a lower bound on what the equation adds to the cost of the rest of other readings.
///
/// From each place, a node together with the fields of the equation that have occurred, there is a
/// cheapest way to the end. A detour is a step that leaves it; each changes the sum by a number of
/// its own, so readings are sets of detours (Eppstein's sidetracks). Cheap ones are listed from the
/// end on, by what they change together, and others from the root on: the two meet in the middle,
/// so that each list is about as long as the square root of the number of readings. Often most
/// detours change the sum by multiples of a small number, the modulus, and the change that is
/// needed is none: all readings that satisfy the equation have dear detours then. So what is listed
/// is measured from the least cost with the same remainder, which is found first.
class DetourBound {
public:
    using Steps = std::span<const std::vector<ReadingGraph::Step>>;  // by node

    /// What the equation depends on in a state.
    struct Class {
        std::int64_t sum;    // in units of the equation
        std::uint32_t seen;  // its fields that have occurred
        bool free;           // it cannot be decided any more
    };

    /// The share of detours that are listed, of those that were counted: others are as good.
    struct Share {
        double changes = 1, starts = 1;
    };

    /// `number` is that of the equation, and `share` is from earlier lists, if there are any. All
    /// readings are known to cost at least `known` more than the cheapest of all.
    DetourBound(std::uint32_t number, Residues equation, const Share& share, double known)
        : number_(number), equation_(std::move(equation)), share_(share), least_(known) {}
    std::uint32_t number() const { return number_; }

    /// About how many elementary steps may be done: at once, if all readings up to `most` are then
    /// known, or else step by step.
    struct Work {
        double in_steps, at_once;
    };
    /// Lists detours over the open steps, for paths of cost up to `most` above the cheapest one,
    /// until the cheapest reading is known, the work is done or about `memory` bytes are in use.
    /// Lists that would not tell more than is known are not made.
    /// `missing` is what the absence of fields costs. False if the equation is of another kind, or
    /// too large.
    bool list(const ReadingGraph& graph, Steps open, std::span<const double> missing, double most,
              const Work& work, std::size_t memory, Clock& clock);

    Class class_of(std::span<const Wide> state) const;
    Class next(const Class& before, std::uint32_t choice) const;
    /// A lower bound on how much more the rest from a node costs because of the equation.
    double more(std::uint32_t node, const Class& at) const;
    /// The same for all readings; exact if one of them is known to cost as much.
    double least() const;
    /// The cost of the cheapest reading that satisfies the equation and was met, above the cheapest
    /// of all; its span values in order.
    double met_cost() const { return places_[ReadingGraph::kRoot].rest + cost_; }
    const std::vector<std::uint32_t>& met() const { return path_; }
    const Share& share() const { return share_; }
    /// Whether changes are listed; without, the bound is that of remainders.
    bool has_lists() const { return radius_ > 0; }
    /// Bytes in use.
    std::size_t held() const;

private:
    static constexpr std::uint32_t kNone = ChangeTable::kNone;
    static constexpr std::int64_t kMostNumber = std::int64_t{1} << 60;  // in units
    static constexpr std::int64_t kMostTolerance = 16;                  // in units
    static constexpr std::size_t kMostFields = 6;                       // that must occur
    static constexpr std::size_t kMostPlaces = std::size_t{1} << 16;    // times the modulus
    static constexpr std::size_t kBins = 64;  // of costs, to count detours before they are listed
    static constexpr double kFarthest = 32;   // nats, up to which they are counted
    static constexpr double kLeastWork = 1 << 14;  // of the first lists, at least
    static constexpr double kGrowth = 16;          // of each after them
    static constexpr double kWorkPerChange = 16;
    static constexpr double kWorkPerStart = 128;
    static constexpr double kBytesPerChange = 64;  // with the table
    static constexpr double kFarMore = 4;          // times what is expected: too much
    static constexpr double kLookBeyond = 1.5;     // times what is listed
    static constexpr std::size_t kFew = 256;

    static constexpr std::array<std::uint32_t, 6> kModuli{2, 3, 4, 5, 7, 10};
    static constexpr double kWorkForModuli = 1 << 19;
    static constexpr double kTelling = 0.5;  // nats that remainders cost more than nothing

    using Counts = std::array<float, kBins>;

    /// A node and the fields that have occurred; the cheapest way from there.
    struct Place {
        double rest = kForbidden;   // what it costs more if the equation is decided in the end
        double open = kForbidden;   // the same if it is not decided
        double reach = kForbidden;  // the least excess from the root
        std::int64_t sum = 0;       // what the way adds
        std::uint32_t next = kNone, choice = kNone;
        // Places whose ways lead here have numbers from `number` on.
        std::uint32_t number = 0, followers = 1;
        std::uint32_t first_detour = 0, last_detour = 0;
        std::uint32_t first_change = 0, last_change = 0;  // of those that begin here
    };
    struct Detour {
        double cost;
        std::int64_t change;
        std::uint32_t from, to, choice;  // `to` is kNone at the end
        std::uint32_t remainder;         // of the change
    };
    /// Detours from the root up to a place.
    struct Start {
        std::int64_t change;
        double cost;
        std::uint32_t place, remainder, detour, before;
        std::uint32_t other;  // that ends at the same place, or is in the same slot
    };

    /// What is listed: changes that cost so much more than the least with their remainder, and
    /// starts that, with what must follow, cost so much more than the least of all.
    struct Split {
        double changes = 0, starts = 0;
        double listed = 0, begun = 0;  // as counted before

        double both() const { return changes + starts; }
    };

    bool is_small() const;
    void find_ways(const ReadingGraph& graph, Steps open, Clock& clock);
    void find_detours(const ReadingGraph& graph, Steps open, double most, Clock& clock);
    void number_places();
    void choose_modulus(double work, Clock& clock);
    void find_remainders(std::uint32_t modulus, Clock& clock);
    std::size_t bins_up_to(double cost) const;
    Counts count_changes(double most, Clock& clock) const;
    Counts count_starts(Clock& clock) const;
    std::uint32_t remainder(std::int64_t number) const {
        const auto modulus = static_cast<std::int64_t>(modulus_);
        const std::int64_t rest = number % modulus;
        return static_cast<std::uint32_t>(rest < 0 ? rest + modulus : rest);
    }
    /// The least cost of detours up to a place, and from there on, that change as much, but for a
    /// multiple of the modulus.
    double least_to(std::uint32_t place, std::uint32_t remainder) const {
        return before_[place * modulus_ + remainder];
    }
    double least_from(std::uint32_t place, std::uint32_t remainder) const {
        return after_[place * modulus_ + remainder];
    }
    std::uint32_t sum_of(std::uint32_t one, std::uint32_t other) const {
        const std::uint32_t sum = one + other;
        return sum < modulus_ ? sum : sum - modulus_;
    }
    /// The remainder that is needed besides this one.
    std::uint32_t besides(std::uint32_t remainder) const {
        return sum_of(needed_remainder_, modulus_ - remainder);
    }
    /// The least cost of detours up to a place to which changes from there on may be added.
    double before(std::uint32_t place, std::uint32_t remainder) const {
        return least_to(place, besides(remainder));
    }
    /// The least cost of detours from a place on that may be added to changes up to there.
    double after(std::uint32_t place, std::uint32_t remainder) const {
        return least_from(place, besides(remainder));
    }
    /// No reading that satisfies the equation costs less.
    double base() const { return after(ReadingGraph::kRoot, 0); }
    double reach(const Split& split) const { return base() + split.both(); }
    double dearest() const;
    Split farthest_split(const Counts& changes, const Counts& starts, double work) const;
    std::optional<std::size_t> list_changes(const Split& split, double most, Clock& clock);
    void add_by_cost(std::span<const Change> made);
    std::size_t shift_of(double cost) const;
    std::optional<std::size_t> meet(const Split& split, Clock& clock);
    static std::size_t slot_of(const Start& start, std::size_t slots);
    bool is_follower(const Start& start, std::uint32_t others) const;
    void look_up(const Start& start);
    std::uint32_t cheapest_change(std::uint32_t place, std::int64_t needed, double below) const;
    void collect(const Start& start, std::uint32_t change);
    bool leads_to(std::uint32_t place, std::uint32_t later) const {
        return places_[place].number - places_[later].number < places_[later].followers;
    }

    std::uint32_t number_;
    Residues equation_;
    std::int64_t tolerance_ = 0;
    std::vector<Residues::End> ends_;
    std::vector<std::int64_t> end_sums_;
    std::vector<Place> places_;    // (nodes, fields that have occurred)
    std::vector<Detour> detours_;  // by place and cost
    std::int64_t needed_ = 0;      // the change from the way from the root
    std::uint32_t modulus_ = 1, needed_remainder_ = 0;
    std::vector<double> before_, after_;  // (places, remainders)
    ChangeTable changes_;
    std::vector<Start> starts_;  // while they are listed
    Share share_;
    double least_;
    double most_changes_ = 0;          // that fit into memory
    double farthest_ = 0;              // costs beyond this are of no interest
    double width_ = 0;                 // of a bin
    double radius_ = 0;                // changes up to this above the least are listed
    double step_ = 0;                  // of costs by which they are ordered
    double known_ = 0;                 // no reading costs less; up to there, all were met
    double cost_ = kForbidden;         // of the cheapest that was met
    std::vector<std::uint32_t> path_;  // its span values
};

}  // namespace lawful
