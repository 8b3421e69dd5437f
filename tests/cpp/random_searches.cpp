// Compares the search under rules with brute force on random cases, under the sanitizers.
// `make sanitize` builds and runs it.
//
// Each word of a document has a small value. Field 0 has one value, field 1 is a list, and some
// labels belong to no field. A span of one word has the value of the word, a longer one is
// unreadable. One of them may have to be present, the other one, or both. Field 0 may have a
// default, which an unreadable span rules out, and a number that is not known. The rules: the first
// value of field 0 is the sum of field 1, not below a number, and equal to one; field 1 does not
// occur more often than a number of times.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "search/admission.hpp"
#include "search/case_search.hpp"
#include "search/cell_loops.hpp"
#include "search/detour_bound.hpp"
#include "search/detour_search.hpp"
#include "search/mass.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"
#include "search/sum_sets.hpp"

using namespace lawful;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kPlenty = std::size_t{1} << 22;

Clock no_limit;

std::mt19937_64 generator(20231207);

std::size_t below(std::size_t bound) { return generator() % bound; }
double uniform(double most) { return std::uniform_real_distribution(0.0, most)(generator); }

// Labels: O, then B and I of field 0, of field 1, and of no field.
constexpr std::size_t kLabels = 7;
constexpr std::int32_t kType[kLabels] = {-1, 0, 0, 1, 1, 2, 2};

struct Scheme {
    std::vector<std::uint8_t> start, between, end, opens, closes;

    /// BIO, or IOB1, where B only separates a span from one of the same type right before it.
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
                    start[to] || (kType[from] == kType[to] && kType[to] >= 0);
        }
    }
};

struct Span {
    std::int32_t field;
    std::uint32_t start, end;
    auto operator<=>(const Span&) const = default;
};

struct Instance {
    std::size_t words;
    bool iob1 = below(2);
    Scheme scheme{iob1};
    std::vector<double> costs;
    std::vector<int> values;  // by word
    double rule = below(3) == 0 ? kInf : uniform(3);
    double unreadable = below(3) == 0 ? kInf : uniform(2);
    double disagreement = below(3) == 0 ? kInf : uniform(2);
    double missing = below(3) == 0 ? kInf : below(2) ? 0 : uniform(2);
    double no_items = below(3) == 0 ? kInf : 0;
    bool negative = below(3) == 0;  // whether the value 2 is the number -2
    double unchecked = below(2) ? 0 : uniform(2);
    double disorder = below(2) ? 0 : uniform(2);                      // of an item after the total
    double crowd = below(2) ? 0 : below(3) == 0 ? kInf : uniform(3);  // of too many items
    int most_items = static_cast<int>(below(3));
    double small = below(2) ? 0 : below(3) == 0 ? kInf : uniform(3);  // of a small total
    int extra = static_cast<int>(below(3));  // added to the sum, so that it may never be satisfied
    bool has_default = below(3) == 0;
    int default_number = static_cast<int>(below(3));
    bool unsure = below(4) == 0;  // whether the number of the total 3 is not known, so it may hold
    double unequal = below(2) ? 0 : below(3) == 0 ? kInf : uniform(3);  // of a total not as given
    double not_given = below(2) ? 0 : uniform(2);                       // of no total
    int given = 1 + static_cast<int>(below(3));

    explicit Instance(std::size_t most_words = 5) : words(1 + below(most_words)) {
        const bool tied = below(2);
        const std::size_t allowed = 2 + below(5);  // times as many labels as are impossible
        for (std::size_t i = 0; i < words * kLabels; ++i)
            costs.push_back(below(allowed) == 0 ? kInf
                            : tied              ? 0.5 * double(below(4))
                                                : uniform(4));
        for (std::size_t i = 0; i < words; ++i) values.push_back(1 + static_cast<int>(below(3)));
    }

