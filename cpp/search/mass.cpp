#include "search/mass.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/arena.hpp"
#include "base/costs.hpp"
#include "rules/rule_tracker.hpp"
#include "search/state_table.hpp"

namespace lawful {

Mass::Mass(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
           std::vector<SpanValue> span_values, std::shared_ptr<const Plan> plan,
           DocumentTables tables, const std::vector<double>& most_weight, bool everything,
           Clock& clock)
    : chain_(std::move(lattice), std::move(spans), most_weight, everything, clock),
      span_values_(std::move(span_values)),
      first_value_(chain_.spans() + 1, static_cast<std::uint32_t>(span_values_.size())),
      plan_(std::move(plan)),
      tables_(std::move(tables)) {
    for (std::size_t v = span_values_.size(); v-- > 0;)
        first_value_[span_values_[v].span] = static_cast<std::uint32_t>(v);
    for (std::size_t s = chain_.spans(); s-- > 0;)
        first_value_[s] = std::min(first_value_[s], first_value_[s + 1]);
}

std::vector<SurvivalBound> Mass::survivals(const Limits& limits, Clock& clock) const {
    if (limits.work == 0 || chain_.sticky()) return {};
    const std::vector<SurvivalBound::Word> words = survival_words();
    std::vector<Residues::FieldValue> values;
    for (const SpanValue& value : span_values_)
        values.push_back({chain_.span(value.span).seen_as(), value.value});
    std::vector<SurvivalBound> made;
    for (const Equation& equation : plan_->equations) {
        SurvivalBound survival(Residues(*plan_, equation, tables_, values), tables_.missing, words,
                               limits.work, limits.memory, clock);
        if (!survival.empty()) made.push_back(std::move(survival));
    }
    return made;
}

/// The chain as survival bounds need it.
std::vector<SurvivalBound::Word> Mass::survival_words() const {
    const Layout& l = chain_.layout();
    const auto others = l.others();
    std::vector<std::uint32_t> place(chain_.labels());
    for (std::uint32_t i = 0; i < others.size(); ++i) place[others[i]] = i;
    std::vector<SurvivalBound::Word> words(chain_.words());
    for (std::size_t w = 0; w < chain_.words(); ++w) {
        SurvivalBound::Word& word = words[w];
        word.unlisted = chain_.unlisted(w);
        for (const std::uint32_t label : others) {
            const double with = chain_.log_with(w, label);
            SurvivalBound::Word::Label& made = word.labels.emplace_back();
            if (with == kNoWeight) continue;
            if (l.begins(label)) made.begins = share_of(with, chain_.log_boundary(w));
            const double onward = chain_.log_onward(w, label);
            if (l.ends(label)) made.ends = share_of(chain_.log_boundary(w + 1), onward);
            if (w + 1 == chain_.words()) continue;
            for (const std::uint32_t to : others) {
                const double next = chain_.log_with(w + 1, to);
                if (std::ranges::count(l.before(to), label) > 0 && next > kNoWeight)
                    made.next.emplace_back(place[to], share_of(next, onward));
            }
        }
        for (const SpanChain::SpanShare& taken : chain_.spans_at(w))
            for (std::uint32_t v = first_value_[taken.span]; v < first_value_[taken.span + 1]; ++v)
                word.spans.push_back({v, chain_.span(taken.span).end,
                                      taken.fresh * std::exp(-span_values_[v].price)});
    }
    return words;
}

/// One walk over the chain, from left to right.
class Mass::Walk {
public:
    Walk(const Mass& mass, const Answers& answers, const Limits& limits, Clock& clock)
        : mass_(mass),
          chain_(mass.chain_),
          layout_(chain_.layout()),
          answers_(answers),
          limits_(limits),
          clock_(clock),
          tracker_(*mass.plan_, mass.tables_),
          arena_(limits.memory),
          first_progress_(mass.plan_->slots),
          states_(arena_, first_progress_ + (chain_.fields() + kPacked - 1) / kPacked),
          scratch_(first_progress_ + (chain_.fields() + kPacked - 1) / kPacked),
          place_of_(chain_.labels()),
          width_(1 + layout_.others().size() + (chain_.sticky() ? chain_.fields() : 0)),
          layers_(chain_.words() + 1) {
        for (std::size_t i = 0; i < layout_.others().size(); ++i)
            place_of_[layout_.others()[i]] = 1 + i;
        for (const SpanValue& value : mass.span_values_) weights_.push_back(std::exp(-value.price));
        survivals_ = mass.survivals(limits, clock);
        shares_.same.resize(chain_.fields());
    }

