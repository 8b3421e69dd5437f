#pragma once

#include <span>
#include <vector>

#include "rules/plan.hpp"

namespace lawful {

/// What a state need not tell apart, because no rule will ever look at it.
///
/// Of some fields only the presence matters once they have a value; of some counts, only whether
/// they are above a number.
class Forgetting {
public:
    Forgetting(const Plan& plan, const DocumentTables& tables);

    /// Whether rules look at the first value of a field only when it occurs.
    bool forgets_first(std::uint32_t field) const { return first_[field]; }
    /// Counts above this one are alike.
    Wide most_count(std::uint32_t field) const { return most_count_[field]; }
    /// Makes states that differ in nothing that matters equal.
    void apply(std::span<Wide> state) const;

private:
    void limit_counts();
    bool only_decides(std::uint32_t field, const DocumentTables& tables) const;

    const Plan& plan_;
    std::vector<bool> first_;       // by field
    std::vector<Wide> most_count_;  // by field
};

}  // namespace lawful
