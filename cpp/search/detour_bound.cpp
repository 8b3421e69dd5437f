#include "search/detour_bound.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace lawful {

namespace {

constexpr double kRounding = 1e-9;

double share_of(const std::optional<std::size_t>& made, double counted) {
    return made && counted > 0 ? std::min(1.0, static_cast<double>(*made) / counted) : 1.0;
}

}  // namespace

bool DetourBound::list(const ReadingGraph& graph, Steps open, std::span<const double> missing,
                       double most, const Work& work, std::size_t memory, Clock& clock) {
    if (!equation_.sums_lists() || equation_.is_early() ||
        equation_.needed().size() > kMostFields || graph.nodes() * equation_.masks() > kMostPlaces)
        return false;
    ends_ = equation_.ends_by_mask(missing);
    if (!is_small()) return false;
    tolerance_ = static_cast<std::int64_t>(equation_.tolerance());
    for (const Residues::End& end : ends_) end_sums_.push_back(static_cast<std::int64_t>(end.sum));
    find_ways(graph, open, clock);
    const Place& root = places_[ReadingGraph::kRoot];
    if (!(root.rest <= most)) return true;
    // What is impossible is never within it.
    most = std::min(most + kRounding, std::numeric_limits<double>::max());
    farthest_ = std::min({equation_.weight(), most - root.rest, root.open - root.rest});
    if (!(farthest_ > 0)) return true;
    most_changes_ = static_cast<double>(memory) / kBytesPerChange;
    find_detours(graph, open, most, clock);
    number_places();
    needed_ = -root.sum;
    choose_modulus(std::max(work.in_steps, work.at_once), clock);
    known_ = std::min(std::max(base(), least_ - root.rest), farthest_);
    if (!(known_ < farthest_)) return true;
    width_ = std::min(farthest_ - base(), kFarthest) / kBins;
    const Counts changes = count_changes(most - root.rest, clock), starts = count_starts(clock);
    const auto go = [&](const Split& split) {
        if (!(reach(split) > known_)) return;
        const auto made = list_changes(split, most - root.rest, clock);
        const auto begun = made ? meet(split, clock) : std::nullopt;
        starts_ = {};
        share_ = {share_of(made, split.listed), share_of(begun, split.begun)};
        if (begun) known_ = std::min({cost_, farthest_, reach(split)});
    };
    const auto is_done = [&] { return known_ >= std::min(cost_, farthest_); };
    if (const Split split = farthest_split(changes, starts, work.at_once);
        reach(split) >= farthest_)
        go(split);
    std::vector<double> amounts{work.in_steps};
    while (amounts.back() >= kGrowth * kLeastWork) amounts.push_back(amounts.back() / kGrowth);
    for (; !is_done() && !amounts.empty(); amounts.pop_back())
        go(farthest_split(changes, starts, amounts.back()));
    return true;
}

/// How far lists from the end and from the root can go within some work, so that together they go
/// as far as possible, but not beyond what is of interest.
DetourBound::Split DetourBound::farthest_split(const Counts& changes, const Counts& starts,
                                               double work) const {
    const double goal = std::min(cost_, farthest_);
    Split best;
    double least = kForbidden;  // work of splits that reach the goal
    double listed = 0;
    for (std::size_t c = 0; c <= kBins; ++c) {
        // Up to the end of c bins.
        if (c > 0) listed += changes[c - 1];
        if (share_.changes * listed > most_changes_) break;
        double begun = 1;
        for (std::size_t s = 0; s <= kBins; ++s) {
            if (s > 0) begun += starts[s - 1];
            const double needed =
                kWorkPerChange * share_.changes * listed + kWorkPerStart * share_.starts * begun;
            if (needed > work || needed >= least) break;
            const Split split{static_cast<double>(c) * width_, static_cast<double>(s) * width_,
                              listed, begun};
            if (reach(split) >= goal) {
                least = needed;
                best = split;
                break;
            }
            if (least == kForbidden && split.both() > best.both()) best = split;
        }
    }
    return best;
}

