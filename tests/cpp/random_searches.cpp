// Drives the search under rules through random cases under the sanitizers, with brute force as the
// judge. `make sanitize` builds and runs it.
//
// A document of words with small values; field 0 is one value, field 1 a list, and there are labels
// of no field. A span of one word has its value, a longer one cannot be read. The rule: the first
// value of field 0 is the sum of field 1.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "search/mass.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"

using namespace lawful;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kPlenty = std::size_t{1} << 22;

Clock nobody_looks;

std::mt19937_64 generator(20231207);

std::size_t below(std::size_t bound) { return generator() % bound; }
double uniform(double most) { return std::uniform_real_distribution(0.0, most)(generator); }

// Labels: O, then B and I of field 0, of field 1, and of no field.
constexpr std::size_t kLabels = 7;
constexpr std::int32_t kKind[kLabels] = {-1, 0, 0, 1, 1, 2, 2};

struct Scheme {
    std::vector<std::uint8_t> start, between, end, opens, closes;

    /// BIO, or IOB1, where B only parts a span from one of the same kind right before it.
    explicit Scheme(bool iob1)
        : start(kLabels),
          between(kLabels * kLabels),
          end(kLabels, 1),
          opens(kLabels),
          closes(kLabels) {
        for (std::size_t to = 0; to < kLabels; ++to) {
            const bool b = to % 2 == 1;
            opens[to] = b;
            start[to] = to == 0 || b != iob1;
            for (std::size_t from = 0; from < kLabels; ++from)
                between[from * kLabels + to] =
                    start[to] || (kKind[from] == kKind[to] && kKind[to] >= 0);
        }
    }
};

struct Span {
    std::int32_t field;
    std::uint32_t start, end;
    auto operator<=>(const Span&) const = default;
};

struct Instance {
    std::size_t words = 1 + below(5);
    bool iob1 = below(2);
    Scheme scheme{iob1};
    std::vector<double> costs;
    std::vector<int> values;  // by word
    double rule = below(3) == 0 ? kInf : uniform(3);
    double unreadable = below(3) == 0 ? kInf : uniform(2);
    double disagreement = uniform(2);
    double missing = below(3) == 0 ? kInf : below(2) ? 0 : uniform(2);
    double unchecked = below(2) ? 0 : uniform(2);
    int extra = static_cast<int>(below(3));  // added to the sum, so that it may never be right

    Instance() {
        const bool tied = below(2);
        for (std::size_t i = 0; i < words * kLabels; ++i)
            costs.push_back(below(6) == 0 ? kInf : tied ? 0.5 * double(below(4)) : uniform(4));
        for (std::size_t i = 0; i < words; ++i) values.push_back(1 + static_cast<int>(below(3)));
    }

    bool legal(const std::vector<std::uint32_t>& labels) const {
        if (!scheme.start[labels[0]]) return false;
        for (std::size_t i = 1; i < words; ++i)
            if (!scheme.between[labels[i - 1] * kLabels + labels[i]]) return false;
        return true;
    }

    double cost_of(const std::vector<std::uint32_t>& labels) const {
        double cost = 0;
        for (std::size_t i = 0; i < words; ++i) cost += costs[i * kLabels + labels[i]];
        return cost;
    }

    std::vector<Span> spans_of(const std::vector<std::uint32_t>& labels) const {
        std::vector<Span> spans;
        for (std::uint32_t i = 0; i < words; ++i) {
            const std::int32_t kind = kKind[labels[i]];
            if (kind < 0) continue;
            const bool goes_on = i > 0 && kKind[labels[i - 1]] == kind && !scheme.opens[labels[i]];
            if (goes_on)
                ++spans.back().end;
            else
                spans.push_back({kind, i, i + 1});
        }
        std::erase_if(spans, [](const Span& span) { return span.field > 1; });
        return spans;
    }

    /// What spans violate by themselves.
    double price_of(const std::vector<Span>& spans) const {
        double price = 0;
        for (const Span& span : spans) price += span.end - span.start > 1 ? unreadable : 0;
        return price;
    }

