#include "search/lattice.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <stdexcept>

#include "base/costs.hpp"

namespace lawful {

namespace {

constexpr std::uint32_t kBoundary = std::numeric_limits<std::uint32_t>::max();

/// The cheapest label of a word that may stand next to a boundary.
struct Cheapest {
    double cost = kForbidden;
    std::uint32_t label = 0;
};

/// One step of the Viterbi recurrence, in either direction: by label, the cost of the cheapest path
/// up to and including this word.
///
/// A path comes from a boundary, at the cost `boundary`, if the label `enters` there, or from one
/// of its `neighbours` in the row before. `take(label, from)` is called with the origin of the
/// cheapest path: a label, or kBoundary. Of equals, the boundary comes first, then the lower label.
/// Returns the cheapest label that `leaves` for a boundary.
template <class Labels, class Enters, class Neighbours, class Leaves, class Take>
Cheapest relax(const Labels& labels, const double* costs, double boundary, Enters enters,
               Neighbours neighbours, const double* before, Leaves leaves, double* now, Take take) {
    Cheapest cheapest;
    for (const std::uint32_t label : labels) {
        double best = enters(label) ? boundary : kForbidden;
        std::uint32_t origin = kBoundary;
        for (const std::uint32_t from : neighbours(label))
            if (before[from] < best) {
                best = before[from];
                origin = from;
            }
        now[label] = best + costs[label];
        take(label, origin);
        if (leaves(label) && now[label] < cheapest.cost) cheapest = {now[label], label};
    }
    return cheapest;
}

constexpr auto kForget = [](std::uint32_t, std::uint32_t) {};

/// From left to right between boundaries.
template <class Labels, class Take>
Cheapest relax_forward(const Layout& layout, const Labels& labels, const double* costs,
                       double boundary, const double* before, double* now, Take take) {
    return relax(
        labels, costs, boundary, [&](std::uint32_t label) { return layout.begins(label); },
        [&](std::uint32_t label) { return layout.before(label); }, before,
        [&](std::uint32_t label) { return layout.ends(label); }, now, take);
}

/// The first word of a span; `again`: right after a span of the same field.
Cheapest relax_first(const Layout& layout, std::size_t field, bool again, const double* costs,
                     double* now) {
    return relax(
        layout.members(field), costs, 0, [&](std::uint32_t l) { return layout.opens(l, again); },
        [](std::uint32_t) { return std::span<const std::uint32_t>(); }, nullptr,
        [&](std::uint32_t l) { return layout.ends(l); }, now, kForget);
}

/// A word of a span after the first.
template <class Take>
Cheapest relax_within(const Layout& layout, std::size_t field, const double* costs,
                      const double* before, double* now, Take take) {
    return relax(
        layout.members(field), costs, kForbidden, [](std::uint32_t) { return false; },
        [&](std::uint32_t l) { return layout.continued(l); }, before,
        [&](std::uint32_t l) { return layout.ends(l); }, now, take);
}

std::size_t checked_words(std::span<const double> costs, std::size_t words, const Layout& layout) {
    check_costs(costs, words, layout.labels());
    if (words >= kBoundary) throw std::invalid_argument("too many words");
    return words;
}

}  // namespace

Lattice::Lattice(std::span<const double> costs, std::size_t words,
                 std::shared_ptr<const Layout> layout)
    : words_(checked_words(costs, words, *layout)),
      layout_(std::move(layout)),
      costs_(costs.begin(), costs.end()),
      reach_(words + 1, kForbidden),
      rest_(words + 1, kForbidden),
      rest_with_(costs.size(), kForbidden) {
    if (subtract_least()) {
        find_reach();
        find_rest();
    }
    find_rest_after_span();
}

/// Subtracts the least cost of each word; false if all labels of some word are forbidden.
bool Lattice::subtract_least() {
    const std::size_t size = layout_->labels();
    for (std::size_t word = 0; word < words_; ++word) {
        const std::span row(costs_.data() + word * size, size);
        const double least = *std::min_element(row.begin(), row.end());
        if (least == kForbidden) return false;
        least_ += least;
        for (double& cost : row) cost -= least;
    }
    return true;
}

void Lattice::find_reach() {
    const auto labels = std::views::iota(std::uint32_t{0}, layout_->labels());
    std::vector<double> before(layout_->labels(), kForbidden), now(layout_->labels());
    reach_[0] = 0;
    for (std::size_t word = 0; word < words_; ++word) {
        reach_[word + 1] = relax_forward(*layout_, labels, costs_of(word), reach_[word],
                                         before.data(), now.data(), kForget)
                               .cost;
        std::swap(before, now);
    }
}

void Lattice::find_rest() {
    const Layout& l = *layout_;
    const auto labels = std::views::iota(std::uint32_t{0}, l.labels());
    const std::vector<double> nothing(l.labels(), kForbidden);
    const double* after = nothing.data();
    rest_[words_] = 0;
    for (std::size_t word = words_; word-- > 0;) {
        double* const now = rest_with_.data() + word * l.labels();
        rest_[word] = relax(
                          labels, costs_of(word), rest_[word + 1],
                          [&](std::uint32_t label) { return l.ends(label); },
                          [&](std::uint32_t label) { return l.after(label); }, after,
                          [&](std::uint32_t label) { return l.begins(label); }, now, kForget)
                          .cost;
        after = now;
    }
}

/// Right after a span of a field, other labels may begin than elsewhere.
void Lattice::find_rest_after_span() {
    rest_after_span_ = rest_;
    if (!layout_->sticky()) return;
    for (std::size_t word = 0; word < words_; ++word)
        for (std::size_t label = 0; label < layout_->labels(); ++label)
            if (layout_->opens(label, true))
                rest_after_span_[word] = std::min(rest_after_span_[word], rest_with(word, label));
}

bool Lattice::list_spans(double limit, std::size_t most, Clock& clock,
                         std::vector<FieldSpan>& spans) const {
    spans.clear();
    limit = std::min(limit, std::numeric_limits<double>::max());  // below the forbidden cost
    for (std::size_t start = 0; start < words_; ++start)
        for (std::size_t field = 0; field < layout_->fields(); ++field) {
            list_spans_from(start, field, limit, clock, spans);
            if (spans.size() > most) return false;
        }
    return true;
}

void Lattice::list_spans_from(std::size_t start, std::size_t field, double limit, Clock& clock,
                              std::vector<FieldSpan>& spans) const {
    const Layout& l = *layout_;
    const std::span<const std::uint32_t> members = l.members(field);
    const auto within = [&](std::uint32_t label) {
        return (l.opens(label, false) || l.opens(label, true)) &&
               reach_[start] + rest_with(start, label) <= limit;
    };
    clock.tick(members.size());
    if (std::none_of(members.begin(), members.end(), within)) return;
    // By label of the field, the cost up to it; the second right after a span of the field.
    std::array<std::vector<double>, 2> costs, next;
    std::array<double, 2> closed;  // the cost of a span that ends here
    for (const bool again : {false, true}) {
        costs[again].resize(l.labels());
        next[again].resize(l.labels());
        closed[again] = relax_first(l, field, again, costs_of(start), costs[again].data()).cost;
    }
    for (std::size_t end = start + 1;; ++end) {
        clock.tick(4 * members.size() * members.size());
        double longer = kForbidden;
        for (const std::uint32_t label : members) {
            // A lower bound on the cost after this label, whether the span ends here or not.
            const double onward = rest_with(end - 1, label) - cost(end - 1, label);
            longer = std::min(longer, std::min(costs[0][label], costs[1][label]) + onward);
        }
        if (!(reach_[start] + longer <= limit)) return;
        if (reach_[start] + std::min(closed[0], closed[1]) + rest_after_span_[end] <= limit)
            spans.push_back({static_cast<std::uint32_t>(field), static_cast<std::uint32_t>(start),
                             static_cast<std::uint32_t>(end), closed[0], closed[1]});
        if (end == words_) return;
        for (const bool again : {false, true}) {
            closed[again] = relax_within(l, field, costs_of(end), costs[again].data(),
                                         next[again].data(), kForget)
                                .cost;
            std::swap(costs[again], next[again]);
        }
    }
}

namespace {

/// Backpointers: by word and label, the label before it on the cheapest path.
class Backpointers {
public:
    Backpointers(std::size_t labels, std::size_t words) : labels_(labels), back_(labels * words) {}