/// Whether no sum can overflow, and a tolerance has few numbers.
bool DetourBound::is_small() const {
    const auto small = [&](Wide number) {
        const auto most = static_cast<Wide>(kMostNumber / static_cast<std::int64_t>(kMostPlaces));
        return -most <= number && number <= most;
    };
    for (std::uint32_t choice = 0; choice < equation_.choices(); ++choice)
        if (!small(equation_.addend(choice).first) || !small(equation_.addend(choice).each))
            return false;
    return equation_.tolerance() <= kMostTolerance &&
           std::ranges::all_of(ends_, [&](const Residues::End& end) { return small(end.sum); });
}

DetourBound::Class DetourBound::class_of(std::span<const Wide> state) const {
    const auto sum = equation_.sum_of(state);
    if (!sum || sum->sum > kMostNumber || sum->sum < -kMostNumber) return {0, 0, true};
    return {static_cast<std::int64_t>(sum->sum), sum->mask, false};
}

DetourBound::Class DetourBound::next(const Class& before, std::uint32_t choice) const {
    const Residues::Addend& addend = equation_.addend(choice);
    if (before.free || addend.free) return {0, 0, true};
    Class after = before;
    after.sum += static_cast<std::int64_t>(addend.each);
    if (addend.bit != Residues::kNoBit && (before.seen >> addend.bit & 1) == 0) {
        after.sum += static_cast<std::int64_t>(addend.first);
        after.seen |= std::uint32_t{1} << addend.bit;
    }
    return after;
}

