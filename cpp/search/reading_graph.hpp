#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/residues.hpp"
#include "search/lattice.hpp"

namespace lawful {

/// A possible value of a span, by number, and its price on top of the cost of the labels.
struct SpanValue {
    std::uint32_t span;
    std::uint32_t value;
    double price;
};

/// A graph whose paths are readings.
///
/// A node is a boundary after a span. A step takes the cheapest labels of no field up to the next
/// span, and then this span with one of its possible values; or it goes to the end. Each reading is
/// exactly one path, whose cost is that of the best labelling with this reading plus the prices of
/// its values. Only steps of paths that cost up to `limit` are there; `rest` is exact.
class ReadingGraph {
public:
    static constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

    struct Step {
        double cost;
        std::uint32_t to;      // a node, or kEnd
        std::uint32_t choice;  // the index of the span value, unless the step goes to kEnd
    };

    /// `spans` are sorted by start, `span_values` by span. Throws OutOfMemoryBudget if there are
    /// more than `most` steps.
    ReadingGraph(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
                 std::vector<SpanValue> span_values, double limit, std::size_t most, Clock& clock);
    /// The readings of given spans, all of which occur, in this order: a step costs its price
    /// alone.
    ReadingGraph(std::vector<FieldSpan> spans, std::vector<SpanValue> span_values, double limit);

    /// Null for given spans.
    const Lattice* lattice() const { return lattice_.get(); }
    std::size_t nodes() const { return nodes_.size(); }
    std::size_t steps() const { return steps_; }
    std::size_t span_values() const { return span_values_.size(); }
    double limit() const { return limit_; }
    static constexpr std::uint32_t kRoot = 0;

    /// The steps from a node, by the cost of the cheapest path that continues with them.
    std::span<const Step> steps_from(std::uint32_t node) const { return nodes_[node].steps; }
    /// The cost of the cheapest path from a node to the end.
    double rest(std::uint32_t node) const { return node == kEnd ? 0 : nodes_[node].rest; }
    /// The cost of the cheapest labels from a node to the end, without prices.
    double rest_of_labels(std::uint32_t node) const {
        return node == kEnd || !lattice_ ? 0 : lattice_->rest(nodes_[node].at);
    }

    std::span<const FieldSpan> spans() const { return spans_; }
    const SpanValue& span_value(std::uint32_t index) const { return span_values_[index]; }
    const FieldSpan& span_of(std::uint32_t choice) const {
        return spans_[span_values_[choice].span];
    }
    /// Writes the labels of the path with these span values, in order.
    void write_labels(std::span<const std::uint32_t> choices, std::uint32_t* labels) const;

private:
    static constexpr std::uint32_t kNoField = std::numeric_limits<std::uint32_t>::max();

    struct Node {
        std::uint32_t at = 0;
        std::uint32_t field = kNoField;  // of the span before it, if the layout is sticky
        double rest = std::numeric_limits<double>::infinity();
        std::vector<Step> steps;
    };
    /// The last run of outside labels through a boundary; other runs may continue with its steps.
    struct Trace {
        std::optional<std::uint32_t> node;
        std::vector<double> costs;
    };

    void make_nodes();
    void add_steps(std::uint32_t index, OutsideRun& run, std::vector<Trace>& traces,
                   std::size_t most, Clock& clock);
    void sort_steps(Node& node) const;
    bool add_step(std::uint32_t index, const Step& step);
    bool over_limit(const Node& node, const OutsideRun& run, std::uint32_t label,
                    double cost) const;
    bool follow(std::uint32_t index, const OutsideRun& run, const Trace& trace);
    std::uint32_t node_after(const FieldSpan& span) const;

    std::shared_ptr<const Lattice> lattice_;
    std::vector<FieldSpan> spans_;
    std::vector<SpanValue> span_values_;
    std::vector<std::uint32_t> first_value_;  // by start of span
    double limit_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> first_node_;  // by boundary
    std::size_t steps_ = 0;
};

/// The field and the value of each span value, as rules see them.
std::vector<Residues::FieldValue> field_values(const ReadingGraph& graph);

}  // namespace lawful