    /// Records the origins of a word, for `relax`; `ending` is the label before a boundary.
    auto recorder(std::size_t word, std::uint32_t ending) {
        return [this, word, ending](std::uint32_t label, std::uint32_t from) {
            back_[word * labels_ + label] = from == kBoundary ? ending : from;
        };
    }
    void write(std::size_t words, std::uint32_t last, std::uint32_t* labels) const {
        for (std::size_t word = words; word-- > 0; last = back_[word * labels_ + last])
            labels[word] = last;
    }

private:
    std::size_t labels_;
    std::vector<std::uint32_t> back_;
};

}  // namespace

void Lattice::write_span(const FieldSpan& span, bool again, std::uint32_t* labels) const {
    const Layout& l = *layout_;
    const std::size_t length = span.end - span.start;
    Backpointers back(l.labels(), length);
    std::vector<double> costs(l.labels()), next(l.labels());
    Cheapest last = relax_first(l, span.field, again, costs_of(span.start), costs.data());
    for (std::size_t word = 1; word < length; ++word) {
        last = relax_within(l, span.field, costs_of(span.start + word), costs.data(), next.data(),
                            back.recorder(word, 0));
        std::swap(costs, next);
    }
    back.write(length, last.label, labels);
}

void Lattice::write_run(std::size_t start, std::size_t end, std::uint32_t* labels) const {
    if (start == end) return;
    const Layout& l = *layout_;
    Backpointers back(l.labels(), end - start);
    std::vector<double> costs(l.labels(), kForbidden), next(l.labels(), kForbidden);
    Cheapest last{0, 0};
    for (std::size_t word = start; word < end; ++word) {
        last = relax_forward(l, l.others(), costs_of(word), last.cost, costs.data(), next.data(),
                             back.recorder(word - start, last.label));
        std::swap(costs, next);
    }
    back.write(end - start, last.label, labels);
}

void OutsideRun::start_at(std::size_t boundary) {
    at_ = boundary;
    boundary_ = 0;
    std::fill(costs_.begin(), costs_.end(), kForbidden);
}

void OutsideRun::step() {
    const Layout& l = lattice_.layout();
    boundary_ = relax_forward(l, l.others(), lattice_.costs_of(at_), boundary_, costs_.data(),
                              next_.data(), kForget)
                    .cost;
    std::swap(costs_, next_);
    ++at_;
}

}  // namespace lawful