/// Finds the cheapest ways from all places, and what they cost more than without the equation.
void DetourBound::find_ways(const ReadingGraph& graph, Steps open, Clock& clock) {
    const std::uint32_t masks = equation_.masks();
    places_.assign(graph.nodes() * masks, {});
    for (std::size_t node = graph.nodes(); node-- > 0;) {
        clock.tick(4 * open[node].size() * masks);
        for (const ReadingGraph::Step& step : open[node]) {
            const double excess = std::max(0.0, step.cost + graph.rest(step.to) -
                                                    graph.rest(static_cast<std::uint32_t>(node)));
            for (std::uint32_t mask = 0; mask < masks; ++mask) {
                Place& here = places_[node * masks + mask];
                if (step.to == ReadingGraph::kEnd) {
                    const Residues::End& end = ends_[mask];
                    double& cost = end.open ? here.open : here.rest;
                    if (excess + end.absent >= cost) continue;
                    cost = excess + end.absent;
                    if (!end.open) here.next = kNone, here.sum = end_sums_[mask];
                    continue;
                }
                const Class after = next({0, mask, false}, step.choice);
                if (after.free) {
                    here.open = std::min(here.open, excess);
                    continue;
                }
                const std::uint32_t to = step.to * masks + after.seen;
                here.open = std::min(here.open, excess + places_[to].open);
                if (excess + places_[to].rest >= here.rest) continue;
                here.rest = excess + places_[to].rest;
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
        clock.tick(16 * open[node].size());
        for (const ReadingGraph::Step& step : open[node]) {
            const double excess = std::max(0.0, step.cost + graph.rest(step.to) - graph.rest(node));
            Detour detour{kForbidden, 0, from, kNone, step.choice, 0};
            if (step.to == ReadingGraph::kEnd) {
                if (ends_[mask].open || here.next == kNone) continue;
                detour.cost = excess + ends_[mask].absent - here.rest;
                detour.change = end_sums_[mask] - here.sum;
            } else {
                const Class after = next({0, mask, false}, step.choice);
                if (after.free) continue;
                detour.to = step.to * masks + after.seen;
                Place& there = places_[detour.to];
                if (here.reach + excess + there.rest <= most)
                    there.reach = std::min(there.reach, here.reach + excess);
                detour.cost = std::max(0.0, excess + there.rest - here.rest);
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

/// Numbers places so that all whose ways lead to one come right after it.
void DetourBound::number_places() {
    for (const Place& place : places_)
        if (place.next != kNone) places_[place.next].followers += place.followers;
    std::uint32_t ends = 0;
    std::vector<std::uint32_t> taken(places_.size(), 1);
    for (std::size_t i = places_.size(); i-- > 0;) {
        Place& place = places_[i];
        std::uint32_t& before = place.next == kNone ? ends : taken[place.next];
        place.number = (place.next == kNone ? 0 : places_[place.next].number) + before;
        before += place.followers;
    }
}

/// Chooses the modulus for which it costs most to make up for the remainder of what is needed.
void DetourBound::choose_modulus(double work, Clock& clock) {
    std::uint32_t best = 1;
    double most = kTelling;
    for (const std::uint32_t modulus : kModuli) {
        // With a tolerance, several remainders are right; and short lists are made sooner.
        if (tolerance_ > 0 || work < kWorkForModuli) break;
        if (places_.size() * modulus > kMostPlaces) break;
        find_remainders(modulus, clock);
        if (after(ReadingGraph::kRoot, 0) <= most) continue;
        most = after(ReadingGraph::kRoot, 0);
        best = modulus;
    }
    find_remainders(best, clock);
}

/// Finds the least costs of detours by the remainder of what they change, up to each place and from
/// there on.
void DetourBound::find_remainders(std::uint32_t modulus, Clock& clock) {
    modulus_ = modulus;
    needed_remainder_ = remainder(needed_);
    for (Detour& detour : detours_) detour.remainder = remainder(detour.change);
    clock.tick(4 * modulus * (places_.size() + detours_.size()));
    before_.assign(places_.size() * modulus, kForbidden);
    after_.assign(places_.size() * modulus, kForbidden);
    const auto lower = [&](std::vector<double>& costs, std::uint32_t to, std::uint32_t from,
                           std::uint32_t shift, double cost) {
        for (std::uint32_t r = 0; r < modulus; ++r) {
            double& there = costs[to * modulus + sum_of(r, shift)];
            there = std::min(there, costs[from * modulus + r] + cost);
        }
    };
    before_[ReadingGraph::kRoot * modulus] = 0;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        if (place.next != kNone) lower(before_, place.next, i, 0, 0);
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d)
            if (detours_[d].to != kNone)
                lower(before_, detours_[d].to, i, detours_[d].remainder, detours_[d].cost);
    }
    for (std::uint32_t i = static_cast<std::uint32_t>(places_.size()); i-- > 0;) {
        const Place& place = places_[i];
        if (place.next == kNone)
            after_[i * modulus] = 0;
        else
            lower(after_, i, place.next, 0, 0);
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
            const Detour& detour = detours_[d];
            if (detour.to != kNone) {
                lower(after_, i, detour.to, detour.remainder, detour.cost);
                continue;
            }
            double& here = after_[i * modulus + detour.remainder];
            here = std::min(here, detour.cost);
        }
    }
}

/// The number of bins of costs up to this one, which may be NaN: the difference of infinite ones.
std::size_t DetourBound::bins_up_to(double cost) const {
    if (!(cost >= 0)) return 0;
    return cost < width_ * (kBins - 1) ? static_cast<std::size_t>(cost / width_) + 1 : kBins;
}

/// The number of bins that a difference of costs is, which may be NaN.
std::size_t DetourBound::shift_of(double cost) const {
    return cost < width_ * kBins ? static_cast<std::size_t>(std::max(cost, 0.0) / width_) : kBins;
}

/// By cost above the least, about how many changes there are on paths up to `most`.
DetourBound::Counts DetourBound::count_changes(double most, Clock& clock) const {
    std::vector<Counts> from(places_.size() * modulus_);  // by place and remainder, from there on
    Counts all{};
    const auto add = [](Counts& here, const Counts& there, std::size_t shift) {
        for (std::size_t k = shift; k < kBins; ++k) here[k] += there[k - shift];
    };
    for (std::uint32_t i = static_cast<std::uint32_t>(places_.size()); i-- > 0;) {
        const Place& place = places_[i];
        clock.tick(kBins / 4 * modulus_ * (place.last_detour - place.first_detour + 1));
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
            const Detour& detour = detours_[d];
            const std::size_t alone = shift_of(detour.cost - least_from(i, detour.remainder));
            if (alone < kBins) ++from[i * modulus_ + detour.remainder][alone];
            if (detour.to == kNone) continue;
            for (std::uint32_t r = 0; r < modulus_; ++r) {
                const std::uint32_t sum = sum_of(r, detour.remainder);
                const std::size_t shift =
                    shift_of(detour.cost + least_from(detour.to, r) - least_from(i, sum));
                if (shift < kBins)
                    add(from[i * modulus_ + sum], from[detour.to * modulus_ + r], shift);
            }
        }
        for (std::uint32_t r = 0; r < modulus_; ++r) {
            Counts& here = from[i * modulus_ + r];
            const std::size_t bins = bins_up_to(most - before(i, r) - least_from(i, r));
            std::fill(here.begin() + static_cast<std::ptrdiff_t>(bins), here.end(), 0.0f);
            add(all, here, 0);
            if (place.next == kNone) continue;
            const std::size_t shift = shift_of(least_from(place.next, r) - least_from(i, r));
            if (shift < kBins) add(here, from[place.next * modulus_ + r], shift);
        }
    }
    return all;
}

/// By what they and what must follow cost more than the least, about how many starts there are.
DetourBound::Counts DetourBound::count_starts(Clock& clock) const {
    std::vector<Counts> at(places_.size() * modulus_);  // by place and remainder, that lead there
    at[ReadingGraph::kRoot * modulus_][0] = 1;
    Counts all{};
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        clock.tick(kBins / 4 * modulus_ * (place.last_detour - place.first_detour + 1));
        for (std::uint32_t r = 0; r < modulus_; ++r) {
            const Counts& here = at[i * modulus_ + r];
            for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
                const Detour& detour = detours_[d];
                if (detour.to == kNone) continue;
                const std::uint32_t sum = sum_of(r, detour.remainder);
                const std::size_t shift =
                    shift_of(detour.cost + after(detour.to, sum) - after(i, r));
                Counts& there = at[detour.to * modulus_ + sum];
                for (std::size_t k = shift; k < kBins; ++k) {
                    there[k] += here[k - shift];
                    all[k] += here[k - shift];
                }
            }
            if (place.next == kNone) continue;
            Counts& there = at[place.next * modulus_ + r];
            const std::size_t shift = shift_of(after(place.next, r) - after(i, r));
            for (std::size_t k = shift; k < kBins; ++k) there[k] += here[k - shift];
        }
    }
    return all;
}

