#include "search/sum_sets.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/tuning.hpp"

namespace lawful {

namespace {

constexpr std::int64_t kMaxSum = std::int64_t{1} << 62;

/// Sets of sums from `least` on, as bits: one set per place in the text.
class SumSets {
public:
    SumSets(std::size_t places, std::size_t sums)
        : sums_(sums), words_((sums + 63) / 64), bits_(places * words_) {}

    void add(std::size_t place, std::size_t sum) {
        row(place)[sum / 64] |= std::uint64_t{1} << (sum % 64);
    }
    bool has(std::size_t place, std::size_t sum) const {
        return row(place)[sum / 64] >> (sum % 64) & 1;
    }
    /// Adds the sums of one place to those of another, each increased by `shift`.
    void add_all(std::size_t to, std::size_t from, std::int64_t shift) {
        std::uint64_t* const there = row(to);
        each_shifted(from, shift, [&](std::int64_t w, std::uint64_t bits) { there[w] |= bits; });
        if (sums_ % 64 != 0) there[words_ - 1] &= (std::uint64_t{1} << (sums_ % 64)) - 1;
    }
    /// Whether a sum of one place, increased by `shift`, is a sum of a place of other sets.
    bool meets(std::size_t from, std::int64_t shift, const SumSets& others, std::size_t to) const {
        const std::uint64_t* const there = others.row(to);
        std::uint64_t both = 0;
        each_shifted(from, shift,
                     [&](std::int64_t w, std::uint64_t bits) { both |= bits & there[w]; });
        return both != 0;
    }

private:
    std::uint64_t* row(std::size_t place) { return bits_.data() + place * words_; }
    const std::uint64_t* row(std::size_t place) const { return bits_.data() + place * words_; }

    /// Calls `take(word, bits)` with a set, increased by `shift`; sums below the first are left
    /// out, and those that do not fit into the words.
    template <class Take>
    void each_shifted(std::size_t place, std::int64_t shift, Take&& take) const {
        const std::uint64_t* const from = row(place);
        const auto words = static_cast<std::int64_t>(words_);
        const std::int64_t whole = shift >> 6;  // rounded down
        const int part = static_cast<int>(shift & 63);
        if (whole >= words || whole < -words) return;
        if (whole >= 0) take(whole, from[0] << part);
        const std::int64_t last = std::min(words, words + whole);
        for (std::int64_t w = std::max<std::int64_t>(0, whole + 1); w < last; ++w)
            take(w, from[w - whole] << part | from[w - whole - 1] >> 1 >> (63 - part));
        if (whole < 0) take(last, from[words - 1] >> 1 >> (63 - part));
    }

    std::size_t sums_, words_;
    std::vector<std::uint64_t> bits_;
};

/// The least and the greatest sum of spans that do not overlap, from each place on.
struct Extremes {
    std::vector<std::int64_t> least, greatest;

    /// `spans` are sorted by start.
    Extremes(std::span<const ListedSpan> spans, std::size_t places)
        : least(places), greatest(places) {
        auto span = spans.rbegin();
        for (std::size_t place = places; place-- > 0;) {
            if (place + 1 < places) {
                least[place] = least[place + 1];
                greatest[place] = greatest[place + 1];
            }
            for (; span != spans.rend() && span->start == place; ++span) {
                least[place] = std::min(least[place], least[span->end] + span->number);
                greatest[place] = std::max(greatest[place], greatest[span->end] + span->number);
            }
        }
    }
};

/// The sums of spans up to each place, one by one, as far as the rest may reach what is wanted.
class SumLists {
public:
    /// All are sorted, spans by start.
    SumLists(std::span<const ListedSpan> spans, std::span<const std::int64_t> wanted,
             std::int64_t tolerance, const Extremes& extremes)
        : spans_(spans),
          wanted_(wanted),
          tolerance_(tolerance),
          extremes_(extremes),
          sums_(extremes.least.size()),
          leads_(sums_.size()) {}

