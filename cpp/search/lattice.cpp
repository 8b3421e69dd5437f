#include "search/lattice.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/costs.hpp"

namespace lawful {

Lattice::Lattice(std::span<const double> costs, std::size_t words,
                 std::shared_ptr<const Layout> layout)
    : words_(words),
      layout_(std::move(layout)),
      costs_(costs.begin(), costs.end()),
      reach_(words + 1, kForbidden),
      rest_(words + 1, kForbidden),
      rest_with_(costs.size(), kForbidden) {
    const Layout& l = *layout_;
    const std::size_t size = l.labels();
    for (std::size_t word = 0; word < words; ++word) {
        const std::span row(costs_.data() + word * size, size);
        const double least = *std::min_element(row.begin(), row.end());
        if (least == kForbidden) {
            rest_after_span_ = rest_;
            return;
        }
        least_ += least;
        for (double& cost : row) cost -= least;
    }
    std::vector<double> before(size, kForbidden), now(size);
    reach_[0] = 0;
    for (std::size_t word = 0; word < words; ++word) {
        for (std::size_t label = 0; label < size; ++label) {
            double best = l.begins(label) ? reach_[word] : kForbidden;
            for (const std::uint32_t from : l.before(label)) best = std::min(best, before[from]);
            now[label] = best + cost(word, label);
            if (l.ends(label)) reach_[word + 1] = std::min(reach_[word + 1], now[label]);
        }
        std::swap(before, now);
    }
    rest_[words] = 0;
    for (std::size_t word = words; word-- > 0;) {
        double* values = rest_with_.data() + word * size;
        for (std::size_t label = 0; label < size; ++label)
            values[label] = l.ends(label) ? rest_[word + 1] : kForbidden;
        if (word + 1 < words) {
            const double* after = values + size;
            for (std::size_t next = 0; next < size; ++next)
                for (const std::uint32_t label : l.before(next))
                    values[label] = std::min(values[label], after[next]);
        }
        for (std::size_t label = 0; label < size; ++label) {
            values[label] += cost(word, label);
            if (l.begins(label)) rest_[word] = std::min(rest_[word], values[label]);
        }
    }
    rest_after_span_ = rest_;
    for (std::size_t word = 0; word < words && l.sticky(); ++word)
        for (std::size_t label = 0; label < size; ++label)
            if (l.opens(label, true))
                rest_after_span_[word] = std::min(rest_after_span_[word], rest_with(word, label));
}

bool Lattice::list_spans(double limit, std::size_t most, Clock& clock,
                         std::vector<FieldSpan>& spans) const {
    spans.clear();
    limit = std::min(limit, std::numeric_limits<double>::max());  // what is forbidden is above it
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
    // The costs up to each of the field's labels; the second when a span of the field comes before.
    std::array<std::vector<double>, 2> costs, next;
    for (int again = 0; again < 2; ++again) {
        costs[again].assign(members.size(), kForbidden);
        for (std::size_t m = 0; m < members.size(); ++m)
            if (l.opens(members[m], again)) costs[again][m] = cost(start, members[m]);
    }
    for (std::size_t end = start + 1;; ++end) {
        clock.tick(4 * members.size() * members.size());
        std::array<double, 2> closed{kForbidden, kForbidden};
        double longer = kForbidden;
        for (int again = 0; again < 2; ++again)
            for (std::size_t m = 0; m < members.size(); ++m) {
                if (l.ends(members[m])) closed[again] = std::min(closed[again], costs[again][m]);
                // What follows from this label on, be it a longer span or not, costs no less.
                const double onward = rest_with(end - 1, members[m]) - cost(end - 1, members[m]);
                longer = std::min(longer, costs[again][m] + onward);
            }
        if (!(reach_[start] + longer <= limit)) return;
        if (reach_[start] + std::min(closed[0], closed[1]) + rest_after_span_[end] <= limit)
            spans.push_back({static_cast<std::uint32_t>(field), static_cast<std::uint32_t>(start),
                             static_cast<std::uint32_t>(end), closed[0], closed[1]});
        if (end == words_) return;
        for (int again = 0; again < 2; ++again) {
            next[again].assign(members.size(), kForbidden);
            for (std::size_t m = 0; m < members.size(); ++m)
                for (std::size_t to = 0; to < members.size(); ++to)
                    if (l.continues(members[m], members[to]))
                        next[again][to] =
                            std::min(next[again][to], costs[again][m] + cost(end, members[to]));
            std::swap(costs[again], next[again]);
        }
    }
}

namespace {

/// A small Viterbi over some labels with the ways back: what the two writers below share.
class Trellis {
public:
    Trellis(std::size_t labels, std::size_t words) : labels_(labels), back_(labels * words) {}

