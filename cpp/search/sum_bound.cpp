#include "search/sum_bound.hpp"

#include <algorithm>
#include <utility>

#include "base/costs.hpp"
#include "base/tuning.hpp"

namespace lawful {

std::size_t SumBound::Row::slot_of(std::uint32_t key) const {
    std::size_t slot = std::uint32_t{key * 0x9E3779B1u} >> shift;
    while (slots[slot] != kNone && classes[slots[slot]] != key) slot = (slot + 1) % slots.size();
    return slot;
}

std::uint32_t SumBound::Row::find(std::uint32_t key) const {
    return slots.empty() ? kNone : slots[slot_of(key)];
}

std::uint32_t SumBound::Row::enter(std::uint32_t key) {
    if (2 * classes.size() >= slots.size()) grow();
    std::uint32_t& index = slots[slot_of(key)];
    if (index == kNone) {
        index = static_cast<std::uint32_t>(classes.size());
        classes.push_back(key);
        reached.push_back(kForbidden);
    }
    return index;
}

void SumBound::Row::grow() {
    shift = slots.empty() ? 28 : shift - 1;
    slots.assign(std::size_t{1} << (32 - shift), kNone);
    for (std::uint32_t i = 0; i < classes.size(); ++i) slots[slot_of(classes[i])] = i;
}

bool SumBound::list(const ReadingGraph& graph, const ReducedCosts& reduced,
                    std::span<const double> missing, double most, std::size_t most_visits,
                    Clock& clock) {
    most = std::max(most, 0.0) + tuning::kRoundingNats;
    ends_ = residues_.ends_by_mask(missing);
    rows_.assign(graph.nodes(), {});
    rows_[ReadingGraph::kRoot].enter(Residues::begin());
    rows_[ReadingGraph::kRoot].reached[0] = 0;
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
        const Row& here = rows_[node];
        const auto steps = graph.steps_from(node);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double cost = reduced[node][i];
            if (cost == kForbidden) continue;
            clock.tick(4 * here.classes.size());
            visits_ += here.classes.size();
            if (visits_ > most_visits) return false;
            if (steps[i].to == ReadingGraph::kEnd) continue;
            Row& there = rows_[steps[i].to];
            const auto reach = [&](std::uint32_t at, double cost) {
                double& reached = there.reached[there.enter(at)];
                reached = std::min(reached, cost);
            };
            for (std::size_t c = 0; c < here.classes.size(); ++c) {
                const double through = here.reached[c] + cost;
                if (through > most) continue;
                const std::uint32_t next = after(here.classes[c], steps[i].choice);
                if (next == kViolated && through + end_of(next) > most) continue;
                reach(next, through);
                if (next == kFree) reach(if_readable(here.classes[c], steps[i].choice), through);
            }
        }
    }
    return true;
}

double SumBound::fill(const ReadingGraph& graph, ReducedCosts& reduced,
                      std::vector<double>& missing, double most, Clock& clock) {
    most = std::max(most, 0.0) + tuning::kRoundingNats;
    for (const std::uint32_t field : residues_.needed())
        if (missing[field] < kForbidden) missing[field] = 0;
    std::vector<double> rests;  // (steps, classes) after each step
    for (std::uint32_t node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
        Row& here = rows_[node];
        const std::size_t classes = here.classes.size();
        const auto steps = graph.steps_from(node);
        here.rest.assign(classes, kForbidden);
        rests.assign(steps.size() * classes, kForbidden);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double cost = reduced[node][i];
            if (cost == kForbidden) continue;
            clock.tick(4 * classes);
            for (std::size_t c = 0; c < classes; ++c) {
                if (here.reached[c] + cost > most) continue;
                const std::uint32_t at = here.classes[c];
                double& rest = rests[i * classes + c];
                rest = steps[i].to == ReadingGraph::kEnd
                           ? end_of(at)
                           : this->rest(steps[i].to, after(at, steps[i].choice));
                here.rest[c] = std::min(here.rest[c], cost + rest);
            }
        }
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double cost = reduced[node][i];
            if (cost == kForbidden) continue;
            double left = kForbidden;
            for (std::size_t c = 0; c < classes; ++c) {
                const double rest = rests[i * classes + c];
                if (rest < kForbidden && here.reached[c] + cost + rest <= most)
                    left = std::min(left, cost + rest - here.rest[c]);
            }
            reduced[node][i] = left == kForbidden ? left : std::clamp(left, 0.0, cost);
        }
    }
    return rest(ReadingGraph::kRoot, Residues::begin());
}

double SumBound::rest(std::uint32_t node, std::uint32_t at) const {
    if (at == kFree) return 0;
    if (at == kViolated) return end_of(at);
    const std::uint32_t index = rows_[node].find(at);
    return index == kNone ? kForbidden : rows_[node].rest[index];
}

double SumBound::end_of(std::uint32_t at) const {
    if (at == kFree) return 0;
    return at == kViolated ? residues_.weight() : residues_.end(ends_, at);
}

std::size_t SumBound::held() const {
    std::size_t bytes = rows_.capacity() * sizeof(Row);
    for (const Row& row : rows_)
        bytes += row.classes.capacity() * sizeof(row.classes[0]) +
                 (row.reached.capacity() + row.rest.capacity()) * sizeof(double) +
                 row.slots.capacity() * sizeof(row.slots[0]);
    return bytes;
}

}  // namespace lawful
