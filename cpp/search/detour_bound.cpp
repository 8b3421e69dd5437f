#include "search/detour_bound.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/tuning.hpp"

namespace lawful {

bool DetourBound::search(const ReadingGraph& graph, Steps open, std::span<const double> missing,
                         double most, const Effort& effort, Clock& clock) {
    if (!equation_.sums_lists() || equation_.is_early() ||
        equation_.needed().size() > tuning::kMaxDetourFields ||
        graph.nodes() * equation_.masks() > tuning::kMaxDetourPlaces)
        return false;
    ends_ = equation_.ends_by_mask(missing);
    if (!is_small()) return false;
    tolerance_ = static_cast<std::int64_t>(equation_.tolerance());
    for (const Residues::End& end : ends_) end_sums_.push_back(static_cast<std::int64_t>(end.sum));
    find_ways(graph, open, clock);
    const Place& root = places_[ReadingGraph::kRoot];
    if (!(root.rest <= most)) return true;
    // What is impossible is never within it.
    most = std::min(most + tuning::kRoundingNats, std::numeric_limits<double>::max());
    farthest_ = std::min({equation_.weight(), most - root.rest, root.open - root.rest});
    if (!(farthest_ > 0)) return true;
    find_detours(graph, open, most, clock);
    needed_ = -root.sum;
    choose_modulus(effort.work, clock);
    known_ = std::min(std::max(base(), least_ - root.rest), farthest_);
    if (!(known_ < farthest_)) return true;
    find_before(clock);
    find_least();
    count_up_to(std::min(farthest_, std::max(known_, base() + tuning::kFirstCountNats)), clock);
    std::vector<double> amounts{effort.work};
    while (amounts.back() >= tuning::kTimesRoundWork * tuning::kMinRoundWork)
        amounts.push_back(amounts.back() / tuning::kTimesRoundWork);
    if (effort.found) {
        fill(next_round(effort.work, effort.memory, clock), clock);
        return true;
    }
    for (; !is_done() && !amounts.empty(); amounts.pop_back())
        go(next_round(amounts.back(), effort.memory, clock), effort.memory, clock);
    return true;
}

/// The farthest round within some work; more sets are counted if that is needed to find it.
DetourBound::Round DetourBound::next_round(double work, std::size_t memory, Clock& clock) {
    for (;;) {
        const Round round = farthest_round(work, memory);
        if (round.limit < counted_ ||
            counted_ >= std::min(farthest_, base() + tuning::kLastCountNats))
            return round;
        count_up_to(std::min(farthest_, base() + 2 * (counted_ - base())), clock);
    }
}

/// How far a search can go within some work.
DetourBound::Round DetourBound::farthest_round(double work, std::size_t memory) const {
    Round farthest;
    Round round;
    double edges = 0;
    for (std::size_t bin = 0; bin < tuning::kCountBins; ++bin) {
        round.limit = end_of(bin);
        round.primes = {};
        round.sets += sets_[bin];
        round.stops += stops_[bin];
        edges += edges_[bin];
        // A round to the end saves the next one.
        double least =
            (bin + 1 == tuning::kCountBins && counted_ == farthest_ ? tuning::kTimesWorkOfLastRound
                                                                    : 1) *
            work;
        Round best = round;
        for (const auto& primes : tuning::kDetourPrimes) {
            round.primes = primes;
            const double cells = (round.stops + edges) * round.sum_of_primes() * modulus_;
            if (cells * sizeof(RemainderTable::Cell) > static_cast<double>(memory)) break;
            const double needed = cells / tuning::kDetourCellsPerWork + share_ * round.listed();
            if (needed >= least) continue;
            least = needed;
            best = round;
        }
        if (best.primes[0] != 0) farthest = best;
    }
    return farthest;
}

/// Makes the search of a round, and with it the bound.
void DetourBound::fill(const Round& round, Clock& clock) {
    if (!(round.limit > known_)) return;
    search_.emplace(DetourSearch::Moduli{modulus_ * tuning::kSmallDetourPrime,
                                         modulus_ * round.primes[0], modulus_ * round.primes[1]},
                    tolerance_, round.limit);
    add_stops(round.limit);
    search_->fill(clock);
    known_ = std::max(known_, search_->least(places_[ReadingGraph::kRoot].stop, needed_));
}

/// Searches for the cheapest reading that satisfies the equation, up to a limit.
void DetourBound::go(const Round& round, std::size_t memory, Clock& clock) {
    if (!(round.limit > known_)) return;
    fill(round, clock);
    // Sets grow in number by a factor per cost, so these costs have about twice as many each.
    double sets = 1;
    for (std::size_t bin = 0; bin < tuning::kCountBins && end_of(bin) <= known_; ++bin)
        sets += sets_[bin];
    const double doublings = std::max(1.0, std::ceil(std::log2(round.sets / sets)));
    std::vector<double> costs;
    for (double i = std::max(1.0, doublings - tuning::kMaxRoundDoublings); i < doublings; ++i)
        costs.push_back(known_ + (round.limit - known_) * i / doublings);
    costs.push_back(round.limit);
    const double expected = share_ * round.listed();
    const DetourSearch::Effort enough{
        static_cast<std::size_t>(tuning::kTimesExpectedWork * expected /
                                 tuning::kDetourWorkPerStep) +
            tuning::kFreeDetourSteps,
        memory};
    search_->find(needed_, costs, enough, clock);
    if (const auto& found = search_->found(); found && found->cost <= search_->reached()) {
        const Place& root = places_[ReadingGraph::kRoot];
        if (root.rest + found->cost < root.open - tuning::kRoundingNats) {
            known_ = cost_ = found->cost;
            return collect(found->detours);
        }
        // Readings that leave the equation undecided cost no more, and this may be one of them.
        known_ = farthest_;
        return;
    }
    known_ = std::max(known_, search_->reached());
    if (search_->steps() > tuning::kFreeDetourSteps)
        share_ *= tuning::kDetourWorkPerStep * static_cast<double>(search_->steps()) / expected;
}

/// Adds to the search all places and detours that are on paths up to a limit.
void DetourBound::add_stops(double limit) {
    const auto is_open = [&](std::uint32_t place) {
        for (std::uint32_t r = 0; r < modulus_; ++r)
            if (least_to(place, r) + after(place, r) <= limit) return true;
        return false;
    };
    for (auto i = reached_.rbegin(); i != reached_.rend(); ++i) {
        Place& place = places_[*i];
        place.stop = kNone;
        if (!is_open(*i)) continue;
        std::uint32_t next = kNone;
        if (place.next != kNone) next = places_[place.next].stop;
        if (place.next != kNone && next == kNone) next = DetourSearch::kNowhere;
        bool has_detours = false;
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
            const Detour& detour = detours_[d];
            if (detour.least > limit) continue;
            if (!has_detours) place.stop = search_->add_stop(next);
            has_detours = true;
            search_->add_detour({detour.change, detour.cost,
                                 detour.to == kNone ? kNone : places_[detour.to].stop, d});
        }
        if (!has_detours) place.stop = place.next == kNone ? search_->add_stop(kNone) : next;
    }
}

