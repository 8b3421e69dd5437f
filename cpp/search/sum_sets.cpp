#include "search/sum_sets.hpp"

#include <algorithm>
#include <utility>

namespace lawful {

namespace {

constexpr std::size_t kMostSums = std::size_t{1} << 16;  // in one set
constexpr std::size_t kMostBits = std::size_t{1} << 24;  // in all sets of one direction

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
        each_shifted(from, shift, [&](std::size_t w, std::uint64_t bits) { row(to)[w] |= bits; });
    }
    /// Whether a sum of one place, increased by `shift`, is a sum of a place of other sets.
    bool meets(std::size_t from, std::int64_t shift, const SumSets& others, std::size_t to) const {
        bool meets = false;
        each_shifted(from, shift, [&](std::size_t w, std::uint64_t bits) {
            meets = meets || (bits & others.row(to)[w]) != 0;
        });
        return meets;
    }

private:
    std::uint64_t* row(std::size_t place) { return bits_.data() + place * words_; }
    const std::uint64_t* row(std::size_t place) const { return bits_.data() + place * words_; }

    /// Calls `take(word, bits)` with a set, increased by `shift`; sums out of range are left out.
    template <class Take>
    void each_shifted(std::size_t place, std::int64_t shift, Take&& take) const {
        const std::uint64_t* const from = row(place);
        const auto size = static_cast<std::int64_t>(sums_);
        if (shift >= size || shift <= -size) return;
        const auto words = static_cast<std::int64_t>(words_);
        const std::int64_t whole = shift >> 6;  // rounded down
        const int part = static_cast<int>(shift & 63);
        const auto at = [&](std::int64_t w) {
            return w >= 0 && w < words ? from[w] : std::uint64_t{0};
        };
        for (std::int64_t w = 0; w < words; ++w) {
            std::uint64_t bits = at(w - whole) << part;
            if (part != 0) bits |= at(w - whole - 1) >> (64 - part);
            if (w + 1 == words && sums_ % 64 != 0) bits &= (std::uint64_t{1} << (sums_ % 64)) - 1;
            if (bits != 0) take(static_cast<std::size_t>(w), bits);
        }
    }

    std::size_t sums_, words_;
    std::vector<std::uint64_t> bits_;
};

/// The least and the greatest sum of spans that do not overlap.
std::pair<std::int64_t, std::int64_t> extremes(const std::vector<ListedSpan>& spans,
                                               std::size_t places) {
    std::vector<std::int64_t> least(places), greatest(places);
    auto span = spans.begin();
    for (std::size_t place = 0; place < places; ++place) {
        if (place > 0) {
            least[place] = std::min(least[place], least[place - 1]);
            greatest[place] = std::max(greatest[place], greatest[place - 1]);
        }
        for (; span != spans.end() && span->start == place; ++span) {
            least[span->end] = std::min(least[span->end], least[place] + span->number);
            greatest[span->end] = std::max(greatest[span->end], greatest[place] + span->number);
        }
    }
    return {least.back(), greatest.back()};
}

}  // namespace

std::optional<std::vector<bool>> reached_sums(std::vector<ListedSpan>& spans,
                                              std::span<const std::int64_t> wanted,
                                              std::int64_t tolerance, Clock& clock) {
    std::vector<bool> reached(wanted.size());
    std::size_t places = 1;
    for (const ListedSpan& span : spans) places = std::max<std::size_t>(places, span.end + 1);
    if (wanted.empty()) {
        for (ListedSpan& span : spans) span.admitted = false;
        return reached;
    }
    std::stable_sort(spans.begin(), spans.end(),
                     [](const ListedSpan& a, const ListedSpan& b) { return a.start < b.start; });
    const auto [least, greatest] = extremes(spans, places);
    // Sums so far from which the rest can reach what is wanted.
    const std::int64_t low = std::max(least, wanted.front() - tolerance - greatest);
    const std::int64_t high = std::min(greatest, wanted.back() + tolerance - least);
    if (low > 0 || high < 0) {  // not even nothing is on the way
        for (ListedSpan& span : spans) span.admitted = false;
        return reached;
    }
    const auto sums = static_cast<std::size_t>(high - low + 1);
    if (sums > kMostSums || sums * places > kMostBits) return std::nullopt;
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
    return reached;
}

}  // namespace lawful