    int number_of(int value) const { return negative && value == 2 ? -2 : value; }

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
            const std::int32_t type = kType[labels[i]];
            if (type < 0) continue;
            const bool goes_on = i > 0 && kType[labels[i - 1]] == type && !scheme.opens[labels[i]];
            if (goes_on)
                ++spans.back().end;
            else
                spans.push_back({type, i, i + 1});
        }
        std::erase_if(spans, [](const Span& span) { return span.field > 1; });
        return spans;
    }

    /// The prices of spans.
    double price_of(const std::vector<Span>& spans) const {
        double price = 0;
        for (const Span& span : spans) price += span.end - span.start > 1 ? unreadable : 0;
        return price;
    }

    double violated_by(const std::vector<Span>& spans) const {
        int first = 0, sum = 0, items = 0, readable_items = 0;
        bool others = false, unknown = false, total = false, no_default = !has_default;
        double late = 0;
        for (const Span& span : spans) {
            late += span.field == 1 && total ? disorder : 0;
            total = total || span.field == 0;
            const bool readable = span.end - span.start == 1;
            if (span.field == 1) {
                ++items;
                readable_items += readable;
                unknown = unknown || !readable;
                sum += readable ? number_of(values[span.start]) : 0;
            } else if (readable) {
                others = others || (first != 0 && first != values[span.start]);
                first = first == 0 ? values[span.start] : first;
            } else {
                no_default = true;
            }
        }
        double violated = price_of(spans) + late + (others ? disagreement : 0);
        if (first == 0) violated += missing;
        if (readable_items == 0) violated += no_items;
        const bool known = first != 0 || !no_default;
        const int number = first != 0 ? number_of(first) : default_number;
        const bool checked = known && items > 0 && !unknown;
        if (items > most_items) violated += crowd;
        if (!checked) violated += unchecked;
        if (unsure && first == 3) return violated;
        if (checked && number != sum + extra) violated += rule;
        if (known && number <= 1) violated += small;
        if (!known || number != given) violated += known ? unequal : not_given;
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

    /// The cost and penalty of the best labelling.
    double least_total() const {
        double least = kInf;
        every_labelling([&](const std::vector<std::uint32_t>& labels) {
            least = std::min(least, cost_of(labels) + violated_by(spans_of(labels)));
        });
        return least;
    }

    std::shared_ptr<const Lattice> lattice() const {
        const auto layout = std::make_shared<const Layout>(
            scheme.start, scheme.between, scheme.end, std::span<const std::int32_t>(kType, kLabels),
            scheme.opens, scheme.closes, 2);
        return std::make_shared<const Lattice>(costs, words, layout);
    }

    std::vector<FieldSpan> spans(const Lattice& lattice, double slack) const {
        std::vector<FieldSpan> spans;
        if (!lattice.list_spans(lattice.best() + slack, kPlenty, no_limit, spans)) std::abort();
        return spans;
    }

    std::vector<SpanValue> span_values_of(const std::vector<FieldSpan>& spans) const {
        std::vector<SpanValue> span_values;
        for (std::uint32_t i = 0; i < spans.size(); ++i) {
            const bool readable = spans[i].end - spans[i].start == 1;
            const auto value = static_cast<std::uint32_t>(readable ? values[spans[i].start] + 1
                                                                   : int{ValueNumber::kUnreadable});
            if (readable || unreadable < kInf)
                span_values.push_back({i, value, readable ? 0 : unreadable});
        }
        return span_values;
    }

    /// The graph of readings, or of those with values that hard equations admit.
    std::shared_ptr<const ReadingGraph> graph(double slack, bool admitted = false) const {
        const auto made = lattice();
        const auto some = spans(*made, slack);
        std::vector<SpanValue> values = span_values_of(some);
        if (admitted) {
            std::vector<SpanValue> kept;
            const auto left = admitted_values(*plan(), tables(), some, values, no_limit);
            if (left)
                for (const std::uint32_t i : *left) kept.push_back(values[i]);
            values = kept;
        }
        return std::make_shared<const ReadingGraph>(made, some, values, made->best() + slack,
                                                    kPlenty, no_limit);
    }

    std::shared_ptr<const Plan> plan() const {
        // Slots: first value and disagreement of field 0; readability and sum of the list; order;
        // the number of items.
        auto plan = std::make_shared<Plan>();
        FieldPlan one, list;
        one.first = 0;
        one.disagrees = 1;
        one.disagreement = disagreement;
        one.has_default = has_default;
        list.many = true;
        list.readable = 2;
        list.sum = 3;
        list.numbers = 1;
        list.count = 5;
        plan->fields = {one, list};
        plan->orders = {{4, {2, 1}, disorder}};
        plan->slots = 6;
        std::vector<Instruction> counted{
            {Op::kSlot, 0, 5}, {Op::kConstant, 0, 0}, {Op::kAtMost, 0, 1}};
        plan->rules.push_back({Program(counted, {most_items, 0}), crowd, 0, {}, false, {}});
        std::vector<Instruction> above{
            {Op::kLookup, 0, 0}, {Op::kConstant, 0, 0}, {Op::kAbove, 0, 1}};
        plan->rules.push_back({Program(above, {kUnit, 0}), small, 0, {0}, true, {}});
        const Wide more = Wide{extra} * kUnit;
        std::vector<Instruction> code{{Op::kLookup, 0, 0},
                                      {Op::kOfList, 2, 3},
                                      {Op::kConstant, 0, 0},
                                      {Op::kAdd, 0, 0},
                                      {Op::kEqual, 0, 1}};
        plan->rules.push_back({Program(code, {more, 0}), rule, unchecked, {}, false, {}});
        Equation equation{{}, -more, 0, rule, unchecked, false};
        equation.terms = {{Term::Kind::kFirst, 0, 0, 1}, {Term::Kind::kSum, 1, 1, -1}};
        const Wide wanted = Wide{given} * kUnit;
        std::vector<Instruction> same{
            {Op::kLookup, 0, 0}, {Op::kConstant, 0, 0}, {Op::kEqual, 0, 1}};
        plan->rules.push_back({Program(same, {wanted, 0}), unequal, not_given, {}, false, {}});
        Equation known{{}, -wanted, 0, unequal, not_given, false};
        known.terms = {{Term::Kind::kFirst, 0, 0, 1}};
        plan->equations = {equation, known};
        return plan;
    }

    DocumentTables tables() const {
        // The values 1, 2, 3 have the numbers 2, 3, 4.
        Lookup one(0), list(0);
        one.append({default_number * kUnit, has_default ? Outcome::kKnown : Outcome::kMissing});
        list.append({0, Outcome::kMissing});
        for (Lookup* each : {&one, &list}) {
            each->append({0, Outcome::kMissing});
            for (const int value : {1, 2, 3})
                each->append({number_of(value) * kUnit, each == &one && value == 3 && unsure
                                                            ? Outcome::kUnsure
                                                            : Outcome::kKnown});
        }
        return {{one, list}, {missing, no_items}};
    }
};