/// Whether no sum can overflow, and a tolerance has few numbers.
bool DetourBound::is_small() const {
    const auto small = [&](Wide number) {
        const auto most =
            static_cast<Wide>(kMaxNumber / static_cast<std::int64_t>(tuning::kMaxDetourPlaces));
        return -most <= number && number <= most;
    };
    for (std::uint32_t choice = 0; choice < equation_.choices(); ++choice)
        if (!small(equation_.addend(choice).first) || !small(equation_.addend(choice).each))
            return false;
    return equation_.tolerance() <= tuning::kMaxDetourToleranceUnits &&
           std::ranges::all_of(ends_, [&](const Residues::End& end) { return small(end.sum); });
}

std::uint32_t DetourBound::class_of(std::span<const Wide> state) {
    const auto sum = equation_.sum_of(state);
    if (!sum || sum->sum > kMaxNumber || sum->sum < -kMaxNumber) return kFree;
    return number_of({static_cast<std::int64_t>(sum->sum), sum->mask, false});
}

DetourBound::Class DetourBound::class_after(const Class& before, std::uint32_t choice) const {
    const Residues::Addend& addend = equation_.addend(choice);
    const bool first = addend.bit != Residues::kNoBit && (before.seen >> addend.bit & 1) == 0;
    if (before.free || addend.free || (first && addend.first_frees)) return {0, 0, true};
    Class after = before;
    after.sum += static_cast<std::int64_t>(addend.each);
    if (!first) return after;
    after.sum += static_cast<std::int64_t>(addend.first);
    after.seen |= std::uint32_t{1} << addend.bit;
    return after;
}