    std::uint32_t& back(std::size_t word, std::size_t label) {
        return back_[word * labels_ + label];
    }
    void write(std::size_t words, std::uint32_t last, std::uint32_t* labels) {
        for (std::size_t word = words; word-- > 0; last = back(word, last)) labels[word] = last;
    }

private:
    std::size_t labels_;
    std::vector<std::uint32_t> back_;
};

}  // namespace

void Lattice::write_span(const FieldSpan& span, bool again, std::uint32_t* labels) const {
    const Layout& l = *layout_;
    const std::size_t length = span.end - span.start;
    const auto members = l.members(span.field);
    Trellis trellis(l.labels(), length);
    std::vector<double> costs(l.labels(), kForbidden), next(l.labels());
    for (const std::uint32_t label : members)
        if (l.opens(label, again)) costs[label] = cost(span.start, label);
    for (std::size_t word = 1; word < length; ++word) {
        std::fill(next.begin(), next.end(), kForbidden);
        for (const std::uint32_t from : members)
            for (const std::uint32_t to : members)
                if (l.continues(from, to) && costs[from] < next[to]) {
                    next[to] = costs[from];
                    trellis.back(word, to) = from;
                }
        for (const std::uint32_t label : members) next[label] += cost(span.start + word, label);
        std::swap(costs, next);
    }
    std::uint32_t last = members[0];
    for (const std::uint32_t label : members)
        if (l.ends(label) && (!l.ends(last) || costs[label] < costs[last])) last = label;
    trellis.write(length, last, labels);
}

void Lattice::write_run(std::size_t start, std::size_t end, std::uint32_t* labels) const {
    if (start == end) return;
    const Layout& l = *layout_;
    Trellis trellis(l.labels(), end - start);
    std::vector<double> costs(l.labels(), kForbidden), next(l.labels(), kForbidden);
    double boundary = 0;
    std::uint32_t last = 0;
    for (std::size_t word = start; word < end; ++word) {
        const std::uint32_t ending = last;
        const double reached = boundary;
        boundary = kForbidden;
        for (const std::uint32_t label : l.others()) {
            double best = l.begins(label) ? reached : kForbidden;
            std::uint32_t way = ending;
            for (const std::uint32_t from : l.before(label))
                if (costs[from] < best) {
                    best = costs[from];
                    way = from;
                }
            trellis.back(word - start, label) = way;
            next[label] = best + cost(word, label);
            if (l.ends(label) && next[label] < boundary) {
                boundary = next[label];
                last = label;
            }
        }
        std::swap(costs, next);
    }
    trellis.write(end - start, last, labels);
}

void OutsideRun::start_at(std::size_t boundary) {
    at_ = boundary;
    boundary_ = 0;
    fresh_ = true;
}

void OutsideRun::step() {
    const Layout& l = lattice_.layout();
    double boundary = kForbidden;
    for (const std::uint32_t label : l.others()) {
        double best = l.begins(label) ? boundary_ : kForbidden;
        if (!fresh_)
            for (const std::uint32_t from : l.before(label)) best = std::min(best, costs_[from]);
        next_[label] = best + lattice_.cost(at_, label);
        if (l.ends(label)) boundary = std::min(boundary, next_[label]);
    }
    std::swap(costs_, next_);
    boundary_ = boundary;
    fresh_ = false;
    ++at_;
}

}  // namespace lawful