void require(bool condition, const char* claim, const Instance& instance) {
    if (condition) return;
    std::printf("FAILED: %s (%zu words, %s)\n", claim, instance.words,
                instance.iob1 ? "IOB1" : "BIO");
    std::exit(1);
}

/// All readings within a slack are found, in order, with the best labelling of each.
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

    Search search(instance.graph(slack), nullptr, {}, {}, no_limit);
    const double offset = search.graph().lattice()->least();
    std::size_t found = 0;
    std::map<std::vector<Span>, int> seen;
    for (;;) {
        const Search::Status status = search.next(1 + below(5), no_limit);
        if (status == Search::Status::kPaused) continue;
        if (status == Search::Status::kNothing) break;
        require(found < expected.size(), "only readings that exist are found", instance);
        const double total = offset + search.found().cost + search.found().violated;
        require(std::abs(total - expected[found]) < 1e-9, "reading i is the i-th cheapest",
                instance);
        std::vector<std::uint32_t> labels(instance.words);
        search.graph().write_labels(search.found().choices, labels.data());
        require(instance.legal(labels), "labels are legal", instance);
        require(std::abs(instance.cost_of(labels) - offset - search.found().cost) < 1e-9,
                "the labels have the stated cost", instance);
        require(++seen[instance.spans_of(labels)] == 1, "no reading comes twice", instance);
        ++found;
    }
    require(found == expected.size(), "all readings are found", instance);
}

/// The best labelling under the rules is found, with and without bounds.
void rules_case() {
    const Instance instance;
    const double expected = instance.least_total();
    if (instance.lattice()->best() == kInf) {
        require(expected == kInf, "no labelling where the lattice has none", instance);
        return;
    }
    Search::Limits limits;
    limits.patience = below(4) ? 1 : kPlenty;
    limits.bounds = {below(3) > 0, below(3) > 0, below(3) > 0, below(3) > 0, below(3) > 0};
    limits.shared = 1 + below(2);
    CaseSearch search(instance.graph(kInf, below(2)), instance.plan(), instance.tables(), limits,
                      no_limit);
    if (expected < kInf) {
        // What is known beforehand changes nothing.
        const double best = expected - search.graph().lattice()->least();
        if (below(2)) search.nothing_below(best - (below(4) ? uniform(3) : 0));
        if (below(3) == 0) search.stop_above(best + 1e-6 + uniform(2));
    }
    double last = -kInf;
    for (bool first = true;; first = false) {
        Search::Status status;
        while ((status = search.next(1 + below(9), no_limit)) == Search::Status::kPaused) {
            const double bound = search.graph().lattice()->least() + search.bound();
            require(!first || bound <= expected + 1e-9, "no reading is below the bound", instance);
        }
        if (status == Search::Status::kNothing) {
            require(!first || expected == kInf,
                    "a search ends empty only if no labelling is allowed", instance);
            return;
        }
        const double offset = search.graph().lattice()->least();
        const double total = offset + search.found().cost + search.found().violated;
        std::vector<std::uint32_t> labels(instance.words);
        search.graph().write_labels(search.found().choices, labels.data());
        const double violated = instance.violated_by(instance.spans_of(labels));
        require(std::abs(instance.cost_of(labels) + violated - total) < 1e-9,
                "a labelling has the stated cost and penalty", instance);
        require(!first || std::abs(total - expected) < 1e-9, "the first one is the best", instance);
        require(total >= last - 1e-9, "costs never fall", instance);
        last = total;
    }
}

/// Dives end in labellings of the stated cost and penalty, never better than the best.
void dive_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    const double expected = instance.least_total();
    Search search(instance.graph(kInf), instance.plan(), instance.tables(), {}, no_limit);
    search.next(below(6), no_limit);
    if (!search.dive(1 + below(4), no_limit)) return;
    std::vector<std::uint32_t> labels(instance.words);
    search.graph().write_labels(search.found().choices, labels.data());
    const double total =
        search.graph().lattice()->least() + search.found().cost + search.found().violated;
    const double violated = instance.violated_by(instance.spans_of(labels));
    require(std::abs(instance.cost_of(labels) + violated - total) < 1e-9,
            "a dive has the stated cost and penalty", instance);
    require(total >= expected - 1e-9, "a dive is no better than the best", instance);
}

