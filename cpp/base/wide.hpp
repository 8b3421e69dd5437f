#pragma once

// Whole numbers of 128 bits. GCC and Clang have such a type; for other compilers, and with
// LAWFUL_PORTABLE, there is one of two halves.

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

#if !defined(__SIZEOF_INT128__) && !defined(LAWFUL_PORTABLE)
#define LAWFUL_PORTABLE
#endif

namespace lawful {

/// A number of 128 bits in two's complement, with the operators of a built-in integer. Results that
/// do not fit wrap around.
class TwoHalves {
public:
    constexpr TwoHalves() = default;
    template <std::integral T>
    constexpr TwoHalves(T number)
        : low_(static_cast<std::uint64_t>(number)), high_(number < T{0} ? ~std::uint64_t{0} : 0) {}

    template <std::integral T>
        requires(!std::same_as<T, bool>)
    explicit constexpr operator T() const {
        return static_cast<T>(low_);
    }

    friend constexpr bool operator==(TwoHalves, TwoHalves) = default;
    friend constexpr std::strong_ordering operator<=>(TwoHalves a, TwoHalves b) {
        if (a.high_ != b.high_)
            return static_cast<std::int64_t>(a.high_) <=> static_cast<std::int64_t>(b.high_);
        return a.low_ <=> b.low_;
    }

    constexpr TwoHalves operator-() const { return TwoHalves(0) - *this; }
    friend constexpr TwoHalves operator+(TwoHalves a, TwoHalves b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {low, a.high_ + b.high_ + (low < a.low_)};
    }
    friend constexpr TwoHalves operator-(TwoHalves a, TwoHalves b) {
        return {a.low_ - b.low_, a.high_ - b.high_ - (a.low_ < b.low_)};
    }
    friend constexpr TwoHalves operator*(TwoHalves a, TwoHalves b) {
        TwoHalves product = multiplied(a.low_, b.low_);
        product.high_ += a.low_ * b.high_ + a.high_ * b.low_;
        return product;
    }
    /// Rounds towards zero, like all integers.
    friend constexpr TwoHalves operator/(TwoHalves a, TwoHalves b) {
        TwoHalves rest;
        const TwoHalves quotient = divided(a.size(), b.size(), rest);
        return a.negative() == b.negative() ? quotient : -quotient;
    }
    friend constexpr TwoHalves operator%(TwoHalves a, TwoHalves b) {
        TwoHalves rest;
        divided(a.size(), b.size(), rest);
        return a.negative() ? -rest : rest;
    }
    friend constexpr TwoHalves operator|(TwoHalves a, TwoHalves b) {
        return {a.low_ | b.low_, a.high_ | b.high_};
    }
    friend constexpr TwoHalves operator&(TwoHalves a, TwoHalves b) {
        return {a.low_ & b.low_, a.high_ & b.high_};
    }
    /// `bits` is less than 128.
    friend constexpr TwoHalves operator<<(TwoHalves a, std::size_t bits) {
        if (bits == 0) return a;
        if (bits >= 64) return {0, a.low_ << (bits - 64)};
        return {a.low_ << bits, a.high_ << bits | a.low_ >> (64 - bits)};
    }
    friend constexpr TwoHalves operator>>(TwoHalves a, std::size_t bits) {
        const auto high = static_cast<std::int64_t>(a.high_);
        const std::uint64_t sign = high < 0 ? ~std::uint64_t{0} : 0;
        if (bits == 0) return a;
        if (bits >= 64) return {static_cast<std::uint64_t>(high >> (bits - 64)), sign};
        return {a.low_ >> bits | a.high_ << (64 - bits), static_cast<std::uint64_t>(high >> bits)};
    }
    constexpr TwoHalves& operator+=(TwoHalves other) { return *this = *this + other; }
    constexpr TwoHalves& operator-=(TwoHalves other) { return *this = *this - other; }
    constexpr TwoHalves& operator*=(TwoHalves other) { return *this = *this * other; }
    constexpr TwoHalves& operator/=(TwoHalves other) { return *this = *this / other; }
    constexpr TwoHalves& operator|=(TwoHalves other) { return *this = *this | other; }
    constexpr TwoHalves& operator++() { return *this += 1; }