    double violated_by(const std::vector<Span>& spans) const {
        int first = 0, sum = 0, items = 0;
        bool others = false, unknown = false;
        for (const Span& span : spans) {
            const bool readable = span.end - span.start == 1;
            if (span.field == 1) {
                ++items;
                unknown = unknown || !readable;
                sum += readable ? values[span.start] : 0;
            } else if (readable) {
                others = others || (first != 0 && first != values[span.start]);
                first = first == 0 ? values[span.start] : first;
            }
        }
        double violated = price_of(spans) + (others ? disagreement : 0);
        if (first == 0) violated += missing;
        const bool checked = first != 0 && items > 0 && !unknown;
        if (!checked) violated += unchecked;
        if (checked && first != sum + extra) violated += rule;
        return violated;
    }

    template <class Visit>
    void every_labelling(Visit visit) const {
        for (std::vector<std::uint32_t> labels(words, 0);;) {
            if (cost_of(labels) < kInf && legal(labels)) visit(labels);
            std::size_t i = 0;
            while (i < words && ++labels[i] == kLabels) labels[i++] = 0;
            if (i == words) return;
        }
    }

    std::shared_ptr<const Lattice> lattice() const {
        const auto layout = std::make_shared<const Layout>(
            scheme.start, scheme.between, scheme.end, std::span<const std::int32_t>(kKind, kLabels),
            scheme.opens, scheme.closes, 2);
        return std::make_shared<const Lattice>(costs, words, layout);
    }

    std::vector<FieldSpan> spans(const Lattice& lattice, double slack) const {
        std::vector<FieldSpan> spans;
        if (!lattice.list_spans(lattice.best() + slack, kPlenty, nobody_looks, spans)) std::abort();
        return spans;
    }

    std::vector<SpanReading> readings_of(const std::vector<FieldSpan>& spans) const {
        std::vector<SpanReading> readings;
        for (std::uint32_t i = 0; i < spans.size(); ++i) {
            const bool readable = spans[i].end - spans[i].start == 1;
            const auto value = static_cast<std::uint32_t>(readable ? values[spans[i].start] + 1
                                                                   : int{ValueNumber::kUnreadable});
            if (readable || unreadable < kInf)
                readings.push_back({i, value, readable ? 0 : unreadable});
        }
        return readings;
    }

    std::shared_ptr<const ReadingGraph> graph(double slack) const {
        const auto made = lattice();
        const auto some = spans(*made, slack);
        return std::make_shared<const ReadingGraph>(made, some, readings_of(some),
                                                    made->best() + slack, kPlenty, nobody_looks);
    }

    std::shared_ptr<const Plan> plan() const {
        // Slots: the first value, whether others disagree, of the list its sum and readability.
        auto plan = std::make_shared<Plan>();
        FieldPlan one, list;
        one.first = 0;
        one.disagrees = 1;
        one.disagreement = disagreement;
        list.many = true;
        list.readable = 2;
        list.sum = 3;
        list.numbers = 1;
        plan->fields = {one, list};
        plan->slots = 4;
        const Wide more = Wide{extra} * kUnit;
        std::vector<Instruction> code{{Op::kLookup, 0, 0},
                                      {Op::kOfList, 2, 3},
                                      {Op::kConstant, 0, 0},
                                      {Op::kAdd, 0, 0},
                                      {Op::kEqual, 0, 1}};
        plan->rules.push_back({Program(code, {more, 0}), rule, unchecked, {}, false, {}});
        Equation equation{{}, -more, 0, rule, unchecked, false};
        equation.terms = {{Term::Kind::kFirst, 0, 0, 1}, {Term::Kind::kSum, 1, 1, -1}};
        plan->equations.push_back(equation);
        return plan;
    }

    DocumentTables tables() const {
        // Numbers of values: 2, 3, 4 for the values 1, 2, 3.
        Lookup lookup(0);
        lookup.append({0, Outcome::kMissing});
        lookup.append({0, Outcome::kMissing});
        for (const int value : {1, 2, 3}) lookup.append({value * kUnit, Outcome::kKnown});
        return {{lookup, lookup}, {missing, 0}};
    }
};

void require(bool condition, const char* claim, const Instance& instance) {
    if (condition) return;
    std::printf("FAILED: %s (%zu words, %s)\n", claim, instance.words,
                instance.iob1 ? "IOB1" : "BIO");
    std::exit(1);
}