/// Lists all changes of a split on paths up to `most`. Returns how many were made, with those that
/// others are as good as; lists nothing if they are far more than expected.
std::optional<std::size_t> DetourBound::list_changes(const Split& split, double most,
                                                     Clock& clock) {
    const double enough = kFarMore * (share_.changes * split.listed + kFew);
    std::size_t all = 0;
    radius_ = split.changes;
    step_ = (radius_ + dearest()) / kBins + kRounding;
    std::vector<Change> made;
    std::vector<double> limits(modulus_);  // by remainder, of changes that may follow
    changes_.clear(tolerance_);
    for (std::uint32_t i = static_cast<std::uint32_t>(places_.size()); i-- > 0;) {
        Place& place = places_[i];
        place.first_change = place.last_change = changes_.size();
        made.clear();
        for (std::uint32_t d = place.first_detour; d < place.last_detour; ++d) {
            const Detour& detour = detours_[d];
            double left = -kForbidden;  // what changes that follow may cost, if any do
            for (std::uint32_t r = 0; r < modulus_; ++r) {
                const std::uint32_t sum = sum_of(r, detour.remainder);
                limits[r] =
                    std::min(least_from(i, sum) + radius_ + kRounding, most - before(i, sum)) -
                    detour.cost;
                if (detour.to != kNone && least_from(detour.to, r) <= limits[r])
                    left = std::max(left, limits[r]);
            }
            const auto make = [&](std::int64_t change, double cost, std::uint32_t remainder,
                                  std::uint32_t rest) {
                made.push_back({change, cost, static_cast<std::uint16_t>(i),
                                static_cast<std::uint16_t>(remainder), d, rest, kNone});
            };
            if (limits[0] >= 0) make(detour.change, detour.cost, detour.remainder, kNone);
            if (!(left >= 0)) continue;
            std::size_t looked = 1;
            for (std::uint32_t at = detour.to; at != kNone; at = places_[at].next, ++looked)
                for (std::uint32_t c = places_[at].first_change; c < places_[at].last_change;
                     ++c, ++looked) {
                    const Change& rest = changes_[c];
                    if (rest.cost > left + step_) break;
                    if (rest.cost <= limits[rest.remainder])
                        make(detour.change + rest.change, detour.cost + rest.cost,
                             sum_of(detour.remainder, rest.remainder), c);
                }
            clock.tick(modulus_ + looked);
            if (static_cast<double>(all + made.size()) > enough) {
                radius_ = 0;
                return std::nullopt;
            }
        }
        if (made.empty()) continue;
        all += made.size();
        clock.tick(16 * made.size());
        changes_.reserve(made.size());
        add_by_cost(made);
        place.last_change = changes_.size();
    }
    return all;
}

