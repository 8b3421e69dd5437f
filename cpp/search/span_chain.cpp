#include "search/span_chain.hpp"

#include <algorithm>
#include <array>

#include "base/costs.hpp"

namespace lawful {

namespace {

/// log(e^a + e^b)
double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kNoWeight ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

SpanChain::SpanChain(std::shared_ptr<const Lattice> lattice, std::vector<FieldSpan> spans,
                     std::span<const double> most_weight, bool everything, Clock& clock)
    : lattice_(std::move(lattice)),
      spans_(std::move(spans)),
      words_(lattice_->words()),
      labels_(layout().labels()),
      fields_(layout().fields()),
      sticky_(layout().sticky()),
      span_shares_(words_ + 1) {
    for (const double most : most_weight) log_most_.push_back(std::log(most));
    sum_to_the_end(clock);
    find_span_shares(clock);
    unlisted_.assign(words_ + 1, 0);
    if (sticky_) unlisted_after_.assign((words_ + 1) * fields_, 0);
    if (!everything) find_unlisted();
}

void SpanChain::sum_to_the_end(Clock& clock) {
    const Layout& l = layout();
    log_boundary_.assign(words_ + 1, kNoWeight);
    log_boundary_[words_] = 0;
    if (sticky_) log_after_.assign((words_ + 1) * fields_, kNoWeight);
    if (sticky_) std::fill_n(log_after_.end() - fields_, fields_, 0.0);
    log_with_.assign(words_ * labels_, kNoWeight);
    for (std::size_t word = words_; word-- > 0;) {
        clock.tick(8 * labels_);
        double* const with = log_with_.data() + word * labels_;
        const double* const next = with + labels_;
        const bool last = word + 1 == words_;
        for (const std::uint32_t label : l.others()) with[label] = kNoWeight;
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
                              ? kNoWeight
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

void SpanChain::find_span_shares(Clock& clock) {
    const Layout& l = layout();
    // Spans of one field that start together stand together, the shorter ones first.
    std::array<std::vector<double>, 2> weights;  // by label; the second right after such a span
    std::vector<double> next(labels_);
    std::uint32_t at = 0;
    for (std::uint32_t s = 0; s < spans_.size(); ++s) {
        const std::uint32_t field = spans_[s].field, start = spans_[s].start, end = spans_[s].end;
        const auto members = l.members(field);
        if (s == 0 || spans_[s - 1].field != field || spans_[s - 1].start != start) {
            for (const bool again : {false, true}) {
                weights[again].assign(labels_, kNoWeight);
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
                    next[to] = kNoWeight;
                    for (const std::uint32_t from : members)
                        if (l.continues(from, to)) next[to] = log_add(next[to], now[from]);
                    next[to] -= lattice_->cost(at, to);
                }
                for (const std::uint32_t label : members) now[label] = next[label];
            }
        const auto log_weight = [&](bool again) {
            double closed = kNoWeight;
            for (const std::uint32_t label : members)
                if (l.ends(label)) closed = log_add(closed, weights[again][label]);
            return closed + log_after(end, field);
        };
        const double fresh = log_weight(false);
        span_shares_[start].push_back({s, share_of(fresh, log_boundary_[start]),
                                       share_of(log_weight(true), log_after(start, field)), fresh});
    }
}

void SpanChain::find_unlisted() {
    for (std::size_t word = 0; word < words_; ++word) {
        unlisted_[word] =
            left_unlisted(word, log_boundary_[word], std::numeric_limits<std::uint32_t>::max());
        for (std::uint32_t field = 0; sticky_ && field < fields_; ++field)
            unlisted_after_[word * fields_ + field] =
                left_unlisted(word, log_after(word, field), field);
    }
}

/// The share of a boundary's log-weight `all`, right after a span of field `after`, that neither
/// labels of no field nor listed spans take.
double SpanChain::left_unlisted(std::size_t word, double all, std::uint32_t after) const {
    if (all == kNoWeight) return 0.0;
    double rest = 1;
    for (const std::uint32_t label : layout().others())
        if (layout().begins(label)) rest -= share_of(log_with(word, label), all);
    for (const SpanShare& taken : span_shares_[word]) {
        const std::uint32_t field = spans_[taken.span].field;
        // A share is that of one value of price 0; all values together may take `most_weight`.
        if (field == after)
            rest -= taken.again * std::exp(log_most_[field]);
        else
            rest -= share_of(taken.log_weight + log_most_[field], all);
    }
    return std::max(0.0, rest);
}

}  // namespace lawful
