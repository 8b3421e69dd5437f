#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "search/lattice.hpp"

namespace lawful {

/// One way to read a span: the number of its value, and a price on top of what its labels cost.
struct SpanReading {
    std::uint32_t span;
    std::uint32_t value;
    double price;
};

/// What a labelling can be for rules: a way through a graph whose steps are readings of spans.
///
/// A node is a boundary after a span; a step takes the cheapest run of labels of no field and then
/// a span in one of its readings, or goes to the end. Every choice of readings is exactly one way,
/// and its cost is that of the best labelling with these readings, plus their prices. Only what
/// may be part of a way up to `limit` is there; `rest` is exact.
class ReadingGraph {
public:
    static constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

    struct Step {
        double cost;
        std::uint32_t to;       // a node; kEnd for the end
        std::uint32_t reading;  // unless it goes to the end
    };

    /// `readings` come by span. Throws OutOfMemoryBudget for more than `most` steps.
    ReadingGraph(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
                 std::vector<SpanReading> readings, double limit, std::size_t most, Clock& clock);
    /// All ways to read given spans, every one of them in order: a step costs its price alone.
    ReadingGraph(std::vector<FieldSpan> spans, std::vector<SpanReading> readings, double limit);

    /// Null for given spans.
    const Lattice* lattice() const { return lattice_.get(); }
    std::size_t nodes() const { return nodes_.size(); }
    std::size_t steps() const { return steps_; }
    std::size_t readings() const { return readings_.size(); }
    double limit() const { return limit_; }
    static constexpr std::uint32_t kRoot = 0;

    /// The steps from a node, those of the cheapest ways first.
    std::span<const Step> steps_from(std::uint32_t node) const { return nodes_[node].steps; }
    /// The cost of the cheapest way from a node to the end.
    double rest(std::uint32_t node) const { return node == kEnd ? 0 : nodes_[node].rest; }
    /// The cost of the cheapest labels from a node to the end, without prices.
    double rest_of_labels(std::uint32_t node) const {
        return node == kEnd || !lattice_ ? 0 : lattice_->rest(nodes_[node].at);
    }

    const SpanReading& reading(std::uint32_t index) const { return readings_[index]; }
    const FieldSpan& span_of(std::uint32_t reading) const {
        return spans_[readings_[reading].span];
    }
    /// Writes the labels of a way, given by its readings in order.
    void write_labels(std::span<const std::uint32_t> readings, std::uint32_t* labels) const;

private:
    static constexpr std::uint32_t kNoField = std::numeric_limits<std::uint32_t>::max();

    struct Node {
        std::uint32_t at = 0;
        std::uint32_t field = kNoField;  // of the span before it, where that matters
        double rest = std::numeric_limits<double>::infinity();
        std::vector<Step> steps;
    };
    /// The last run that went through a boundary: a later one may go on as it did.
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
    std::vector<SpanReading> readings_;
    std::vector<std::uint32_t> first_reading_;  // by start of span
    double limit_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> first_node_;  // by boundary
    std::size_t steps_ = 0;
};

}  // namespace lawful