/// So do dives beyond the limit of a graph, which may have been searched, and are below another.
void dive_beyond_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    const double expected = instance.least_total();
    const double slack = below(4);
    Search::Limits limits;
    limits.patience = below(2) ? 1 : kPlenty;
    CaseSearch search(instance.graph(slack, below(2)), instance.plan(), instance.tables(), limits,
                      no_limit);
    if (below(2)) search.next(kPlenty, no_limit);
    const double offset = search.graph().lattice()->least();
    const double most = search.graph().limit() + (below(4) ? below(20) : kInf);
    if (!search.dive_beyond(most, 1 + below(4), no_limit)) return;
    std::vector<std::uint32_t> labels(instance.words);
    search.graph().write_labels(search.found().choices, labels.data());
    const double total = search.found().cost + search.found().violated;
    const double violated = instance.violated_by(instance.spans_of(labels));
    require(std::abs(instance.cost_of(labels) + violated - offset - total) < 1e-9,
            "a dive beyond the limit has the stated cost and penalty", instance);
    require(total < most, "it is below the other limit", instance);
    require(offset + total >= expected - 1e-9, "it is no better than the best", instance);
}

/// Local search ends in a labelling of the stated cost and penalty, no better than the best and no
/// worse than the one it began with, which one span less does not make better.
void local_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    const double expected = instance.least_total();
    CaseSearch search(instance.graph(kInf, below(2)), instance.plan(), instance.tables(), {},
                      no_limit);
    const auto total_of = [&](const std::vector<std::uint32_t>& choices) {
        std::vector<std::uint32_t> labels(instance.words);
        search.graph().write_labels(choices, labels.data());
        const auto spans = instance.spans_of(labels);
        // No label for a word between spans, or one of these spans cannot stand where it is.
        if (!instance.legal(labels) || spans.size() != choices.size()) return kInf;
        return instance.cost_of(labels) + instance.violated_by(spans);
    };
    std::optional<std::vector<std::uint32_t>> from;
    if (below(2) && search.dive(1, no_limit)) from = search.found().choices;
    const double before = from ? total_of(*from) : kInf;
    const bool improved = search.improve(from, no_limit);
    require(improved || expected == kInf, "there is a first reading if there is any", instance);
    if (!improved) return;
    const std::vector<std::uint32_t> choices = search.found().choices;
    const double total =
        search.graph().lattice()->least() + search.found().cost + search.found().violated;
    require(std::abs(total_of(choices) - total) < 1e-9, "it has the stated cost and penalty",
            instance);
    require(total >= expected - 1e-9, "it is no better than the best", instance);
    require(total <= before + 1e-9, "it is no worse than before", instance);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        std::vector<std::uint32_t> fewer = choices;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        require(total <= total_of(fewer) + 1e-9, "no span should be left out", instance);
    }
}

/// A good reading that is found early does not hide the best one, though all that cost more are
/// dropped.
void stop_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    const double expected = instance.least_total();
    Search::Limits limits;
    limits.patience = below(4) ? 1 : kPlenty;
    limits.shared = 1 + below(2);
    CaseSearch search(instance.graph(kInf, below(2)), instance.plan(), instance.tables(), limits,
                      no_limit);
    const double offset = search.graph().lattice()->least();
    Search::Status status;
    while ((status = search.next(1 + below(3), no_limit)) == Search::Status::kPaused) {
        if (!search.dive(1 + below(4), no_limit)) continue;
        const double cost = search.found().cost + search.found().violated;
        require(offset + cost >= expected - 1e-9, "a dive is no better than the best", instance);
        search.stop_above(cost + 1e-9);
    }
    const bool found = status == Search::Status::kFound;
    require(found == (expected < kInf), "the best is found if there is one", instance);
    const double total = offset + search.found().cost + search.found().violated;
    require(!found || std::abs(total - expected) < 1e-9, "it is the best", instance);
}

/// A search that runs out of time anywhere has a bound that no reading is below.
void time_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    Search::Limits limits;
    limits.patience = 1;
    limits.shared = 1 + below(2);
    CaseSearch search(instance.graph(kInf, below(2)), instance.plan(), instance.tables(), limits,
                      no_limit);
    std::size_t looks = below(std::size_t{1} << below(10));
    Clock clock(
        [&] {
            if (looks-- == 0) throw OutOfTime{};
        },
        1);
    try {
        while (search.next(1 + below(9), clock) == Search::Status::kPaused) continue;
        return;
    } catch (const OutOfTime&) {
    }
    const double bound = search.graph().lattice()->least() + search.bound();
    require(bound <= instance.least_total() + 1e-9, "no reading is below a bound", instance);
}

/// Calls `visit(choices, costs)` for all paths of a graph, with the costs of their steps.
template <class Visit>
void every_path(const ReadingGraph& graph, Visit visit) {
    std::vector<std::uint32_t> choices;
    std::vector<double> costs;
    const auto follow = [&](auto& self, std::uint32_t node) -> void {
        for (const ReadingGraph::Step& step : graph.steps_from(node)) {
            costs.push_back(step.cost);
            if (step.to == ReadingGraph::kEnd) {
                visit(choices, costs);
            } else {
                choices.push_back(step.choice);
                self(self, step.to);
                choices.pop_back();
            }
            costs.pop_back();
        }
    };
    follow(follow, ReadingGraph::kRoot);
}

