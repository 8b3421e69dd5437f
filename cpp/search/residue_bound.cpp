#include "search/residue_bound.hpp"

#include <algorithm>

#include "base/costs.hpp"

namespace lawful {

namespace {

std::vector<Residues::FieldValue> field_values(const ReadingGraph& graph) {
    std::vector<Residues::FieldValue> values;
    for (std::uint32_t r = 0; r < graph.span_values(); ++r)
        values.push_back({graph.span_of(r).seen_as(), graph.span_value(r).value});
    return values;
}

}  // namespace

ResidueBound::ResidueBound(const ReadingGraph& graph, const StepExcess& excess, const Plan& plan,
                           const Equation& equation, const DocumentTables& tables, std::size_t work,
                           std::size_t memory, Clock& clock)
    : residues_(plan, equation, tables, field_values(graph)) {
    const std::size_t bytes = graph.nodes() * sizeof(double);
    if (residues_.choose_prime(graph.steps(), work, bytes, memory)) fill(graph, excess, clock);
}

void ResidueBound::fill(const ReadingGraph& graph, const StepExcess& excess, Clock& clock) {
    const std::size_t classes = residues_.classes();
    more_.assign(graph.nodes() * classes, kForbidden);
    const std::vector<double> ends = residues_.ends();
    for (std::uint32_t node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
        double* const here = more_.data() + node * classes;
        const auto steps = graph.steps_from(node);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            clock.tick(classes);
            const double cost = excess[node][i];
            const bool ended = steps[i].to == ReadingGraph::kEnd;
            const Residues::Addend addend =
                ended ? Residues::Addend{} : residues_.addend(steps[i].choice);
            const double* const there = ended ? ends.data() : more_.data() + steps[i].to * classes;
            if (addend.free) {
                for (std::size_t s = 0; s < classes; ++s) here[s] = std::min(here[s], cost);
                continue;
            }
            residues_.each_range(
                addend, [&](std::size_t before, std::size_t after, std::size_t length) {
                    for (std::size_t k = 0; k < length; ++k)
                        here[before + k] = std::min(here[before + k], cost + there[after + k]);
                });
        }
    }
}

}  // namespace lawful