/// The largest of the least costs of detours from a place on, by place and remainder.
double DetourBound::dearest() const {
    double dearest = 0;
    for (const double cost : after_)
        if (cost < kForbidden) dearest = std::max(dearest, cost);
    return dearest;
}

/// Adds changes from one place, in the order of the bins of their costs.
void DetourBound::add_by_cost(std::span<const Change> made) {
    std::array<std::uint32_t, kBins + 2> begin{};
    const auto bin_of = [&](const Change& change) {
        return std::min(kBins, static_cast<std::size_t>(change.cost / step_));
    };
    for (const Change& change : made) ++begin[bin_of(change) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Change> sorted(made.size());
    for (const Change& change : made) sorted[begin[bin_of(change)]++] = change;
    // One that can be made later on the way serves, too; and to change nothing needs no detour.
    for (const Change& change : sorted)
        if (change.change != 0)
            changes_.add(change,
                         [&](const Change& other) { return leads_to(change.place, other.place); });
}

/// The cheapest listed change that can be made from a place, is within the tolerance of what is
/// needed and costs less than `below`; or kNone.
std::uint32_t DetourBound::cheapest_change(std::uint32_t place, std::int64_t needed,
                                           double below) const {
    return changes_.cheapest(needed, below,
                             [&](const Change& change) { return leads_to(place, change.place); });
}

/// Lists the starts of a split, and looks up what each needs to satisfy the equation. Returns how
/// many there are; stops if they are far more than expected.
std::optional<std::size_t> DetourBound::meet(const Split& split, Clock& clock) {
    // A reading beyond what is listed may be met, too, but few are worth a look.
    const double farthest = std::min(farthest_, base() + kLookBeyond * split.both());
    const double enough = kFarMore * (share_.starts * split.begun + kFew);
    starts_.assign(1, {0, 0, ReadingGraph::kRoot, 0, kNone, kNone, kNone});
    std::vector<std::uint32_t> last_at(places_.size(), kNone);  // by place, the last start there
    std::vector<std::uint32_t> slots(kFew, kNone);
    std::vector<std::uint32_t> followed;
    last_at[ReadingGraph::kRoot] = 0;
    look_up(starts_[0]);
    for (std::uint32_t place = 0; place < places_.size(); ++place)
        for (std::uint32_t next = last_at[place]; next != kNone;) {
            const std::uint32_t index = std::exchange(next, starts_[next].other);
            const Start start = starts_[index];
            if (followed.size() >= slots.size()) {
                slots.assign(4 * slots.size(), kNone);
                for (const std::uint32_t each : followed)
                    starts_[each].other =
                        std::exchange(slots[slot_of(starts_[each], slots.size())], each);
            }
            std::uint32_t& head = slots[slot_of(start, slots.size())];
            if (is_follower(start, head)) continue;
            starts_[index].other = std::exchange(head, index);
            followed.push_back(index);
            if (static_cast<double>(followed.size()) > enough ||
                static_cast<double>(starts_.size()) > most_changes_)
                return std::nullopt;
            std::size_t looked = 0;
            for (std::uint32_t from = place; from != kNone; from = places_[from].next, ++looked) {
                const Place& at = places_[from];
                for (std::uint32_t d = at.first_detour; d < at.last_detour; ++d, looked += 4) {
                    const Detour& detour = detours_[d];
                    const Start more{start.change + detour.change,
                                     start.cost + detour.cost,
                                     detour.to,
                                     sum_of(start.remainder, detour.remainder),
                                     d,
                                     index,
                                     kNone};
                    const double limit = std::min(cost_, farthest);
                    if (!(more.cost < limit)) break;
                    const double onward = detour.to == kNone ? 0 : after(detour.to, more.remainder);
                    if (!(more.cost + onward < limit)) continue;
                    if (changes_.may_satisfy(needed_ - more.change)) look_up(more);
                    if (detour.to == kNone || !(more.cost + onward + radius_ < cost_) ||
                        more.cost + onward > base() + split.starts + kRounding)
                        continue;
                    starts_.push_back(more);
                    starts_.back().other = std::exchange(
                        last_at[detour.to], static_cast<std::uint32_t>(starts_.size() - 1));
                }
            }
            clock.tick(looked);
        }
    return followed.size();
}

std::size_t DetourBound::slot_of(const Start& start, std::size_t slots) {
    return ChangeTable::hash_of(start.change) >> (64 - std::countr_zero(slots));
}

/// Whether one of these starts changes as much, costs no more and leads to the same place.
bool DetourBound::is_follower(const Start& start, std::uint32_t others) const {
    for (std::uint32_t o = others; o != kNone; o = starts_[o].other)
        if (starts_[o].change == start.change && starts_[o].cost <= start.cost &&
            leads_to(starts_[o].place, start.place))
            return true;
    return false;
}

/// Keeps the cheapest reading that begins so, if it satisfies the equation and is the best so far.
void DetourBound::look_up(const Start& start) {
    const std::int64_t needed = needed_ - start.change;
    if (changes_.is_enough(needed)) {
        cost_ = start.cost;
        collect(start, kNone);
    } else if (start.place != kNone) {
        const std::uint32_t change = cheapest_change(start.place, needed, cost_ - start.cost);
        if (change == kNone) return;
        cost_ = start.cost + changes_[change].cost;
        collect(start, change);
    }
}

/// Stores the span values of a reading.
void DetourBound::collect(const Start& start, std::uint32_t change) {
    std::vector<std::uint32_t> taken;  // detours in order
    if (start.detour != kNone) taken.push_back(start.detour);
    for (std::uint32_t s = start.before; s != kNone && starts_[s].detour != kNone;
         s = starts_[s].before)
        taken.push_back(starts_[s].detour);
    std::reverse(taken.begin(), taken.end());
    for (std::uint32_t c = change; c != kNone; c = changes_[c].rest)
        taken.push_back(changes_[c].detour);
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

double DetourBound::more(std::uint32_t node, const Class& at) const {
    if (at.free) return 0;
    const std::uint32_t index = node * equation_.masks() + at.seen;
    const Place& place = places_[index];
    if (place.open <= place.rest) return place.open;
    const std::int64_t needed = -at.sum - place.sum;
    double satisfied = radius_ + (after_.empty() ? 0 : least_from(index, remainder(needed)));
    if (changes_.is_enough(needed))
        satisfied = 0;
    else if (const std::uint32_t c = cheapest_change(index, needed, satisfied); c != kNone)
        satisfied = changes_[c].cost;
    return std::min(place.open, place.rest + std::min(satisfied, equation_.weight()));
}

double DetourBound::least() const {
    const Place& root = places_[ReadingGraph::kRoot];
    return std::min(root.open, root.rest + known_);
}

std::size_t DetourBound::held() const {
    return places_.capacity() * sizeof(Place) + detours_.capacity() * sizeof(Detour) +
           (before_.capacity() + after_.capacity()) * sizeof(double) + changes_.held();
}

}  // namespace lawful
