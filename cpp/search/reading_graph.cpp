#include "search/reading_graph.hpp"

#include <algorithm>
#include <cmath>

#include "base/arena.hpp"
#include "base/costs.hpp"
#include "base/tuning.hpp"

namespace lawful {

namespace {

// Two runs that differ by a constant, up to this much, continue alike.

}  // namespace

ReadingGraph::ReadingGraph(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
                           std::vector<SpanValue> span_values, double limit, std::size_t most,
                           Clock& clock)
    : lattice_(std::move(lattice)),
      spans_(std::move(spans)),
      span_values_(std::move(span_values)),
      limit_(std::min(limit, std::numeric_limits<double>::max())) {
    const std::size_t words = lattice_->words();
    first_value_.assign(words + 2, static_cast<std::uint32_t>(span_values_.size()));
    for (std::size_t r = span_values_.size(); r-- > 0;)
        first_value_[spans_[span_values_[r].span].start] = static_cast<std::uint32_t>(r);
    for (std::size_t at = words + 1; at-- > 0;)
        first_value_[at] = std::min(first_value_[at], first_value_[at + 1]);
    make_nodes();

    OutsideRun run(*lattice_);
    std::vector<Trace> traces(words + 1);
    for (std::size_t index = nodes_.size(); index-- > 0;) {
        add_steps(static_cast<std::uint32_t>(index), run, traces, most, clock);
        Node& node = nodes_[index];
        for (const Step& step : node.steps)
            node.rest = std::min(node.rest, step.cost + rest(step.to));
    }
    for (Node& node : nodes_) {
        clock.tick(16 * node.steps.size());
        sort_steps(node);
    }
}

ReadingGraph::ReadingGraph(std::vector<FieldSpan> spans, std::vector<SpanValue> span_values,
                           double limit)
    : spans_(std::move(spans)),
      span_values_(std::move(span_values)),
      limit_(std::min(limit, std::numeric_limits<double>::max())) {
    nodes_.resize(spans_.size() + 1);
    for (std::uint32_t r = 0; r < span_values_.size(); ++r) {
        const std::uint32_t span = span_values_[r].span;
        nodes_[span].steps.push_back({span_values_[r].price, span + 1, r});
    }
    nodes_.back().steps.push_back({0, kEnd, 0});
    steps_ = span_values_.size() + 1;
    for (std::size_t index = nodes_.size(); index-- > 0;) {
        Node& node = nodes_[index];
        for (const Step& step : node.steps)
            node.rest = std::min(node.rest, step.cost + rest(step.to));
        sort_steps(node);
    }
}

void ReadingGraph::sort_steps(Node& node) const {
    std::stable_sort(node.steps.begin(), node.steps.end(), [&](const Step& a, const Step& b) {
        return a.cost + rest(a.to) < b.cost + rest(b.to);
    });
}

void ReadingGraph::make_nodes() {
    const bool sticky = lattice_->layout().sticky();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> keys{{0, kNoField}};
    for (const SpanValue& value : span_values_) {
        const FieldSpan& span = spans_[value.span];
        keys.emplace_back(span.end, sticky ? span.field : kNoField);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    first_node_.assign(lattice_->words() + 2, static_cast<std::uint32_t>(keys.size()));
    for (std::size_t i = keys.size(); i-- > 0;)
        first_node_[keys[i].first] = static_cast<std::uint32_t>(i);
    nodes_.reserve(keys.size());
    for (const auto& [at, field] : keys) nodes_.push_back({.at = at, .field = field, .steps = {}});
}

std::uint32_t ReadingGraph::node_after(const FieldSpan& span) const {
    std::uint32_t node = first_node_[span.end];
    if (lattice_->layout().sticky())
        while (nodes_[node].field != span.field) ++node;
    return node;
}

bool ReadingGraph::add_step(std::uint32_t index, const Step& step) {
    Node& node = nodes_[index];
    if (!(lattice_->reach(node.at) + step.cost + rest(step.to) <= limit_)) return false;
    node.steps.push_back(step);
    ++steps_;
    return true;
}

void ReadingGraph::add_steps(std::uint32_t index, OutsideRun& run, std::vector<Trace>& traces,
                             std::size_t most, Clock& clock) {
    const std::size_t words = lattice_->words();
    const std::uint32_t start = nodes_[index].at;
    const auto others = lattice_->layout().others();
    for (run.start_at(start);; run.step()) {
        const std::size_t at = run.at();
        const std::size_t before = steps_;
        if (at > start) {
            const bool over = std::all_of(others.begin(), others.end(), [&](std::uint32_t label) {
                return over_limit(nodes_[index], run, label, run.costs()[label]);
            });
            if (over) return;
            if (follow(index, run, traces[at])) {
                clock.tick(4 * (steps_ - before));
                break;
            }
            traces[at].node = index;
            traces[at].costs.assign(run.costs().begin(), run.costs().end());
        }
        if (run.cost() < kForbidden) {
            for (std::uint32_t r = first_value_[at]; r < first_value_[at + 1]; ++r) {
                const FieldSpan& span = span_of(r);
                const bool again = at == start && nodes_[index].field == span.field;
                const double labels = again ? span.again : span.cost;
                add_step(index, {run.cost() + labels + span_values_[r].price, node_after(span), r});
            }
            if (at == words) add_step(index, {run.cost(), kEnd, 0});
        }
        clock.tick(4 * (others.size() + steps_ - before));
        if (steps_ > most) throw OutOfMemoryBudget{};
        if (at == words) return;
    }
    if (steps_ > most) throw OutOfMemoryBudget{};
}

/// Whether no path up to the limit continues a run that ends in `label` at this cost.
bool ReadingGraph::over_limit(const Node& node, const OutsideRun& run, std::uint32_t label,
                              double cost) const {
    if (cost == kForbidden) return true;
    const double onward =
        lattice_->rest_with(run.at() - 1, label) - lattice_->cost(run.at() - 1, label);
    return !(lattice_->reach(node.at) + cost + onward <= limit_);
}

/// Copies the steps of an earlier run if the two differ by a constant from here on; else false.
bool ReadingGraph::follow(std::uint32_t index, const OutsideRun& run, const Trace& trace) {
    if (!trace.node) return false;
    const auto others = lattice_->layout().others();
    const std::span<const double> now = run.costs();
    const auto best =
        std::min_element(others.begin(), others.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return now[a] < now[b]; });
    if (best == others.end() || now[*best] == kForbidden || trace.costs[*best] == kForbidden)
        return false;
    const double shift = now[*best] - trace.costs[*best];
    // The earlier run was cut off at the limit, which must not be too early for this one.
    if (lattice_->reach(nodes_[index].at) + shift <
        lattice_->reach(nodes_[*trace.node].at) - tuning::kGraphRoundingNats)
        return false;
    for (const std::uint32_t label : others) {
        const double ours = now[label], theirs = trace.costs[label] + shift;
        if (std::abs(ours - theirs) <= tuning::kGraphRoundingNats) continue;
        if (!over_limit(nodes_[index], run, label, ours) ||
            !over_limit(nodes_[index], run, label, theirs))
            return false;
    }
    for (const Step& step : nodes_[*trace.node].steps) {
        const std::size_t begins = step.to == kEnd ? lattice_->words() : span_of(step.choice).start;
        if (begins >= run.at()) add_step(index, {step.cost + shift, step.to, step.choice});
    }
    return true;
}

void ReadingGraph::write_labels(std::span<const std::uint32_t> choices,
                                std::uint32_t* labels) const {
    std::size_t at = 0;
    std::uint32_t field = kNoField;
    for (const std::uint32_t r : choices) {
        const FieldSpan& span = span_of(r);
        lattice_->write_run(at, span.start, labels + at);
        lattice_->write_span(span, at == span.start && field == span.field, labels + span.start);
        at = span.end;
        field = span.field;
    }
    lattice_->write_run(at, lattice_->words(), labels + at);
}

std::vector<Residues::FieldValue> field_values(const ReadingGraph& graph) {
    std::vector<Residues::FieldValue> values;
    for (std::uint32_t r = 0; r < graph.span_values(); ++r)
        values.push_back({graph.span_of(r).seen_as(), graph.span_value(r).value});
    return values;
}

}  // namespace lawful