/// However much is listed, a bound by detours is never too high; what it meets satisfies the
/// equation at the stated cost, and is the cheapest if it says so.
void detours_case() {
    const Instance instance(8);
    if (instance.lattice()->best() == kInf) return;
    const auto graph = instance.graph(kInf);
    if (!(graph->rest(ReadingGraph::kRoot) < kInf)) return;
    const auto plan = instance.plan();
    const int tolerance = static_cast<int>(below(3));
    Equation equation = plan->equations[0];
    equation.tolerance = Wide{tolerance} * kUnit;
    const DocumentTables tables = instance.tables();
    std::vector<std::vector<ReadingGraph::Step>> steps;
    for (std::uint32_t node = 0; node < graph->nodes(); ++node) {
        const auto from = graph->steps_from(node);
        steps.emplace_back(from.begin(), from.end());
    }
    const double most = below(2) ? kInf : uniform(6), rest = graph->rest(ReadingGraph::kRoot);
    const auto some = [](std::size_t bits) { return double(std::size_t{1} << below(bits)); };
    DetourBound bound(0, Residues(*plan, equation, tables, field_values(*graph)), some(8) / 16, 0);
    // With little memory, there are few remainders, whatever the work.
    const std::size_t memory = below(2) ? kPlenty : 64 << below(12);
    const bool searched = bound.search(*graph, steps, tables.missing, most,
                                       {some(28), memory, below(8) == 0}, no_limit);
    require(searched || tolerance > 0, "the detours of a sum of a list are searched", instance);
    if (!searched) return;
    double least = kInf, met = kInf;
    RuleTracker tracker(*plan, tables);
    every_path(*graph, [&](const std::vector<std::uint32_t>& choices,
                           const std::vector<double>& costs) {
        int first = 0, sum = 0, items = 0, readable_items = 0;
        bool unknown = false, no_default = !instance.has_default;
        for (const std::uint32_t choice : choices) {
            const std::uint32_t value = graph->span_value(choice).value;
            const int number = is_readable(value) ? instance.number_of(int(value) - 1) : 0;
            if (graph->span_of(choice).field == 1) {
                ++items;
                readable_items += is_readable(value);
                unknown = unknown || !is_readable(value);
                sum += number;
            } else if (first == 0) {
                first = number;
                no_default = no_default || !is_readable(value);
            }
        }
        const bool checked = (first != 0 || !no_default) && items > 0 && !unknown;
        const bool unsure = checked && instance.unsure && first == 3;
        const int total = first != 0 ? first : instance.default_number;
        const bool holds =
            checked && !unsure && std::abs(total - sum - instance.extra) <= tolerance;
        double more =
            (first == 0 ? instance.missing : 0) + (readable_items == 0 ? instance.no_items : 0);
        if (!holds && !unsure) more += checked ? instance.rule : instance.unchecked;
        double onward = 0;
        for (const double cost : costs) onward += cost;
        const double excess = onward - rest;
        if (choices == bound.met()) met = excess + more;
        if (excess + more > most) return;
        require(bound.least() <= excess + more + 1e-9, "no reading is below the least", instance);
        if (holds) least = std::min(least, excess + more);
        std::vector<Wide> state(plan->slots);
        std::uint32_t followed = bound.class_of(state);
        std::uint32_t node = ReadingGraph::kRoot;
        double cost = 0;
        for (std::size_t i = 0;; ++i) {
            const double spent = cost + graph->rest(node) - rest;
            for (const std::uint32_t at : {followed, bound.class_of(state)})
                require(bound.more(node, at, spent) <= onward - graph->rest(node) + more + 1e-9,
                        "no rest is below the bound by detours", instance);
            if (i == choices.size()) break;
            onward -= costs[i];
            cost += costs[i];
            followed = bound.next(followed, choices[i]);
            tracker.extend(state, graph->span_of(choices[i]).place(),
                           graph->span_value(choices[i]).value);
            for (const ReadingGraph::Step& step : steps[node])
                if (step.to != ReadingGraph::kEnd && step.choice == choices[i]) {
                    node = step.to;
                    break;
                }
        }
    });
    if (bound.met_cost() == kInf) return;
    require(std::abs(met - bound.met_cost()) < 1e-9, "a reading that is met costs what is said",
            instance);
    if (bound.least() >= bound.met_cost() - 1e-9 && met <= most)
        require(std::abs(met - least) < 1e-9, "it is the cheapest if that is known", instance);
}

