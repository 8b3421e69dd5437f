#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "rules/plan.hpp"
#include "rules/residues.hpp"
#include "rules/rule_tracker.hpp"
#include "search/state_table.hpp"

namespace lawful {

/// The rules that a projection is about. All others, and all that only they read, are left out.
struct Subject {
    std::vector<std::uint32_t> fields;
    std::vector<std::uint32_t> rules;
    std::vector<std::uint32_t> orders;
    bool presence = false;      // whether the fields are missing
    bool disagreement = false;  // whether values of the fields disagree
};

/// The subjects of all that bounds of these equations, by index, do not count: each field with
/// the rules that read it alone, orders, and rules that read several fields. `missing` is what the
/// absence of fields costs.
std::vector<Subject> subjects(const Plan& plan, const DocumentTables& tables,
                              std::span<const std::uint32_t> equations,
                              std::span<const double> missing);

/// Classes of states by what a few rules see of them: flags and small counters.
///
/// For `ClassBound`. All states that a document's span values can lead to are listed, so the bound
/// is exact for these rules.
class Projection {
public:
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
    static constexpr bool kShifts = false;

    /// `values` are the span values of a graph.
    Projection(const Plan& plan, const DocumentTables& tables, const Subject& subject,
               std::span<const Residues::FieldValue> values);

    /// Lists the classes; false if there are more than `most`, or no rule can be violated.
    bool list_classes(std::size_t most);
    std::size_t classes() const { return states_->size(); }
    std::span<const std::uint32_t> needed() const { return needed_; }

    static std::uint32_t begin() { return 0; }
    std::uint32_t class_of(std::span<const Wide> state) const;
    static bool decided(std::uint32_t) { return false; }
    static bool frees(std::uint32_t) { return false; }
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) const {
        const std::uint32_t action = action_of_[choice];
        return action == kFree ? before : moves_[action * classes() + before].to;
    }
    double charge(std::uint32_t before, std::uint32_t choice) const {
        const std::uint32_t action = action_of_[choice];
        return action == kFree ? 0 : moves_[action * classes() + before].cost;
    }
    std::vector<double> ends(std::span<const double> missing) const;

    /// Calls `take(before, after, length, charge)` for the ranges of classes that a span value
    /// connects.
    template <class Take>
    void each_range(std::uint32_t choice, Take&& take) const {
        const std::uint32_t action = action_of_[choice];
        if (action == kFree) return take(0, 0, classes(), 0.0);
        const Move* const moves = moves_.data() + action * classes();
        for (std::size_t c = 0; c < classes(); ++c)
            take(c, std::size_t{moves[c].to}, std::size_t{1}, moves[c].cost);
    }

private:
    struct Move {
        std::uint32_t to;
        double cost;
    };
    /// What stays at its place, because others refer to it.
    struct Rules {
        Plan plan;
        DocumentTables tables;
    };

    void keep(const Plan& plan, const Subject& subject);

    std::unique_ptr<Rules> rules_;
    std::unique_ptr<RuleTracker> tracker_;
    std::unique_ptr<Arena> arena_;
    std::unique_ptr<StateTable> states_;
    std::vector<std::uint32_t> needed_;
    std::vector<std::uint32_t> kept_;  // slots
    std::vector<Residues::FieldValue> actions_;
    std::vector<std::uint32_t> action_of_;  // by span value
    std::vector<Move> moves_;               // (actions, classes)
};

}  // namespace lawful
