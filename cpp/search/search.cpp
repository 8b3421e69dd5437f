#include "search/search.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/costs.hpp"

namespace lawful {

namespace {

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

std::uint32_t Memories::number_of(std::span<const Wide> memory, Arena& arena) {
    if (2 * all_.size() >= index_.size()) grow();
    std::uint32_t& entry = index_[place_of(memory)];
    if (entry == kNone) {
        Wide* copy = arena.allocate<Wide>(slots_);
        std::copy(memory.begin(), memory.end(), copy);
        entry = all_.push(copy);
    }
    return entry;
}

std::size_t Memories::place_of(std::span<const Wide> memory) const {
    std::uint64_t hash = 0;
    for (const Wide slot : memory)
        hash = mixed(hash ^ static_cast<std::uint64_t>(slot) ^
                     std::rotl(static_cast<std::uint64_t>(slot >> 64), 32));
    std::size_t place = hash & (index_.size() - 1);
    while (index_[place] != kNone && !std::equal(memory.begin(), memory.end(), all_[index_[place]]))
        place = (place + 1) & (index_.size() - 1);
    return place;
}

void Memories::grow() {
    index_.assign(2 * index_.size(), kNone);
    for (std::uint32_t number = 0; number < all_.size(); ++number)
        index_[place_of({all_[number], slots_})] = number;
}

namespace {

const Plan kNoPlan;

}  // namespace

Search::Search(std::shared_ptr<const Graph> graph, std::shared_ptr<const Plan> plan, Facts facts,
               const Limits& limits, Clock& clock)
    : graph_(std::move(graph)),
      plan_(std::move(plan)),
      facts_(std::move(facts)),
      limits_(limits),
      follower_(plan_ ? *plan_ : kNoPlan, facts_),
      arena_(limits.memory),
      memories_(arena_, plan_ ? plan_->slots + 1 : 1),
      partials_(arena_),
      cheapest_(1 << 8, kNone),
      scratch_(plan_ ? plan_->slots + 1 : 1) {
    if (plan_) find_gone(clock);
    const std::uint32_t nothing = number_of(scratch_);
    const double violated = plan_ ? follower_.begin(scratch_) : 0;
    const Partial root{violated, violated, Graph::kRoot, nothing, kNone, 0};
    if (!lost(root)) add(root, graph_->rest(Graph::kRoot));
}

std::size_t Search::held() const {
    std::size_t bytes = arena_.held() + follower_.held() + open_.capacity() * sizeof(Open) +
                        (cheapest_.capacity() + sum_states_.capacity()) * sizeof(std::uint32_t);
    for (const Sums& sums : sums_) bytes += sums.held();
    return bytes;
}

double Search::bound() const { return open_.empty() ? kForbidden : open_.front().bound; }

Search::State Search::next(std::size_t extensions, Clock& clock) {
    while (!open_.empty()) {
        const Open first = open_.front();
        const Partial& partial = partials_[first.partial];
        const bool ended = partial.node == Graph::kEnd;
        if (!ended && extensions == 0) return State::kPaused;
        std::pop_heap(open_.begin(), open_.end());
        open_.pop_back();
        if (!is_cheapest(partial, first.partial)) continue;
        if (ended) {
            collect(partial);
            return State::kFound;
        }
        --extensions;
        extend(first.partial);
        clock.tick(64 * graph_->steps_from(partial.node).size());
        if (++extended_ == limits_.patience) make_sums(clock);
    }
    return State::kNothing;
}

void Search::extend(std::uint32_t index) {
    const Partial from = partials_[index];
    for (const Graph::Step& step : graph_->steps_from(from.node)) {
        if (from.cost + step.cost + graph_->rest(step.to) > graph_->limit()) return;  // all others
        Partial next;
        if (advance(from, index, step, next)) add(next, rest(step.to, next.memory));
    }
}

/// Takes one more step; false when that is forbidden, or leads nowhere.
bool Search::advance(const Partial& from, std::uint32_t index, const Graph::Step& step,
                     Partial& next) {
    next = {from.cost + step.cost, from.violated, step.to, from.memory, index, step.reading};
    double violated = 0;
    if (step.to != Graph::kEnd) {
        next.violated += graph_->reading(step.reading).price;
        if (plan_) violated = remember(next);
    } else if (plan_) {
        violated = follower_.finish(memories_[from.memory]);
    }
    next.cost += violated;
    next.violated += violated;
    return violated < kForbidden && !lost(next);
}

bool Search::dive(std::size_t tries, Clock& clock) {
    std::vector<Open> promising(std::min(tries, open_.size()));
    std::partial_sort_copy(open_.begin(), open_.end(), promising.begin(), promising.end(),
                           [](const Open& a, const Open& b) { return b < a; });
    double least = kForbidden;
    std::vector<std::uint32_t> readings;
    try {
        for (std::size_t i = 0; i < promising.size(); ++i) {
            Partial last = partials_[promising[i].partial];
            readings.clear();
            if (last.node != Graph::kEnd && !dive_from(promising[i].partial, last, readings, clock))
                continue;
            if (last.cost < least) {
                least = last.cost;
                collect(last, readings);
            }
        }
    } catch (const OutOfTime&) {
    } catch (const OutOfMemoryBudget&) {
    }
    return least < kForbidden;
}

/// One dive: the steps that it took, and where it came to. False when it got stuck.
bool Search::dive_from(std::uint32_t index, Partial& last, std::vector<std::uint32_t>& readings,
                       Clock& clock) {
    while (last.node != Graph::kEnd) {
        const auto steps = graph_->steps_from(last.node);
        clock.tick(64 * steps.size());
        Partial best, next;
        double promised = kForbidden;
        for (const Graph::Step& step : steps) {
            if (last.cost + step.cost + graph_->rest(step.to) >= promised) break;
            if (!advance(last, index, step, next)) continue;
            const double labelling = next.cost - next.violated + graph_->rest_of_labels(next.node);
            const double bound = next.cost + rest(next.node, next.memory);
            if (bound < promised && labelling <= limits_.labelling) {
                promised = bound;
                best = next;
            }
        }
        if (promised == kForbidden) return false;
        last = best;
        if (last.node != Graph::kEnd) readings.push_back(last.reading);
    }
    return true;
}

/// Takes the last reading into the memory; what it violates beside its price.
double Search::remember(Partial& partial) {
    const SpanReading& reading = graph_->reading(partial.reading);
    const std::uint32_t field = graph_->span_of(partial.reading).field;
    // Where a labelling may cost only so much, one that costs less and violates more is kept too.
    const bool priced = limits_.labelling < kForbidden && reading.price > 0;
    if (!follower_.remembers(field) && !priced) return 0;
    const std::span<const Wide> before = memories_[partial.memory];
    std::copy(before.begin(), before.end(), scratch_.begin());
    if (priced)
        scratch_.back() = std::bit_cast<std::uint64_t>(
            std::bit_cast<double>(static_cast<std::uint64_t>(scratch_.back())) + reading.price);
    const double violated = follower_.extend(scratch_, field, reading.value);
    if (violated < kForbidden) partial.memory = number_of(scratch_);
    return violated;
}

/// Finds out which fields can no longer come, seen from each node: those that must be there, of
/// which no reading is left that may be the first one.
void Search::find_gone(Clock& clock) {
    for (std::size_t field = 0; field < facts_.missing.size() && field < 64; ++field)
        if (facts_.missing[field] == kForbidden) kept_ |= std::uint64_t{1} << field;
    if (kept_ == 0) return;
    std::vector<std::uint64_t> brings(graph_->readings());  // by reading, its field as a bit
    for (std::uint32_t r = 0; r < brings.size(); ++r) {
        const std::uint32_t field = graph_->span_of(r).field;
        const std::uint32_t value = graph_->reading(r).value;
        if (field >= 64 || value == 0) continue;
        std::fill(scratch_.begin(), scratch_.end(), 0);
        const bool refused = follower_.extend(scratch_, field, value) == kForbidden;
        if (!refused) brings[r] = std::uint64_t{1} << field;
    }
    std::fill(scratch_.begin(), scratch_.end(), 0);
    gone_.assign(graph_->nodes(), ~std::uint64_t{0});
    for (std::uint32_t node = static_cast<std::uint32_t>(graph_->nodes()); node-- > 0;) {
        clock.tick(graph_->steps_from(node).size());
        for (const Graph::Step& step : graph_->steps_from(node))
            if (step.to != Graph::kEnd) gone_[node] &= gone_[step.to] & ~brings[step.reading];
    }
}

/// Whether a field that must be there has not been, and cannot come any more.
bool Search::lost(const Partial& partial) const {
    if (partial.node == Graph::kEnd || kept_ == 0) return false;
    for (std::uint64_t gone = kept_ & gone_[partial.node]; gone != 0; gone &= gone - 1)
        if (!follower_.seen(memories_[partial.memory], std::countr_zero(gone))) return true;
    return false;
}

void Search::add(const Partial& partial, double at_least) {
    const double bound = partial.cost + at_least;
    if (!(bound <= graph_->limit())) return;
    const double labelling = partial.cost - partial.violated;
    if (labelling + graph_->rest_of_labels(partial.node) > limits_.labelling) return;
    const auto index = static_cast<std::uint32_t>(partials_.size());
    if (index == kNone || held() > limits_.memory) throw OutOfMemoryBudget{};
    if (!is_cheapest(partial, index)) return;
    partials_.push(partial);
    open_.push_back({bound, index});
    std::push_heap(open_.begin(), open_.end());
}

/// Whether no other partial reading at this node with this memory is cheaper; enters a new one.
bool Search::is_cheapest(const Partial& partial, std::uint32_t index) {
    if (!plan_) return true;
    const auto hash = [](const Partial& p) {
        return mixed(std::uint64_t{p.node} << 32 | p.memory);
    };
    if (2 * cheapest_used_ >= cheapest_.size()) {
        std::vector<std::uint32_t> old(2 * cheapest_.size(), kNone);
        std::swap(old, cheapest_);
        for (const std::uint32_t entry : old) {
            if (entry == kNone) continue;
            std::size_t place = hash(partials_[entry]) & (cheapest_.size() - 1);
            while (cheapest_[place] != kNone) place = (place + 1) & (cheapest_.size() - 1);
            cheapest_[place] = entry;
        }
    }
    std::size_t place = hash(partial) & (cheapest_.size() - 1);
    for (; cheapest_[place] != kNone; place = (place + 1) & (cheapest_.size() - 1)) {
        const std::uint32_t entry = cheapest_[place];
        if (entry == index) return true;
        const Partial& other = partials_[entry];
        if (other.node != partial.node || other.memory != partial.memory) continue;
        if (other.cost <= partial.cost) return false;
        cheapest_[place] = index;
        return true;
    }
    cheapest_[place] = index;
    ++cheapest_used_;
    return true;
}

/// What the rest costs at least.
double Search::rest(std::uint32_t node, std::uint32_t memory) {
    double most = graph_->rest(node);
    if (node == Graph::kEnd) return most;
    for (std::size_t i = 0; i < sums_.size(); ++i)
        most = std::max(most, sums_[i].rest(node, sum_states_[memory * sums_.size() + i]));
    return most;
}

std::uint32_t Search::number_of(std::span<const Wide> memory) {
    const std::uint32_t number = memories_.number_of(memory, arena_);
    if (number * sums_.size() == sum_states_.size())
        for (const Sums& sums : sums_) sum_states_.push_back(sums.state_of(memory));
    return number;
}

void Search::make_sums(Clock& clock) {
    if (!plan_) return;
    sums_.clear();
    sum_states_.clear();
    std::vector<Sums> made;  // here first: time may run out
    // Half of the memory is for what the search itself needs.
    const std::size_t share =
        limits_.memory / 2 / std::max<std::size_t>(1, plan_->equations.size());
    for (const Equation& equation : plan_->equations) {
        Sums sums(*graph_, *plan_, equation, facts_, sum_work_, share, clock);
        if (!sums.empty()) made.push_back(std::move(sums));
    }
    sums_ = std::move(made);
    if (sum_work_ < kMostWork) {
        limits_.patience *= kGrowth;
        sum_work_ *= kGrowth;
    }
    if (sums_.empty()) return;
    for (std::uint32_t number = 0; number < memories_.size(); ++number)
        for (const Sums& sums : sums_) sum_states_.push_back(sums.state_of(memories_[number]));
    for (Open& open : open_) {
        const Partial& partial = partials_[open.partial];
        open.bound = std::max(open.bound, partial.cost + rest(partial.node, partial.memory));
    }
    std::erase_if(open_, [&](const Open& open) { return !(open.bound <= graph_->limit()); });
    std::make_heap(open_.begin(), open_.end());
}

/// The way to the end of a partial reading: up to the one before it, and then some `more`.
void Search::collect(const Partial& last, std::span<const std::uint32_t> more) {
    found_ = {last.cost - last.violated, last.violated, {}};
    for (std::uint32_t at = last.before; partials_[at].before != kNone; at = partials_[at].before)
        found_.readings.push_back(partials_[at].reading);
    std::reverse(found_.readings.begin(), found_.readings.end());
    found_.readings.insert(found_.readings.end(), more.begin(), more.end());
}

}  // namespace lawful