/// Of random detours, the cheapest that change a sum as needed are found, as far as is claimed.
void detour_search_case() {
    struct Stop {
        std::uint32_t next;
        std::vector<DetourSearch::Detour> detours;
    };
    std::vector<Stop> stops;
    std::uint32_t number = 0;
    for (std::size_t s = 0, count = 1 + below(5); s < count; ++s) {
        const auto any = [&] {
            return s == 0 || below(6) == 0 ? DetourSearch::kNone
                                           : static_cast<std::uint32_t>(below(s));
        };
        stops.push_back({below(8) ? any() : DetourSearch::kNowhere, {}});
        for (std::size_t d = below(4); d-- > 0;) {
            const std::int64_t change = static_cast<std::int64_t>(below(15)) - 7;
            const double cost = below(4) ? uniform(3) : static_cast<double>(below(3));
            stops.back().detours.push_back({change, cost, any(), number++});
        }
    }
    const std::int64_t needed = static_cast<std::int64_t>(below(21)) - 10,
                       tolerance = below(3) ? 0 : static_cast<std::int64_t>(below(3));
    const auto root = static_cast<std::uint32_t>(stops.size() - 1);
    double best = kInf;
    const auto follow = [&](const auto& self, std::uint32_t at, std::int64_t left,
                            double cost) -> void {
        if (at == DetourSearch::kNowhere) return;
        if (at == DetourSearch::kNone) {
            if (std::abs(left) <= tolerance) best = std::min(best, cost);
            return;
        }
        self(self, stops[at].next, left, cost);
        for (const auto& detour : stops[at].detours)
            self(self, detour.to, left - detour.change, cost + detour.cost);
    };
    follow(follow, root, needed, 0);
    // The cheapest may cost just as much as the limit, or as one of the costs before.
    const double limit = best < kInf && below(3) == 0 ? best + 1e-9 : 0.1 + uniform(6);
    const auto modulus = [] { return static_cast<std::uint32_t>(1 + below(9)); };
    DetourSearch search({modulus(), modulus(), modulus()}, tolerance, limit);
    for (const Stop& stop : stops) {
        search.add_stop(stop.next);
        for (const auto& detour : stop.detours) search.add_detour(detour);
    }
    search.fill(no_limit);
    const double least = search.least(root, needed);
    std::vector<double> costs;
    while (below(3)) costs.push_back(uniform(limit));
    if (best < limit && below(2)) costs.push_back(best + 1e-9);
    std::ranges::sort(costs);
    costs.push_back(limit);
    search.find(needed, costs, {below(2) ? kPlenty : below(60), below(2) ? kPlenty : 200},
                no_limit);
    double sum = 0;
    std::int64_t left = needed;
    if (search.found()) {
        std::uint32_t at = root;
        for (const std::uint32_t taken : search.found()->detours)
            for (bool on_the_way = true; on_the_way;) {
                for (const auto& detour : stops[at].detours)
                    if (detour.number == taken) {
                        sum += detour.cost;
                        left -= detour.change;
                        at = detour.to;
                        on_the_way = false;
                        break;
                    }
                if (on_the_way) at = stops[at].next;
            }
    }
    const bool right = search.found() && std::abs(left) <= tolerance &&
                       std::abs(sum - search.found()->cost) < 1e-9 && sum >= best - 1e-9;
    // A cost above what was reached may not be the cheapest, and one above the limit is not found.
    const bool known = search.found() && search.found()->cost <= search.reached()
                           ? std::abs(sum - best) < 1e-9
                           : best > search.reached() - 1e-9;
    if (least <= best + 1e-9 && known && (right || !search.found())) return;
    std::printf("FAILED: the cheapest detours are those of brute force\n");
    std::exit(1);
}

/// The cost of given spans is their penalty.
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
        std::make_shared<const ReadingGraph>(spans, instance.span_values_of(spans), kInf);
    Search search(graph, instance.plan(), instance.tables(), {}, no_limit);
    const bool found = search.next(kPlenty, no_limit) == Search::Status::kFound;
    require(found == (expected < kInf), "given spans have a reading unless a rule forbids it",
            instance);
    if (found)
        require(std::abs(search.found().cost + search.found().violated - expected) < 1e-9,
                "given spans have the right penalty", instance);
}

/// The probability that rules leave is counted exactly, or within bounds if states are dropped.
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
    const double most_weight[2] = {1, 1 + uniform(1)};
    const Mass mass(lattice, spans, instance.span_values_of(spans), instance.plan(),
                    instance.tables(), most_weight, everything,
                    everything || below(2) ? -kInf : std::log(total) - uniform(12), no_limit);
    const Mass::Limits limits{everything ? 0 : uniform(0.01), everything ? kPlenty : below(9),
                              below(2) ? 0 : kPlenty,
                              everything || below(2) ? kPlenty : below(4000), below(2) > 0};
    const bool asked[2] = {below(3) > 0, below(3) > 0};
    Mass::Answers given(2);
    for (int field = 0; field < 2; ++field)
        if (asked[field]) given[field] = {answers[field], uniform(1)};
    const Mass::Shares found = mass.of(given, limits, no_limit);
    const double unit =
        total / std::exp(mass.log_total());  // at most 1: spans count by their `most_weight`
    const double share = std::exp(mass.log_total());
    require(found.all * share <= all + 1e-9, "no more is counted than exists", instance);
    require((found.all + found.open) * share >= all - 1e-9, "what is not counted is bounded",
            instance);
    for (int field = 0; field < 2; ++field) {
        require(found.same[field] * share <= same[field] + 1e-9,
                "no more is counted of a field than exists", instance);
        if (!asked[field]) continue;
        const double open_same = found.open_same[field], open_other = found.open_other[field];
        require((found.same[field] + open_same) * share >= same[field] - 1e-9,
                "what is not counted of an answer is bounded", instance);
        const double other = found.all - found.same[field];
        require((other + open_other) * share >= all - same[field] - 1e-9,
                "what is not counted of other values is bounded", instance);
        require(std::max(open_same, open_other) <= found.open + 1e-12,
                "neither is more than what was not counted at all", instance);
    }
    require(!everything || found.open == 0, "nothing is dropped without need", instance);
    require(unit <= 1 + 1e-9, "all legal labellings are in the total", instance);
}

