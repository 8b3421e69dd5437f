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
#include "base/tuning.hpp"
#include "rules/residues.hpp"
#include "search/bound.hpp"
#include "search/detour_search.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// The cheapest reading that satisfies one equation about a list, such as `subtotal == sum(items)`,
/// and a lower bound on what the equation adds to the cost of the rest of other readings.
///
/// From each place, a node together with the fields of the equation that have occurred, there is a
/// cheapest way to the end. A detour is a step that leaves it; each changes the sum by a number of
/// its own, so readings are sets of detours (Eppstein's sidetracks). `DetourSearch` finds the
/// cheapest set that makes the sum right, up to a limit that rises from round to round. Often most
/// detours change the sum by multiples of a small number, and the change that is needed is none:
/// all readings that satisfy the equation have dear detours then. So the modulus of the search is a
/// multiple of a small one for which it costs much to make up for the remainder.
class DetourBound final : public Bound {
    /// What the equation depends on in a state.
    struct Class {
        std::int64_t sum;    // in units of the equation
        std::uint32_t seen;  // its fields that have occurred
        bool free;           // it cannot be decided any more
    };

public:
    static constexpr std::size_t kBytesPerClass = sizeof(Class);
    using Steps = std::span<const std::vector<ReadingGraph::Step>>;  // by node

    /// `number` is that of the equation, and `share` is from an earlier bound, if there is one. All
    /// readings are known to cost at least `known` more than the cheapest of all.
    DetourBound(std::uint32_t number, Residues equation, double share, double known)
        : number_(number), equation_(std::move(equation)), share_(share), least_(known) {}
    std::uint32_t number() const { return number_; }

    struct Effort {
        double work;         // elementary steps, about
        std::size_t memory;  // bytes
        bool found;          // the cheapest reading was found before, so the bound is wanted alone
    };
    /// Searches over the open steps, on paths of cost up to `most` above the cheapest one, until
    /// the cheapest reading is known or that would take more effort. Rounds that would not tell
    /// more than is known are left out; `missing` is what the absence of fields costs. False if the
    /// equation is of another kind, or too large.
    bool search(const ReadingGraph& graph, Steps open, std::span<const double> missing, double most,
                const Effort& effort, Clock& clock);

    std::uint32_t class_of(std::span<const Wide> state) override;
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) override {
        return before == kFree ? kFree : number_of(class_after(classes_[before], choice));
    }
    double more(std::uint32_t node, std::uint32_t at, double spent) const override {
        return at == kFree ? 0 : more_for(node, classes_[at], spent);
    }
    double more_with(std::uint32_t choice, std::uint32_t node, std::uint32_t before,
                     double spent) const override {
        return before == kFree ? 0 : more_for(node, class_after(classes_[before], choice), spent);
    }
    /// Forgets all classes of states.
    void forget_classes() { classes_.clear(); }
    /// A lower bound on what readings cost more; exact if one of them is known to cost as much.
    double least() const;
    /// The cost of the cheapest reading that satisfies the equation, if it is known, above the
    /// cheapest of all; its span values in order.
    double met_cost() const { return places_[ReadingGraph::kRoot].rest + cost_; }
    const std::vector<std::uint32_t>& met() const { return path_; }
    /// The work of sets of detours that were listed, of what was expected.
    double share() const { return share_; }
    /// Whether there was a round; without, the bound is that of small remainders.
    bool has_searched() const { return search_.has_value(); }
    /// Whether the cheapest reading is known, or that there is none.
    bool is_done() const { return known_ >= std::min(cost_, farthest_); }
    /// Bytes in use, without those of classes.
    std::size_t held() const override;

