#include "sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "costs.hpp"

namespace lawful {

namespace {

constexpr std::array<std::size_t, 6> kPrimes{127, 251, 509, 1021, 2039, 4093};
constexpr std::size_t kMostBits = 6;
constexpr Wide kUnit = 1'000'000;  // numbers are counted in 10^-SCALE, see rules/program.py

Wide greatest_common_divisor(Wide a, Wide b) {
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

}  // namespace

Sums::Sums(const Graph& graph, const Plan& plan, const Equation& equation, const Facts& facts,
           std::size_t work, std::size_t memory, Clock& clock)
    : graph_(graph),
      plan_(plan),
      equation_(equation),
      facts_(facts),
      fields_(plan.fields.size()),
      divisor_(equation.constant) {
    sort_terms();
    if (bits_.size() > kMostBits) return;
    for (std::uint32_t r = 0; r < graph.readings(); ++r) {
        addends_.push_back(addend_of(r));
        divisor_ = greatest_common_divisor(divisor_, addends_.back().first);
        divisor_ = greatest_common_divisor(divisor_, addends_.back().each);
    }
    for (const std::uint32_t field : bits_)
        if (Wide sum = 0; !open_without(field, sum))
            divisor_ = greatest_common_divisor(divisor_, sum);
    if (divisor_ == 0) divisor_ = 1;
    for (Addend& addend : addends_) {
        addend.first /= divisor_;
        addend.each /= divisor_;
    }
    tolerance_ = equation.tolerance / divisor_;
    if (choose_prime(work, memory)) fill(clock);
}

void Sums::sort_terms() {
    for (const Equation::Term& term : equation_.terms) {
        FieldTerms& field = fields_[term.field];
        (term.kind == Equation::kFirst ? field.first : field.each).push_back(term);
        field.sum = field.sum || term.kind == Equation::kSum || term.kind == Equation::kSumOrZero;
        const bool needed = term.kind == Equation::kFirst || term.kind == Equation::kSum;
        if (needed && field.bit == kNoBit) {
            field.bit = static_cast<std::uint32_t>(bits_.size());
            bits_.push_back(term.field);
        }
    }
}

Sums::Addend Sums::addend_of(std::uint32_t reading) const {
    const std::uint32_t value = graph_.reading(reading).value;
    const FieldTerms& field = fields_[graph_.span_of(reading).field];
    Addend addend;
    // Without a value the default does not count either: then nothing is known.
    addend.free = value == 0 && !field.first.empty() &&
                  plan_.fields[graph_.span_of(reading).field].has_default;
    if (value != 0) addend.bit = field.bit;
    for (const Equation::Term& term : field.each) {
        Outcome number{kUnit, Outcome::kKnown};
        if (term.kind != Equation::kCount) number = facts_.lookups[term.lookup].at(value);
        if (number.state != Outcome::kKnown) addend.free = true;
        addend.each += term.factor * number.number;
    }
    if (value == 0) return addend;
    for (const Equation::Term& term : field.first) {
        const Outcome number = facts_.lookups[term.lookup].at(value);
        if (number.state != Outcome::kKnown) addend.free = true;
        addend.first += term.factor * number.number;
    }
    return addend;
}

bool Sums::open_without(std::uint32_t field, Wide& sum) const {
    if (fields_[field].sum) return true;
    for (const Equation::Term& term : fields_[field].first) {
        const Outcome number = facts_.lookups[term.lookup].at(kMissing);
        if (number.state != Outcome::kKnown) return true;
        sum += term.factor * number.number;
    }
    return false;
}

bool Sums::choose_prime(std::size_t work, std::size_t memory) {
    const std::size_t each = graph_.steps() << bits_.size();
    const std::size_t bytes = (graph_.nodes() << bits_.size()) * sizeof(double);
    for (const std::size_t prime : kPrimes) {
        // A smaller prime could not tell sums within the tolerance from others.
        const bool tells = 8 * (2 * tolerance_ + 1) <= static_cast<Wide>(prime);
        if (each * prime > work || bytes * prime > memory) break;
        if (tells || prime_ != 0) prime_ = prime;
    }
    states_ = prime_ << bits_.size();
    return prime_ != 0;
}

void Sums::fill(Clock& clock) {
    rest_.assign(graph_.nodes() * states_, kForbidden);
    std::vector<double> ends;
    fill_end(ends);
    const std::uint32_t masks = std::uint32_t{1} << bits_.size();
    for (std::uint32_t node = static_cast<std::uint32_t>(graph_.nodes()); node-- > 0;) {
        double* const here = rest_.data() + node * states_;
        for (const Graph::Step& step : graph_.steps_from(node)) {
            clock.tick(states_);
            const bool ended = step.to == Graph::kEnd;
            const Addend addend = ended ? Addend{} : addends_[step.reading];
            const double* const there = ended ? ends.data() : rest_.data() + step.to * states_;
            if (addend.free) {
                const double cost = step.cost + graph_.rest(step.to);
                for (std::size_t s = 0; s < states_; ++s) here[s] = std::min(here[s], cost);
                continue;
            }
            for (std::uint32_t mask = 0; mask < masks; ++mask) {
                const std::uint32_t set =
                    addend.bit == kNoBit ? mask : mask | std::uint32_t{1} << addend.bit;
                const std::uint32_t shift =
                    residue(set == mask ? addend.each : addend.each + addend.first);
                double* const to = here + mask * prime_;
                const double* const from = there + set * prime_;
                for (std::size_t r = 0; r < prime_ - shift; ++r)
                    to[r] = std::min(to[r], step.cost + from[r + shift]);
                for (std::size_t r = prime_ - shift; r < prime_; ++r)
                    to[r] = std::min(to[r], step.cost + from[r + shift - prime_]);
            }
        }
    }
}

void Sums::fill_end(std::vector<double>& ends) const {
    ends.assign(states_, 0);
    const std::uint32_t masks = std::uint32_t{1} << bits_.size();
    for (std::uint32_t mask = 0; mask < masks; ++mask) {
        bool open = false;
        double missing = 0;
        Wide sum = equation_.constant;
        for (std::uint32_t bit = 0; bit < bits_.size(); ++bit)
            if ((mask >> bit & 1) == 0) {
                open = open_without(bits_[bit], sum) || open;
                missing += facts_.missing[bits_[bit]];
            }
        for (std::size_t r = 0; r < prime_; ++r) {
            double& end = ends[mask * prime_ + r] = missing + (open ? equation_.unchecked : 0);
            if (open) continue;
            // How far the sum is from zero, if it is the nearest of those with this residue.
            const Wide apart = residue(sum / divisor_ + static_cast<Wide>(r));
            const Wide nearest = std::min(apart, static_cast<Wide>(prime_) - apart);
            if (nearest > tolerance_) end += equation_.weight;
        }
    }
}

std::uint32_t Sums::state_of(std::span<const Wide> memory) const {
    std::uint32_t mask = 0;
    Wide sum = 0;
    for (std::uint32_t f = 0; f < fields_.size(); ++f) {
        const FieldTerms& field = fields_[f];
        if (field.first.empty() && field.each.empty()) continue;
        const FieldPlan& slots = plan_.fields[f];
        if (field.sum && memory[slots.readable] > 1) return kFree;
        const bool seen =
            field.bit != kNoBit && memory[slots.many ? slots.readable : slots.first] != 0;
        if (seen) mask |= std::uint32_t{1} << field.bit;
        for (const Equation::Term& term : field.each) {
            const Wide number = memory[term.kind == Equation::kCount ? slots.count : slots.sum];
            if (number >= Program::kUnsure) return kFree;
            sum += term.factor * number * (term.kind == Equation::kCount ? kUnit : Wide{1});
        }
        if (!seen) continue;
        for (const Equation::Term& term : field.first) {
            const Outcome number =
                facts_.lookups[term.lookup].at(static_cast<std::size_t>(memory[slots.first]));
            if (number.state != Outcome::kKnown) return kFree;
            sum += term.factor * number.number;
        }
    }
    const bool all = mask + 1 == std::uint32_t{1} << bits_.size();
    if (equation_.early && all) return kFree;
    return mask * static_cast<std::uint32_t>(prime_) + residue(sum / divisor_);
}

}  // namespace lawful
