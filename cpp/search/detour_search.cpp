#include "search/detour_search.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace lawful {

DetourSearch::DetourSearch(const Moduli& moduli, std::int64_t tolerance, double limit)
    : tolerance_(tolerance), limit_(limit), costs_(limit) {
    for (const std::uint32_t modulus : moduli) tables_.emplace_back(modulus);
}

DetourSearch::Remainders DetourSearch::remainders(std::int64_t number) const {
    Remainders all;
    for (std::size_t t = 0; t < all.size(); ++t) all[t] = tables_[t].remainder(number);
    return all;
}

std::uint32_t DetourSearch::add_stop(std::uint32_t next) {
    const auto first = static_cast<std::uint32_t>(edges_.size());
    stops_.push_back({next, first, first});
    return static_cast<std::uint32_t>(stops_.size() - 1);
}

void DetourSearch::add_detour(const Detour& detour) {
    const Cell cost = costs_.cell(detour.cost);
    if (cost == ByteCosts::kNever) return;
    edges_.push_back({detour, remainders(detour.change), cost});
    stops_.back().last = static_cast<std::uint32_t>(edges_.size());
}

void DetourSearch::fill(Clock& clock) {
    for (std::size_t t = 0; t < tables_.size(); ++t) fill(tables_[t], t, clock);
}

void DetourSearch::fill(RemainderTable& table, std::size_t index, Clock& clock) {
    table.resize(stops_.size());
    for (std::uint32_t s = 0; s < stops_.size(); ++s) {
        const Stop& stop = stops_[s];
        clock.tick(table.modulus() / 16 * (1 + stop.last - stop.first));
        if (stop.next < kNowhere)
            table.copy(s, stop.next);
        else
            table.close(s);
        if (stop.next == kNone) lower_ends(table, s, 0, 0);
        for (std::uint32_t e = stop.first; e < stop.last; ++e) {
            const Edge& edge = edges_[e];
            if (edge.detour.to == kNone)
                lower_ends(table, s, edge.detour.change, edge.cost);
            else
                table.lower_by(s, edge.detour.to, edge.change[index], edge.cost);
        }
    }
}

/// Lowers the costs of all changes within the tolerance of one after which the way ends.
void DetourSearch::lower_ends(RemainderTable& table, std::uint32_t stop, std::int64_t change,
                              Cell cost) {
    for (std::int64_t t = -tolerance_; t <= tolerance_; ++t)
        table.lower(stop, table.remainder(change + t), cost);
}

double DetourSearch::least(std::uint32_t stop, std::int64_t change) const {
    Cell least = 0;
    for (const RemainderTable& table : tables_)
        least = std::max(least, table[stop][table.remainder(change)]);
    return std::min(limit_, costs_.cost(least));
}

void DetourSearch::find(std::int64_t needed, std::span<const double> costs, const Effort& enough,
                        Clock& clock) {
    listed_.at.assign(stops_.size(), {});
    listed_.at.back().push_back({needed, 0, remainders(needed), kNone});
    listed_.most = enough.memory / kBytesPerSet;
    list(costs, enough.steps, clock);
    if (found_)
        for (std::uint32_t at = listed_.last; at != kNone; at = listed_.taken[at].before)
            found_->detours.insert(found_->detours.begin(),
                                   edges_[listed_.taken[at].edge].detour.number);
    listed_ = {};
}

/// Lists sets from those at the root on.
void DetourSearch::list(std::span<const double> costs, std::size_t enough, Clock& clock) {
    const double most = costs.back();
    for (double cost : costs) {
        if (found_) cost = std::min(cost, found_->cost);
        // Rounded down, because costs in cells are.
        const auto too_little = static_cast<std::int32_t>((most - cost) / costs_.unit);
        std::erase_if(listed_.waiting, [&](const Waiting& each) {
            if (each.left < too_little) return false;
            listed_.at[each.stop].push_back(each.set);
            return true;
        });
        for (auto s = static_cast<std::uint32_t>(stops_.size()); s-- > 0;) {
            if (listed_.at[s].empty()) continue;
            drop_dearer(listed_.at[s]);
            const std::size_t steps = listed_.at[s].size() * (2 + stops_[s].last - stops_[s].first);
            clock.tick(2 * steps);
            steps_ += steps;
            if (steps_ > enough || !go_on(s, too_little, most)) return;
        }
        reached_ = cost;
        if (found_ && found_->cost <= cost) return;
    }
}