private:
    static constexpr std::uint32_t kNone = DetourSearch::kNone;
    static constexpr std::int64_t kMaxNumber = std::int64_t{1} << 60;  // in units
    using Counts = std::array<float, tuning::kCountBins>;

    /// A node and the fields that have occurred; the cheapest way from there.
    struct Place {
        double rest = kForbidden;   // what it costs more if the equation is decided in the end
        double open = kForbidden;   // the same if it is not decided
        double reach = kForbidden;  // the least reduced cost from the root
        std::int64_t sum = 0;       // what the way adds
        std::uint32_t next = kNone, choice = kNone;
        std::uint32_t first_detour = 0, last_detour = 0;
        std::uint32_t stop = kNone;  // of the search, on the way from here
    };
    struct Detour {
        double cost;
        std::int64_t change;
        std::uint32_t from, to, choice;  // `to` is kNone at the end
        std::uint32_t remainder;         // of the change
        double least;                    // that a reading with the right remainder costs with it
    };

    /// A search up to a limit, whose moduli are multiples of these primes.
    struct Round {
        double limit = 0;
        std::array<std::uint32_t, 2> primes{};
        double sets = 0, stops = 0;  // up to the limit, as counted before

        double sum_of_primes() const { return tuning::kSmallDetourPrime + primes[0] + primes[1]; }
        /// The work of listing sets, as expected.
        double listed() const {
            return tuning::kDetourWorkPerStop * stops * sets / sum_of_primes();
        }
    };

    bool is_small() const;
    std::uint32_t number_of(const Class& made) {
        if (made.free) return kFree;
        classes_.push_back(made);
        return static_cast<std::uint32_t>(classes_.size() - 1);
    }
    Class class_after(const Class& before, std::uint32_t choice) const;
    Class class_if_readable(const Class& before, std::uint32_t choice) const;
    double more_for(std::uint32_t node, const Class& at, double spent) const;
    void find_ways(const ReadingGraph& graph, Steps open, Clock& clock);
    void find_detours(const ReadingGraph& graph, Steps open, double most, Clock& clock);
    void choose_modulus(double work, Clock& clock);
    void find_after(std::uint32_t modulus, Clock& clock);
    void find_before(Clock& clock);
    void find_least();
    std::size_t shift_of(double cost) const;
    void count_up_to(double limit, Clock& clock);
    std::uint32_t remainder(std::int64_t number) const { return remainder_of(number, modulus_); }
    /// The least cost of detours up to a place, and from there on, that change as much, but for a
    /// multiple of the small modulus.
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
    /// The least cost of detours from a place on that may be added to changes up to there.
    double after(std::uint32_t place, std::uint32_t remainder) const {
        return least_from(place, sum_of(needed_remainder_, modulus_ - remainder));
    }
    /// No reading that satisfies the equation costs less.
    double base() const { return after(ReadingGraph::kRoot, 0); }
    /// The same up to the end of a bin.
    double end_of(std::size_t bin) const {
        return bin + 1 == tuning::kCountBins ? counted_
                                             : base() + static_cast<double>(bin + 1) * width_;
    }
    Round farthest_round(double work, std::size_t memory) const;
    Round next_round(double work, std::size_t memory, Clock& clock);
    void fill(const Round& round, Clock& clock);
    void go(const Round& round, std::size_t memory, Clock& clock);
    void add_stops(double limit);
    void collect(std::span<const std::uint32_t> taken);

    std::uint32_t number_;
    Residues equation_;
    std::int64_t tolerance_ = 0;
    std::vector<Class> classes_;  // by number
    std::vector<Residues::End> ends_;
    std::vector<std::int64_t> end_sums_;
    std::vector<Place> places_;                         // (nodes, fields that have occurred)
    std::vector<Detour> detours_;                       // by place and cost
    std::vector<std::uint32_t> reached_;                // places, in order
    std::int64_t needed_ = 0;                           // the change from the way from the root
    std::uint32_t modulus_ = 1, needed_remainder_ = 0;  // the small one
    std::vector<double> before_, after_;                // (places, remainders)
    Counts sets_{}, stops_{}, edges_{};   // by bin of costs: sets of detours, places with detours
                                          // and detours on such paths
    std::optional<DetourSearch> search_;  // of the last round
    double share_;
    double least_;
    double farthest_ = 0;              // costs beyond this are of no interest
    double counted_ = 0, width_ = 0;   // the costs up to which sets are counted, and of a bin
    double known_ = 0;                 // no reading costs less
    double cost_ = kForbidden;         // of the cheapest that satisfies the equation
    std::vector<std::uint32_t> path_;  // its span values
};

}  // namespace lawful
