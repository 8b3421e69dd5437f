#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// All numbers that trade time for tightness. No answer depends on them, only how soon it comes;
/// `python -m tests.search.partial_readings` shows what a change does.
///
/// Work is in elementary steps of the loops over tables, about a nanosecond each; costs are in
/// nats.
namespace lawful::tuning {

// All of the search: costs that differ by less are the same, for sums of costs are rounded.
inline constexpr double kRoundingNats = 1e-9;
inline constexpr double kGraphRoundingNats = 1e-10;  // of the graph's limit: less, so it holds all
inline constexpr double kMinGainNats = 1e-6;         // for which an answer is worth a pause

// search.cpp: when bounds are made. Sooner, short searches pay for bounds that they do not need.
inline constexpr std::size_t kStepsBeforeBounds = 1024;
inline constexpr std::size_t kTimesStepsBeforeFiner = 4;    // as many as were tried so far
inline constexpr std::size_t kMinExtensionsForBounds = 16;  // fewer tell little about the length
inline constexpr std::size_t kStepsBeforeBoundsIfFar = 64;  // if no reading is near the first bound
inline constexpr double kFarNats = 2;
inline constexpr double kLowerLimitDivisor = 8;  // bounds again if the rest of a gap falls by more
// How much is spent on bounds: more makes them tighter.
inline constexpr std::size_t kBoundWorkPerStep = 2048;  // that the search has tried
inline constexpr std::size_t kMinBoundWork = std::size_t{1} << 20;
inline constexpr std::size_t kMaxBoundWork = std::size_t{1} << 27;
inline constexpr std::size_t kMaxBoundBytes = std::size_t{1} << 26;

// case_search.cpp: more cases have tighter bounds, and each takes the time of its bounds.
inline constexpr std::size_t kCaseSliceExtensions = 8;
inline constexpr std::size_t kSplitPatienceDivisor = 2;  // before the whole search has bounds
inline constexpr std::size_t kExtensionsPerCase = 256;   // before more are made
inline constexpr std::size_t kMinCaseEquations = 2;      // that read the field of a split
inline constexpr std::size_t kMaxCaseValues = 64;
inline constexpr std::size_t kMaxCaseDives = 8;
inline constexpr std::size_t kMaxRequiredFields = 6;  // in the bound of a case: a bit of sets each

// local_search.cpp: changes of a reading whose labels cost little are tried first.
inline constexpr double kFirstWindowNats = 4, kLastWindowNats = 32, kTimesWindow = 2;
inline constexpr std::size_t kWorkPerRuleUpdate = 64;
inline constexpr std::size_t kMaxFirstSteps = std::size_t{1} << 10;

// admission.cpp and sum_sets.cpp: beyond these, nothing is dropped.
inline constexpr std::size_t kMaxAdmissionFields = 6;
inline constexpr std::size_t kMaxAdmissionCombinations = std::size_t{1} << 13;  // per equation
inline constexpr std::size_t kMaxSumSetUnits = std::size_t{1} << 16;  // from least to greatest
inline constexpr std::size_t kMaxSumSetBits = std::size_t{1} << 24;   // of all sets together
inline constexpr std::size_t kMaxListedSums = std::size_t{1} << 14;  // where bits would be too many

// bounds.cpp: larger primes tell more sums apart, and tables grow with them.
inline constexpr double kMaxCoarseNats = 256;  // up to which cells of 16 bits are fine enough
inline constexpr std::array<std::size_t, 5> kMaxPrimes{127, 1021, 8191, 16381, 32749};
inline constexpr std::array<std::size_t, 5> kMaxExactPrimes{127, 509, 2039, 4093, 8191};
inline constexpr std::size_t kWorkPerSumVisit = 64;  // hashing, beside a cell of a table
inline constexpr std::size_t kMaxProjectionClasses = 512;
inline constexpr std::size_t kSparseClassesDivisor = 32;  // in class_bound.hpp: fewer are listed
// Detours of the only equation have work of their own; of several, a share of all, at least of so
// much.
inline constexpr double kDetourWorkAlone = 1 << 24, kTimesDetourWork = 4;
inline constexpr std::size_t kMaxTimesDetourWorkGrows = 3;
inline constexpr double kDetourShareOfWork = 1.0 / 32;
inline constexpr std::size_t kMinWorkOfShare = std::size_t{1} << 24;

// residues.cpp: larger primes and more fields make larger tables.
inline constexpr std::size_t kMaxEquationFields = 6;  // that may be absent: a bit of classes each
inline constexpr std::array<std::size_t, 9> kPrimes{127,  251,  509,   1021, 2039,
                                                    4093, 8191, 16381, 32749};

// detour_bound.cpp: what equations it takes.
inline constexpr std::int64_t kMaxDetourToleranceUnits = 16;
inline constexpr std::size_t kMaxDetourFields = 6;
inline constexpr std::size_t kMaxDetourPlaces = std::size_t{1} << 16;  // times the small modulus
// How many sets of detours there are is counted before they are listed.
inline constexpr std::size_t kCountBins = 32;
inline constexpr double kFirstCountNats = 6, kLastCountNats = 48;
// Rounds grow, so that a page that needs few sets is done soon.
inline constexpr double kMinRoundWork = 1 << 14, kTimesRoundWork = 4;
inline constexpr double kTimesWorkOfLastRound = 2;  // a round to the end saves the next one
inline constexpr double kMaxRoundDoublings = 6;     // of sets, listed by rising cost
// What work is expected of a round; a search that takes far more is given up.
inline constexpr double kDetourWorkPerStop = 4, kDetourWorkPerStep = 5;
inline constexpr double kDetourCellsPerWork = 24;
inline constexpr double kTimesExpectedWork = 4;
inline constexpr std::size_t kFreeDetourSteps = 1 << 10;
// The moduli: a small one where it is telling, times a small prime and a pair of larger ones.
inline constexpr double kMinWorkForSmallModulus = 1 << 19;
inline constexpr double kMinSmallModulusNats = 0.5;
inline constexpr std::array<std::uint32_t, 6> kSmallModuli{2, 3, 4, 5, 7, 10};
inline constexpr std::uint32_t kSmallDetourPrime = 31;
inline constexpr std::array<std::array<std::uint32_t, 2>, 7> kDetourPrimes{
    {{37, 41}, {61, 67}, {127, 131}, {251, 257}, {509, 521}, {1021, 1031}, {2039, 2053}}};

}  // namespace lawful::tuning
