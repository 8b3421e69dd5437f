#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "streams/ranking.hpp"
#include "streams/stream.hpp"
#include "streams/transitions.hpp"

namespace lawful {

/// Legal label sequences: every path that the transitions allow, cheapest first.
///
/// A node is a position and the class of the label before it. Viterbi runs backwards and gives
/// every node its cheapest way to the end. Every other path is the cheapest one with detours: at
/// some nodes it takes another label than the best, and follows the best way from there on
/// (Eppstein 1998). All detours on the best way from a node form a heap: the heap of the best next
/// node, plus this node's first detour. The heaps are persistent leftist trees, so that adding a
/// detour is O(log words) and shares the rest; they are made when a path first reaches the node.
///
/// A candidate is a prefix with one more detour, after the last one of the prefix. Its successors
/// are
///
///   - instead of this detour, either of its children in the heap,
///   - instead of this detour, the next dearer one at the same node,
///   - on top of it, the cheapest detour after it: the root of the heap of the node it leads to.
///
/// Again every candidate has one parent, no successor is cheaper, and costs are always
/// `prefix + detour`. The cost of a detour is the difference between two ways to the end. It is as
/// exact as sums of the words' cost differences: one part in 10^15 of the largest of them.
class PathStream final : public Stream {
public:
    /// `costs` is words x labels, row-major; +inf forbids a label. It is read during construction
    /// only. `memory` bounds the bytes that the stream holds. Throws std::invalid_argument for
    /// another size, NaN or -inf.
    PathStream(std::span<const double> costs, std::size_t words,
               std::shared_ptr<const Transitions> transitions, std::size_t memory);

private:
    /// Taking `label` at `node`, which costs this much more than the best label there.
    struct Detour {
        double cost;
        std::uint32_t position;
        std::uint32_t node;
        std::uint32_t label;
        std::uint32_t next;         // the next dearer detour here, or kUnknown, or kNone
        std::uint32_t common_rank;  // numbers of common and own arcs that are no dearer, this one
        std::uint32_t own_rank;     // included; known from the second detour of a node on
    };
    /// A node of a leftist tree: never dearer than its children, the right spine the shortest.
    struct Tree {
        double cost;
        std::uint32_t detour;
        std::uint32_t left, right;
        std::uint32_t spine;
    };
    static constexpr std::uint32_t kNone = 0;  // index 0 of detours_ and trees_ is a placeholder
    static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
    static constexpr std::uint32_t kTreeStep = std::uint32_t{1} << 31;

    void expand(std::uint32_t index) override;
    void list_changes(std::uint32_t index, std::vector<Change>& changes) override;

    /// The node at `position` when the word before it has `label`.
    std::uint32_t node_at(std::size_t position, std::uint32_t label) const {
        return static_cast<std::uint32_t>(position * classes_ + transitions_->class_of(label));
    }
    std::span<const Transitions::Arc> own_arcs(std::uint32_t node) const;
    std::span<const Transitions::Arc> common_arcs(std::uint32_t node) const;

    void find_best_ways();
    std::uint32_t first_detour(std::size_t position, std::uint32_t node);
    std::uint32_t next_detour(std::uint32_t detour);
    Ranking& rank_common(const Detour& at);
    Ranking& rank_own(const Detour& at);
    Ranking rank(std::span<const Transitions::Arc> arcs, std::size_t position);
    std::uint32_t tree_of(std::size_t position, std::uint32_t node);
    std::uint32_t insert(std::uint32_t tree, std::uint32_t detour);
    std::uint32_t add_detour(const Detour& detour);
    std::uint32_t add_tree(const Tree& tree);
    std::uint32_t detour_of(std::uint32_t step) const {
        return step & kTreeStep ? trees_[step & ~kTreeStep].detour : step;
    }

    std::shared_ptr<const Transitions> transitions_;
    std::size_t classes_;
    double* values_ = nullptr;           // (words, labels): from taking that label to the end
    double* rest_ = nullptr;             // (words, classes): from that node to the end
    std::uint32_t* best_way_ = nullptr;  // (words, classes): the label that achieves it
    std::uint32_t* tree_ = nullptr;      // (words, classes): heap of detours from here on
    Ranking* common_ = nullptr;          // (words)
    std::uint32_t* own_ = nullptr;       // (words, classes): index into own_rankings_
    Chunked<Ranking> own_rankings_;
    Chunked<Detour> detours_;
    Chunked<Tree> trees_;
    std::vector<std::uint32_t> pending_;
};

}  // namespace lawful
