#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lawful {

/// What labels mean to rules: which field a label belongs to, and how labels make spans.
///
/// Rules read spans. In every scheme of ours a label sequence is cut at boundaries, the places
/// where a span or an outside label may end and anything fresh may begin: whether a label may end
/// a sequence or begin one says all about what may happen at a boundary. All other transitions
/// lead on inside a span. So a lattice can be cut at boundaries too, and what lies between two
/// spans of fields does not depend on them.
class Layout {
public:
    /// One entry a label, but for `between` (labels x labels; from, to), which says what the
    /// scheme allows. `kind` is the type of span a label is part of, -1 for none; kinds below
    /// `fields` are fields. Throws std::invalid_argument for a scheme that has no
    /// boundaries as described.
    Layout(std::span<const std::uint8_t> start, std::span<const std::uint8_t> between,
           std::span<const std::uint8_t> end, std::span<const std::int32_t> kind,
           std::span<const std::uint8_t> opens, std::span<const std::uint8_t> closes,
           std::size_t fields);

    std::size_t labels() const { return kind_.size(); }
    std::size_t fields() const { return members_.size(); }

    /// Whether a label may stand right after, or right before, a boundary.
    bool begins(std::size_t label) const { return begins_[label]; }
    bool ends(std::size_t label) const { return ends_[label]; }
    /// The labels that may come before `label`, or after it, without a boundary.
    std::span<const std::uint32_t> before(std::size_t label) const { return before_[label]; }
    std::span<const std::uint32_t> after(std::size_t label) const { return after_[label]; }
    /// The labels of no field; those of one field.
    std::span<const std::uint32_t> others() const { return others_; }
    std::span<const std::uint32_t> members(std::size_t field) const { return members_[field]; }

    /// Whether a span of the field may begin with `label`: anywhere, or right after another span
    /// of the same field. The two differ in IO, where there is no such thing, and in IOB1.
    bool opens(std::size_t label, bool again) const {
        return again ? opens_again_[label] : begins_[label];
    }
    /// Whether `next` continues the span that `label` is part of.
    bool continues(std::size_t label, std::size_t next) const {
        return continues_[label * labels() + next];
    }
    /// The labels whose span `label` may continue.
    std::span<const std::uint32_t> continued(std::size_t label) const { return continued_[label]; }
    /// Whether spans of one field side by side are anything special.
    bool sticky() const { return sticky_; }

private:
    std::vector<std::int32_t> kind_;
    std::vector<bool> begins_, ends_, in_field_, opens_again_, continues_;
    std::vector<std::vector<std::uint32_t>> before_, after_, continued_;
    std::vector<std::uint32_t> others_;
    std::vector<std::vector<std::uint32_t>> members_;
    bool sticky_ = false;
};

}  // namespace lawful
