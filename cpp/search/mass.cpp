#include "search/mass.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/costs.hpp"

namespace lawful {

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b)
double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kNothing ? a : a + std::log1p(std::exp(b - a));
}

/// e^(a - b), where b is what a is part of.
double share(double a, double b) { return a == kNothing ? 0 : std::exp(a - b); }

}  // namespace

Mass::Mass(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
           std::vector<SpanReading> readings, std::shared_ptr<const Plan> plan,
           DocumentTables tables, std::vector<double> most_readings, bool everything, Clock& clock)
    : lattice_(std::move(lattice)),
      spans_(std::move(spans)),
      readings_(std::move(readings)),
      first_reading_(spans_.size() + 1, static_cast<std::uint32_t>(readings_.size())),
      plan_(std::move(plan)),
      tables_(std::move(tables)),
      words_(lattice_->words()),
      labels_(lattice_->layout().labels()),
      fields_(lattice_->layout().fields()),
      sticky_(lattice_->layout().sticky()),
      ways_(words_ + 1) {
    for (const double most : most_readings) log_most_.push_back(std::log(most));
    for (std::size_t r = readings_.size(); r-- > 0;)
        first_reading_[readings_[r].span] = static_cast<std::uint32_t>(r);
    for (std::size_t s = spans_.size(); s-- > 0;)
        first_reading_[s] = std::min(first_reading_[s], first_reading_[s + 1]);
    find_rests(clock);
    find_ways(clock);
    unread_.assign(words_ + 1, 0);
    if (sticky_) unread_after_.assign((words_ + 1) * fields_, 0);
    if (!everything) find_unread();
}

void Mass::find_rests(Clock& clock) {
    const Layout& l = lattice_->layout();
    log_boundary_.assign(words_ + 1, kNothing);
    log_boundary_[words_] = 0;
    if (sticky_) log_after_.assign((words_ + 1) * fields_, kNothing);
    if (sticky_) std::fill_n(log_after_.end() - fields_, fields_, 0.0);
    log_with_.assign(words_ * labels_, kNothing);
    for (std::size_t word = words_; word-- > 0;) {
        clock.tick(8 * labels_);
        double* const with = log_with_.data() + word * labels_;
        const double* const next = with + labels_;
        const bool last = word + 1 == words_;
        for (const std::uint32_t label : l.others()) with[label] = kNothing;
        for (const std::uint32_t label : l.others())
            if (l.ends(label)) with[label] = log_boundary_[word + 1];
        for (const std::uint32_t to : l.others())
            for (const std::uint32_t from : l.before(to))
                if (!last) with[from] = log_add(with[from], next[to]);
        for (std::uint32_t field = 0; field < fields_; ++field)
            for (const std::uint32_t label : l.members(field)) {
                if (l.ends(label)) with[label] = log_after(word + 1, field);
                for (const std::uint32_t to : l.members(field))
                    if (!last && l.continues(label, to))
                        with[label] = log_add(with[label], next[to]);
            }
        for (std::size_t label = 0; label < labels_; ++label)
            with[label] = lattice_->cost(word, label) == kForbidden
                              ? kNothing
                              : with[label] - lattice_->cost(word, label);
        double& boundary = log_boundary_[word];
        for (const std::uint32_t label : l.others())
            if (l.begins(label)) boundary = log_add(boundary, with[label]);
        const double others = boundary;
        for (std::uint32_t field = 0; field < fields_; ++field)
            for (const std::uint32_t label : l.members(field))
                if (l.begins(label)) boundary = log_add(boundary, with[label] + log_most_[field]);
        for (std::uint32_t after = 0; sticky_ && after < fields_; ++after) {
            double& sum = log_after_[word * fields_ + after] = others;
            for (std::uint32_t field = 0; field < fields_; ++field)
                for (const std::uint32_t label : l.members(field))
                    if (l.opens(label, field == after))
                        sum = log_add(sum, with[label] + log_most_[field]);
        }
    }
}

