#include "search/span_chain.hpp"

#include <algorithm>
#include <array>
#include <numeric>

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

std::vector<std::vector<SpanChain::Run>> SpanChain::runs(double log_least,
                                                         std::vector<double>& left,
                                                         Clock& clock) const {
    const Layout& l = layout();
    const auto others = l.others();
    std::vector<std::size_t> index(labels_), first(others.size() + 1);
    for (std::size_t i = 0; i < others.size(); ++i) {
        index[others[i]] = i;
        first[i + 1] = first[i] + 1 + l.after(others[i]).size();
    }
    // By word and label, the part that ends and the parts by next label; found when asked for.
    std::vector<double> parts(words_ * first.back(), -1.0);
    const auto parts_of = [&](std::size_t word, std::size_t i) {
        double* const found = parts.data() + word * first.back() + first[i];
        if (*found >= 0) return found;
        const std::uint32_t label = others[i];
        const auto after = l.after(label);
        const double onward = log_onward(word, label);
        *found = l.ends(label) ? share_of(log_boundary_[word + 1], onward) : 0;
        for (std::size_t k = 0; k < after.size(); ++k)
            found[1 + k] = word + 1 < words_ ? share_of(log_with(word + 1, after[k]), onward) : 0;
        return found;
    };
    std::vector<std::vector<Run>> found(words_);
    std::vector<double> now(others.size()), next(others.size());
    for (std::size_t start = 0; start < words_; ++start) {
        double most = kNoWeight;
        for (const std::uint32_t label : others)
            if (l.begins(label)) most = std::max(most, log_with(start, label));
        if (most == kNoWeight) continue;
        const double all = log_boundary_[start], least = std::exp(log_least + all - most);
        double sum = 0;
        for (std::size_t i = 0; i < others.size(); ++i) {
            const double with = l.begins(others[i]) ? log_with(start, others[i]) : kNoWeight;
            const bool is_small = with > kNoWeight && with - all < log_least;
            if (is_small) left[start] += std::exp(log_least);
            now[i] = is_small ? 0 : share_of(with, most);
            sum += now[i];
        }
        for (std::size_t word = start; word < words_ && sum > 0; ++word) {
            clock.tick(2 * others.size());
            if (sum < least) {
                left[start] += std::exp(log_least);
                break;
            }
            double ends = 0;
            std::ranges::fill(next, 0.0);
            for (std::size_t i = 0; i < others.size(); ++i) {
                if (now[i] == 0) continue;
                const double* const shares = parts_of(word, i);
                const auto after = l.after(others[i]);
                ends += now[i] * shares[0];
                for (std::size_t k = 0; k < after.size(); ++k)
                    next[index[after[k]]] += now[i] * shares[1 + k];
            }
            if (ends > 0)
                found[start].push_back(
                    {static_cast<std::uint32_t>(word + 1), most + std::log(ends)});
            std::swap(now, next);
            sum = std::accumulate(now.begin(), now.end(), 0.0);
        }
    }
    return found;
}

void SpanChain::find_unlisted() {
    if (!sticky_) unlisted_of_.assign((words_ + 1) * fields_, 0);
    for (std::size_t word = 0; word < words_; ++word) {
        if (!sticky_) find_unlisted_of(word, unlisted_of_.data() + word * fields_);
        unlisted_[word] =
            left_unlisted(word, log_boundary_[word], std::numeric_limits<std::uint32_t>::max());
        for (std::uint32_t field = 0; sticky_ && field < fields_; ++field)
            unlisted_after_[word * fields_ + field] =
                left_unlisted(word, log_after(word, field), field);
    }
}

/// By field, the share at a boundary of its spans that are not listed.
void SpanChain::find_unlisted_of(std::size_t word, double* unlisted) const {
    const double all = log_boundary_[word];
    if (all == kNoWeight) return;
    for (std::uint32_t field = 0; field < fields_; ++field)
        for (const std::uint32_t label : layout().members(field))
            if (layout().begins(label))
                unlisted[field] += share_of(log_with(word, label) + log_most_[field], all);
    for (const SpanShare& taken : span_shares_[word]) {
        const std::uint32_t field = spans_[taken.span].field;
        unlisted[field] -= share_of(taken.log_weight + log_most_[field], all);
    }
    for (std::uint32_t field = 0; field < fields_; ++field)
        unlisted[field] = std::max(0.0, unlisted[field]);
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
