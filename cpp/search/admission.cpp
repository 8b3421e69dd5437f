#include "search/admission.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/costs.hpp"
#include "base/tuning.hpp"
#include "rules/residues.hpp"
#include "search/sum_sets.hpp"

namespace lawful {

namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 59;  // in units of an equation

std::optional<std::int64_t> small(Wide number) {
    if (number > kMaxNumber || number < -kMaxNumber) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

/// The numbers that one field may add to an equation.
struct Domain {
    std::uint32_t field;
    std::vector<std::int64_t> numbers;  // sorted
    std::vector<bool> completed;        // by number, whether other values complete it
    bool opens = false;                 // it may leave the equation undecided instead
};

class Admission {
public:
    Admission(const Plan& plan, const DocumentTables& tables, std::span<const FieldSpan> spans,
              std::span<const SpanValue> values)
        : plan_(plan), tables_(tables), spans_(spans), values_(values) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
        for (const SpanValue& value : values) {
            const Residues::FieldValue pair{spans[value.span].seen_as(), value.value};
            const auto [entry, added] = known.try_emplace(
                {pair.field, pair.value}, static_cast<std::uint32_t>(distinct_.size()));
            if (added) distinct_.push_back(pair);
            distinct_of_.push_back(entry->second);
        }
        first_.assign(distinct_.size(), true);
        occurs_.assign(values.size(), true);
        // Sums of lists take longest: they come last, when few numbers are left to be reached.
        for (const bool lists : {false, true})
            for (const Equation& equation : plan.equations)
                if (equation.weight == kForbidden && is_simple(equation) &&
                    sums_a_list(equation) == lists)
                    equations_.emplace_back(equation, Residues(plan, equation, tables, distinct_));
    }

    std::optional<std::vector<std::uint32_t>> find(Clock& clock) {
        for (bool changed = !equations_.empty(); changed;) {
            if (lacks_a_field()) return std::nullopt;
            changed = false;
            for (const auto& [equation, residues] : equations_) {
                if (changed && sums_a_list(equation)) break;
                changed = reduce(equation, residues, clock) || changed;
            }
        }
        std::vector<std::uint32_t> admitted;
        for (std::uint32_t i = 0; i < values_.size(); ++i)
            if (occurs_[i] && !contradicts(distinct_of_[i])) admitted.push_back(i);
        return admitted;
    }

private:
    /// Whether every field adds numbers in one way only.
    bool is_simple(const Equation& equation) const {
        std::vector<bool> first(plan_.fields.size()), each(plan_.fields.size());
        for (const Term& term : equation.terms)
            (term.kind == Term::Kind::kFirst ? first : each)[term.field] = true;
        for (std::size_t f = 0; f < first.size(); ++f)
            if (first[f] && each[f]) return false;
        return equation.terms.size() <= tuning::kMaxAdmissionFields;
    }

    /// Whether a field that must be present has no value that may be its first one.
    bool lacks_a_field() const {
        std::vector<bool> present(plan_.fields.size());
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const auto& [field, value] = distinct_[distinct_of_[i]];
            if (is_readable(value) && occurs_[i] && first_[distinct_of_[i]]) present[field] = true;
        }
        for (std::size_t field = 0; field < present.size(); ++field)
            if (tables_.missing[field] == kForbidden && !present[field]) return true;
        return false;
    }

    /// Whether a value cannot occur, because all values of its field agree with the first one.
    bool contradicts(std::uint32_t index) const {
        const auto& [field, value] = distinct_[index];
        const FieldPlan& f = plan_.fields[field];
        if (first_[index] || !is_readable(value)) return false;
        if (f.many || !f.first || !f.disagrees || f.disagreement < kForbidden) return false;
        for (std::uint32_t other = 0; other < distinct_.size(); ++other)
            if (first_[other] && distinct_[other].field == field &&
                is_readable(distinct_[other].value) &&
                tables_.equal(f, distinct_[other].value, value))
                return false;
        return true;
    }

