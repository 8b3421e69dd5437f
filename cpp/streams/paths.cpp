#include "streams/paths.hpp"

#include <limits>

#include "base/costs.hpp"

namespace lawful {

namespace {

constexpr Option kNoOption{kForbidden, 0};

/// The cheapest of `best` and the arcs, of equal cost the lowest label; arcs are by rising label.
Option cheapest(std::span<const Transitions::Arc> arcs, const double* values, Option best) {
    for (const Transitions::Arc& arc : arcs) {
        const double cost = arc.cost + values[arc.label];
        if (cost <= best.cost) best = std::min(best, {cost, arc.label});
    }
    return best;
}

}  // namespace

PathStream::PathStream(std::span<const double> costs, std::size_t words,
                       std::shared_ptr<const Transitions> transitions, std::size_t memory)
    : Stream(words, transitions->labels(), memory),
      transitions_(std::move(transitions)),
      classes_(transitions_->classes()),
      own_rankings_(arena_),
      detours_(arena_),
      trees_(arena_) {
    if (words > kUnknown / classes_) throw OutOfIndices{"words times classes of labels"};
    check_costs(costs, words, labels());
    if (words == 0) {
        start(0, {});
        return;
    }
    values_ = arena_.allocate<double>(costs.size());
    double offset = transitions_->offset(words);
    for (std::size_t word = 0; word < words; ++word) {
        // Every path pays the least cost of every word. It is subtracted here and added again at
        // the end, so that the sums below hold differences only and keep their digits.
        const std::span<const double> row = costs.subspan(word * labels(), labels());
        const double least = *std::min_element(row.begin(), row.end());
        if (least == kForbidden) return;
        offset += least;
        std::transform(row.begin(), row.end(), values_ + word * labels(),
                       [least](double cost) { return cost - least; });
    }
    rest_ = arena_.allocate<double>(words * classes_);
    best_way_ = arena_.allocate<std::uint32_t>(words * classes_);
    find_best_ways();
    if (rest_[0] == kForbidden) return;

    std::vector<std::uint32_t> best(words);
    for (std::size_t at = 0; at < words; ++at)
        best[at] = best_way_[at == 0 ? 0 : node_at(at, best[at - 1])];
    start(offset + rest_[0], std::move(best));
}

/// Position 0 has one node, the start, in the place of class 0.
std::span<const Transitions::Arc> PathStream::own_arcs(std::uint32_t node) const {
    return node == 0 ? transitions_->start() : transitions_->own(node % classes_);
}

std::span<const Transitions::Arc> PathStream::common_arcs(std::uint32_t node) const {
    return node == 0 ? std::span<const Transitions::Arc>{} : transitions_->common();
}

void PathStream::find_best_ways() {
    const std::size_t last = words() - 1;
    double* values = values_ + last * labels();
    for (std::size_t label = 0; label < labels(); ++label)
        values[label] += transitions_->end(label);
    for (std::size_t at = last; at > 0; --at) {
        const Option common = cheapest(transitions_->common(), values, kNoOption);
        double* rest = rest_ + at * classes_;
        for (std::size_t index = 0; index < classes_; ++index) {
            const Option best = cheapest(transitions_->own(index), values, common);
            rest[index] = best.cost;
            best_way_[at * classes_ + index] = best.label;
        }
        values -= labels();
        for (std::size_t label = 0; label < labels(); ++label)
            values[label] += rest[transitions_->class_of(label)];
    }
    const Option best = cheapest(transitions_->start(), values, kNoOption);
    rest_[0] = best.cost;
    best_way_[0] = best.label;
}

void PathStream::expand(std::uint32_t index) {
    if (index == 0) {
        if (words() == 0) return;
        const std::size_t nodes = words() * classes_;
        tree_ = arena_.allocate<std::uint32_t>(nodes);
        std::fill_n(tree_, nodes, kUnknown);
        own_ = arena_.allocate<std::uint32_t>(nodes);
        std::fill_n(own_, nodes, kUnknown);
        common_ = arena_.allocate<Ranking>(words());
        std::fill_n(common_, words(), Ranking{});
        detours_.push({});
        trees_.push({});
        if (const std::uint32_t root = tree_of(0, 0); root != kNone)
            frontier_.push({trees_[root].cost, 0, root | kTreeStep});
        return;
    }
    const Candidate candidate = found_[index];
    const double prefix_cost = found_[candidate.prefix].cost;
    if (candidate.step & kTreeStep) {
        const Tree& tree = trees_[candidate.step & ~kTreeStep];
        for (const std::uint32_t child : {tree.left, tree.right})
            if (child != kNone)
                frontier_.push(
                    {prefix_cost + trees_[child].cost, candidate.prefix, child | kTreeStep});
    }
    const std::uint32_t taken = detour_of(candidate.step);
    if (const std::uint32_t next = next_detour(taken); next != kNone)
        frontier_.push({prefix_cost + detours_[next].cost, candidate.prefix, next});
    const std::size_t after = detours_[taken].position + std::size_t{1};
    if (after == words()) return;
    const std::uint32_t root = tree_of(after, node_at(after, detours_[taken].label));
    if (root != kNone)
        frontier_.push({candidate.cost + trees_[root].cost, index, root | kTreeStep});
}

void PathStream::list_changes(std::uint32_t index, std::vector<Change>& changes) {
    // The last detour comes first. Each one lasts until the path meets the cheapest path again or
    // the next detour begins.
    for (std::size_t until = words(); index != 0;) {
        const Candidate& candidate = found_[index];
        const Detour& detour = detours_[detour_of(candidate.step)];
        std::uint32_t label = detour.label;
        for (std::size_t at = detour.position;;) {
            changes.push_back({static_cast<std::uint32_t>(at), label});
            if (++at == until) break;
            const std::uint32_t node = node_at(at, label);
            if (node == node_at(at, best_label(at - 1))) break;
            label = best_way_[node];
        }
        until = detour.position;
        index = candidate.prefix;
    }
}

/// The second cheapest option, found without sorting: most nodes need no other.
std::uint32_t PathStream::first_detour(std::size_t position, std::uint32_t node) {
    const double* values = values_ + position * labels();
    Option second = kNoOption;
    for (const auto arcs : {common_arcs(node), own_arcs(node)})
        for (const Transitions::Arc& arc : arcs)
            if (arc.label != best_way_[node])
                second = std::min(second, {arc.cost + values[arc.label], arc.label});
    if (second.cost == kForbidden) return kNone;
    return add_detour({second.cost - rest_[node], static_cast<std::uint32_t>(position), node,
                       second.label, kUnknown, 0, 0});
}

std::uint32_t PathStream::next_detour(std::uint32_t index) {
    if (detours_[index].next != kUnknown) return detours_[index].next;
    const Detour& detour = detours_[index];
    Ranking& common = rank_common(detour);
    Ranking& own = rank_own(detour);
    // The first detour has no ranks yet: skip the best label and the first detour.
    std::uint32_t c = detour.common_rank, o = detour.own_rank;
    Option option = kNoOption;
    for (int skip = c + o == 0 ? 3 : 1; skip > 0; --skip) {
        const bool from_common = c < common.size() && (o >= own.size() || common[c] < own[o]);
        if (from_common)
            option = common[c++];
        else if (o < own.size())
            option = own[o++];
        else
            return detours_[index].next = kNone;
    }
    const std::uint32_t next = add_detour({option.cost - rest_[detour.node], detour.position,
                                           detour.node, option.label, kUnknown, c, o});
    return detours_[index].next = next;
}

Ranking& PathStream::rank_common(const Detour& at) {
    Ranking& ranking = common_[at.position];
    if (!ranking.made()) ranking = rank(common_arcs(at.node), at.position);
    return ranking;
}

Ranking& PathStream::rank_own(const Detour& at) {
    std::uint32_t& index = own_[at.node];
    if (index == kUnknown) index = own_rankings_.push(rank(own_arcs(at.node), at.position));
    return own_rankings_[index];
}

Ranking PathStream::rank(std::span<const Transitions::Arc> arcs, std::size_t position) {
    const double* values = values_ + position * labels();
    Option* options = arena_.allocate<Option>(arcs.size());
    std::size_t count = 0;
    for (const Transitions::Arc& arc : arcs)
        if (values[arc.label] != kForbidden)
            options[count++] = {arc.cost + values[arc.label], arc.label};
    return Ranking({options, count});
}

/// The heap of all first detours on the best way from `node` to the end.
std::uint32_t PathStream::tree_of(std::size_t position, std::uint32_t node) {
    // Walk on to a node whose heap is known, then insert detours on the way back.
    pending_.clear();
    while (tree_[node] == kUnknown) {
        pending_.push_back(node);
        if (++position == words()) break;
        node = node_at(position, best_way_[node]);
    }
    std::uint32_t tree = position == words() ? kNone : tree_[node];
    for (; !pending_.empty(); pending_.pop_back()) {
        if (const std::uint32_t detour = first_detour(--position, pending_.back()); detour != kNone)
            tree = insert(tree, detour);
        tree_[pending_.back()] = tree;
    }
    return tree;
}

/// A tree with one more detour; the old tree is unchanged.
std::uint32_t PathStream::insert(std::uint32_t tree, std::uint32_t detour) {
    const double cost = detours_[detour].cost;
    if (tree == kNone || cost <= trees_[tree].cost) return add_tree({cost, detour, tree, kNone, 1});
    Tree copy = trees_[tree];
    copy.right = insert(copy.right, detour);
    if (copy.left == kNone || trees_[copy.left].spine < trees_[copy.right].spine)
        std::swap(copy.left, copy.right);
    copy.spine = 1 + (copy.right == kNone ? 0 : trees_[copy.right].spine);
    return add_tree(copy);
}

std::uint32_t PathStream::add_detour(const Detour& detour) {
    if (detours_.size() >= kTreeStep) throw OutOfIndices{"detours"};
    return detours_.push(detour);
}

std::uint32_t PathStream::add_tree(const Tree& tree) {
    if (trees_.size() >= kTreeStep) throw OutOfIndices{"detours"};
    return trees_.push(tree);
}

}  // namespace lawful
