// Compares the numbers of two halves with the compiler's own type of 128 bits, under the
// sanitizers. `make sanitize` builds and runs it.

#include <cstdio>
#include <cstdlib>
#include <random>

#include "base/wide.hpp"

using namespace lawful;

namespace {

__extension__ using Builtin = __int128;
__extension__ using Bits = unsigned __int128;

std::mt19937_64 generator(20261116);

/// Of any length, so that small, large and extreme numbers are all common.
Builtin random_number() {
    const Bits bits = static_cast<Bits>(generator()) << 64 | generator();
    const std::size_t kept = generator() % 128;
    switch (generator() % 4) {
        case 0:
            return static_cast<Builtin>(bits >> kept);
        case 1:
            return static_cast<Builtin>(~(bits >> kept));
        case 2:
            return static_cast<Builtin>(Bits{1} << kept);
        default:
            return static_cast<Builtin>((Bits{1} << kept) - 1 - generator() % 3);
    }
}

TwoHalves halves(Builtin number) {
    const TwoHalves high(static_cast<std::int64_t>(number >> 64));
    return high << 64 | TwoHalves(static_cast<std::uint64_t>(number));
}

Builtin joined(TwoHalves number) {
    const Bits high = static_cast<std::uint64_t>(number >> 64);
    return static_cast<Builtin>(high << 64 | static_cast<std::uint64_t>(number));
}

void expect(bool equal, const char* what) {
    if (equal) return;
    std::printf("wrong: %s\n", what);
    std::exit(1);
}

void compare(Builtin a, Builtin b) {
    const TwoHalves x = halves(a), y = halves(b);
    expect(joined(x) == a && joined(y) == b, "conversions");
    expect((x < y) == (a < b) && (x == y) == (a == b) && (x >= y) == (a >= b), "comparisons");
    expect(joined(x | y) == (a | b) && joined(x & y) == (a & b), "bits");
    const std::size_t bits = generator() % 128;
    expect(joined(x >> bits) == a >> bits, ">>");
    expect(joined(x << bits) == static_cast<Builtin>(static_cast<Bits>(a) << bits), "<<");
    const Builtin least = static_cast<Builtin>(Bits{1} << 127);
    if (b != 0 && !(a == least && b == -1)) {
        expect(joined(x / y) == a / b, "/");
        expect(joined(x % y) == a % b, "%");
    }
    Builtin exact = 0;
    TwoHalves found;
    bool overflows = __builtin_add_overflow(a, b, &exact);
    expect(add_overflows(x, y, found) == overflows && joined(found) == exact, "+");
    overflows = __builtin_sub_overflow(a, b, &exact);
    expect(subtract_overflows(x, y, found) == overflows && joined(found) == exact, "-");
    overflows = __builtin_mul_overflow(a, b, &exact);
    expect(multiply_overflows(x, y, found) == overflows && joined(found) == exact, "*");
}

}  // namespace

int main(int count, char** arguments) {
    const int cases = count > 1 ? std::atoi(arguments[1]) : 100'000;
    for (int i = 0; i < cases; ++i) compare(random_number(), random_number());
    std::printf("%d pairs of numbers: sums, products and quotients agree\n", cases);
}
