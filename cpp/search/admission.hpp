#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "rules/plan.hpp"
#include "search/lattice.hpp"
#include "search/reading_graph.hpp"

namespace lawful {

/// The indices of those span values that readings under the hard equations can have, in order.
///
/// A value is left out if no values of the other fields complete it in a hard equation; a span of a
/// list, if no choice of other spans of the list does (arc consistency, repeated until nothing
/// changes). What it costs plays no part. No reading that satisfies all hard equations is lost.
/// Nothing is returned if there is no such reading: a field that must be present has no value left.
std::optional<std::vector<std::uint32_t>> admitted_values(const Plan& plan,
                                                          const DocumentTables& tables,
                                                          std::span<const FieldSpan> spans,
                                                          std::span<const SpanValue> values,
                                                          Clock& clock);

}  // namespace lawful
