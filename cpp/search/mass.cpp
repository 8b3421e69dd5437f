#include "search/mass.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "base/arena.hpp"
#include "base/costs.hpp"
#include "rules/rule_tracker.hpp"
#include "search/state_table.hpp"

namespace lawful {

Mass::Mass(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
           std::vector<SpanValue> span_values, std::shared_ptr<const Plan> plan,
           DocumentTables tables, std::span<const double> most_weight, bool everything,
           double negligible, Clock& clock)
    : chain_(std::move(lattice), std::move(spans), most_weight, everything, clock),
      span_values_(std::move(span_values)),
      first_value_(chain_.spans() + 1, static_cast<std::uint32_t>(span_values_.size())),
      plan_(std::move(plan)),
      tables_(std::move(tables)),
      words_(chain_.words()) {
    for (std::size_t v = span_values_.size(); v-- > 0;)
        first_value_[span_values_[v].span] = static_cast<std::uint32_t>(v);
    for (std::size_t s = chain_.spans(); s-- > 0;)
        first_value_[s] = std::min(first_value_[s], first_value_[s + 1]);
    for (const SpanValue& value : span_values_) weights_.push_back(std::exp(-value.price));
    find_words(negligible - log_total(), clock);
}

/// By field, its answer as survival bounds need it; of a field that is not asked about, nothing.
std::vector<SurvivalBound::Answer> Mass::answers_for(const Answers& answers) const {
    using Answer = SurvivalBound::Answer;
    std::vector<Answer> made(answers.size());
    for (std::uint32_t f = 0; f < answers.size(); ++f) {
        if (!answers[f]) continue;
        const FieldPlan& field = plan_->fields[f];
        Answer& answer = made[f];
        answer.field = f;
        answer.many = field.many;
        answer.size = static_cast<std::uint32_t>(answers[f]->first.size());
        // The first value of the answer that is equal, or none.
        const auto group_of = [&](std::uint32_t value) {
            const auto& wanted = answers[f]->first;
            const auto same = std::ranges::find_if(
                wanted, [&](std::uint32_t each) { return tables_.equal(field, each, value); });
            return static_cast<std::uint32_t>(same - wanted.begin());
        };
        for (const std::uint32_t value : answers[f]->first)
            answer.wanted.push_back(group_of(value));
        for (const SpanValue& given : span_values_) {
            const bool brings = chain_.span(given.span).seen_as() == f && is_readable(given.value);
            answer.groups.push_back(brings ? group_of(given.value) : Answer::kNothing);
        }
    }
    return made;
}

/// Finds the steps of the chain from each boundary, as shares of what is there.
void Mass::find_words(double log_least, Clock& clock) {
    const bool sticky = chain_.sticky();
    std::vector<double> left(chain_.words());
    // Right after a span, shares are larger.
    runs_ = chain_.runs(sticky ? kNoWeight : log_least, left, clock);
    for (std::size_t w = 0; w < chain_.words(); ++w) {
        SurvivalBound::Word& word = words_[w];
        word.unlisted = chain_.unlisted(w) + left[w];
        word.unlisted_of.assign(chain_.fields(), word.unlisted);
        if (!sticky && !tables_.shares_labels)
            for (std::uint32_t f = 0; f < chain_.fields(); ++f)
                word.unlisted_of[f] = chain_.unlisted_of(w, f);
        for (const SpanChain::Run& run : runs_[w])
            word.runs.push_back({run.end, share_of(run.log_weight, chain_.log_boundary(w))});
        for (const SpanChain::SpanShare& taken : chain_.spans_at(w)) {
            const FieldSpan& span = chain_.span(taken.span);
            for (std::uint32_t v = first_value_[taken.span]; v < first_value_[taken.span + 1]; ++v)
                word.spans.push_back({v, span.end, taken.fresh * weights_[v]});
        }
    }
}

/// One walk over the chain, from left to right.
class Mass::Walk {
public:
    Walk(const Mass& mass, const Answers& answers, const Limits& limits, Clock& clock)
        : mass_(mass),
          chain_(mass.chain_),
          limits_(limits),
          clock_(clock),
          answers_(mass.answers_for(answers)),
          tracker_(*mass.plan_, mass.tables_),
          arena_(limits.memory),
          first_progress_(mass.plan_->slots),
          states_(arena_, first_progress_ + (chain_.fields() + kPacked - 1) / kPacked),
          scratch_(first_progress_ + (chain_.fields() + kPacked - 1) / kPacked),
          arrivals_(chain_.words() + 1),
          tiny_(kTiny * limits.lost / static_cast<double>(chain_.words() + 1)) {
        if (chain_.sticky()) width_ += chain_.fields();
        for (std::uint32_t f = 0; f < answers.size(); ++f)
            if (answers[f]) asked_.push_back({f, std::clamp(answers[f]->second, 0.02, 0.98)});
        lefts_.resize(asked_.size());
        shares_.same.resize(chain_.fields());
        shares_.open_same.resize(chain_.fields());
        shares_.open_other.resize(chain_.fields());
        make_bounds();
    }