    /// Lists the sums; false if there are too many.
    bool list(Clock& clock) {
        std::size_t listed = 0;
        join(0, std::vector<std::int64_t>{0}, 0);
        auto next = spans_.begin();
        for (std::size_t place = 0; place < sums_.size(); ++place) {
            if (place > 0) join(place, sums_[place - 1], 0);
            for (; next != spans_.end() && next->start == place; ++next) {
                if (next != spans_.begin() && is_same(next[-1], *next)) continue;
                listed += sums_[place].size();
                clock.tick(4 * sums_[place].size());
                if (listed > tuning::kMaxListedSums) return false;
                join(next->end, sums_[place], next->number);
            }
            leads_[place].assign(sums_[place].size(), false);
        }
        return true;
    }

    /// Finds the wanted numbers that are sums of all, and the spans that lead to one.
    void mark(std::vector<bool>& reached, std::vector<ListedSpan>& spans) {
        const std::vector<std::int64_t>& all = sums_.back();
        for (std::size_t i = 0; i < wanted_.size(); ++i) reached[i] = has_near(all, wanted_[i]);
        for (std::size_t i = 0; i < all.size(); ++i) leads_.back()[i] = has_near(wanted_, all[i]);
        auto last = spans.rbegin();
        for (std::size_t place = sums_.size(); place-- > 0;) {
            if (place + 1 < sums_.size()) mark_before(place, place + 1, 0);
            for (; last != spans.rend() && last->start == place; ++last)
                last->admitted = mark_before(place, last->end, last->number);
        }
    }

private:
    /// Whether a sorted number is within the tolerance of another one.
    bool has_near(std::span<const std::int64_t> numbers, std::int64_t number) const {
        const auto next = std::ranges::lower_bound(numbers, number - tolerance_);
        return next != numbers.end() && *next <= number + tolerance_;
    }

    /// Whether two spans differ only in their list.
    static bool is_same(const ListedSpan& a, const ListedSpan& b) {
        return a.start == b.start && a.end == b.end && a.number == b.number;
    }

    /// Adds numbers, each increased by `shift`, to the sums of a place.
    void join(std::size_t place, const std::vector<std::int64_t>& numbers, std::int64_t shift) {
        more_.clear();
        auto next = wanted_.begin();
        for (const std::int64_t number : numbers) {
            const std::int64_t sum = number + shift;
            while (next != wanted_.end() && *next + tolerance_ < sum + extremes_.least[place])
                ++next;
            if (next == wanted_.end()) break;
            if (*next - tolerance_ <= sum + extremes_.greatest[place]) more_.push_back(sum);
        }
        if (more_.empty()) return;
        std::vector<std::int64_t>& there = sums_[place];
        joined_.resize(there.size() + more_.size());
        const auto end =
            std::set_union(there.begin(), there.end(), more_.begin(), more_.end(), joined_.begin());
        there.assign(joined_.begin(), end);
    }

    /// Marks the sums of a place that, increased by `shift`, are marked in a later one; returns
    /// whether there are any.
    bool mark_before(std::size_t place, std::size_t later, std::int64_t shift) {
        bool any = false;
        auto next = sums_[later].begin();
        for (std::size_t i = 0; i < sums_[place].size(); ++i) {
            const std::int64_t sum = sums_[place][i] + shift;
            while (next != sums_[later].end() && *next < sum) ++next;
            if (next == sums_[later].end()) break;
            if (*next != sum || !leads_[later][next - sums_[later].begin()]) continue;
            leads_[place][i] = true;
            any = true;
        }
        return any;
    }

    std::span<const ListedSpan> spans_;
    std::span<const std::int64_t> wanted_;
    std::int64_t tolerance_;
    const Extremes& extremes_;
    std::vector<std::vector<std::int64_t>> sums_;  // by place, sorted
    std::vector<std::vector<bool>> leads_;         // by place and sum, whether to a wanted one
    std::vector<std::int64_t> more_, joined_;
};

/// The sums that sets of bits have to hold.
struct Range {
    std::int64_t low, high;
    std::size_t places;