/// Loops over blocks of cells do what loops over cells do.
void cells_case() {
    constexpr std::int16_t kNever = std::numeric_limits<std::int16_t>::max() / 2;
    const auto some = [](std::size_t length) {
        std::vector<std::int16_t> cells;
        for (std::size_t k = 0; k < length; ++k)
            cells.push_back(below(4) == 0 ? kNever : static_cast<std::int16_t>(below(100)));
        return cells;
    };
    const std::size_t length = below(80);
    const auto reach = some(length), here = some(length), there = some(length);
    const auto cost = static_cast<std::int16_t>(below(50)),
               limit = static_cast<std::int16_t>(below(200));
    std::vector<std::int16_t> lowered = here, reached = some(length), expected = reached;
    lower_cells(lowered.data(), there.data(), length, cost);
    const std::int16_t found = pass_cells(reached.data(), reach.data(), here.data(), there.data(),
                                          length, cost, limit, kNever);
    std::int16_t least = kNever;
    bool same = true;
    for (std::size_t k = 0; k < length; ++k) {
        same = same && lowered[k] == std::min<int>(here[k], cost + there[k]);
        if (reach[k] + cost + there[k] > limit) continue;
        expected[k] = std::min<std::int16_t>(expected[k], reach[k] + cost);
        least = std::min<std::int16_t>(least, there[k] - here[k]);
    }
    std::vector<std::uint8_t> bytes, other_bytes, sums;
    for (std::size_t k = 0; k < length; ++k) {
        bytes.push_back(static_cast<std::uint8_t>(below(256)));
        other_bytes.push_back(static_cast<std::uint8_t>(below(256)));
        sums.push_back(std::min<std::uint8_t>(
            bytes[k], static_cast<std::uint8_t>(std::min<int>(255, other_bytes[k] + cost))));
    }
    lower_cells(bytes.data(), other_bytes.data(), length, static_cast<std::uint8_t>(cost));
    same = same && bytes == sums;
    std::vector<std::uint32_t> within, listed;
    for (std::uint32_t k = 0; k < length; ++k)
        if (reach[k] + here[k] <= limit) within.push_back(k);
    list_within(reach.data(), here.data(), length, limit, listed);
    same = same && listed == within &&
           count_within(reach.data(), here.data(), length, limit) == within.size();
    if (same && reached == expected && found == least) return;
    std::printf("FAILED: cells differ from those of a plain loop\n");
    std::exit(1);
}

/// Sums of spans are found exactly, whether they are close to each other or far apart.
void sums_case() {
    const std::int64_t far = below(2) ? 0 : below(2) ? 1'000'000 : std::int64_t{1} << 50;
    const auto number = [&] {
        return static_cast<std::int64_t>(below(7)) - 2 + far * (static_cast<int>(below(4)) - 1);
    };
    std::vector<ListedSpan> spans;
    for (std::uint32_t i = static_cast<std::uint32_t>(below(8)), start = 0; i-- > 0;
         start += below(2)) {
        const auto end = start + 1 + static_cast<std::uint32_t>(below(2));
        spans.push_back({i, start, end, number(), true});
    }
    std::vector<std::int64_t> wanted;
    for (std::size_t i = below(4); i-- > 0;) wanted.push_back(2 * number());
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const auto tolerance = static_cast<std::int64_t>(below(2));
    std::vector<bool> expected(wanted.size());
    std::map<std::uint32_t, bool> leads;
    for (std::uint32_t chosen = 0; chosen < 1u << spans.size(); ++chosen) {
        std::int64_t sum = 0;
        std::uint32_t end = 0;
        bool apart = true;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if ((chosen >> i & 1) == 0) continue;
            apart = apart && spans[i].start >= end;
            end = spans[i].end;
            sum += spans[i].number;
        }
        for (std::size_t w = 0; apart && w < wanted.size(); ++w) {
            if (std::abs(wanted[w] - sum) > tolerance) continue;
            expected[w] = true;
            for (std::size_t i = 0; i < spans.size(); ++i)
                if (chosen >> i & 1) leads[spans[i].index] = true;
        }
    }
    const auto reached = reached_sums(spans, wanted, tolerance, no_limit);
    bool same = reached && *reached == expected;
    for (const ListedSpan& span : spans) same = same && span.admitted == leads[span.index];
    if (same) return;
    std::printf("FAILED: sums of spans are not those of brute force\n");
    std::exit(1);
}

