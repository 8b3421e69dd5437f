#include "streams/transitions.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "base/costs.hpp"

namespace lawful {

namespace {

/// Compares whole rows of a matrix, so that equal rows share one key.
struct RowLess {
    bool operator()(std::span<const double> a, std::span<const double> b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
};

/// The least cost, to be subtracted from all of them; 0 if all are forbidden. Throws
/// std::invalid_argument if there are not `size` costs, or some are NaN or -inf.
double least(std::span<const double> costs, std::size_t size) {
    if (size == 0 || costs.size() != size)
        throw std::invalid_argument("costs of transitions differ in their numbers of labels");
    check_costs(costs);
    const double cost = *std::min_element(costs.begin(), costs.end());
    return cost == kForbidden ? 0 : cost;
}

}  // namespace

Transitions::Transitions(std::span<const double> start, std::span<const double> between,
                         std::span<const double> end)
    : class_of_(end.size()),
      end_(end.begin(), end.end()),
      start_offset_(least(start, end.size())),
      between_offset_(least(between, end.size() * end.size())),
      end_offset_(least(end, end.size())) {
    for (double& cost : end_) cost -= end_offset_;
    const std::size_t labels = end.size();
    std::map<std::span<const double>, std::uint32_t, RowLess> classes;
    std::vector<std::span<const double>> rows;  // by class
    for (std::size_t label = 0; label < labels; ++label) {
        const std::span<const double> row = between.subspan(label * labels, labels);
        const auto [entry, added] =
            classes.try_emplace(row, static_cast<std::uint32_t>(rows.size()));
        if (added) rows.push_back(row);
        class_of_[label] = entry->second;
    }

    std::vector<bool> is_common(labels);
    for (std::uint32_t to = 0; to < labels; ++to) {
        const double cost = rows[0][to];
        is_common[to] = cost != kForbidden &&
                        std::all_of(rows.begin(), rows.end(),
                                    [&](std::span<const double> row) { return row[to] == cost; });
        if (is_common[to]) common_.push_back({to, cost - between_offset_});
        if (start[to] != kForbidden) start_.push_back({to, start[to] - start_offset_});
    }
    for (const std::span<const double> row : rows) {
        first_arc_.push_back(own_.size());
        for (std::uint32_t to = 0; to < labels; ++to)
            if (row[to] != kForbidden && !is_common[to])
                own_.push_back({to, row[to] - between_offset_});
    }
    first_arc_.push_back(own_.size());
}

}  // namespace lawful