/// The same if a readable span of its field follows an unreadable one: see `Residues`.
DetourBound::Class DetourBound::class_if_readable(const Class& before, std::uint32_t choice) const {
    const Residues::Addend& addend = equation_.addend(choice);
    if (before.free || !addend.unreadable) return class_after(before, choice);
    return {before.sum + static_cast<std::int64_t>(addend.each), before.seen, false};
}

/// Finds the cheapest ways from all places, and what they cost more than without the equation.
void DetourBound::find_ways(const ReadingGraph& graph, Steps open, Clock& clock) {
    const std::uint32_t masks = equation_.masks();
    places_.assign(graph.nodes() * masks, {});
    for (std::size_t node = graph.nodes(); node-- > 0;) {
        clock.tick(4 * open[node].size() * masks);
        for (const ReadingGraph::Step& step : open[node]) {
            const double reduced = std::max(0.0, step.cost + graph.rest(step.to) -
                                                     graph.rest(static_cast<std::uint32_t>(node)));
            for (std::uint32_t mask = 0; mask < masks; ++mask) {
                Place& here = places_[node * masks + mask];
                if (step.to == ReadingGraph::kEnd) {
                    const Residues::End& end = ends_[mask];
                    double& cost = end.open ? here.open : here.rest;
                    if (reduced + end.absent >= cost) continue;
                    cost = reduced + end.absent;
                    if (!end.open) here.next = kNone, here.sum = end_sums_[mask];
                    continue;
                }
                const Class after = class_if_readable({0, mask, false}, step.choice);
                if (class_after({0, mask, false}, step.choice).free)
                    here.open = std::min(here.open, reduced);
                if (after.free) continue;
                const std::uint32_t to = step.to * masks + after.seen;
                here.open = std::min(here.open, reduced + places_[to].open);
                if (reduced + places_[to].rest >= here.rest) continue;
                here.rest = reduced + places_[to].rest;
                here.next = to;
                here.choice = step.choice;
                here.sum = after.sum + places_[to].sum;
            }
        }
    }
}

/// Finds all steps that leave a way and are on a path that costs up to `most`.
void DetourBound::find_detours(const ReadingGraph& graph, Steps open, double most, Clock& clock) {
    const std::uint32_t masks = equation_.masks();
    places_[ReadingGraph::kRoot].reach = 0;
    for (std::uint32_t from = 0; from < places_.size(); ++from) {
        const std::uint32_t node = from / masks, mask = from % masks;
        Place& here = places_[from];
        here.first_detour = here.last_detour = static_cast<std::uint32_t>(detours_.size());
        if (!(here.reach + here.rest <= most)) continue;
        reached_.push_back(from);
        clock.tick(16 * open[node].size());
        for (const ReadingGraph::Step& step : open[node]) {
            const double reduced =
                std::max(0.0, step.cost + graph.rest(step.to) - graph.rest(node));
            Detour detour{kForbidden, 0, from, kNone, step.choice, 0, 0};
            if (step.to == ReadingGraph::kEnd) {
                if (ends_[mask].open || here.next == kNone) continue;
                detour.cost = reduced + ends_[mask].absent - here.rest;
                detour.change = end_sums_[mask] - here.sum;
            } else {
                const Class after = class_if_readable({0, mask, false}, step.choice);
                if (after.free) continue;
                detour.to = step.to * masks + after.seen;
                Place& there = places_[detour.to];
                if (here.reach + reduced + there.rest <= most)
                    there.reach = std::min(there.reach, here.reach + reduced);
                detour.cost = std::max(0.0, reduced + there.rest - here.rest);
                detour.change = after.sum + there.sum - here.sum;
                if (detour.to == here.next && detour.change == 0) continue;  // the way itself
            }
            if (here.reach + here.rest + detour.cost <= most) detours_.push_back(detour);
        }
        here.last_detour = static_cast<std::uint32_t>(detours_.size());
        std::sort(detours_.begin() + here.first_detour, detours_.end(),
                  [](const Detour& a, const Detour& b) { return a.cost < b.cost; });
    }
}

