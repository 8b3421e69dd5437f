#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/arena.hpp"
#include "base/hash_table.hpp"
#include "rules/program.hpp"

namespace lawful {

/// Numbers for states of rules: equal states have equal numbers.
class StateTable {
public:
    StateTable(Arena& arena, std::size_t slots) : arena_(arena), slots_(slots), all_(arena) {}

    std::uint32_t number_of(std::span<const Wide> state) {
        std::uint32_t& number = index_.entry(Keys{*this}, state);
        if (number == HashTable<Keys>::kNone) {
            Wide* copy = arena_.allocate<Wide>(slots_);
            std::copy(state.begin(), state.end(), copy);
            number = all_.push(copy);
        }
        return number;
    }
    /// The number of a state, or the largest number if it has none.
    std::uint32_t find(std::span<const Wide> state) const {
        return index_.find(Keys{*this}, state);
    }
    std::span<const Wide> operator[](std::uint32_t number) const { return {all_[number], slots_}; }
    std::size_t size() const { return all_.size(); }

private:
    struct Keys {
        const StateTable& table;

        static std::uint64_t hash(std::span<const Wide> state) {
            std::uint64_t hash = 0;
            for (const Wide slot : state) {
                hash ^= static_cast<std::uint64_t>(slot) ^
                        std::rotl(static_cast<std::uint64_t>(slot >> 64), 32);
                hash = std::rotl(hash * 0x9e3779b97f4a7c15, 29);
            }
            return mixed(hash);
        }
        bool equal(std::uint32_t number, std::span<const Wide> state) const {
            return std::equal(state.begin(), state.end(), table.all_[number]);
        }
    };

    Arena& arena_;
    std::size_t slots_;
    Chunked<const Wide*> all_;
    HashTable<Keys> index_;
};

}  // namespace lawful