    /// Drops values that an equation does not admit; returns whether there were any.
    bool reduce(const Equation& equation, const Residues& residues, Clock& clock) {
        const auto ends = residues.ends_by_mask(tables_.missing);
        const auto constant = small(ends.back().sum), tolerance = small(residues.tolerance());
        if (!constant || !tolerance) return false;
        std::vector<Domain> domains;
        std::size_t openers = 0;
        for (std::uint32_t bit = 0; bit < residues.needed().size(); ++bit) {
            const std::uint32_t field = residues.needed()[bit];
            const Residues::End& without = ends[ends.size() - 1 - (std::size_t{1} << bit)];
            const bool absent = tables_.missing[field] < kForbidden;
            if (plan_.fields[field].many) {
                if (absent && without.open) return false;
                continue;
            }
            auto domain = domain_of(field, residues);
            if (!domain) return false;
            if (absent && without.open)
                domain->opens = true;
            else if (absent) {
                const auto number = small(without.sum - ends.back().sum);
                if (!number) return false;
                domain->numbers.push_back(*number);
            }
            sort_unique(domain->numbers);
            domain->completed.assign(domain->numbers.size(), false);
            openers += domain->opens;
            domains.push_back(std::move(*domain));
        }
        if (openers > 1) return false;
        auto list = list_of(equation, residues);
        if (!list) return false;
        if (residues.sums_lists()) {
            if (!complete_by_list(domains, *list, *constant, *tolerance, clock)) return false;
        } else if (!complete_by_largest(domains, *constant, *tolerance, clock)) {
            return false;
        }
        bool changed = false;
        for (const Domain& domain : domains)
            if (openers == 0 || domain.opens) changed = drop(domain, residues) || changed;
        if (openers == 0)
            for (const ListedSpan& span : *list)
                if (!span.admitted) {
                    occurs_[span.index] = false;
                    changed = true;
                }
        return changed;
    }

    static void sort_unique(std::vector<std::int64_t>& numbers) {
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    }

    /// The numbers of a field's values; none if one is too large.
    std::optional<Domain> domain_of(std::uint32_t field, const Residues& residues) const {
        Domain domain{field, {}, {}};
        for (std::uint32_t d = 0; d < distinct_.size(); ++d) {
            if (distinct_[d].field != field || !first_[d]) continue;
            if (residues.frees(d)) domain.opens = true;
            if (residues.frees(d) || !is_readable(distinct_[d].value)) continue;
            const auto number = small(residues.addend(d).first);
            if (!number) return std::nullopt;
            domain.numbers.push_back(*number);
        }
        return domain;
    }

    /// The spans of lists that an equation sums; none if one of them leaves it undecided.
    std::optional<std::vector<ListedSpan>> list_of(const Equation& equation,
                                                   const Residues& residues) const {
        std::vector<bool> summed(plan_.fields.size());
        for (const Term& term : equation.terms)
            if (term.kind != Term::Kind::kFirst) summed[term.field] = true;
        std::vector<ListedSpan> list;
        for (std::uint32_t i = 0; i < values_.size(); ++i) {
            if (!occurs_[i] || !summed[distinct_[distinct_of_[i]].field]) continue;
            const auto number = small(residues.addend(distinct_of_[i]).each);
            if (residues.frees(distinct_of_[i]) || !number) return std::nullopt;
            const FieldSpan& span = spans_[values_[i].span];
            list.push_back({i, span.start, span.end, *number, true});
        }
        return list;
    }

    /// Calls `take(chosen, sum)` for every choice of one number per domain but `left_out`, by
    /// indices; false if there are too many.
    template <class Take>
    static bool each_choice(const std::vector<Domain>& domains, std::size_t left_out,
                            std::int64_t constant, Clock& clock, Take&& take) {
        std::size_t combinations = 1;
        for (std::size_t d = 0; d < domains.size(); ++d) {
            if (d == left_out) continue;
            combinations *= domains[d].numbers.size();
            if (combinations > tuning::kMaxAdmissionCombinations) return false;
        }
        clock.tick(8 * combinations);
        std::vector<std::size_t> chosen(domains.size());
        for (; combinations > 0; --combinations) {
            std::int64_t sum = constant;
            for (std::size_t d = 0; d < domains.size(); ++d)
                if (d != left_out) sum += domains[d].numbers[chosen[d]];
            take(chosen, sum);
            for (std::size_t d = 0; d < domains.size(); ++d) {
                if (d == left_out) continue;
                if (++chosen[d] < domains[d].numbers.size()) break;
                chosen[d] = 0;
            }
        }
        return true;
    }