/// Of sets that change as much, drops all but the cheapest. They are grouped by a hash first.
void DetourSearch::drop_dearer(std::vector<Set>& sets) {
    const std::size_t groups = std::bit_ceil(2 * sets.size());
    const int shift = 64 - std::countr_zero(groups);
    const auto group_of = [&](const Set& set) {
        return static_cast<std::uint64_t>(set.needed) * 0x9e3779b97f4a7c15 >> shift;
    };
    listed_.ends.assign(groups + 1, 0);
    for (const Set& set : sets) ++listed_.ends[group_of(set) + 1];
    std::partial_sum(listed_.ends.begin(), listed_.ends.end(), listed_.ends.begin());
    listed_.grouped.resize(sets.size());
    for (const Set& set : sets) listed_.grouped[listed_.ends[group_of(set)]++] = set;
    std::size_t kept = 0;
    for (std::size_t g = 0, i = 0; g < groups; ++g)
        for (const std::size_t first = kept; i < listed_.ends[g]; ++i) {
            std::size_t same = first;
            while (same < kept && sets[same].needed != listed_.grouped[i].needed) ++same;
            if (same == kept)
                sets[kept++] = listed_.grouped[i];
            else if (listed_.grouped[i].cost < sets[same].cost)
                sets[same] = listed_.grouped[i];
        }
    sets.resize(kept);
}

/// Follows all sets at a stop, those that leave too little only later; false if there are too many.
bool DetourSearch::go_on(std::uint32_t index, std::int32_t too_little, double most) {
    const std::vector<Set> sets = std::exchange(listed_.at[index], {});
    const Stop& stop = stops_[index];
    listed_.left.clear();
    // Rounded up, because costs in cells are rounded down.
    for (const Set& set : sets)
        listed_.left.push_back(static_cast<std::int32_t>(
            std::min((most - set.cost) / costs_.unit + 1.0, double{ByteCosts::kLargest})));
    const auto go_to = [&](std::uint32_t to, std::int32_t left, const Set& set) {
        if (left < too_little)
            listed_.waiting.push_back({set, to, left});
        else
            listed_.at[to].push_back(set);
    };
    if (stop.next == kNone) {
        for (const Set& set : sets)
            if (is_enough(set.needed)) keep_if_best(set, set.cost, kNone);
    } else if (stop.next < kNowhere) {
        for (const auto& [i, left] : passing(sets, stop.next, {}, 0))
            go_to(stop.next, left, sets[i]);
    }
    for (std::uint32_t e = stop.first; e < stop.last; ++e) {
        if (listed_.taken.size() > listed_.most) return false;
        const Edge& edge = edges_[e];
        const Detour& detour = edge.detour;
        if (detour.to == kNone) {
            for (const Set& set : sets)
                if (is_enough(set.needed - detour.change))
                    keep_if_best(set, set.cost + detour.cost, e);
            continue;
        }
        for (const auto& [i, left] : passing(sets, detour.to, edge.change, edge.cost)) {
            Set made = sets[i];
            made.needed -= detour.change;
            made.cost += detour.cost;
            for (std::size_t t = 0; t < tables_.size(); ++t)
                made.remainders[t] = tables_[t].difference(made.remainders[t], edge.change[t]);
            made.taken = static_cast<std::uint32_t>(listed_.taken.size());
            listed_.taken.push_back({e, sets[i].taken});
            go_to(detour.to, left, made);
        }
    }
    return true;
}

/// Which sets can be completed within the limit from a stop on, after a change of this cost.
std::span<const DetourSearch::Passing> DetourSearch::passing(std::span<const Set> sets,
                                                             std::uint32_t stop,
                                                             const Remainders& change, Cell cost) {
    listed_.passing.resize(sets.size());
    std::size_t count = sets.size();
    for (std::uint32_t i = 0; i < count; ++i) listed_.passing[i] = {i, listed_.left[i] - cost};
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        const RemainderTable& table = tables_[t];
        const Cell* const onward = table[stop];
        std::size_t passed = 0;
        // Without a branch for each set, because nobody can tell which ones pass.
        for (std::size_t k = 0; k < count; ++k) {
            const auto [i, left] = listed_.passing[k];
            const std::uint32_t needed = table.difference(sets[i].remainders[t], change[t]);
            listed_.passing[passed] = {i, std::min(left, listed_.left[i] - cost - onward[needed])};
            passed += listed_.passing[passed].left >= 0;
        }
        count = passed;
    }
    return {listed_.passing.data(), count};
}

void DetourSearch::keep_if_best(const Set& set, double cost, std::uint32_t edge) {
    if (!(cost <= limit_) || (found_ && found_->cost <= cost)) return;
    found_ = {cost, {}};
    if (edge != kNone) listed_.taken.push_back({edge, set.taken});
    listed_.last = edge == kNone ? set.taken : static_cast<std::uint32_t>(listed_.taken.size() - 1);
}

std::size_t DetourSearch::held() const {
    std::size_t bytes = stops_.capacity() * sizeof(Stop) + edges_.capacity() * sizeof(Edge);
    for (const RemainderTable& table : tables_) bytes += table.held();
    return bytes;
}

}  // namespace lawful
