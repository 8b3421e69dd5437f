#include "search/residue_bound.hpp"

#include <algorithm>

#include "base/costs.hpp"

namespace lawful {

namespace {

std::vector<Residues::Reading> readings_of(const Graph& graph) {
    std::vector<Residues::Reading> readings;
    for (std::uint32_t r = 0; r < graph.readings(); ++r)
        readings.push_back({graph.span_of(r).field, graph.reading(r).value});
    return readings;
}

}  // namespace

Sums::Sums(const Graph& graph, const Plan& plan, const Equation& equation, const Facts& facts,
           std::size_t work, std::size_t memory, Clock& clock)
    : residues_(plan, equation, facts, readings_of(graph)) {
    const std::size_t bytes = graph.nodes() * sizeof(double);
    if (residues_.choose_prime(graph.steps(), work, bytes, memory)) fill(graph, clock);
}

void Sums::fill(const Graph& graph, Clock& clock) {
    const std::size_t states = residues_.states();
    rest_.assign(graph.nodes() * states, kForbidden);
    const std::vector<double> ends = residues_.ends();
    for (std::uint32_t node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
        double* const here = rest_.data() + node * states;
        for (const Graph::Step& step : graph.steps_from(node)) {
            clock.tick(states);
            const bool ended = step.to == Graph::kEnd;
            const Residues::Addend addend =
                ended ? Residues::Addend{} : residues_.addend(step.reading);
            const double* const there = ended ? ends.data() : rest_.data() + step.to * states;
            if (addend.free) {
                const double cost = step.cost + graph.rest(step.to);
                for (std::size_t s = 0; s < states; ++s) here[s] = std::min(here[s], cost);
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
