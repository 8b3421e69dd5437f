#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rules/plan.hpp"
#include "rules/value_lists.hpp"

namespace lawful {

/// Evaluates rules span by span from left to right: from the state before a span to the state
/// after it, and what that violates.
class RuleTracker {
public:
    RuleTracker(const Plan& plan, const DocumentTables& tables);

    /// Whether a span of the field changes the state at all.
    bool remembers(std::uint32_t field) const { return remembers_[field]; }
    /// Takes in a span of the field whose text has this value; what that violates.
    double extend(std::span<Wide> state, std::uint32_t field, std::uint32_t value);
    /// What is violated before there are any spans: rules that are never true.
    double begin(std::span<const Wide> state) const;
    /// What is violated in the end, beyond what `extend` and `begin` said.
    double finish(std::span<const Wide> state) const;
    /// Whether the field has occurred with a value.
    bool seen(std::span<const Wide> state, std::uint32_t field) const;
    /// Whether something could not be decided here, and was taken for satisfied.
    bool undecided() const { return undecided_; }
    std::size_t held() const { return lists_.held(); }

private:
    /// Combinations of values that are tried for a rule; beyond, Python decides.
    static constexpr std::size_t kMostCombinations = 4096;

    void count(std::span<Wide> state, const FieldPlan& field, std::uint32_t value);
    void extend_list(std::span<Wide> state, std::uint32_t field, std::uint32_t value);
    double extend_single(std::span<Wide> state, std::uint32_t field, std::uint32_t value);
    void keep_apart(std::span<Wide> state, const FieldPlan& field, std::uint32_t value);

    bool decided(const RulePlan& rule, std::span<const Wide> state) const;
    double price(const RulePlan& rule, std::span<const Wide> state) const;
    Outcome any_of(const RulePlan& rule, std::span<const Wide> state) const;

    const Plan& plan_;
    const DocumentTables& tables_;
    ValueLists lists_;
    std::vector<bool> remembers_;
    mutable bool undecided_ = false;
    std::vector<bool> unsure_;                       // lists with a value whose number is not known
    std::vector<std::vector<std::uint32_t>> early_;  // by field, the rules that may be decided
};

}  // namespace lawful