    Shares run() {
        const double violated = tracker_.begin(scratch_);
        if (chain_.log_boundary(0) == kNoWeight || violated == kForbidden) return shares_;
        began_ = clock_.spent();
        arrivals_[0].push_back({number_of(scratch_), 0, std::exp(-violated)});
        for (std::uint32_t word = 0; word < chain_.words(); ++word) {
            gather(word);
            prune(word);
            walked_ += here_.states.size();
            if (here_.states.empty()) continue;
            take_runs(word);
            take_spans(word);
        }
        gather(static_cast<std::uint32_t>(chain_.words()));
        for (std::size_t i = 0; i < here_.states.size(); ++i) {
            const std::span<const Wide> seen = states_[here_.states[i]];
            const double left = boundary(i) * std::exp(-tracker_.finish(seen));
            shares_.all += left;
            for (const auto& [field, expected] : asked_)
                if (progress(seen, field) == answers_[field].size) shares_.same[field] += left;
        }
        shares_.unsure = tracker_.undecided();
        return shares_;
    }

private:
    // A state counts the values of each field's answer seen so far in 16 bits, kPacked to a slot.
    static constexpr std::size_t kPacked = 7;
    static constexpr std::uint32_t kBroken = SurvivalBound::kBroken;
    static constexpr double kTiny = 1e-2;               // of what a word may lose
    static constexpr std::size_t kFewStates = 4;        // are kept when the work is done
    static constexpr std::uint32_t kMostFollowed = 64;  // values of a list: bounds grow with them

    /// The states at a boundary, and by place and state, a share: that is not right after a span of
    /// a field; and right after one, by field, if the layout is sticky.
    struct Layer {
        std::vector<std::uint32_t> states;
        std::vector<double> masses;
        std::size_t stride = 0;

        void reset(std::size_t count, std::size_t width) {
            stride = count;
            masses.assign(count * width, 0);
        }
        double* at(std::size_t place) { return masses.data() + place * stride; }
        const double* at(std::size_t place) const { return masses.data() + place * stride; }
    };
    struct Arrival {
        std::uint32_t state, place;
        double mass;
    };
    /// A span value that may be taken at a word.
    struct Option {
        std::uint32_t choice;
        const SpanChain::SpanShare* span;
        double share;  // of what is at the boundary
    };
    struct Asked {
        std::uint32_t field;
        double expected;
    };

    void make_bounds() {
        if (chain_.sticky()) return;
        std::vector<const SurvivalBound::Answer*> all;
        for (const Asked& each : asked_)
            if (answers_[each.field].size <= kMostFollowed) all.push_back(&answers_[each.field]);
        bounds_.emplace_back(std::nullopt, mass_.tables_.missing, mass_.words_, all, 0, 0, clock_);
        if (limits_.work == 0) return;
        std::vector<Residues::FieldValue> values;
        for (const SpanValue& value : mass_.span_values_)
            values.push_back({chain_.span(value.span).seen_as(), value.value});
        for (const Equation& equation : mass_.plan_->equations) {
            std::vector<const SurvivalBound::Answer*> read;
            for (const Asked& each : asked_)
                if (!answers_[each.field].many &&
                    std::ranges::any_of(equation.terms,
                                        [&](const Term& term) { return term.field == each.field; }))
                    read.push_back(&answers_[each.field]);
            SurvivalBound bound(Residues(*mass_.plan_, equation, mass_.tables_, values),
                                mass_.tables_.missing, mass_.words_, read, limits_.work,
                                limits_.memory, clock_);
            if (!bound.empty()) bounds_.push_back(std::move(bound));
        }
    }

