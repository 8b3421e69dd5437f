#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "clock.hpp"
#include "graph.hpp"
#include "plan.hpp"

namespace lawful {

/// What an equation costs from every node on: exactly, but for sums that agree modulo a prime.
///
/// The true costs would need a state for every partial sum, of which sixty items have more than
/// anybody can count. Partial sums modulo a prime are few. A way that the equation accepts is one
/// that it accepts modulo the prime, so the cheapest of the latter is a lower bound, and a close
/// one: of the ways that do not add up, one in a prime goes unnoticed.
class Sums {
public:
    static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

    /// Empty when the equation is too large for `work` elementary steps or `memory` bytes.
    Sums(const Graph& graph, const Plan& plan, const Equation& equation, const Facts& facts,
         std::size_t work, std::size_t memory, Clock& clock);

    bool empty() const { return rest_.empty(); }
    std::size_t held() const { return rest_.capacity() * sizeof(double); }

    /// Where a memory stands in the equation; kFree when that is decided, or will stay open.
    std::uint32_t state_of(std::span<const Wide> memory) const;
    /// The least cost from a node to the end, violations of this equation included.
    double rest(std::uint32_t node, std::uint32_t state) const {
        return state == kFree ? 0 : rest_[node * states_ + state];
    }

private:
    static constexpr std::uint32_t kNoBit = 32;
    /// What spans of a field add: the first one with a value, and every one.
    struct FieldTerms {
        std::uint32_t bit = kNoBit;  // of the mask that says which fields were there
        std::vector<Equation::Term> first, each;
        bool sum = false;  // of a list: a span that cannot be read leaves the equation open
    };
    /// What a reading adds, in units of the common divisor; free: the equation is left open.
    struct Addend {
        std::uint32_t bit = kNoBit;
        Wide first = 0, each = 0;
        bool free = false;
    };

    void sort_terms();
    Addend addend_of(std::uint32_t reading) const;
    /// Whether an absent field leaves the equation open; else what it adds.
    bool open_without(std::uint32_t field, Wide& sum) const;
    bool choose_prime(std::size_t work, std::size_t memory);
    void fill(Clock& clock);
    void fill_end(std::vector<double>& ends) const;
    std::uint32_t residue(Wide number) const {
        const Wide rest = number % static_cast<Wide>(prime_);
        return static_cast<std::uint32_t>(rest < 0 ? rest + static_cast<Wide>(prime_) : rest);
    }

    const Graph& graph_;
    const Plan& plan_;
    const Equation& equation_;
    const Facts& facts_;
    std::vector<FieldTerms> fields_;
    std::vector<std::uint32_t> bits_;  // by bit, its field
    std::vector<Addend> addends_;      // by reading
    Wide divisor_ = 0;
    Wide tolerance_ = 0;
    std::size_t prime_ = 0;
    std::size_t states_ = 0;    // masks times residues
    std::vector<double> rest_;  // (nodes, masks, residues)
};

}  // namespace lawful
