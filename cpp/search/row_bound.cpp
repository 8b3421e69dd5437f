#include "search/row_bound.hpp"

#include <algorithm>
#include <utility>

#include "base/costs.hpp"

namespace lawful {

namespace {

/// Whether a rule reads nothing but values of the open row and given values.
bool is_local(const RulePlan& rule, const Plan& plan, const DocumentTables& tables) {
    const auto in_row = [&](std::uint32_t slot) {
        return slot == plan.constant ||
               std::any_of(plan.fields.begin(), plan.fields.end(),
                           [&](const FieldPlan& f) { return f.in_row == slot; });
    };
    const auto& code = rule.program.instructions();
    return std::all_of(code.begin(), code.end(), [&](const Instruction& instruction) {
        return instruction.op != Op::kLookup || in_row(tables.lookups[instruction.index].slot());
    });
}

/// The plan with nothing but those rules of rows that read one row.
Plan rows_only(const Plan& plan, const DocumentTables& tables) {
    Plan made;
    made.slots = plan.slots;
    for (const FieldPlan& f : plan.fields) {
        FieldPlan& kept = made.fields.emplace_back();
        kept.many = f.many;
        kept.in_row = f.in_row;
        kept.rows = f.rows;
    }
    for (const RowPlan& rows : plan.rows) {
        RowPlan& kept = made.rows.emplace_back(rows);
        std::erase_if(kept.rules,
                      [&](const RulePlan& rule) { return !is_local(rule, plan, tables); });
        kept.previous.clear();
        kept.remembers = false;
    }
    return made;
}

}  // namespace

RowBound::RowBound(const ReadingGraph& graph, const Plan& plan, const DocumentTables& tables,
                   std::size_t most, Clock& clock)
    : graph_(graph),
      plan_(rows_only(plan, tables)),
      tables_{tables.lookups, std::vector<double>(plan.fields.size()), tables.has_rows},
      tracker_(plan_, tables_),
      arena_(std::numeric_limits<std::size_t>::max()),
      states_(arena_, plan.slots),
      scratch_(plan.slots),
      pairs_at_(graph.nodes()) {
    const bool some = std::any_of(plan_.rows.begin(), plan_.rows.end(),
                                  [](const RowPlan& rows) { return !rows.rules.empty(); });
    if (!some || !make_pairs(most, clock)) {
        pairs_.clear();
        arcs_.clear();
        return;
    }
    find_rest(clock);
    find_excess();
    arcs_ = {};
}

std::size_t RowBound::held() const {
    return arena_.held() + pairs_.capacity() * sizeof(Pair) + index_.held() +
           graph_.steps() * sizeof(double);
}

std::uint32_t RowBound::class_of(std::span<const Wide> state) {
    std::fill(scratch_.begin(), scratch_.end(), 0);
    for (const RowPlan& rows : plan_.rows) scratch_[rows.open] = state[rows.open];
    for (const FieldPlan& f : plan_.fields)
        if (f.in_row) scratch_[*f.in_row] = state[*f.in_row];
    return states_.find(scratch_);
}

/// Finds the states of rows at every node; false if there are too many steps.
bool RowBound::make_pairs(std::size_t most, Clock& clock) {
    pair_of(ReadingGraph::kRoot, states_.number_of(scratch_));
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
        for (const std::uint32_t pair : pairs_at_[node]) {  // steps lead to later nodes
            const auto steps = graph_.steps_from(node);
            if (arcs_.size() + steps.size() > most) return false;
            clock.tick(64 * steps.size());
            first_arc_[pair] = arcs_.size();
            for (const ReadingGraph::Step& step : steps) arcs_.push_back(arc(pair, step));
        }
    return true;
}

RowBound::Arc RowBound::arc(std::uint32_t pair, const ReadingGraph::Step& step) {
    const std::uint32_t state = pairs_[pair].state;
    if (step.to == ReadingGraph::kEnd) return {tracker_.finish(states_[state]), kFree};
    const SpanPlace place = graph_.span_of(step.choice).place();
    if (!tracker_.tracks(place.field)) return {0, pair_of(step.to, state)};
    const std::span<const Wide> before = states_[state];
    std::copy(before.begin(), before.end(), scratch_.begin());
    const std::uint32_t value = graph_.span_value(step.choice).value;
    const double violated = tracker_.extend(scratch_, place, value);
    for (const RowPlan& rows : plan_.rows) scratch_[rows.history] = 0;
    return {violated, pair_of(step.to, states_.number_of(scratch_))};
}

std::uint32_t RowBound::pair_of(std::uint32_t node, std::uint32_t state) {
    const Pair pair{node, state, kForbidden};
    std::uint32_t& index = index_.entry(Keys{pairs_}, pair);
    if (index == kFree) {
        index = static_cast<std::uint32_t>(pairs_.size());
        pairs_.push_back(pair);
        first_arc_.push_back(0);
        pairs_at_[node].push_back(index);
    }
    return index;
}

void RowBound::find_rest(Clock& clock) {
    for (std::uint32_t node = static_cast<std::uint32_t>(graph_.nodes()); node-- > 0;)
        for (const std::uint32_t pair : pairs_at_[node]) {
            const auto steps = graph_.steps_from(node);
            clock.tick(steps.size());
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const Arc& arc = arcs_[first_arc_[pair] + i];
                const double rest = arc.to == kFree ? 0 : pairs_[arc.to].rest;
                pairs_[pair].rest =
                    std::min(pairs_[pair].rest, steps[i].cost + arc.violated + rest);
            }
        }
}

void RowBound::find_excess() {
    excess_.resize(graph_.nodes());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
        const auto steps = graph_.steps_from(node);
        excess_[node].assign(steps.size(), kForbidden);
        for (const std::uint32_t pair : pairs_at_[node]) {
            if (pairs_[pair].rest == kForbidden) continue;
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const Arc& arc = arcs_[first_arc_[pair] + i];
                const double rest = arc.to == kFree ? 0 : pairs_[arc.to].rest;
                const double excess = steps[i].cost + arc.violated + rest - pairs_[pair].rest;
                excess_[node][i] = std::min(excess_[node][i], std::max(0.0, excess));
            }
        }
    }
}

}  // namespace lawful
