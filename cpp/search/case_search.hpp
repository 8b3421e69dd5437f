#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"

namespace lawful {

/// A search that is split into cases if it is long: one for each value of a field that several
/// equations read, and whose values must agree.
///
/// The bound of an equation may assume another value of such a field than the bound of the next
/// equation, so they add up to too little. In a case they cannot, and values that hard equations
/// do not admit there are dropped, too. Cases are searched by their bounds, and split again by
/// other fields. Every reading is in exactly one case, so the readings are those of one `Search`.
class CaseSearch {
public:
    CaseSearch(std::shared_ptr<const ReadingGraph> graph, std::shared_ptr<const Plan> plan,
               DocumentTables tables, const Search::Limits& limits, Clock& clock);

    /// As for `Search`.
    Search::Status next(std::size_t extensions, Clock& clock);
    void stop_above(double cost);
    void nothing_below(double cost);
    bool dive(std::size_t width, Clock& clock);
    /// Dives from the beginning, for a reading that costs less than `most`, even beyond the limit.
    bool dive_beyond(double most, std::size_t width, Clock& clock);
    /// Changes the reading with these span values, or the one with the cheapest labels, bit by bit:
    /// found() is then a good reading, even above the limit; false if a hard rule forbids the
    /// first.
    bool improve(const std::optional<std::vector<std::uint32_t>>& from, Clock& clock);
    const Search::Found& found() const { return found_; }
    double bound() const;
    std::size_t extended() const { return extended_; }
    std::size_t held() const;
    const ReadingGraph& graph() const { return *graph_; }

private:
    struct Case {
        double bound;
        std::vector<Search::Fixed> fixed;
        std::vector<bool> pruned;                 // by span value, whether it does not occur
        std::vector<std::uint32_t> whole = {};    // fields by which it is not split
        bool admitted = false;                    // `pruned` has what hard equations refuse
        std::unique_ptr<Search> search = {};      // once it is the best case
        bool has_found = false;                   // a reading: its cases would find it again
        std::optional<Search::Found> found = {};  // a reading that is not known to be next
    };

    static bool comes_later(const std::unique_ptr<Case>& a, const std::unique_ptr<Case>& b) {
        return a->bound > b->bound;
    }
    void open(Case& first, Clock& clock);
    void replace_first();
    std::optional<std::uint32_t> field_to_split(const Case& whole) const;
    void split(Case& whole, std::uint32_t field, Clock& clock);
    std::unique_ptr<Case> make_case(const Case& whole, const Search::Fixed& fixed,
                                    Clock& clock) const;
    std::vector<double> missing_in(const Case& each) const;
    void admit(Case& each, Clock& clock) const;

    std::shared_ptr<const ReadingGraph> graph_;
    std::shared_ptr<const Plan> plan_;
    DocumentTables tables_;
    Search::Limits limits_;
    double most_;
    std::vector<std::size_t> equations_of_;     // by field, how many equations read its first value
    std::vector<std::unique_ptr<Case>> cases_;  // a heap
    std::size_t extended_ = 0;
    std::size_t opened_ = 0;  // cases
    Search::Found found_{};
};

}  // namespace lawful