    /// The share at a boundary, whether right after a span or not.
    double boundary(std::size_t i) const {
        double sum = here_.at(0)[i];
        for (std::size_t place = 1; place < width_; ++place) sum += here_.at(place)[i];
        return sum;
    }
    /// Finds what is left of a share at a word, by what is seen of the fields asked about there.
    template <class Seen, class Class>
    void find_left(std::size_t word, Seen&& seen_of, Class&& class_of) {
        double all = 1;
        for (std::size_t b = 0; b < bounds_.size(); ++b)
            all = std::min(all, bounds_[b].all(word, class_of(b)));
        all_left_ = all;
        for (std::size_t a = 0; a < asked_.size(); ++a) {
            const SurvivalBound::Answer& answer = answers_[asked_[a].field];
            const std::uint32_t seen = seen_of(asked_[a].field);
            SurvivalBound::Left& left = lefts_[a] = {all, all, all};
            if (seen == kBroken)
                left.same = 0;
            else if (!answer.is_open(seen))
                left.other = 0;
            else
                for (std::size_t b = 0; b < bounds_.size(); ++b)
                    bounds_[b].lower(left, &answer, seen, word, class_of(b));
        }
    }
    void find_left_of(std::size_t word, std::uint32_t state) {
        find_left(
            word, [&](std::uint32_t field) { return progress(states_[state], field); },
            [&](std::size_t b) { return classes_[state * bounds_.size() + b]; });
    }
    /// How much a share may change the shares of answers, by what is left of it.
    double change(double mass) const {
        double sum = limits_.whole ? all_left_ : 0;
        for (std::size_t a = 0; a < asked_.size(); ++a)
            sum += (1 - asked_[a].expected) * lefts_[a].same + asked_[a].expected * lefts_[a].other;
        return mass * sum;
    }
    /// Adds a share that is not counted, by what is left of it.
    void leave(double mass) {
        shares_.open += mass * all_left_;
        for (std::size_t a = 0; a < asked_.size(); ++a) {
            shares_.open_same[asked_[a].field] += mass * lefts_[a].same;
            shares_.open_other[asked_[a].field] += mass * lefts_[a].other;
        }
    }

    std::uint32_t number_of(std::span<const Wide> state) {
        const std::uint32_t number = states_.number_of(state);
        if (number * bounds_.size() == classes_.size())
            for (const SurvivalBound& bound : bounds_) classes_.push_back(bound.class_of(state));
        return number;
    }

    /// Adds up what arrives at a boundary, by state.
    void gather(std::uint32_t word) {
        slot_of_.resize(states_.size(), 0);
        here_.states.clear();
        // Numbers of an earlier word may be left in `slot_of_`: the state tells.
        for (const Arrival& each : arrivals_[word]) {
            std::uint32_t& at = slot_of_[each.state];
            if (at < here_.states.size() && here_.states[at] == each.state) continue;
            at = static_cast<std::uint32_t>(here_.states.size());
            here_.states.push_back(each.state);
        }
        here_.reset(here_.states.size(), width_);
        for (const Arrival& each : arrivals_[word])
            here_.at(each.place)[slot_of_[each.state]] += each.mass;
        arrivals_[word] = {};
    }

    /// Drops states that hardly change anything, and the least beyond the number allowed.
    void prune(std::size_t word) {
        weighed_.clear();
        clock_.tick((width_ + 4 * bounds_.size()) * here_.states.size());
        for (std::size_t i = 0; i < here_.states.size(); ++i) {
            find_left_of(word, here_.states[i]);
            const double at = boundary(i), all = at * all_left_;
            // Without leave to drop anything, what has a share at all is kept.
            weighed_.emplace_back(limits_.lost > 0 || all == 0 ? change(at) : all, i);
        }
        std::ranges::sort(weighed_, std::greater<>());
        auto kept = weighed_.end();
        const double words = static_cast<double>(chain_.words());
        const double most = limits_.lost * static_cast<double>(word + 1) / words;
        for (; kept != weighed_.begin() && lost_ + std::prev(kept)->first <= most; --kept)
            lost_ += std::prev(kept)->first;
        const std::size_t states = std::min(limits_.states, states_within_work(word));
        if (static_cast<std::size_t>(kept - weighed_.begin()) > states)
            kept = weighed_.begin() + static_cast<std::ptrdiff_t>(states);
        for (auto state = kept; state != weighed_.end(); ++state) {
            find_left_of(word, here_.states[state->second]);
            leave(boundary(state->second));
        }
        const auto count = static_cast<std::size_t>(kept - weighed_.begin());
        if (count == here_.states.size()) return;
        kept_.clear();
        for (auto state = weighed_.begin(); state != kept; ++state) kept_.push_back(state->second);
        std::sort(kept_.begin(), kept_.end());
        for (std::size_t i = 0; i < count; ++i) here_.states[i] = here_.states[kept_[i]];
        here_.states.resize(count);
        for (std::size_t place = 0; place < width_; ++place)
            for (std::size_t i = 0; i < count; ++i) here_.at(place)[i] = here_.at(place)[kept_[i]];
    }

