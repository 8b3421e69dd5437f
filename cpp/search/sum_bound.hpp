#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rules/residues.hpp"
#include "search/bound.hpp"

namespace lawful {

/// The bound of an equation over those sums that readings up to the limit have at a node.
///
/// Like `ClassBound`, but classes that no such reading has are not listed: of most equations a page
/// has few different sums, far fewer than there are remainders of a prime that tells them apart.
class SumBound final : public AddedBound {
public:
    explicit SumBound(Residues residues) : residues_(std::move(residues)) {}

    /// Lists the classes at each node, in up to `most_visits` combinations of a class and a step,
    /// on paths of reduced cost up to `most`; false if there are more.
    bool list(const ReadingGraph& graph, const ReducedCosts& reduced,
              std::span<const double> missing, double most, std::size_t most_visits, Clock& clock);
    /// Combinations of a class and a step that were visited.
    std::size_t visits() const { return visits_; }

    /// To be called after `list`, with the same arguments.
    double fill(const ReadingGraph& graph, ReducedCosts& reduced, std::vector<double>& missing,
                double most, Clock& clock) override;
    std::uint32_t class_of(std::span<const Wide> state) override {
        return residues_.class_of(state);
    }
    std::uint32_t next(std::uint32_t before, std::uint32_t choice) override {
        if (before == kFree) return kFree;
        const std::uint32_t after = residues_.next(before, choice);
        return after == kFree || residues_.decided(after) ? kFree : after;
    }
    double more(std::uint32_t node, std::uint32_t at, double) const override {
        return rest(node, at);
    }
    double more_with(std::uint32_t choice, std::uint32_t node, std::uint32_t before,
                     double) const override {
        return rest(node, after(before, choice));
    }
    std::size_t held() const override;

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    /// The class of sums that are decided and violate the equation.
    static constexpr std::uint32_t kViolated = kFree - 1;

    /// The classes at one node.
    struct Row {
        std::vector<std::uint32_t> classes;
        std::vector<double> reached;       // by class, the least reduced cost from the root
        std::vector<double> rest;          // by class, what it adds to the rest
        std::vector<std::uint32_t> slots;  // a hash table of indices
        std::uint32_t shift = 32;

        std::uint32_t find(std::uint32_t key) const;
        std::uint32_t enter(std::uint32_t key);

    private:
        std::size_t slot_of(std::uint32_t key) const;
        void grow();
    };

    /// The class after a span value, where all decided ones that cost the same are one.
    std::uint32_t after(std::uint32_t before, std::uint32_t choice) const {
        if (before >= kViolated) return before;
        const std::uint32_t next = residues_.next(before, choice);
        if (next == kFree || !residues_.decided(next)) return next;
        return residues_.end(ends_, next) == 0 ? kFree : kViolated;
    }
    /// The same if it is unreadable and a readable span of its field follows.
    std::uint32_t if_readable(std::uint32_t before, std::uint32_t choice) const {
        return before >= kViolated ? before : residues_.next_if_readable(before, choice);
    }
    double rest(std::uint32_t node, std::uint32_t at) const;
    double end_of(std::uint32_t at) const;

    Residues residues_;
    std::vector<Residues::End> ends_;
    std::vector<Row> rows_;  // by node
    std::size_t visits_ = 0;
};

}  // namespace lawful
