#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/costs.hpp"
#include "base/tuning.hpp"
#include "search/bound.hpp"
#include "search/cell_loops.hpp"

namespace lawful {

/// Costs in a table of a bound: as they are.
struct ExactCosts {
    using Cell = double;
    static constexpr Cell kNever = kForbidden;
    static constexpr Cell kLargest = std::numeric_limits<double>::max();

    explicit ExactCosts(double) {}
    static Cell cell(double cost) { return cost; }
    static double cost(Cell cell) { return cell; }
    static double difference(Cell cell) { return cell; }
};

/// Costs up to a finite `most` as whole numbers of a small unit, rounded down: a quarter of the
/// memory. Sums of two cells do not overflow.
struct CoarseCosts {
    using Cell = std::int16_t;
    static constexpr Cell kNever = std::numeric_limits<Cell>::max() / 2;
    static constexpr Cell kLargest = kNever - 1;

    explicit CoarseCosts(double most) : unit(std::max(most, 1e-3) / (kNever - 2)) {}
    Cell cell(double cost) const {
        return cost < unit * kNever ? static_cast<Cell>(cost / unit) : kNever;
    }
    double cost(Cell cell) const { return cell == kNever ? kForbidden : cell * unit; }
    double difference(Cell cell) const { return cell * unit; }

    double unit;
};

/// The bound that is exact for given classes of states, as far as `Costs` are.
///
/// `Classes` says which class a span value leads to and what it costs: see `Residues`.
template <class Classes, class Costs>
class ClassBound final : public AddedBound {
public:
    explicit ClassBound(Classes classes) : classes_(std::move(classes)) {}

    double fill(const ReadingGraph& graph, ReducedCosts& reduced, std::vector<double>& missing,
                double most, Clock& clock) override {
        most = std::max(most, 0.0);
        costs_ = Costs(most);
        ends_.clear();
        for (const double end : classes_.ends(missing)) ends_.push_back(costs_.cell(end));
        for (const std::uint32_t field : classes_.needed())
            if (missing[field] < kForbidden) missing[field] = 0;
        find_rows(graph, reduced);
        find_more(graph, reduced, clock);
        take_up(graph, reduced, most + tuning::kRoundingNats, clock);
        return rest(ReadingGraph::kRoot, classes_.begin());
    }

    std::uint32_t class_of(std::span<const Wide> state) override {
        return classes_.class_of(state);
    }
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) override {
        if (before == kFree) return kFree;
        const std::uint32_t after = classes_.next(before, choice);
        return after == kFree || classes_.decided(after) ? kFree : after;
    }
    double more(std::uint32_t node, std::uint32_t at, double) const override {
        return rest(node, at);
    }
    double more_with(std::uint32_t choice, std::uint32_t node, std::uint32_t before,
                     double) const override {
        if (before == kFree) return 0;
        return classes_.charge(before, choice) + rest(node, classes_.next(before, choice));
    }
    std::size_t held() const override {
        return rows_ * classes_.classes() * sizeof(Cell) + row_.capacity() * sizeof(row_[0]);
    }

private:
    using Cell = typename Costs::Cell;
    static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

    double rest(std::uint32_t node, std::uint32_t at) const {
        if (at == kFree) return 0;
        return row_[node] == kNoRow ? kForbidden : costs_.cost(row(node)[at]);
    }
    Cell* row(std::uint32_t node) const {
        return more_.get() + std::size_t{row_[node]} * classes_.classes();
    }