void Mass::find_ways(Clock& clock) {
    const Layout& l = lattice_->layout();
    // Spans of one field that start together stand together, the shorter ones first.
    std::array<std::vector<double>, 2> weights;  // by label; the second right after such a span
    std::vector<double> next(labels_);
    std::uint32_t at = 0;
    for (std::uint32_t s = 0; s < spans_.size(); ++s) {
        const auto [field, start, end, cost, again_cost] = spans_[s];
        const auto members = l.members(field);
        if (s == 0 || spans_[s - 1].field != field || spans_[s - 1].start != start) {
            for (const bool again : {false, true}) {
                weights[again].assign(labels_, kNothing);
                for (const std::uint32_t label : members)
                    if (l.opens(label, again))
                        weights[again][label] = -lattice_->cost(start, label);
            }
            at = start + 1;
        }
        for (; at < end; ++at)
            for (std::vector<double>& now : weights) {
                clock.tick(4 * members.size() * members.size());
                for (const std::uint32_t to : members) {
                    next[to] = kNothing;
                    for (const std::uint32_t from : members)
                        if (l.continues(from, to)) next[to] = log_add(next[to], now[from]);
                    next[to] -= lattice_->cost(at, to);
                }
                for (const std::uint32_t label : members) now[label] = next[label];
            }
        const auto taken = [&](bool again, double before) {
            double closed = kNothing;
            for (const std::uint32_t label : members)
                if (l.ends(label)) closed = log_add(closed, weights[again][label]);
            return before == kNothing ? 0 : share(closed + log_after(end, field), before);
        };
        ways_[start].push_back(
            {s, taken(false, log_boundary_[start]), taken(true, log_after(start, field))});
    }
}

void Mass::find_unread() {
    const Layout& l = lattice_->layout();
    for (std::size_t word = 0; word < words_; ++word) {
        const auto left = [&](double all, std::uint32_t after) {
            if (all == kNothing) return 0.0;
            double rest = 1;
            for (const std::uint32_t label : l.others())
                if (l.begins(label)) rest -= share(log_with(word, label), all);
            for (const Way& way : ways_[word]) {
                const std::uint32_t field = spans_[way.span].field;
                // `taken` is for one reading of price 0: all readings may take this much.
                if (field == after)
                    rest -= way.again * std::exp(log_most_[field]);
                else
                    rest -= way.fresh * std::exp(log_boundary_[word] - all + log_most_[field]);
            }
            return std::max(0.0, rest);
        };
        unread_[word] = left(log_boundary_[word], std::numeric_limits<std::uint32_t>::max());
        for (std::uint32_t field = 0; sticky_ && field < fields_; ++field)
            unread_after_[word * fields_ + field] = left(log_after(word, field), field);
    }
}

std::vector<SurvivalBound> Mass::survivals(const Limits& limits, Clock& clock) const {
    if (limits.work == 0 || sticky_) return {};
    const Layout& l = lattice_->layout();
    const auto others = l.others();
    std::vector<std::uint32_t> place(labels_);
    for (std::uint32_t i = 0; i < others.size(); ++i) place[others[i]] = i;
    std::vector<SurvivalBound::Word> words(words_);
    for (std::size_t w = 0; w < words_; ++w) {
        SurvivalBound::Word& word = words[w];
        word.unread = unread_[w];
        for (const std::uint32_t label : others) {
            const double with = log_with(w, label);
            SurvivalBound::Word::Label& made = word.labels.emplace_back();
            if (with == kNothing) continue;
            if (l.begins(label)) made.begins = share(with, log_boundary_[w]);
            const double onward = with + lattice_->cost(w, label);
            if (l.ends(label)) made.ends = share(log_boundary_[w + 1], onward);
            if (w + 1 == words_) continue;
            for (const std::uint32_t to : others)
                if (std::ranges::count(l.before(to), label) > 0 && log_with(w + 1, to) > kNothing)
                    made.next.emplace_back(place[to], share(log_with(w + 1, to), onward));
        }
        for (const Way& way : ways_[w])
            for (std::uint32_t r = first_reading_[way.span]; r < first_reading_[way.span + 1]; ++r)
                word.ways.push_back(
                    {r, spans_[way.span].end, way.fresh * std::exp(-readings_[r].price)});
    }
    std::vector<Residues::Reading> readings;
    for (const SpanReading& reading : readings_)
        readings.push_back({spans_[reading.span].field, reading.value});
    std::vector<SurvivalBound> made;
    for (const Equation& equation : plan_->equations) {
        SurvivalBound survival(Residues(*plan_, equation, tables_, readings), words, limits.work,
                               limits.memory, clock);
        if (!survival.empty()) made.push_back(std::move(survival));
    }
    return made;
}