/// All readings within a slack come out, in order, with the best labelling of each.
void readings_case() {
    const Instance instance;
    std::map<std::vector<Span>, double> best;
    double least = kInf;
    instance.every_labelling([&](const std::vector<std::uint32_t>& labels) {
        const auto spans = instance.spans_of(labels);
        const auto [entry, added] = best.try_emplace(spans, kInf);
        entry->second = std::min(entry->second, instance.cost_of(labels));
        least = std::min(least, instance.cost_of(labels));
    });
    const double slack = below(2) ? kInf : uniform(5);
    std::vector<double> expected;
    for (const auto& [spans, cost] : best) {
        const double total = cost + instance.price_of(spans);
        if (total < kInf && total <= least + slack) expected.push_back(total);
    }
    std::sort(expected.begin(), expected.end());
    if (best.empty()) return;

    Search search(instance.graph(slack), nullptr, {}, {}, nobody_looks);
    const double offset = search.graph().lattice()->least();
    std::size_t found = 0;
    std::map<std::vector<Span>, int> seen;
    for (;;) {
        const Search::Status status = search.next(1 + below(5), nobody_looks);
        if (status == Search::Status::kPaused) continue;
        if (status == Search::Status::kNothing) break;
        require(found < expected.size(), "no more readings than there are", instance);
        const double total = offset + search.found().cost + search.found().violated;
        require(std::abs(total - expected[found]) < 1e-9, "reading i is the i-th cheapest",
                instance);
        std::vector<std::uint32_t> labels(instance.words);
        search.graph().write_labels(search.found().readings, labels.data());
        require(instance.legal(labels), "labels are legal", instance);
        require(std::abs(instance.cost_of(labels) - offset - search.found().cost) < 1e-9,
                "labels cost what they say", instance);
        require(++seen[instance.spans_of(labels)] == 1, "no reading comes twice", instance);
        ++found;
    }
    require(found == expected.size(), "all readings come out", instance);
}

/// The best labelling under the rule, with and without bounds by residues.
void rules_case() {
    const Instance instance;
    double expected = kInf;
    instance.every_labelling([&](const std::vector<std::uint32_t>& labels) {
        const double total =
            instance.cost_of(labels) + instance.violated_by(instance.spans_of(labels));
        expected = std::min(expected, total);
    });
    if (instance.lattice()->best() == kInf) {
        require(expected == kInf, "no labelling where the lattice has none", instance);
        return;
    }
    Search::Limits limits;
    limits.patience = below(2) ? 1 : kPlenty;
    Search search(instance.graph(kInf), instance.plan(), instance.tables(), limits, nobody_looks);
    double last = -kInf;
    for (bool first = true;; first = false) {
        Search::Status status;
        while ((status = search.next(1 + below(9), nobody_looks)) == Search::Status::kPaused) {
            const double bound = search.graph().lattice()->least() + search.bound();
            require(!first || bound <= expected + 1e-9, "a bound is a bound", instance);
        }
        if (status == Search::Status::kNothing) {
            require(!first || expected == kInf, "nothing only where there is nothing", instance);
            return;
        }
        const double offset = search.graph().lattice()->least();
        const double total = offset + search.found().cost + search.found().violated;
        std::vector<std::uint32_t> labels(instance.words);
        search.graph().write_labels(search.found().readings, labels.data());
        const double violated = instance.violated_by(instance.spans_of(labels));
        require(std::abs(instance.cost_of(labels) + violated - total) < 1e-9,
                "a labelling costs and violates what it says", instance);
        require(!first || std::abs(total - expected) < 1e-9, "the first one is the best", instance);
        require(total >= last - 1e-9, "costs never fall", instance);
        last = total;
    }
}

/// Dives end in labellings that are what they say, and never better than the best.
void dive_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    double expected = kInf;
    instance.every_labelling([&](const std::vector<std::uint32_t>& labels) {
        expected = std::min(
            expected, instance.cost_of(labels) + instance.violated_by(instance.spans_of(labels)));
    });
    Search search(instance.graph(kInf), instance.plan(), instance.tables(), {}, nobody_looks);
    search.next(below(6), nobody_looks);
    if (!search.dive(1 + below(4), nobody_looks)) return;
    std::vector<std::uint32_t> labels(instance.words);
    search.graph().write_labels(search.found().readings, labels.data());
    const double total =
        search.graph().lattice()->least() + search.found().cost + search.found().violated;
    const double violated = instance.violated_by(instance.spans_of(labels));
    require(std::abs(instance.cost_of(labels) + violated - total) < 1e-9,
            "a dive costs and violates what it says", instance);
    require(total >= expected - 1e-9, "a dive is no better than the best", instance);
}

