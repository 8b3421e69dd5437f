#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lawful {

/// The fields that labels belong to, and how labels form spans.
///
/// In every supported scheme, a label sequence can be cut at boundaries: places where a span or an
/// outside label ends and another begins. A label may stand before a boundary if it may end a
/// sequence, and after one if it may begin a sequence. All other transitions continue a span. So a
/// lattice can be cut at boundaries too, and the labels between two spans of fields do not depend
/// on these spans.
class Layout {
public:
    static constexpr std::size_t kMaxFields = std::size_t{1} << 20;

    /// `start`, `between` (labels x labels; from, to) and `end` say what the scheme allows. All
    /// others have one entry per label: `types` is the type of span that it is part of, -1 for
    /// none, where types below `fields` are fields; `opens` and `closes` say whether it always
    /// begins or ends a span. Throws std::invalid_argument for tables of different sizes, and for a
    /// scheme without boundaries as described.
    Layout(std::span<const std::uint8_t> start, std::span<const std::uint8_t> between,
           std::span<const std::uint8_t> end, std::span<const std::int32_t> types,
           std::span<const std::uint8_t> opens, std::span<const std::uint8_t> closes,
           std::size_t fields);

    std::size_t labels() const { return types_.size(); }
    std::size_t fields() const { return members_.size(); }

    /// Whether a label may stand right after a boundary; right before one.
    bool begins(std::size_t label) const { return begins_[label]; }
    bool ends(std::size_t label) const { return ends_[label]; }
    /// The labels that may come before `label`, or after it, with no boundary in between.
    std::span<const std::uint32_t> before(std::size_t label) const { return before_[label]; }
    std::span<const std::uint32_t> after(std::size_t label) const { return after_[label]; }
    /// The labels of no field; those of one field.
    std::span<const std::uint32_t> others() const { return others_; }
    std::span<const std::uint32_t> members(std::size_t field) const { return members_[field]; }

    /// Whether a span of a field may begin with `label`; `again`: right after another span of the
    /// same field. The two differ in IO, where no such span can follow, and in IOB1.
    bool opens(std::size_t label, bool again) const {
        return again ? opens_again_[label] : begins_[label];
    }
    /// Whether `next` continues the span that `label` is part of.
    bool continues(std::size_t label, std::size_t next) const {
        return continues_[label * labels() + next];
    }
    /// The labels whose span `label` may continue.
    std::span<const std::uint32_t> continued(std::size_t label) const { return continued_[label]; }
    /// Whether the label that begins a span depends on a span of its field right before it.
    bool sticky() const { return sticky_; }

private:
    std::vector<std::int32_t> types_;
    std::vector<bool> begins_, ends_, in_field_, opens_again_, continues_;
    std::vector<std::vector<std::uint32_t>> before_, after_, continued_;
    std::vector<std::uint32_t> others_;
    std::vector<std::vector<std::uint32_t>> members_;
    bool sticky_ = false;
};

}  // namespace lawful