    Shares run() {
        const double violated = tracker_.begin(scratch_);
        if (chain_.log_boundary(0) == kNoWeight || violated == kForbidden) return shares_;
        at(layers_[0], number_of(scratch_))[0] = std::exp(-violated);
        for (std::size_t word = 0; word < chain_.words(); ++word) {
            prune(layers_[word], word);
            find_shares(word);
            for (const auto& [state, place] : layers_[word].places) {
                take_spans(word, state, place);
                take_word(word, state, place);
            }
            layers_[word] = {};
        }
        for (const auto& [state, place] : layers_.back().places) {
            const std::span<const Wide> seen = states_[state];
            const double* const here = layers_.back().masses.data() + place;
            const double left = boundary(here) * std::exp(-tracker_.finish(seen));
            shares_.all += left;
            for (std::uint32_t field = 0; field < chain_.fields(); ++field)
                if (answers_[field] && progress(seen, field) == answers_[field]->size())
                    shares_.same[field] += left;
        }
        shares_.unsure = tracker_.undecided();
        return shares_;
    }

private:
    // A state counts the values of each field's answer seen so far in 16 bits, kPacked to a slot.
    static constexpr std::size_t kPacked = 7;
    static constexpr std::uint32_t kBroken = 0xFFFF;  // a value differs from the answer

    /// A label of no field for a word: its place in a layer, the shares that begin with it at a
    /// boundary and that end after it, and by place, the shares that come from right after a span
    /// and from a label before it in the same span.
    struct Step {
        std::size_t place;
        double begins, ends;
        std::vector<std::pair<std::size_t, double>> from;
    };
    /// By state, `width_` shares: at the boundary; at each label of no field, as the last one; and
    /// right after a span of each field, if the layout is sticky.
    struct Layer {
        std::unordered_map<std::uint32_t, std::size_t> places;  // in `masses`
        std::vector<double> masses;
    };

    double* at(Layer& layer, std::uint32_t state) {
        const auto [entry, made] = layer.places.try_emplace(state, layer.masses.size());
        if (made) layer.masses.resize(layer.masses.size() + width_);
        return layer.masses.data() + entry->second;
    }

    std::size_t after(std::uint32_t field) const { return 1 + layout_.others().size() + field; }

    /// The share at a boundary, whether right after a span or not.
    double boundary(const double* masses) const {
        double sum = masses[0];
        for (std::uint32_t f = 0; chain_.sticky() && f < chain_.fields(); ++f)
            sum += masses[after(f)];
        return sum;
    }

    /// An upper bound on the share of a state at a word that rules leave at the end.
    double left_of(std::size_t word, std::uint32_t state, const double* masses) const {
        // What ended at the boundary counts twice, also with its last label: still an upper bound.
        const double within = std::accumulate(masses + 1, masses + width_, 0.0);
        double least = masses[0] + within;
        const std::size_t count = survivals_.size();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t residue_class = survival_classes_[state * count + i];
            least = std::min(least, masses[0] * survivals_[i].at_boundary(word, residue_class) +
                                        within * survivals_[i].within(word, residue_class));
        }
        return least;
    }

    std::uint32_t number_of(std::span<const Wide> state) {
        const std::uint32_t number = states_.number_of(state);
        if (number * survivals_.size() == survival_classes_.size())
            for (const SurvivalBound& survival : survivals_)
                survival_classes_.push_back(survival.class_of(state));
        return number;
    }

    /// Drops states with a small share, and the smallest beyond the number allowed.
    void prune(Layer& layer, std::size_t word) {
        weighed_.clear();
        for (const auto& [state, place] : layer.places)
            weighed_.emplace_back(left_of(word, state, layer.masses.data() + place), state);
        clock_.tick(width_ * weighed_.size());
        const auto large = std::partition(weighed_.begin(), weighed_.end(), [&](const auto& state) {
            return state.first > limits_.least;
        });
        auto kept = large;
        if (static_cast<std::size_t>(large - weighed_.begin()) > limits_.states) {
            kept = weighed_.begin() + static_cast<std::ptrdiff_t>(limits_.states);
            std::nth_element(weighed_.begin(), kept, large, std::greater<>());
        }
        for (auto state = kept; state != weighed_.end(); ++state) {
            shares_.open += state->first;
            layer.places.erase(state->second);
        }
    }

    void take_spans(std::size_t word, std::uint32_t state, std::size_t place) {
        const double* const here = layers_[word].masses.data() + place;
        shares_.open += here[0] * chain_.unlisted(word);
        for (std::uint32_t f = 0; chain_.sticky() && f < chain_.fields(); ++f)
            shares_.open += here[after(f)] * chain_.unlisted_after(word, f);
        const double* share_after = spans_after_.data();
        for (const SpanChain::SpanShare& next : chain_.spans_at(word)) {
            const FieldSpan& span = chain_.span(next.span);
            double taken = here[0] * next.fresh;
            for (std::uint32_t f = 0; chain_.sticky() && f < chain_.fields(); ++f)
                taken += here[after(f)] * *share_after++;
            if (taken == 0) continue;
            for (std::uint32_t v = mass_.first_value_[next.span];
                 v < mass_.first_value_[next.span + 1]; ++v)
                take_value(state, span, v, taken);
        }
    }

