#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rules/forgetting.hpp"
#include "rules/plan.hpp"
#include "rules/value_lists.hpp"

namespace lawful {

/// The place of a span, as far as rules depend on it.
struct SpanPlace {
    std::uint32_t field;
    std::uint32_t row = 0;  // the number of the row that its first word is in, or 0
    bool closes = false;    // no other span can be in this row after it
    std::uint32_t start = 0, end = 0;
    std::uint32_t page = 0;  // the number of the page that its first word is on, or 0
};

/// Evaluates rules span by span, from left to right: each span turns the state before it into the
/// state after it, at the cost of the rules that this decides and finds violated or vacuous.
class RuleTracker {
public:
    RuleTracker(const Plan& plan, const DocumentTables& tables);

    /// Whether spans of the field can change the state.
    bool tracks(std::uint32_t field) const { return tracks_[field]; }
    /// Updates the state by a span with this value; returns the cost.
    double extend(std::span<Wide> state, const SpanPlace& place, std::uint32_t value);
    /// The cost before the first span: of rules that read no field.
    double begin(std::span<const Wide> state) const;
    /// The cost at the end: of missing fields, and of rules that are not decided before.
    double finish(std::span<const Wide> state) const;
    /// Whether the field has occurred with a readable value.
    bool seen(std::span<const Wide> state, std::uint32_t field) const;
    /// Makes states that rules will never tell apart equal; `extend` does so.
    void forget(std::span<Wide> state) const { forgetting_.apply(state); }
    /// Whether some rule could not be decided here and was assumed to be satisfied.
    bool undecided() const { return undecided_; }
    /// Bytes in use.
    std::size_t held() const { return lists_.held(); }

private:
    /// Rules with more combinations of values than this are left to Python.
    static constexpr std::size_t kMaxCombinations = 4096;

    void count(std::span<Wide> state, std::uint32_t index, std::uint32_t value);
    void extend_list(std::span<Wide> state, const ListSlots& slots, std::uint32_t field,
                     std::uint32_t value) const;
    double extend_single(std::span<Wide> state, std::uint32_t field, std::uint32_t value);
    void keep_apart(std::span<Wide> state, const ListSlots& slots, std::uint32_t value) const;
    bool by_number(const RowPlan& rows) const { return tables_.has_rows && !rows.always; }
    static double follow(std::span<Wide> state, const OrderPlan& order, std::uint32_t field);
    double enter_row(std::span<Wide> state, const SpanPlace& place, std::uint32_t value);
    double enter_section(std::span<Wide> state, std::uint32_t rows, const SpanPlace& place,
                         std::uint32_t value);
    double close_row(std::span<Wide> state, std::uint32_t rows) const;
    void forget_section(std::span<Wide> state, const RowPlan& plan, bool unsure) const;
    bool add_up(std::span<Wide> state, const RowPlan& plan, const RowSum& sum) const;
    bool lacks_before(std::span<const Wide> state, std::uint32_t word) const;
    void keep(std::span<Wide> state, const SpanPlace& place, std::uint32_t value) const;
    void remember(std::span<Wide> state, const RowPlan& rows, Wide what) const;
    void remember_all(std::span<Wide> state, const RowPlan& rows, Wide what) const;

    bool decided(const RulePlan& rule, std::span<const Wide> state) const;
    Outcome outcome_of(const RulePlan& rule, std::span<const Wide> state) const;
    double price(const RulePlan& rule, const Outcome& outcome) const;
    Outcome any_of(const RulePlan& rule, std::span<const Wide> state) const;

    const Plan& plan_;
    const DocumentTables& tables_;
    Forgetting forgetting_;
    mutable ValueLists lists_;
    std::vector<bool> tracks_;
    mutable bool undecided_ = false;
    std::vector<bool> unsure_;  // by field, whether a value of a list has no known number
    std::vector<std::vector<std::uint32_t>> early_;     // by field, the early rules that read it
    std::vector<std::vector<std::uint32_t>> in_row_;    // by kind of rows, the slots of open rows
    std::vector<std::uint32_t> kept_;                   // the fields with places that need a value
    std::vector<std::vector<std::uint32_t>> sections_;  // by field, the sections that see it
};

}  // namespace lawful
