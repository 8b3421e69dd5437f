#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
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
/// with the same state continue alike, so the sums of probability by state are exact. What is
/// dropped because it can hardly change the answers' shares, and spans that are not listed, is
/// added up as `open`, each by what can be left of it at most (see `SurvivalBound`).
class Mass {
public:
    struct Limits {
        double lost = 0;  // how far dropped states may move answers, in shares of all labellings
        std::size_t states = std::size_t{1} << 13;  // at most, per word
        std::size_t work = 0;  // elementary steps per equation, to bound what it will leave
        std::size_t steps = std::numeric_limits<std::size_t>::max();  // of the walk, about: fewer
                                                                      // states are kept if need be
        bool whole = false;  // whether the sum of all is asked about, as well
        std::size_t memory = std::numeric_limits<std::size_t>::max();  // bytes
    };
    /// Shares of the probability of all legal labellings.
    struct Shares {
        std::vector<double> same;  // by field, where it has its answered values
        double all = 0;            // everything that was counted
        // What has not been counted, at most: by field that is asked about, with its answer and
        // with another one; and in all.
        std::vector<double> open_same, open_other;
        double open = 0;
        bool unsure = false;  // some rule was not decided, so `same` and `all` may be too large
    };

    /// `spans` are all spans up to some cost, including those that hard rules refuse and that have
    /// no value in `span_values`. `most_weight` and `everything` are those of `SpanChain`. Labels
    /// of no field that bring a boundary less than the log-weight `negligible` count as not listed.
    Mass(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
         std::vector<SpanValue> span_values, std::shared_ptr<const Plan> plan,
         DocumentTables tables, std::span<const double> most_weight, bool everything,
         double negligible, Clock& clock);

    /// The log-weight of all legal labellings together, which is what shares are relative to.
    double log_total() const { return chain_.log_total(); }
    /// The answer of a field: all values of a list, at most one of any other field; and the share
    /// that it may have, by which errors are weighed.
    using Asked = std::pair<std::vector<std::uint32_t>, double>;
    /// Without it, a field is not asked about, and states need not tell its values apart.
    using Answers = std::vector<std::optional<Asked>>;
    /// The share of a field that is not asked about is 0. Throws OutOfMemoryBudget.
    Shares of(const Answers& answers, const Limits& limits, Clock& clock) const;

private:
    class Walk;

    std::vector<SurvivalBound::Answer> answers_for(const Answers& answers) const;
    void find_words(double log_least, Clock& clock);

    SpanChain chain_;
    std::vector<SpanValue> span_values_;
    std::vector<std::uint32_t> first_value_;  // by span
    std::shared_ptr<const Plan> plan_;
    DocumentTables tables_;
    std::vector<double> weights_;                    // by span value, e^-price
    std::vector<std::vector<SpanChain::Run>> runs_;  // by boundary
    std::vector<SurvivalBound::Word> words_;         // the same, and spans, as shares
};

}  // namespace lawful
