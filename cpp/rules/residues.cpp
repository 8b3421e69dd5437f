#include "rules/residues.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/costs.hpp"
#include "base/tuning.hpp"

namespace lawful {

namespace {

Wide greatest_common_divisor(Wide a, Wide b) {
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

}  // namespace

Residues::Residues(const Plan& plan, const Equation& equation, const DocumentTables& tables,
                   std::span<const FieldValue> values)
    : plan_(plan),
      equation_(equation),
      tables_(tables),
      fields_(plan.fields.size()),
      divisor_(equation.constant) {
    sort_terms();
    for (const FieldValue& value : values) {
        addends_.push_back(addend_of(value));
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
}

void Residues::sort_terms() {
    for (const Term& term : equation_.terms) {
        FieldTerms& field = fields_[term.field];
        (term.kind == Term::Kind::kFirst ? field.first : field.each).push_back(term);
        field.sum =
            field.sum || term.kind == Term::Kind::kSum || term.kind == Term::Kind::kSumOrZero;
        const bool needed = term.kind == Term::Kind::kFirst || term.kind == Term::Kind::kSum;
        if (needed && field.bit == kNoBit) {
            field.bit = static_cast<std::uint32_t>(bits_.size());
            bits_.push_back(term.field);
        }
    }
}

Residues::Addend Residues::addend_of(const FieldValue& given) const {
    const FieldTerms& field = fields_[given.field];
    const std::uint32_t value = given.value;
    Addend addend;
    // An unreadable text rules out the default, so the equation may stay undecided.
    addend.unreadable =
        !is_readable(value) && !field.first.empty() && plan_.fields[given.field].has_default;
    addend.first_frees = addend.unreadable;
    if (is_readable(value) || addend.unreadable) addend.bit = field.bit;
    for (const Term& term : field.each) {
        Outcome number{kUnit, Outcome::kKnown};
        if (term.kind != Term::Kind::kCount) number = tables_.lookups[term.lookup].at(value);
        // Of a list with a number that is not known, the search knows no sum at all.
        const bool unsure =
            term.kind != Term::Kind::kCount && tables_.lookups[term.lookup].has_unsure();
        if (number.state != Outcome::kKnown || unsure) addend.free = true;
        addend.each += term.factor * number.number;
    }
    if (!is_readable(value)) return addend;
    for (const Term& term : field.first) {
        const Outcome number = tables_.lookups[term.lookup].at(value);
        if (number.state != Outcome::kKnown) addend.first_frees = true;
        addend.first += term.factor * number.number;
    }
    return addend;
}

bool Residues::open_without(std::uint32_t field, Wide& sum) const {
    if (fields_[field].sum) return true;
    for (const Term& term : fields_[field].first) {
        const Outcome number = tables_.lookups[term.lookup].at(ValueNumber::kMissing);
        if (number.state != Outcome::kKnown) return true;
        sum += term.factor * number.number;
    }
    return false;
}

bool Residues::choose_prime(std::size_t steps, std::size_t work, std::size_t bytes,
                            std::size_t memory, std::size_t largest) {
    prime_ = 0;
    if (bits_.size() > tuning::kMaxEquationFields) return false;
    for (const std::size_t prime : tuning::kPrimes) {
        // Modulo a smaller prime, too many sums would fall within the tolerance.
        const bool tells =
            2 * std::min<Wide>(tolerance_, prime) + 1 <= static_cast<Wide>(prime / 8);
        if (steps * masks() * prime > work || bytes * masks() * prime > memory) break;
        if (prime > largest && prime_ != 0) break;
        if (tells || prime_ != 0) prime_ = prime;
    }
    width_ = static_cast<std::uint32_t>(std::bit_width(prime_));
    if (prime_ == 0) return false;
    for (Addend& addend : addends_) {
        addend.shift = residue(addend.each);
        addend.shift_first = residue(addend.each + addend.first);
    }
    return true;
}

std::vector<Residues::End> Residues::ends_by_mask(std::span<const double> missing) const {
    std::vector<End> ends;
    for (std::uint32_t mask = 0; mask < masks(); ++mask) {
        End& end = ends.emplace_back(0.0, false, equation_.constant);
        for (std::uint32_t bit = 0; bit < bits_.size(); ++bit)
            if ((mask >> bit & 1) == 0) {
                end.open = open_without(bits_[bit], end.sum) || end.open;
                end.absent += missing[bits_[bit]];
            }
        if (end.open) end.absent += equation_.unchecked;
        end.sum /= divisor_;
    }
    return ends;
}

double Residues::end(std::span<const End> by_mask, std::uint32_t residue_class) const {
    const End& end = by_mask[residue_class >> width_];
    if (end.open) return end.absent;
    // The distance from zero of the nearest sum with this residue.
    const std::uint32_t found = residue_class & ((1u << width_) - 1);
    const Wide apart = residue(end.sum + static_cast<Wide>(found));
    const Wide nearest = std::min(apart, static_cast<Wide>(prime_) - apart);
    return nearest > tolerance_ ? end.absent + equation_.weight : end.absent;
}

std::vector<double> Residues::ends(std::span<const double> missing) const {
    const std::vector<End> by_mask = ends_by_mask(missing);
    std::vector<double> ends(classes(), kForbidden);
    for (std::uint32_t mask = 0; mask < masks(); ++mask)
        for (std::uint32_t r = 0; r < prime_; ++r)
            ends[(std::size_t{mask} << width_) + r] = end(by_mask, mask << width_ | r);
    return ends;
}

std::optional<Residues::Sum> Residues::sum_of(std::span<const Wide> state) const {
    std::uint32_t mask = 0;
    Wide sum = 0;
    for (std::uint32_t f = 0; f < fields_.size(); ++f) {
        const FieldTerms& field = fields_[f];
        if (field.first.empty() && field.each.empty()) continue;
        const FieldPlan& slots = plan_.fields[f];
        if (field.sum && state[*slots.readable] > 1) return std::nullopt;
        const bool seen =
            field.bit != kNoBit && state[*(slots.many ? slots.readable : slots.first)] != 0;
        if (seen) mask |= std::uint32_t{1} << field.bit;
        for (const Term& term : field.each) {
            const Wide number = state[*(term.kind == Term::Kind::kCount ? slots.count : slots.sum)];
            if (number >= Program::kUnsure) return std::nullopt;
            sum += term.factor * number * (term.kind == Term::Kind::kCount ? kUnit : Wide{1});
        }
        if (!seen) continue;
        for (const Term& term : field.first) {
            const Outcome number =
                tables_.lookups[term.lookup].at(static_cast<std::size_t>(state[*slots.first]));
            if (number.state != Outcome::kKnown) return std::nullopt;
            sum += term.factor * number.number;
        }
    }
    return Sum{mask, sum / divisor_};
}

std::uint32_t Residues::class_of(std::span<const Wide> state) const {
    const auto sum = sum_of(state);
    if (!sum) return kFree;
    const std::uint32_t found = sum->mask << width_ | residue(sum->sum);
    return decided(found) ? kFree : found;
}

}  // namespace lawful
