#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/rule_tracker.hpp"
#include "search/layout.hpp"

namespace lawful {

/// Words [start, end) as a span of `field`, by its labels. If fields share these labels, rules may
/// see it as a span of another field.
struct FieldSpan {
    static constexpr std::uint32_t kSame = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t field;
    std::uint32_t start, end;
    double cost;             // of its labels
    double again;            // of its labels, right after another span of its field
    std::uint32_t row = 0;   // the number of its row, or 0
    bool closes = false;     // no other span can be in its row after it
    std::uint32_t page = 0;  // the number of its page, or 0
    std::uint32_t other_field = kSame;

    /// The field that rules see.
    std::uint32_t seen_as() const { return other_field == kSame ? field : other_field; }
    SpanPlace place() const { return {seen_as(), row, closes, start, end, page}; }
};

/// The scores of one document, and the cheapest labels between boundaries.
///
/// `reach(i)` is the cost of the cheapest labels for the words before a boundary at i, `rest(i)`
/// that for the words after a span that ends at i; rules play no part. The least cost of each word
/// is subtracted, so that sums hold differences only and keep their digits.
class Lattice {
public:
    /// `costs` is words x labels, row-major; +inf forbids a label. Throws std::invalid_argument for
    /// another size, NaN or -inf.
    Lattice(std::span<const double> costs, std::size_t words, std::shared_ptr<const Layout> layout);

    std::size_t words() const { return words_; }
    const Layout& layout() const { return *layout_; }
    /// The sum of the least costs of all words.
    double least() const { return least_; }
    /// The cost of the cheapest legal labelling above least(); infinite if none is legal.
    double best() const { return rest_[0]; }
    double reach(std::size_t boundary) const { return reach_[boundary]; }
    double rest(std::size_t boundary) const { return rest_after_span_[boundary]; }
    double cost(std::size_t word, std::size_t label) const { return costs_of(word)[label]; }
    /// The costs of a word, by label.
    const double* costs_of(std::size_t word) const {
        return costs_.data() + word * layout_->labels();
    }
    /// The cost of the cheapest labels for the words from `word` on, if `word` has `label`.
    double rest_with(std::size_t word, std::size_t label) const {
        return rest_with_[word * layout_->labels() + label];
    }

    /// Lists the spans of fields of all legal labellings that cost up to `limit`, by start.
    /// Stops and returns false if there are more than `most`.
    bool list_spans(double limit, std::size_t most, Clock& clock,
                    std::vector<FieldSpan>& spans) const;

    /// Writes the cheapest labels of a span; `again`: right after a span of the same field.
    void write_span(const FieldSpan& span, bool again, std::uint32_t* labels) const;
    /// Writes the cheapest labels of no field for the words [start, end) between two boundaries.
    void write_run(std::size_t start, std::size_t end, std::uint32_t* labels) const;

private:
    bool subtract_least();
    void find_reach();
    void find_rest();
    void find_rest_after_span();
    void list_spans_from(std::size_t start, std::size_t field, double limit, Clock& clock,
                         std::vector<FieldSpan>& spans) const;

    std::size_t words_;
    std::shared_ptr<const Layout> layout_;
    std::vector<double> costs_;  // (words, labels)
    double least_ = 0;
    std::vector<double> reach_, rest_, rest_after_span_;
    std::vector<double> rest_with_;  // (words, labels)
};

/// The cost of the cheapest labels of no field from a boundary on, word by word.
class OutsideRun {
public:
    explicit OutsideRun(const Lattice& lattice)
        : lattice_(lattice), costs_(size()), next_(size()) {}

    void start_at(std::size_t boundary);
    /// Adds one more word.
    void step();
    std::size_t at() const { return at_; }
    /// The cost up to a boundary at `at()`; infinite if there can be none.
    double cost() const { return boundary_; }
    /// By label of no field, the cost if it is the last one.
    std::span<const double> costs() const { return costs_; }

private:
    std::size_t size() const { return lattice_.layout().labels(); }

    const Lattice& lattice_;
    std::size_t at_ = 0;
    double boundary_ = 0;
    std::vector<double> costs_, next_;
};

}  // namespace lawful
