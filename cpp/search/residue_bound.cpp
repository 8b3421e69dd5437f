#include "search/residue_bound.hpp"

#include <algorithm>

#include "base/costs.hpp"

namespace lawful {

namespace {

std::vector<Residues::Reading> readings_of(const ReadingGraph& graph) {
    std::vector<Residues::Reading> readings;
    for (std::uint32_t r = 0; r < graph.readings(); ++r)
        readings.push_back({graph.span_of(r).field, graph.reading(r).value});
    return readings;
}

}  // namespace

ResidueBound::ResidueBound(const ReadingGraph& graph, const Plan& plan, const Equation& equation,
                           const DocumentTables& tables, std::size_t work, std::size_t memory,
                           Clock& clock)
    : residues_(plan, equation, tables, readings_of(graph)) {
    const std::size_t bytes = graph.nodes() * sizeof(double);
    if (residues_.choose_prime(graph.steps(), work, bytes, memory)) fill(graph, clock);
}

void ResidueBound::fill(const ReadingGraph& graph, Clock& clock) {
    const std::size_t classes = residues_.classes();
    rest_.assign(graph.nodes() * classes, kForbidden);
    const std::vector<double> ends = residues_.ends();
    for (std::uint32_t node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
        double* const here = rest_.data() + node * classes;
        for (const ReadingGraph::Step& step : graph.steps_from(node)) {
            clock.tick(classes);
            const bool ended = step.to == ReadingGraph::kEnd;
            const Residues::Addend addend =
                ended ? Residues::Addend{} : residues_.addend(step.reading);
            const double* const there = ended ? ends.data() : rest_.data() + step.to * classes;
            if (addend.free) {
                const double cost = step.cost + graph.rest(step.to);
                for (std::size_t s = 0; s < classes; ++s) here[s] = std::min(here[s], cost);
                continue;
            }
            residues_.each_range(addend, [&](std::size_t to, std::size_t from, std::size_t length) {
                for (std::size_t i = 0; i < length; ++i)
                    here[to + i] = std::min(here[to + i], step.cost + there[from + i]);
            });
        }
    }
}

}  // namespace lawful