/// Chooses the modulus for which it costs most to make up for the remainder of what is needed.
void DetourBound::choose_modulus(double work, Clock& clock) {
    std::uint32_t best = 1;
    double most = tuning::kMinSmallModulusNats;
    for (const std::uint32_t modulus : tuning::kSmallModuli) {
        // With a tolerance, several remainders are right; and short lists are made sooner.
        if (tolerance_ > 0 || work < tuning::kMinWorkForSmallModulus) break;
        if (places_.size() * modulus > tuning::kMaxDetourPlaces) break;
        find_after(modulus, clock);
        if (after(ReadingGraph::kRoot, 0) <= most) continue;
        most = after(ReadingGraph::kRoot, 0);
        best = modulus;
    }
    if (modulus_ != best || after_.empty()) find_after(best, clock);
}

/// Finds the least costs of detours from each place on, by the remainder of what they change.
void DetourBound::find_after(std::uint32_t modulus, Clock& clock) {
    modulus_ = modulus;
    needed_remainder_ = remainder(needed_);
    for (Detour& detour : detours_) detour.remainder = remainder(detour.change);
    clock.tick(4 * modulus * (reached_.size() + detours_.size()));
    after_.assign(places_.size() * modulus, kForbidden);
    for (auto i = reached_.rbegin(); i != reached_.rend(); ++i) {
        const Place& place = places_[*i];
        double* const here = after_.data() + std::size_t{*i} * modulus;
        if (place.next == kNone)
            here[0] = 0;
        else
            std::copy_n(after_.data() + std::size_t{place.next} * modulus, modulus, here);
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
            const Detour& detour = detours_[d];
            if (detour.cost >= *std::max_element(here, here + modulus)) break;  // like all others
            if (detour.to == kNone) {
                here[detour.remainder] = std::min(here[detour.remainder], detour.cost);
                continue;
            }
            for (std::uint32_t r = 0; r < modulus; ++r) {
                double& least = here[sum_of(r, detour.remainder)];
                least = std::min(least, detour.cost + least_from(detour.to, r));
            }
        }
    }
}

/// Finds the same up to each place.
void DetourBound::find_before(Clock& clock) {
    clock.tick(4 * modulus_ * (reached_.size() + detours_.size()));
    before_.assign(places_.size() * modulus_, kForbidden);
    const auto lower = [&](std::uint32_t to, std::uint32_t from, std::uint32_t shift, double cost) {
        for (std::uint32_t r = 0; r < modulus_; ++r) {
            double& there = before_[to * modulus_ + sum_of(r, shift)];
            there = std::min(there, least_to(from, r) + cost);
        }
    };
    before_[ReadingGraph::kRoot * modulus_] = 0;
    for (const std::uint32_t i : reached_) {
        const Place& place = places_[i];
        if (place.next != kNone) lower(place.next, i, 0, 0);
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d)
            if (detours_[d].to != kNone)
                lower(detours_[d].to, i, detours_[d].remainder, detours_[d].cost);
    }
}

/// Finds the least cost of readings with each detour and the right remainder.
void DetourBound::find_least() {
    for (Detour& detour : detours_) {
        detour.least = kForbidden;
        for (std::uint32_t r = 0; r < modulus_; ++r) {
            const std::uint32_t sum = sum_of(r, detour.remainder);
            if (detour.to == kNone && sum != needed_remainder_) continue;
            const double onward = detour.to == kNone ? 0 : after(detour.to, sum);
            detour.least = std::min(detour.least, least_to(detour.from, r) + detour.cost + onward);
        }
    }
}

/// The number of bins that a difference of costs is, which may be NaN.
std::size_t DetourBound::shift_of(double cost) const {
    return cost < width_ * tuning::kCountBins
               ? static_cast<std::size_t>(std::max(cost, 0.0) / width_ + 0.5)
               : tuning::kCountBins;
}