    std::size_t sums() const { return static_cast<std::size_t>(high - low + 1); }
    bool is_short() const {
        return sums() <= tuning::kMaxSumSetUnits && sums() * places <= tuning::kMaxSumSetBits;
    }
};

/// Finds the wanted numbers that are sums, and the spans that lead to one.
void mark_by_bits(std::vector<bool>& reached, std::vector<ListedSpan>& spans,
                  std::span<const std::int64_t> wanted, std::int64_t tolerance, const Range& range,
                  Clock& clock) {
    const auto [low, high, places] = range;
    const std::size_t sums = range.sums();
    clock.tick(2 * (spans.size() + places) * (sums / 64 + 1));

    SumSets before(places, sums);  // by place, the sums of spans up to there
    before.add(0, static_cast<std::size_t>(-low));
    auto next = spans.begin();
    for (std::size_t place = 0; place < places; ++place) {
        if (place > 0) before.add_all(place, place - 1, 0);
        for (; next != spans.end() && next->start == place; ++next)
            before.add_all(next->end, place, next->number);
    }
    clock.tick(wanted.size() * (2 * std::min(sums, static_cast<std::size_t>(tolerance)) + 1));
    SumSets after(places, sums);  // by place, the sums from which the rest reaches a wanted one
    for (std::size_t i = 0; i < wanted.size(); ++i)
        for (std::int64_t sum = std::max(low, wanted[i] - tolerance);
             sum <= std::min(high, wanted[i] + tolerance); ++sum) {
            const auto bit = static_cast<std::size_t>(sum - low);
            if (!before.has(places - 1, bit)) continue;
            reached[i] = true;
            after.add(places - 1, bit);
        }
    auto last = spans.rbegin();
    for (std::size_t place = places; place-- > 0;) {
        if (place + 1 < places) after.add_all(place, place + 1, 0);
        for (; last != spans.rend() && last->start == place; ++last) {
            after.add_all(place, last->end, -last->number);
            last->admitted = before.meets(place, last->number, after, last->end);
        }
    }
}

/// Numbers the places where spans begin or end from 0 on, and replaces them by their numbers;
/// returns how many there are.
std::size_t number_places(std::vector<ListedSpan>& spans) {
    std::vector<std::uint32_t> places{0};
    for (const ListedSpan& span : spans) places.insert(places.end(), {span.start, span.end});
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto number_of = [&](std::uint32_t place) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(places, place) - places.begin());
    };
    for (ListedSpan& span : spans) {
        span.start = number_of(span.start);
        span.end = number_of(span.end);
    }
    return places.size();
}

/// Whether no sum of spans and a wanted number can overflow.
bool are_small(std::span<const ListedSpan> spans, std::span<const std::int64_t> wanted,
               std::int64_t tolerance, std::size_t places) {
    const std::int64_t most = kMaxSum / static_cast<std::int64_t>(places + 2);
    const auto is_small = [&](std::int64_t number) { return -most <= number && number <= most; };
    return is_small(tolerance) && std::ranges::all_of(wanted, is_small) &&
           std::ranges::all_of(spans, is_small, &ListedSpan::number);
}

}  // namespace

std::optional<std::vector<bool>> reached_sums(std::vector<ListedSpan>& spans,
                                              std::span<const std::int64_t> wanted,
                                              std::int64_t tolerance, Clock& clock) {
    std::vector<bool> reached(wanted.size());
    const std::size_t places = number_places(spans);
    if (wanted.empty()) {
        for (ListedSpan& span : spans) span.admitted = false;
        return reached;
    }
    if (!are_small(spans, wanted, tolerance, places)) return std::nullopt;
    std::stable_sort(spans.begin(), spans.end(), [](const ListedSpan& a, const ListedSpan& b) {
        return std::tie(a.start, a.end, a.number) < std::tie(b.start, b.end, b.number);
    });
    const Extremes extremes(spans, places);
    const std::int64_t least = extremes.least.front(), greatest = extremes.greatest.front();
    // Sums so far from which the rest can reach what is wanted.
    const std::int64_t low = std::max(least, wanted.front() - tolerance - greatest);
    const std::int64_t high = std::min(greatest, wanted.back() + tolerance - least);
    if (low > 0 || high < 0) {  // not even nothing is on the way
        for (ListedSpan& span : spans) span.admitted = false;
        return reached;
    }
    if (const Range range{low, high, places}; range.is_short()) {
        mark_by_bits(reached, spans, wanted, tolerance, range, clock);
        return reached;
    }
    SumLists lists(spans, wanted, tolerance, extremes);
    if (!lists.list(clock)) return std::nullopt;
    lists.mark(reached, spans);
    return reached;
}

}  // namespace lawful