/// Hard equations admit every value of every reading that satisfies them: a = b + c and b = sum(d)
/// over a few spans, where c may be 0 if it is absent.
void admission_case() {
    constexpr std::uint32_t kFields = 4, kList = 3;
    const int unit = 1 + static_cast<int>(below(3)), tolerance = static_cast<int>(below(2)) * unit;
    const bool has_default = below(2), far = below(2);  // apart are the numbers
    bool agrees[kFields];
    Plan plan;
    DocumentTables tables;
    Lookup lookup(0), defaulted(0);
    lookup.append({0, Outcome::kMissing});
    defaulted.append({0, has_default ? Outcome::kKnown : Outcome::kMissing});
    std::vector<int> numbers{0, 0};
    for (Lookup* each : {&lookup, &defaulted}) each->append({0, Outcome::kMissing});
    for (int value = 0; value < 6; ++value) {
        numbers.push_back(unit * (static_cast<int>(below(9)) - 2 +
                                  (far ? 100'000 * static_cast<int>(below(3)) : 0)));
        for (Lookup* each : {&lookup, &defaulted})
            each->append({numbers.back() * kUnit, Outcome::kKnown});
    }
    for (std::uint32_t f = 0; f < kFields; ++f) {
        FieldPlan& field = plan.fields.emplace_back();
        agrees[f] = f != kList && below(2);
        field.many = f == kList;
        field.first = f == kList ? FieldPlan::Slot{} : FieldPlan::Slot{f};
        if (agrees[f]) field.disagrees = 4 + f;
        field.disagreement = kInf;
        field.has_default = f == 2 && has_default;
        tables.missing.push_back(below(2) ? kInf : 0);
    }
    tables.lookups = {lookup, defaulted};
    using Kind = Term::Kind;
    Equation total{{}, 0, tolerance * kUnit, kInf, 0, true}, sum = total;
    total.terms = {{Kind::kFirst, 0, 0, 1}, {Kind::kFirst, 1, 0, -1}, {Kind::kFirst, 2, 1, -1}};
    sum.terms = {{Kind::kFirst, 1, 0, 1}, {Kind::kSum, kList, 0, -1}};
    plan.equations = {total, sum};
    std::vector<FieldSpan> spans;
    std::vector<SpanValue> values;
    for (std::uint32_t i = 0, start = 0; i < 8; ++i, start += below(2)) {
        spans.push_back({static_cast<std::uint32_t>(below(kFields)), start,
                         start + 1 + static_cast<std::uint32_t>(below(2)), 0, 0});
        const bool readable = below(12) > 0;
        values.push_back({i, readable ? static_cast<std::uint32_t>(2 + below(6)) : 1u, 0});
    }
    std::vector<bool> occurs(values.size());
    for (std::uint32_t chosen = 0; chosen < 1u << values.size(); ++chosen) {
        std::uint32_t first[kFields] = {0, 0, 0, 0}, end = 0;
        bool allowed = true, unknown = false, unreadable = false;
        int listed = 0;
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            if ((chosen >> i & 1) == 0) continue;
            const FieldSpan& span = spans[i];
            const std::uint32_t value = values[i].value;
            allowed = allowed && span.start >= end;
            end = span.end;
            if (!is_readable(value)) {
                unknown = unknown || span.field == kList;
                unreadable = unreadable || span.field == 2;
                continue;
            }
            if (span.field == kList) listed += numbers[value];
            if (agrees[span.field] && first[span.field] != 0 && first[span.field] != value)
                allowed = false;
            if (first[span.field] == 0) first[span.field] = value;
        }
        for (std::uint32_t f = 0; f < kFields; ++f)
            allowed = allowed && (first[f] != 0 || tables.missing[f] == 0);
        const bool c = first[2] != 0 || (has_default && !unreadable);
        if (first[0] != 0 && first[1] != 0 && c)
            allowed = allowed && std::abs(numbers[first[0]] - numbers[first[1]] -
                                          numbers[first[2]]) <= tolerance;
        if (first[1] != 0 && first[kList] != 0 && !unknown)
            allowed = allowed && std::abs(numbers[first[1]] - listed) <= tolerance;
        for (std::uint32_t i = 0; allowed && i < values.size(); ++i)
            if (chosen >> i & 1) occurs[i] = true;
    }
    const auto admitted = admitted_values(plan, tables, spans, values, no_limit)
                              .value_or(std::vector<std::uint32_t>());
    for (std::uint32_t i = 0; i < values.size(); ++i)
        if (occurs[i] && !std::binary_search(admitted.begin(), admitted.end(), i)) {
            std::printf("FAILED: a value of a reading that satisfies the equations is dropped\n");
            std::exit(1);
        }
}

/// Too little memory causes an exception and nothing else.
void memory_case() {
    const Instance instance;
    if (instance.lattice()->best() == kInf) return;
    Search::Limits limits;
    limits.memory = below(40'000);
    limits.patience = 1;
    try {
        Search search(instance.graph(kInf), instance.plan(), instance.tables(), limits, no_limit);
        while (search.next(kPlenty, no_limit) == Search::Status::kFound) {
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
        dive_beyond_case();
        local_case();
        stop_case();
        time_case();
        detours_case();
        detour_search_case();
        given_case();
        mass_case();
        cells_case();
        sums_case();
        admission_case();
        memory_case();
    }
    std::printf("%d random searches agree with brute force\n", cases);
}
