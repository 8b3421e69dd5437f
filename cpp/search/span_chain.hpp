#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "search/lattice.hpp"

namespace lawful {

/// The logarithm of a weight of zero.
constexpr double kNoWeight = -std::numeric_limits<double>::infinity();

/// e^(part - whole): the share of a weight that a part of it has.
inline double share_of(double part, double whole) {
    return part == kNoWeight ? 0 : std::exp(part - whole);
}

/// The model's distribution over legal labellings, as a Markov chain from boundary to boundary.
///
/// A labelling weighs e^-cost, times the `most_weight` of the field of each of its spans. The sums
/// of weights over all ways to the end, by the backward algorithm, give the share of each next
/// step: a word with a label of no field, a span that was listed, or a span that was not.
class SpanChain {
public:
    /// A listed span, and the share of the weight at its start that takes it with a value of price
    /// 0: `again` right after a span of its field, `fresh` otherwise. `log_weight` is that of all
    /// ways to the end that take it afresh: after a span of another field its share may be large
    /// where `fresh` is too small for a double.
    struct SpanShare {
        std::uint32_t span;
        double fresh, again, log_weight;
    };

    /// Words of no field, in one span, up to the boundary `end`; the log-weight of all ways to the
    /// end of the text that begin with it.
    struct Run {
        std::uint32_t end;
        double log_weight;
    };

    /// `most_weight` bounds by field what the possible values of any text weigh together, each
    /// e^-price. `everything`: `spans` are all spans of all legal labellings.
    SpanChain(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
              std::span<const double> most_weight, bool everything, Clock& clock);

    const Layout& layout() const { return lattice_->layout(); }
    std::size_t words() const { return words_; }
    std::size_t labels() const { return labels_; }
    std::size_t fields() const { return fields_; }
    /// Whether spans depend on a span of their field right before (`Layout::sticky`).
    bool sticky() const { return sticky_; }
    std::size_t spans() const { return spans_.size(); }
    const FieldSpan& span(std::uint32_t index) const { return spans_[index]; }

    /// The log-weight of all legal labellings together.
    double log_total() const { return log_boundary_[0] - lattice_->least(); }
    /// The log-weight of all ways to the end from a boundary.
    double log_boundary(std::size_t word) const { return log_boundary_[word]; }
    /// The same from a boundary right after a span of the field.
    double log_after(std::size_t word, std::uint32_t field) const {
        return sticky_ ? log_after_[word * fields_ + field] : log_boundary_[word];
    }
    /// The same from a word with this label; and without the cost of the word itself.
    double log_with(std::size_t word, std::size_t label) const {
        return log_with_[word * labels_ + label];
    }
    double log_onward(std::size_t word, std::size_t label) const {
        return log_with(word, label) + lattice_->cost(word, label);
    }

    /// The listed spans that start at a word.
    std::span<const SpanShare> spans_at(std::size_t word) const { return span_shares_[word]; }
    /// The share of the weight at a boundary that takes a span that is not listed; right after a
    /// span of a field, if the layout is sticky.
    double unlisted(std::size_t word) const { return unlisted_[word]; }
    /// The same by field, of the labels; unless the layout is sticky.
    double unlisted_of(std::size_t word, std::uint32_t field) const {
        return unlisted_of_.empty() ? 0 : unlisted_of_[word * fields_ + field];
    }
    double unlisted_after(std::size_t word, std::uint32_t field) const {
        return unlisted_after_[word * fields_ + field];
    }

    /// By boundary, the runs from there. Labels with a share below e^log_least are not followed:
    /// that much is added to `left`, by boundary.
    std::vector<std::vector<Run>> runs(double log_least, std::vector<double>& left,
                                       Clock& clock) const;

private:
    void sum_to_the_end(Clock& clock);
    void find_span_shares(Clock& clock);
    void find_unlisted();
    void find_unlisted_of(std::size_t word, double* unlisted) const;
    double left_unlisted(std::size_t word, double all, std::uint32_t after) const;

    std::shared_ptr<const Lattice> lattice_;
    std::vector<FieldSpan> spans_;
    std::vector<double> log_most_;  // by field
    std::size_t words_, labels_, fields_;
    bool sticky_;
    std::vector<double> log_boundary_;                 // (boundaries)
    std::vector<double> log_after_;                    // (boundaries, fields)
    std::vector<double> log_with_;                     // (words, labels)
    std::vector<std::vector<SpanShare>> span_shares_;  // by start of span
    std::vector<double> unlisted_;                     // (boundaries)
    std::vector<double> unlisted_of_;                  // (boundaries, fields)
    std::vector<double> unlisted_after_;               // (boundaries, fields)
};

}  // namespace lawful