    static void mark(std::vector<Domain>& domains, const std::vector<std::size_t>& chosen,
                     std::size_t left_out) {
        for (std::size_t d = 0; d < domains.size(); ++d)
            if (d != left_out) domains[d].completed[chosen[d]] = true;
    }

    /// Finds which numbers the others complete, where the sums of lists are among the others.
    static bool complete_by_list(std::vector<Domain>& domains, std::vector<ListedSpan>& list,
                                 std::int64_t constant, std::int64_t tolerance, Clock& clock) {
        const std::size_t none = domains.size();
        std::vector<std::int64_t> wanted;
        if (!each_choice(domains, none, constant, clock,
                         [&](const auto&, std::int64_t sum) { wanted.push_back(-sum); }))
            return false;
        sort_unique(wanted);
        const auto reached = reached_sums(list, wanted, tolerance, clock);
        if (!reached) return false;
        each_choice(domains, none, constant, clock, [&](const auto& chosen, std::int64_t sum) {
            const auto at = std::lower_bound(wanted.begin(), wanted.end(), -sum);
            if ((*reached)[at - wanted.begin()]) mark(domains, chosen, none);
        });
        return true;
    }

    /// The same without lists: the numbers of the largest domain are looked up.
    static bool complete_by_largest(std::vector<Domain>& domains, std::int64_t constant,
                                    std::int64_t tolerance, Clock& clock) {
        if (domains.empty()) return false;
        const auto size = [](const Domain& domain) { return domain.numbers.size(); };
        const auto largest = std::ranges::max_element(domains, {}, size) - domains.begin();
        const auto left_out = static_cast<std::size_t>(largest);
        Domain& last = domains[left_out];
        return each_choice(
            domains, left_out, constant, clock, [&](const auto& chosen, std::int64_t sum) {
                auto at =
                    std::lower_bound(last.numbers.begin(), last.numbers.end(), -sum - tolerance);
                if (at == last.numbers.end() || *at > -sum + tolerance) return;
                mark(domains, chosen, left_out);
                for (; at != last.numbers.end() && *at <= -sum + tolerance; ++at)
                    last.completed[at - last.numbers.begin()] = true;
            });
    }

    /// Drops the values of a field whose numbers nothing completes.
    bool drop(const Domain& domain, const Residues& residues) {
        bool changed = false;
        for (std::uint32_t d = 0; d < distinct_.size(); ++d) {
            if (distinct_[d].field != domain.field || !first_[d]) continue;
            if (!is_readable(distinct_[d].value) || residues.frees(d)) continue;
            const auto number = static_cast<std::int64_t>(residues.addend(d).first);
            const auto at = std::lower_bound(domain.numbers.begin(), domain.numbers.end(), number);
            if (domain.completed[at - domain.numbers.begin()]) continue;
            first_[d] = false;
            changed = true;
        }
        return changed;
    }

    const Plan& plan_;
    const DocumentTables& tables_;
    std::span<const FieldSpan> spans_;
    std::span<const SpanValue> values_;
    std::vector<Residues::FieldValue> distinct_;  // fields and their values
    std::vector<std::uint32_t> distinct_of_;      // by span value
    std::vector<bool> first_;   // by distinct value, whether it may be the first one of its field
    std::vector<bool> occurs_;  // by span value, whether a list may contain it
    std::vector<std::pair<const Equation&, Residues>> equations_;  // those that are hard
};

}  // namespace

std::optional<std::vector<std::uint32_t>> admitted_values(const Plan& plan,
                                                          const DocumentTables& tables,
                                                          std::span<const FieldSpan> spans,
                                                          std::span<const SpanValue> values,
                                                          Clock& clock) {
    const bool hard = std::any_of(plan.equations.begin(), plan.equations.end(),
                                  [](const Equation& each) { return each.weight == kForbidden; });
    if (hard) return Admission(plan, tables, spans, values).find(clock);
    std::vector<std::uint32_t> all(values.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

}  // namespace lawful