    void take_value(std::uint32_t state, const FieldSpan& span, std::uint32_t choice,
                    double taken) {
        clock_.tick(64);
        const std::span<const Wide> before = states_[state];
        std::copy(before.begin(), before.end(), scratch_.begin());
        const std::uint32_t value = mass_.span_values_[choice].value;
        const double violated = tracker_.extend(scratch_, span.place(), value);
        if (violated == kForbidden) return;
        if (is_readable(value)) compare_with_answer(span.seen_as(), value);
        double* const there = at(layers_[span.end], number_of(scratch_));
        taken *= weights_[choice];
        there[chain_.sticky() ? after(span.field) : 0] +=
            violated > 0 ? taken * std::exp(-violated) : taken;
    }

    /// Finds the shares of the steps from a word to the next one, which all states have in common.
    void find_shares(std::size_t word) {
        find_span_shares(word);
        steps_.clear();
        for (const std::uint32_t label : layout_.others()) {
            const double with = chain_.log_with(word, label);
            if (with == kNoWeight) continue;
            Step step{place_of_[label], 0, 0, {}};
            if (layout_.begins(label)) {
                step.begins = share_of(with, chain_.log_boundary(word));
                for (std::uint32_t f = 0; chain_.sticky() && f < chain_.fields(); ++f)
                    step.from.emplace_back(after(f), share_of(with, chain_.log_after(word, f)));
            }
            if (layout_.ends(label))
                step.ends = share_of(chain_.log_boundary(word + 1), chain_.log_onward(word, label));
            for (const std::uint32_t from : layout_.before(label))
                if (word > 0 && chain_.log_onward(word - 1, from) > kNoWeight)
                    step.from.emplace_back(place_of_[from],
                                           share_of(with, chain_.log_onward(word - 1, from)));
            steps_.push_back(std::move(step));
        }
    }

    /// By listed span and field, the share right after a span of this field that takes the span.
    void find_span_shares(std::size_t word) {
        spans_after_.clear();
        if (!chain_.sticky()) return;
        for (const SpanChain::SpanShare& next : chain_.spans_at(word))
            for (std::uint32_t f = 0; f < chain_.fields(); ++f)
                spans_after_.push_back(f == chain_.span(next.span).field
                                           ? next.again
                                           : share_of(next.log_weight, chain_.log_after(word, f)));
    }

    void take_word(std::size_t word, std::uint32_t state, std::size_t place) {
        clock_.tick(4 * width_);
        double* const there = at(layers_[word + 1], state);
        const double* const here = layers_[word].masses.data() + place;
        for (const Step& step : steps_) {
            double sum = here[0] * step.begins;
            for (const auto& [from, part] : step.from) sum += here[from] * part;
            there[0] += sum * step.ends;
            there[step.place] += sum;  // the part that ended included
        }
    }

    static std::size_t shift_of(std::uint32_t field) { return 16 * (field % kPacked); }

    std::uint32_t progress(std::span<const Wide> state, std::uint32_t field) const {
        const Wide slot = state[first_progress_ + field / kPacked];
        return static_cast<std::uint32_t>(slot >> shift_of(field)) & kBroken;
    }

    /// Updates, in the scratch state, how much of a field's answer has been seen.
    void compare_with_answer(std::uint32_t field, std::uint32_t value) {
        if (!answers_[field]) return;
        const std::uint32_t seen = progress(scratch_, field);
        if (seen == kBroken || (!mass_.plan_->fields[field].many && seen > 0)) return;
        const std::vector<std::uint32_t>& answer = *answers_[field];
        const FieldPlan& f = mass_.plan_->fields[field];
        const bool same = seen < answer.size() && mass_.tables_.equal(f, answer[seen], value);
        const std::uint32_t now = same ? seen + 1 : kBroken;
        scratch_[first_progress_ + field / kPacked] += static_cast<Wide>(now - seen)
                                                       << shift_of(field);
    }

    const Mass& mass_;
    const SpanChain& chain_;
    const Layout& layout_;
    const Answers& answers_;
    const Limits& limits_;
    Clock& clock_;
    RuleTracker tracker_;
    Arena arena_;
    std::size_t first_progress_;
    StateTable states_;
    std::vector<Wide> scratch_;
    std::vector<double> weights_;                            // by span value, e^-price
    std::vector<std::pair<double, std::uint32_t>> weighed_;  // bound and number of each state
    std::vector<std::size_t> place_of_;  // by label of no field, its place in a layer
    std::size_t width_;
    std::vector<SurvivalBound> survivals_;         // by equation
    std::vector<std::uint32_t> survival_classes_;  // (states, equations)
    std::vector<Layer> layers_;                    // by boundary
    std::vector<Step> steps_;
    std::vector<double> spans_after_;  // (spans at the word, fields): see find_span_shares
    Shares shares_;
};

Mass::Shares Mass::of(const Answers& answers, const Limits& limits, Clock& clock) const {
    return Walk(*this, answers, limits, clock).run();
}

}  // namespace lawful