    /// Gives a row of the table to every node that open steps lead to.
    void find_rows(const ReadingGraph& graph, const ReducedCosts& reduced) {
        row_.assign(graph.nodes(), kNoRow);
        row_[ReadingGraph::kRoot] = 0;
        rows_ = 1;
        for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
            if (row_[node] == kNoRow) continue;
            const auto steps = graph.steps_from(node);
            for (std::size_t i = 0; i < steps.size(); ++i)
                if (reduced[node][i] < kForbidden && steps[i].to != ReadingGraph::kEnd &&
                    row_[steps[i].to] == kNoRow)
                    row_[steps[i].to] = static_cast<std::uint32_t>(rows_++);
        }
        more_ = std::make_unique_for_overwrite<Cell[]>(rows_ * classes_.classes());
    }

    void find_more(const ReadingGraph& graph, const ReducedCosts& reduced, Clock& clock) {
        const std::size_t classes = classes_.classes();
        for (std::uint32_t node = static_cast<std::uint32_t>(graph.nodes()); node-- > 0;) {
            if (row_[node] == kNoRow) continue;
            Cell* const here = row(node);
            std::fill_n(here, classes, Costs::kNever);
            const auto steps = graph.steps_from(node);
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const double cost = reduced[node][i];
                if (cost == kForbidden) continue;
                clock.tick(classes * sizeof(Cell) / sizeof(double));
                const auto take = [&](const Cell* there, std::size_t before, std::size_t after,
                                      std::size_t length, double charge = 0) {
                    lower_cells(here + before, there + after, length, costs_.cell(cost + charge));
                };
                if (steps[i].to == ReadingGraph::kEnd)
                    take(ends_.data(), 0, 0, classes);
                else if (classes_.frees(steps[i].choice))
                    for (std::size_t c = 0; c < classes; ++c)
                        here[c] = std::min(here[c], costs_.cell(cost));
                else
                    classes_.each_range(steps[i].choice,
                                        [&](auto... range) { take(row(steps[i].to), range...); });
            }
        }
    }

    /// Lowers the reduced cost of each step to what no class on a path up to `most` needs of it.
    void take_up(const ReadingGraph& graph, ReducedCosts& reduced, double most,
                 Clock& clock) const {
        const std::size_t classes = classes_.classes();
        // Cells that are never reached are beyond it.
        const Cell limit = std::min(costs_.cell(most), Costs::kLargest);
        // The least reduced cost up to a row and class; the last one is for kFree.
        std::vector<Cell> reach(rows_ * (classes + 1), Costs::kNever);
        reach[classes_.begin()] = costs_.cell(0);
        std::vector<std::uint32_t> alive;  // classes on a path up to `most`
        for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
            if (row_[node] == kNoRow) continue;
            const Cell* const reached = reach.data() + row_[node] * (classes + 1);
            const Cell* const here = row(node);
            const double free = costs_.cost(reached[classes]);
            const std::size_t count = count_within(reached, here, classes, limit);
            const bool many = Classes::kShifts && count > classes / tuning::kSparseClassesDivisor;
            alive.clear();
            if (!many && count > 0) list_within(reached, here, classes, limit, alive);
            const auto steps = graph.steps_from(node);
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const double cost = reduced[node][i];
                if (cost == kForbidden) continue;
                clock.tick(std::min(2 * count, classes) + 1);
                const bool ended = steps[i].to == ReadingGraph::kEnd;
                Cell* const there =
                    ended ? nullptr : reach.data() + row_[steps[i].to] * (classes + 1);
                double left = kForbidden;
                if (free + cost <= most) {
                    left = cost;
                    if (!ended) there[classes] = std::min(there[classes], costs_.cell(free + cost));
                }
                const Cell step = costs_.cell(cost);
                Cell least = Costs::kNever;  // what a class adds to the rest of steps it needs
                if (many && !ended && !classes_.frees(steps[i].choice)) {
                    classes_.each_range(steps[i].choice, [&](std::size_t before, std::size_t after,
                                                             std::size_t length, auto...) {
                        least = std::min(least, pass_cells(there + after, reached + before,
                                                           here + before, row(steps[i].to) + after,
                                                           length, step, limit, Costs::kNever));
                    });
                    reduced[node][i] = left_after(cost, left, least);
                    continue;
                }
                if (many && alive.empty()) list_within(reached, here, classes, limit, alive);
                for (const std::uint32_t c : alive) {
                    if (ended) {
                        if (ends_[c] < Costs::kNever && reached[c] + step + ends_[c] <= limit)
                            least = std::min<Cell>(least, ends_[c] - here[c]);
                        continue;
                    }
                    const std::uint32_t after = classes_.next(c, steps[i].choice);
                    const double charge = classes_.charge(c, steps[i].choice);
                    const Cell more = charge > 0 ? costs_.cell(cost + charge) : step;
                    const Cell rest = after == kFree ? Cell{} : row(steps[i].to)[after];
                    if (rest == Costs::kNever || more == Costs::kNever ||
                        !(reached[c] + more + rest <= limit))
                        continue;
                    // The difference of two rounded costs may be more than the charge.
                    if (charge > 0)
                        left = std::min(left, cost + charge + costs_.difference(rest - here[c]));
                    else
                        least = std::min<Cell>(least, rest - here[c]);
                    const auto reach_class = [&](std::uint32_t at) {
                        Cell& reach_after = there[at == kFree ? classes : at];
                        reach_after = std::min<Cell>(reach_after, reached[c] + more);
                    };
                    reach_class(after);
                    if constexpr (requires { classes_.next_if_readable(c, steps[i].choice); })
                        if (after == kFree)
                            reach_class(classes_.next_if_readable(c, steps[i].choice));
                }
                reduced[node][i] = left_after(cost, left, least);
            }
        }
    }

    /// What is left of a step's reduced cost, of which `left` or, by the table, `least` is needed.
    double left_after(double cost, double left, Cell least) const {
        if (least < Costs::kNever) left = std::min(left, cost + costs_.difference(least));
        return left == kForbidden ? left : std::clamp(left, 0.0, cost);
    }

    Classes classes_;
    std::vector<Cell> ends_;          // by class
    std::vector<std::uint32_t> row_;  // by node
    std::size_t rows_ = 0;
    Costs costs_{0};
    std::unique_ptr<Cell[]> more_;  // (rows, classes)
};

}  // namespace lawful
