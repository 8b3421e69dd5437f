// Compares the streams with brute force on random cases, under the sanitizers.
// `make sanitize` builds and runs it.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "streams/assignments.hpp"
#include "streams/paths.hpp"

using namespace lawful;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
using Labels = std::vector<std::uint16_t>;

std::mt19937_64 generator(20231206);

std::size_t below(std::size_t bound) { return generator() % bound; }

/// Few distinct values in half of the cases, so that ties and forbidden labels are common.
std::vector<double> random_costs(std::size_t count, bool tied) {
    std::vector<double> costs(count);
    for (double& cost : costs) {
        if (tied)
            cost = below(5) == 0   ? kInf
                   : below(9) == 0 ? -0.0
                                   : 0.5 * static_cast<double>(below(4));
        else
            cost = std::uniform_real_distribution(-5.0, 5.0)(generator);
    }
    return costs;
}

struct Instance {
    std::size_t words, labels;
    std::vector<double> costs, start, between, end;
    std::shared_ptr<const Transitions> transitions;  // null: independent words

    Instance(std::size_t words, std::size_t labels, bool structured)
        : words(words), labels(labels), costs(random_costs(words * labels, below(2))) {
        if (!structured) return;
        const bool tied = below(2);
        start = random_costs(labels, tied);
        between = random_costs(labels * labels, tied);
        end = random_costs(labels, tied);
        if (below(3) == 0)  // plain legality, many labels in one class
            for (double& cost : between) cost = cost > 1 ? kInf : 0;
        transitions = std::make_shared<const Transitions>(start, between, end);
    }

    std::unique_ptr<Stream> open(std::size_t memory = kUnlimited) const {
        if (transitions) return std::make_unique<PathStream>(costs, words, transitions, memory);
        return std::make_unique<AssignmentStream>(costs, words, labels, memory);
    }

    double cost_of(const Labels& path) const {
        double cost = 0;
        for (std::size_t i = 0; i < words; ++i) cost += costs[i * labels + path[i]];
        if (!transitions || words == 0) return cost;
        cost += start[path.front()] + end[path.back()];
        for (std::size_t i = 1; i < words; ++i) cost += between[path[i - 1] * labels + path[i]];
        return cost;
    }

    std::vector<double> brute_force() const {
        std::vector<double> all;
        for (Labels path(words, 0);;) {
            if (const double cost = cost_of(path); cost != kInf) all.push_back(cost);
            std::size_t i = 0;
            while (i < words && ++path[i] == labels) path[i++] = 0;
            if (i == words) break;
        }
        std::sort(all.begin(), all.end());
        return all;
    }
};

void require(bool condition, const char* claim, const Instance& instance) {
    if (condition) return;
    std::printf("FAILED: %s (%zu words, %zu labels, %s)\n", claim, instance.words, instance.labels,
                instance.transitions ? "paths" : "assignments");
    std::exit(1);
}

/// The candidates found are in order, without repeats, and at the right cost.
void check_found(Stream& stream, const Instance& instance, const std::vector<double>* expected) {
    const std::size_t found = stream.found();
    std::vector<std::uint16_t> rows(found * instance.words);
    std::vector<double> log_probs(found);
    stream.write_labels(0, found, rows.data());
    stream.write_log_probs(0, found, log_probs.data());
    std::set<Labels> seen;
    for (std::size_t i = 0; i < found; ++i) {
        const Labels path(rows.begin() + static_cast<std::ptrdiff_t>(i * instance.words),
                          rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * instance.words));
        require(seen.insert(path).second, "no candidate comes twice", instance);
        require(std::abs(instance.cost_of(path) + log_probs[i]) < 1e-9,
                "a candidate costs what its labels cost", instance);
        require(i == 0 || log_probs[i] <= log_probs[i - 1], "costs never fall", instance);
        if (expected)
            require(std::abs((*expected)[i] + log_probs[i]) < 1e-9,
                    "candidate i is the i-th cheapest", instance);
    }
}

void small_case(bool structured) {
    const Instance instance(below(6), 1 + below(4), structured);
    const std::vector<double> expected = instance.brute_force();

    const auto stream = instance.open();
    for (std::size_t count = 0; count < expected.size() + 2; count += 1 + below(9))
        require(stream->find(count) == std::min(count, expected.size()), "as many as there are",
                instance);
    require(stream->find(kUnlimited) == expected.size(), "all of them", instance);
    check_found(*stream, instance, &expected);

    // A stream that is stopped by memory or by number has found the right candidates.
    std::unique_ptr<Stream> stopped;
    try {
        stopped = instance.open(below(20'000));
        stopped->find(kUnlimited);
    } catch (const OutOfMemoryBudget&) {
    }
    if (stopped) check_found(*stopped, instance, &expected);
    const auto limited = instance.open();
    limited->limit(1 + below(20));
    try {
        limited->find(kUnlimited);
    } catch (const OutOfIndices&) {
        try {
            limited->find(kUnlimited);
            require(false, "a stopped stream stays stopped", instance);
        } catch (const OutOfIndices&) {
        }
    }
    check_found(*limited, instance, &expected);
}

void large_case(bool structured) {
    const Instance instance(50 + below(300), 2 + below(60), structured);
    const auto stream = instance.open();
    stream->find(20'000);
    check_found(*stream, instance, nullptr);
}

void too_many_cells() {
    // The limit is checked before any cost is read, so no costs are needed.
    try {
        AssignmentStream(std::span<const double>{}, std::size_t{1} << 17, std::size_t{1} << 16,
                         kUnlimited);
        std::printf("FAILED: 2^33 cells are too many\n");
        std::exit(1);
    } catch (const OutOfIndices&) {
    }
    // Two classes of labels, so 2^32 nodes; with more classes, fewer words would do.
    const std::vector<double> start(2), end(2), between = {0, kInf, 0, 0};
    const auto transitions = std::make_shared<const Transitions>(start, between, end);
    try {
        PathStream(std::span<const double>{}, std::size_t{1} << 31, transitions, kUnlimited);
        std::printf("FAILED: 2^32 nodes are too many\n");
        std::exit(1);
    } catch (const OutOfIndices&) {
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int cases = argc > 1 ? std::atoi(argv[1]) : 4000;
    for (int i = 0; i < cases; ++i) small_case(i % 2);
    for (int i = 0; i < 12; ++i) large_case(i % 2);
    too_many_cells();
    std::printf("%d random cases agree with brute force\n", cases);
}