    /// The number of states that a word may keep, if each takes the work of those before it.
    std::size_t states_within_work(std::size_t word) const {
        const std::size_t spent = clock_.spent() - began_;
        if (walked_ == 0 || spent == 0) return limits_.states;
        if (spent >= limits_.steps) return kFewStates;
        const double each = static_cast<double>(spent) / static_cast<double>(walked_);
        const double most = static_cast<double>(limits_.steps - spent) / each /
                            static_cast<double>(chain_.words() - word);
        return std::max(kFewStates, static_cast<std::size_t>(std::min(most, 1e9)));
    }

    /// Lists the span values at a word, and what is left if none from some place on is taken.
    void list_options(std::size_t word) {
        options_.clear();
        for (const SpanChain::SpanShare& span : chain_.spans_at(word))
            for (std::uint32_t v = mass_.first_value_[span.span];
                 v < mass_.first_value_[span.span + 1]; ++v)
                options_.push_back({v, &span, span.fresh * mass_.weights_[v]});
        if (!chain_.sticky()) std::ranges::sort(options_, std::greater<>(), &Option::share);
        tails_.assign((options_.size() + 1) * (1 + 2 * asked_.size()), 0);
        for (std::size_t k = options_.size(); k-- > 0;) {
            double* const tail = tails_.data() + k * (1 + 2 * asked_.size());
            std::copy_n(tail + 1 + 2 * asked_.size(), 1 + 2 * asked_.size(), tail);
            const std::uint32_t choice = options_[k].choice;
            find_left(
                chain_.span(options_[k].span->span).end,
                [&](std::uint32_t field) { return answers_[field].after(0, choice); },
                [](std::size_t b) { return b == 0 ? 0 : Residues::kFree; });
            tail[0] += options_[k].share * all_left_;
            for (std::size_t a = 0; a < asked_.size(); ++a) {
                const bool many = answers_[asked_[a].field].many;
                tail[1 + 2 * a] += options_[k].share * (many ? all_left_ : lefts_[a].same);
                tail[2 + 2 * a] += options_[k].share * (many ? all_left_ : lefts_[a].other);
            }
        }
    }

    void take_runs(std::size_t word) {
        const std::vector<SpanChain::Run>& runs = mass_.runs_[word];
        clock_.tick(4 * width_ * runs.size() * here_.states.size());
        for (std::size_t r = 0; r < runs.size(); ++r) {
            const SurvivalBound::Word::Run& run = mass_.words_[word].runs[r];
            after_.clear();
            for (std::uint32_t f = 0; f + 1 < width_; ++f)
                after_.push_back(share_of(runs[r].log_weight, chain_.log_after(word, f)));
            for (std::size_t i = 0; i < here_.states.size(); ++i) {
                double taken = here_.at(0)[i] * run.share;
                for (std::size_t place = 1; place < width_; ++place)
                    taken += here_.at(place)[i] * after_[place - 1];
                if (taken > 0) arrivals_[run.end].push_back({here_.states[i], 0, taken});
            }
        }
    }

    void take_spans(std::uint32_t word) {
        list_options(word);
        after_.clear();
        for (const Option& option : options_)
            for (std::uint32_t f = 0; f + 1 < width_; ++f)
                after_.push_back(
                    mass_.weights_[option.choice] *
                    (f == chain_.span(option.span->span).field
                         ? option.span->again
                         : share_of(option.span->log_weight, chain_.log_after(word, f))));
        const double unlisted = mass_.words_[word].unlisted;
        for (std::size_t i = 0; i < here_.states.size(); ++i) {
            const std::uint32_t state = here_.states[i];
            double lost = here_.at(0)[i] * unlisted;
            for (std::size_t place = 1; place < width_; ++place)
                lost += here_.at(place)[i] *
                        chain_.unlisted_after(word, static_cast<std::uint32_t>(place - 1));
            const double fresh = here_.at(0)[i];
            std::size_t k = 0;
            for (; k < options_.size(); ++k) {
                double taken = fresh * options_[k].share;
                if (!chain_.sticky() && taken <= tiny_) break;
                for (std::size_t place = 1; place < width_; ++place)
                    taken += here_.at(place)[i] * after_[k * (width_ - 1) + place - 1];
                if (taken > 0) take_value(state, options_[k], taken);
            }
            leave_rest(word, state, fresh, k, lost);
        }
    }

