#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "search/lattice.hpp"
#include "search/reading_graph.hpp"
#include "search/span_chain.hpp"
#include "search/survival_bound.hpp"

namespace lawful {

/// The share of a model's probability that rules leave, and per field the share of that in which
/// the field has its answered values.
///
/// Every legal labelling, with every combination of possible values, counts by its probability
/// times e^-penalty. The chain of legal labellings is walked from left to right, word by word. A
/// state is the state of the rules, and per field how much of its answer has been seen. Labellings
/// with the same state continue alike, so the sums of probability by state are exact. The
/// probability of states that are dropped because they hold little, and of spans that are not
/// listed, is added up as `open`: the true share lies between what was counted and that plus
/// `open`.
class Mass {
public:
    struct Limits {
        double least = 0;  // states with a smaller share of all legal labellings are dropped
        std::size_t states = std::size_t{1} << 13;  // at most, per word
        std::size_t work = 0;  // elementary steps per equation, to bound what it will leave
        std::size_t memory = std::numeric_limits<std::size_t>::max();  // bytes
    };
    /// Shares of the probability of all legal labellings.
    struct Shares {
        std::vector<double> same;  // by field, where it has its answered values
        double all = 0;            // everything that was counted
        double open = 0;           // at most this much was not counted
        bool unsure = false;  // some rule was not decided, so `same` and `all` may be too large
    };

    /// `spans` are all spans up to some cost, including those that hard rules refuse and that have
    /// no value in `span_values`. `most_weight` and `everything` are those of `SpanChain`.
    Mass(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
         std::vector<SpanValue> span_values, std::shared_ptr<const Plan> plan,
         DocumentTables tables, const std::vector<double>& most_weight, bool everything,
         Clock& clock);

    /// The log-weight of all legal labellings together, which is what shares are relative to.
    double log_total() const { return chain_.log_total(); }
    /// By field, the values of the answer: all values of a list, at most one of any other field.
    /// Without them, the field is not asked about, and states need not tell its values apart.
    using Answers = std::vector<std::optional<std::vector<std::uint32_t>>>;
    /// The share of a field that is not asked about is 0. Throws OutOfMemoryBudget.
    Shares of(const Answers& answers, const Limits& limits, Clock& clock) const;

private:
    class Walk;

    std::vector<SurvivalBound> survivals(const Limits& limits, Clock& clock) const;
    std::vector<SurvivalBound::Word> survival_words() const;

    SpanChain chain_;
    std::vector<SpanValue> span_values_;
    std::vector<std::uint32_t> first_value_;  // by span
    std::shared_ptr<const Plan> plan_;
    DocumentTables tables_;
};

}  // namespace lawful