/// One walk from left to right.
class Mass::Walk {
public:
    Walk(const Mass& mass, const std::vector<std::vector<std::uint32_t>>& answers,
         const Limits& limits, Clock& clock)
        : mass_(mass),
          layout_(mass.lattice_->layout()),
          answers_(answers),
          limits_(limits),
          clock_(clock),
          tracker_(*mass.plan_, mass.tables_),
          arena_(limits.memory),
          first_progress_(mass.plan_->slots),
          states_(arena_, first_progress_ + (mass.fields_ + kPacked - 1) / kPacked),
          scratch_(first_progress_ + (mass.fields_ + kPacked - 1) / kPacked),
          run_of_(mass.labels_),
          width_(1 + layout_.others().size() + (mass.sticky_ ? mass.fields_ : 0)),
          layers_(mass.words_ + 1),
          from_after_(mass.fields_) {
        for (std::size_t i = 0; i < layout_.others().size(); ++i)
            run_of_[layout_.others()[i]] = 1 + i;
        for (const SpanReading& reading : mass.readings_)
            likely_.push_back(std::exp(-reading.price));
        survivals_ = mass.survivals(limits, clock);
        shares_.same.resize(mass.fields_);
    }

    Shares run() {
        const double violated = tracker_.begin(scratch_);
        if (mass_.log_boundary_[0] == kNothing || violated == kForbidden) return shares_;
        at(layers_[0], number_of(scratch_))[0] = std::exp(-violated);
        for (std::size_t word = 0; word < mass_.words_; ++word) {
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
            for (std::uint32_t field = 0; field < mass_.fields_; ++field)
                if (progress(seen, field) == answers_[field].size()) shares_.same[field] += left;
        }
        shares_.unsure = tracker_.undecided();
        return shares_;
    }

private:
    // How much of a field's answer has come is kept in 16 bits, so many to a slot.
    static constexpr std::size_t kPacked = 7;
    static constexpr std::uint32_t kBroken = 0xFFFF;

    /// A label of no field for the next word: its place, the shares that begin and end there, and
    /// those that go on within a span, by the place that they come from.
    struct Step {
        std::size_t place;
        double begins, ends;
        std::vector<std::pair<std::size_t, double>> from;
    };
    /// By state, the shares at a boundary, at labels of no field, and right after spans of fields.
    struct Layer {
        std::unordered_map<std::uint32_t, std::size_t> places;
        std::vector<double> masses;
    };

    double* at(Layer& layer, std::uint32_t state) {
        const auto [entry, made] = layer.places.try_emplace(state, layer.masses.size());
        if (made) layer.masses.resize(layer.masses.size() + width_);
        return layer.masses.data() + entry->second;
    }

    std::size_t after(std::uint32_t field) const { return 1 + layout_.others().size() + field; }

    /// All that stands at a boundary, wherever it comes from.
    double boundary(const double* masses) const {
        double sum = masses[0];
        for (std::uint32_t f = 0; mass_.sticky_ && f < mass_.fields_; ++f) sum += masses[after(f)];
        return sum;
    }

    /// How much may be left in the end of what has come to a word with some state.
    double left_of(std::size_t word, std::uint32_t state, const double* masses) const {
        // What ended at the boundary counts again with its label: more than there is, if at all.
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

    /// Lets go of what is too little, or too many.
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
        shares_.open += here[0] * mass_.unread_[word];
        for (std::uint32_t f = 0; mass_.sticky_ && f < mass_.fields_; ++f)
            shares_.open += here[after(f)] * mass_.unread_after_[word * mass_.fields_ + f];
        for (const Way& way : mass_.ways_[word]) {
            const FieldSpan& span = mass_.spans_[way.span];
            double taken = here[0] * way.fresh;
            for (std::uint32_t f = 0; mass_.sticky_ && f < mass_.fields_; ++f)
                taken +=
                    here[after(f)] * (f == span.field ? way.again : way.fresh * from_after_[f]);
            if (taken == 0) continue;
            for (std::uint32_t r = mass_.first_reading_[way.span];
                 r < mass_.first_reading_[way.span + 1]; ++r)
                take_reading(state, span, r, taken);
        }
    }

    void take_reading(std::uint32_t state, const FieldSpan& span, std::uint32_t reading,
                      double taken) {
        clock_.tick(64);
        const std::span<const Wide> before = states_[state];
        std::copy(before.begin(), before.end(), scratch_.begin());
        const std::uint32_t value = mass_.readings_[reading].value;
        const double violated = tracker_.extend(scratch_, span.field, value);
        if (violated == kForbidden) return;
        if (is_readable(value)) see(span.field, value);
        double* const there = at(layers_[span.end], number_of(scratch_));
        taken *= likely_[reading];
        there[mass_.sticky_ ? after(span.field) : 0] +=
            violated > 0 ? taken * std::exp(-violated) : taken;
    }