    /// Leaves the span values from the k-th on, and a share of what is not listed.
    void leave_rest(std::size_t word, std::uint32_t state, double fresh, std::size_t k,
                    double lost) {
        const double* const tail = tails_.data() + k * (1 + 2 * asked_.size());
        const std::span<const Wide> slots = states_[state];
        shares_.open += lost + fresh * tail[0];
        for (std::size_t a = 0; a < asked_.size(); ++a) {
            const std::uint32_t field = asked_[a].field, seen = progress(slots, field);
            double own = lost, same = lost + fresh * tail[0], other = same;
            if (const auto& answer = answers_[field]; answer.is_open(seen)) {
                if (!bounds_.empty())
                    own = std::min(lost, fresh * mass_.words_[word].unlisted_of[field]);
                const auto left = bounds_.empty()
                                      ? SurvivalBound::Left()
                                      : bounds_.front().unlisted(&answer, seen, word + 1);
                same = own + (lost - own) * left.same + fresh * tail[1 + 2 * a];
                other = own + (lost - own) * left.other + fresh * tail[2 + 2 * a];
            }
            if (seen == kBroken || answers_[field].is_open(seen))
                shares_.open_other[field] += other;
            if (seen != kBroken) shares_.open_same[field] += same;
        }
    }

    void take_value(std::uint32_t state, const Option& option, double taken) {
        clock_.tick(8);
        const std::span<const Wide> before = states_[state];
        const FieldSpan& span = chain_.span(option.span->span);
        find_left(
            span.end,
            [&](std::uint32_t field) {
                return answers_[field].after(progress(before, field), option.choice);
            },
            [&](std::size_t b) {
                return bounds_[b].next(classes_[state * bounds_.size() + b], option.choice);
            });
        const double most = change(taken);
        if (limits_.lost > 0 ? most <= tiny_ : taken * all_left_ == 0) {
            lost_ += most;
            return leave(taken);
        }
        const auto place = static_cast<std::uint32_t>(chain_.sticky() ? 1 + span.field : 0);
        clock_.tick(56);
        std::copy(before.begin(), before.end(), scratch_.begin());
        const std::uint32_t value = mass_.span_values_[option.choice].value;
        const double violated = tracker_.extend(scratch_, span.place(), value);
        if (violated == kForbidden) return;
        for (const Asked& each : asked_)
            if (each.field == span.seen_as()) advance(each.field, option.choice);
        arrivals_[span.end].push_back(
            {number_of(scratch_), place, violated > 0 ? taken * std::exp(-violated) : taken});
    }

    static std::size_t shift_of(std::uint32_t field) { return 16 * (field % kPacked); }

    std::uint32_t progress(std::span<const Wide> state, std::uint32_t field) const {
        const Wide slot = state[first_progress_ + field / kPacked];
        return static_cast<std::uint32_t>(slot >> shift_of(field)) & kBroken;
    }

    /// Updates, in the scratch state, how much of a field's answer has been seen.
    void advance(std::uint32_t field, std::uint32_t choice) {
        const std::uint32_t seen = progress(scratch_, field);
        const std::uint32_t now = answers_[field].after(seen, choice);
        scratch_[first_progress_ + field / kPacked] +=
            (static_cast<Wide>(now) - static_cast<Wide>(seen)) << shift_of(field);
    }

    const Mass& mass_;
    const SpanChain& chain_;
    const Limits& limits_;
    Clock& clock_;
    std::vector<SurvivalBound::Answer> answers_;  // by field
    std::vector<Asked> asked_;
    RuleTracker tracker_;
    Arena arena_;
    std::size_t first_progress_;
    StateTable states_;
    std::vector<Wide> scratch_;
    std::vector<std::pair<double, std::size_t>> weighed_;  // change and index of each state
    std::vector<std::size_t> kept_;
    std::size_t width_ = 1;               // places
    std::vector<SurvivalBound> bounds_;   // the first without an equation; none if sticky
    std::vector<std::uint32_t> classes_;  // (states, bounds)
    double all_left_ = 1;                 // see find_left
    std::vector<SurvivalBound::Left> lefts_;
    std::vector<std::vector<Arrival>> arrivals_;  // by boundary
    Layer here_;
    double lost_ = 0;  // how much what was dropped may change answers, unless states were too many
    double tiny_;      // a step that changes less is not taken
    std::size_t began_ = 0, walked_ = 0;  // the clock before the walk; states that were kept
    std::vector<std::uint32_t> slot_of_;  // by state, its index in `here_`
    std::vector<Option> options_;
    std::vector<double> tails_;  // (options + 1, all and twice the fields asked about)
    std::vector<double> after_;  // (steps, fields), shares right after a span of a field
    Shares shares_;
};

Mass::Shares Mass::of(const Answers& answers, const Limits& limits, Clock& clock) const {
    return Walk(*this, answers, limits, clock).run();
}

}  // namespace lawful