/// Given spans cost what they violate.
void given_case() {
    const Instance instance;
    std::vector<std::vector<Span>> some;
    instance.every_labelling(
        [&](const auto& labels) { some.push_back(instance.spans_of(labels)); });
    if (some.empty()) return;
    const std::vector<Span>& chosen = some[below(some.size())];
    std::vector<FieldSpan> spans;
    for (const Span& span : chosen)
        spans.push_back({static_cast<std::uint32_t>(span.field), span.start, span.end, 0, 0});
    const double expected = instance.violated_by(chosen);
    const auto graph =
        std::make_shared<const ReadingGraph>(spans, instance.readings_of(spans), kInf);
    Search search(graph, instance.plan(), instance.tables(), {}, nobody_looks);
    const bool found = search.next(kPlenty, nobody_looks) == Search::Status::kFound;
    require(found == (expected < kInf), "given spans can be read, or not", instance);
    if (found)
        require(std::abs(search.found().cost + search.found().violated - expected) < 1e-9,
                "given spans violate what they violate", instance);
}

/// Adding up what rules leave of the probability, all of it or with some of it let go.
void mass_case() {
    const Instance instance;
    const auto lattice = instance.lattice();
    if (lattice->best() == kInf) return;
    std::vector<std::vector<std::uint32_t>> answers(2);
    if (below(3)) answers[0].push_back(2 + below(3));
    for (std::size_t i = below(3); i-- > 0;) answers[1].push_back(2 + below(3));
    double total = 0, all = 0, same[2] = {0, 0};
    instance.every_labelling([&](const std::vector<std::uint32_t>& labels) {
        const auto spans = instance.spans_of(labels);
        std::vector<std::vector<std::uint32_t>> seen(2);
        for (const Span& span : spans)
            if (span.end - span.start == 1 && (span.field == 1 || seen[0].empty()))
                seen[span.field].push_back(instance.values[span.start] + 1);
        const double weight = std::exp(-instance.cost_of(labels));
        const double left = weight * std::exp(-instance.violated_by(spans));
        total += weight;
        all += left;
        for (int field = 0; field < 2; ++field)
            if (seen[field] == answers[field]) same[field] += left;
    });
    const bool everything = below(2);
    const auto spans = instance.spans(*lattice, everything ? kInf : uniform(4));
    const Mass mass(lattice, spans, instance.readings_of(spans), instance.plan(), instance.tables(),
                    {1, 1 + uniform(1)}, everything, nobody_looks);
    const Mass::Limits limits{everything ? 0 : uniform(0.01), everything ? kPlenty : 1 + below(9),
                              below(2) ? 0 : kPlenty};
    const Mass::Shares found = mass.of(answers, limits, nobody_looks);
    const double unit = total / std::exp(mass.log_total());  // what is let go counts for more
    const double share = std::exp(mass.log_total());
    require(found.all * share <= all + 1e-9, "no more than there is", instance);
    require((found.all + found.open) * share >= all - 1e-9, "what is let go is known", instance);
    for (int field = 0; field < 2; ++field) {
        require(found.same[field] * share <= same[field] + 1e-9, "nor of a field", instance);
        require((found.same[field] + found.open) * share >= same[field] - 1e-9,
                "nor let go of it unnoticed", instance);
    }
    require(!everything || found.open == 0, "nothing is let go that need not be", instance);
    require(unit <= 1 + 1e-9, "all legal labellings are in the total", instance);
}

/// Too little memory is an exception and nothing else.
void memory_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    Search::Limits limits;
    limits.memory = below(40'000);
    limits.patience = 1;
    try {
        Search search(instance.graph(kInf), instance.plan(), instance.tables(), limits,
                      nobody_looks);
        while (search.next(kPlenty, nobody_looks) == Search::Status::kFound) {
        }
    } catch (const OutOfMemoryBudget&) {
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int cases = argc > 1 ? std::atoi(argv[1]) : 2000;
    for (int i = 0; i < cases; ++i) {
        readings_case();
        rules_case();
        dive_case();
        given_case();
        mass_case();
        memory_case();
    }
    std::printf("%d random searches agree with brute force, no sanitizer complained\n", cases);
}