    /// Finds the shares of what goes on from a word to the next one: the same for all states.
    void find_shares(std::size_t word) {
        for (std::uint32_t f = 0; mass_.sticky_ && f < mass_.fields_; ++f)
            from_after_[f] = mass_.log_after(word, f) == kNothing
                                 ? 0
                                 : share(mass_.log_boundary_[word], mass_.log_after(word, f));
        steps_.clear();
        for (const std::uint32_t label : layout_.others()) {
            const double with = mass_.log_with(word, label);
            if (with == kNothing) continue;
            Step step{run_of_[label], 0, 0, {}};
            if (layout_.begins(label)) step.begins = share(with, mass_.log_boundary_[word]);
            if (layout_.ends(label))
                step.ends = share(mass_.log_boundary_[word + 1], onward(word, label));
            for (const std::uint32_t from : layout_.before(label))
                if (word > 0 && onward(word - 1, from) > kNothing)
                    step.from.emplace_back(run_of_[from], share(with, onward(word - 1, from)));
            steps_.push_back(std::move(step));
        }
    }

    void take_word(std::size_t word, std::uint32_t state, std::size_t place) {
        clock_.tick(4 * width_);
        double* const there = at(layers_[word + 1], state);
        const double* const here = layers_[word].masses.data() + place;
        double fresh = here[0];
        for (std::uint32_t f = 0; mass_.sticky_ && f < mass_.fields_; ++f)
            fresh += here[after(f)] * from_after_[f];
        for (const Step& step : steps_) {
            double sum = fresh * step.begins;
            for (const auto& [from, part] : step.from) sum += here[from] * part;
            there[0] += sum * step.ends;
            there[step.place] += sum;  // of which that part is gone; the rest is within its span
        }
    }

    /// The logarithm of what all ways on weigh after a word with some label of no field.
    double onward(std::size_t word, std::uint32_t label) const {
        return mass_.log_with(word, label) + mass_.lattice_->cost(word, label);
    }

    static std::size_t shift_of(std::uint32_t field) { return 16 * (field % kPacked); }

    std::uint32_t progress(std::span<const Wide> state, std::uint32_t field) const {
        const Wide slot = state[first_progress_ + field / kPacked];
        return static_cast<std::uint32_t>(slot >> shift_of(field)) & kBroken;
    }

    /// Takes a value of a field in: whether it is as in the answer so far.
    void see(std::uint32_t field, std::uint32_t value) {
        const std::uint32_t seen = progress(scratch_, field);
        if (seen == kBroken || (!mass_.plan_->fields[field].many && seen > 0)) return;
        const std::vector<std::uint32_t>& answer = answers_[field];
        const std::uint32_t now =
            seen < answer.size() && answer[seen] == value ? seen + 1 : kBroken;
        scratch_[first_progress_ + field / kPacked] += static_cast<Wide>(now - seen)
                                                       << shift_of(field);
    }

    const Mass& mass_;
    const Layout& layout_;
    const std::vector<std::vector<std::uint32_t>>& answers_;
    const Limits& limits_;
    Clock& clock_;
    RuleTracker tracker_;
    Arena arena_;
    std::size_t first_progress_;
    StateTable states_;
    std::vector<Wide> scratch_;
    std::vector<double> likely_;                             // by reading, e to the minus its price
    std::vector<std::pair<double, std::uint32_t>> weighed_;  // what may be left of each state
    std::vector<std::size_t> run_of_;  // by label of no field, its place in a layer
    std::size_t width_;
    std::vector<SurvivalBound> survivals_;         // by equation
    std::vector<std::uint32_t> survival_classes_;  // (states, equations)
    std::vector<Layer> layers_;                    // by boundary
    std::vector<Step> steps_;
    std::vector<double> from_after_;  // by field, what is the same to all after its spans
    Shares shares_;
};

Mass::Shares Mass::of(const std::vector<std::vector<std::uint32_t>>& answers, const Limits& limits,
                      Clock& clock) const {
    return Walk(*this, answers, limits, clock).run();
}

}  // namespace lawful