/// Counts, by what readings with the right remainder cost up to a limit, about how many sets of
/// detours there are, and how many detours and stops are on such readings.
void DetourBound::count_up_to(double limit, Clock& clock) {
    counted_ = limit;
    width_ = (limit - base()) / tuning::kCountBins;
    sets_ = stops_ = edges_ = {};
    std::vector<std::uint32_t> row(places_.size());
    for (std::uint32_t i = 0; i < reached_.size(); ++i) row[reached_[i]] = i;
    std::vector<Counts> at(reached_.size() * modulus_);  // by row and remainder, that lead there
    at[0][0] = 1;
    const auto add = [](Counts& there, const Counts& here, std::size_t shift) {
        for (std::size_t k = shift; k < tuning::kCountBins; ++k) there[k] += here[k - shift];
    };
    const auto enter = [&](Counts& counts, double least) {
        if (const std::size_t bin = shift_of(least - base()); bin < tuning::kCountBins)
            ++counts[bin];
    };
    std::vector<std::uint32_t> open;  // detours from a place, up to the limit
    for (const std::uint32_t i : reached_) {
        const Place& place = places_[i];
        double least = kForbidden;
        open.clear();
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
            if (detours_[d].least > limit) continue;
            enter(edges_, detours_[d].least);
            least = std::min(least, detours_[d].least);
            if (detours_[d].to != kNone) open.push_back(d);
        }
        if (least <= limit) enter(stops_, least);
        clock.tick(tuning::kCountBins / 4 * modulus_ * (open.size() + 1));
        for (std::uint32_t r = 0; r < modulus_; ++r) {
            const double here = after(i, r);
            if (!(least_to(i, r) + here <= limit)) continue;
            const Counts& sets = at[row[i] * modulus_ + r];
            for (const std::uint32_t d : open) {
                const Detour& detour = detours_[d];
                const std::uint32_t sum = sum_of(r, detour.remainder);
                const std::size_t shift = shift_of(detour.cost + after(detour.to, sum) - here);
                if (shift == tuning::kCountBins) continue;
                add(at[row[detour.to] * modulus_ + sum], sets, shift);
                add(sets_, sets, shift);
            }
            if (place.next == kNone) continue;
            const std::size_t shift = shift_of(after(place.next, r) - here);
            if (shift < tuning::kCountBins) add(at[row[place.next] * modulus_ + r], sets, shift);
        }
    }
}

/// Stores the span values of the reading with these detours.
void DetourBound::collect(std::span<const std::uint32_t> taken) {
    path_.clear();
    std::uint32_t at = ReadingGraph::kRoot;
    for (const std::uint32_t d : taken) {
        for (; at != detours_[d].from; at = places_[at].next) path_.push_back(places_[at].choice);
        at = detours_[d].to;
        if (at != kNone) path_.push_back(detours_[d].choice);
    }
    if (at == kNone) return;
    for (; places_[at].next != kNone; at = places_[at].next) path_.push_back(places_[at].choice);
}

double DetourBound::more_for(std::uint32_t node, const Class& at, double spent) const {
    if (at.free) return 0;
    const std::uint32_t index = node * equation_.masks() + at.seen;
    const Place& place = places_[index];
    if (place.open <= place.rest) return place.open;
    const std::int64_t needed = -at.sum - place.sum;
    double satisfied = after_.empty() ? 0 : least_from(index, remainder(needed));
    if (search_) {
        // Detours on paths beyond the limit are not part of the search.
        const double limit = places_[ReadingGraph::kRoot].rest + search_->limit();
        const double onward = place.stop == kNone ? kForbidden : search_->least(place.stop, needed);
        satisfied = std::max(satisfied, std::min(onward, limit - spent - place.rest));
    }
    return std::min(place.open, place.rest + std::min(satisfied, equation_.weight()));
}

double DetourBound::least() const {
    const Place& root = places_[ReadingGraph::kRoot];
    return std::min(root.open, root.rest + known_);
}

std::size_t DetourBound::held() const {
    return places_.capacity() * sizeof(Place) + detours_.capacity() * sizeof(Detour) +
           (before_.capacity() + after_.capacity()) * sizeof(double) +
           (search_ ? search_->held() : 0);
}

}  // namespace lawful
