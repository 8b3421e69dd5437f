#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/arena.hpp"
#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "search/lattice.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"
#include "search/survival_bound.hpp"

namespace lawful {

/// How much of a model's probability is left by rules, and how much of that has each field as it
/// was answered.
///
/// Every legal labelling, with every way to read its texts, counts by its probability times e to
/// the minus what it costs. The model's own chain of legal labellings is walked from left to right,
/// word by word; a state is that of the rules, and whether fields are as answered so far. Two
/// labellings in the same state go on alike, so that the sums of probability by state are exact.
/// What is let go on the way, because it is little or because nobody has read the text of a span,
/// is added up too: the truth lies between what was counted, and that with all of it on top.
class Mass {
public:
    struct Limits {
        double least = 0;  // what a state must hold, as a share of all legal labellings
        std::size_t states = std::size_t{1} << 13;  // at each word
        std::size_t work = 0;  // elementary steps for each equation, to know what it leaves
        std::size_t memory = std::numeric_limits<std::size_t>::max();
    };
    /// As shares of the probability of all legal labellings.
    struct Shares {
        std::vector<double> same;  // by field, where it is as it was answered
        double all = 0;            // of everything that was counted
        double open = 0;           // not known: no more than this
        bool unsure = false;       // some rule was not decided, so `same` and `all` may be too much
    };

    /// `spans` are all within some limit of the lattice, those that hard rules refuse, and which
    /// have no reading, among them. `most_readings` is by field the sum over the readings of any
    /// text of e to the minus their prices, or more. `everything`: there are no other spans at all.
    Mass(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
         std::vector<SpanReading> readings, std::shared_ptr<const Plan> plan, DocumentTables tables,
         std::vector<double> most_readings, bool everything, Clock& clock);

    /// The log-probability of all legal labellings together.
    double log_total() const { return log_boundary_[0] - lattice_->least(); }
    /// `answers` holds by field the values that a person sees in it: of a list all, else one or
    /// none. Throws OutOfMemoryBudget.
    Shares of(const std::vector<std::vector<std::uint32_t>>& answers, const Limits& limits,
              Clock& clock) const;

private:
    class Walk;
    /// A span, and the share of what comes to its start that takes it: after anything else, and
    /// right after another span of its field.
    struct Way {
        std::uint32_t span;
        double fresh, again;
    };

    void find_rests(Clock& clock);
    void find_ways(Clock& clock);
    void find_unread();
    std::vector<SurvivalBound> survivals(const Limits& limits, Clock& clock) const;
    double log_after(std::size_t word, std::uint32_t field) const {
        return sticky_ ? log_after_[word * fields_ + field] : log_boundary_[word];
    }
    double log_with(std::size_t word, std::size_t label) const {
        return log_with_[word * labels_ + label];
    }

    std::shared_ptr<const Lattice> lattice_;
    std::vector<FieldSpan> spans_;
    std::vector<SpanReading> readings_;
    std::vector<std::uint32_t> first_reading_;  // by span
    std::shared_ptr<const Plan> plan_;
    DocumentTables tables_;
    std::vector<double> log_most_;  // by field
    std::size_t words_, labels_, fields_;
    bool sticky_;
    // The logarithm of what all ways to the end weigh together, from a boundary on, from one right
    // after a span of a field, and from a word on that has some label.
    std::vector<double> log_boundary_, log_after_, log_with_;
    std::vector<std::vector<Way>> ways_;  // by start of span
    std::vector<double> unread_;  // by boundary, the share that takes a span that is not there
    std::vector<double> unread_after_;  // (boundaries, fields), right after a span
};

}  // namespace lawful