    constexpr bool negative() const { return high_ >> 63 != 0; }

private:
    constexpr TwoHalves(std::uint64_t low, std::uint64_t high) : low_(low), high_(high) {}

    /// The size of the least number is itself, read without a sign.
    constexpr TwoHalves size() const { return negative() ? -*this : *this; }

    static constexpr TwoHalves multiplied(std::uint64_t a, std::uint64_t b) {
        constexpr std::uint64_t kHalf = 0xffff'ffff;
        const std::uint64_t low = (a & kHalf) * (b & kHalf);
        const std::uint64_t middle = (a >> 32) * (b & kHalf) + (low >> 32);
        const std::uint64_t other = (a & kHalf) * (b >> 32) + (middle & kHalf);
        return {other << 32 | (low & kHalf),
                (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)};
    }
    /// The quotient of two numbers without signs; writes the rest to `rest`.
    static constexpr TwoHalves divided(TwoHalves a, TwoHalves b, TwoHalves& rest) {
        if (a.high_ == 0 && b.high_ == 0) {
            rest = {a.low_ % b.low_, 0};
            return {a.low_ / b.low_, 0};
        }
        if (b.high_ == 0 && b.low_ >> 32 == 0) {  // long division, with digits of 32 bits
            const std::uint64_t by = b.low_;
            const std::uint64_t upper = (a.high_ % by) << 32 | a.low_ >> 32;
            const std::uint64_t lower = (upper % by) << 32 | (a.low_ & 0xffff'ffff);
            rest = {lower % by, 0};
            return {(upper / by) << 32 | lower / by, a.high_ / by};
        }
        TwoHalves quotient;  // long division, bit by bit
        rest = 0;
        for (int bit = 127; bit >= 0; --bit) {
            const bool carry = rest.negative();
            rest = rest << 1 | ((bit >= 64 ? a.high_ >> (bit - 64) : a.low_ >> bit) & 1);
            quotient = quotient << 1;
            const bool less = rest.high_ != b.high_ ? rest.high_ < b.high_ : rest.low_ < b.low_;
            if (less && !carry) continue;
            rest -= b;
            quotient += 1;
        }
        return quotient;
    }

    std::uint64_t low_ = 0, high_ = 0;
};

/// Each writes the result to `result`, and returns true if it did not fit.
constexpr bool add_overflows(TwoHalves a, TwoHalves b, TwoHalves& result) {
    result = a + b;
    return a.negative() == b.negative() && result.negative() != a.negative();
}
constexpr bool subtract_overflows(TwoHalves a, TwoHalves b, TwoHalves& result) {
    result = a - b;
    return a.negative() != b.negative() && result.negative() != a.negative();
}
constexpr bool multiply_overflows(TwoHalves a, TwoHalves b, TwoHalves& result) {
    result = a * b;
    if (a == 0 || b == 0) return false;
    // A product that wrapped around differs from the true one by a multiple of 2^128, so dividing
    // it by a factor does not give the other one back; but for the least number, whose quotient
    // wraps around as well.
    const TwoHalves least = TwoHalves(1) << 127;
    return (a == -1 && b == least) || (b == -1 && a == least) || result / b != a;
}

#ifdef LAWFUL_PORTABLE

using Wide = TwoHalves;

#else

__extension__ using Wide = __int128;

inline bool add_overflows(Wide a, Wide b, Wide& result) {
    return __builtin_add_overflow(a, b, &result);
}
inline bool subtract_overflows(Wide a, Wide b, Wide& result) {
    return __builtin_sub_overflow(a, b, &result);
}
inline bool multiply_overflows(Wide a, Wide b, Wide& result) {
    return __builtin_mul_overflow(a, b, &result);
}

#endif

}  // namespace lawful
