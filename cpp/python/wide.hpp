#pragma once

// Whole numbers of up to 127 bits, which are ints in Python.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "rules/program.hpp"

namespace lawful {

/// An operator of int itself: a subclass may redefine it.
template <class Function>
Function slot_of_int(int slot) {
    return reinterpret_cast<Function>(PyType_GetSlot(&PyLong_Type, slot));
}

/// Reads a Python int; false if it does not fit. The least 128-bit number does not: it has no
/// opposite.
inline bool read_wide(PyObject* number, Wide& wide) noexcept {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow == 0) {
        wide = small;
        return true;
    }
    const nanobind::object bits = nanobind::steal(PyLong_FromLong(64));
    const nanobind::object above =
        nanobind::steal(slot_of_int<binaryfunc>(Py_nb_rshift)(number, bits.ptr()));
    const long long high = PyLong_AsLongLongAndOverflow(above.ptr(), &overflow);
    const std::uint64_t low = PyLong_AsUnsignedLongLongMask(number);
    wide = static_cast<Wide>(high) * (Wide{1} << 64) + static_cast<Wide>(low);
    return overflow == 0 && wide != kMinWide;
}

inline nanobind::object written_wide(Wide wide) {
    const nanobind::int_ high(static_cast<std::int64_t>(wide >> 64));
    const nanobind::int_ low(static_cast<std::uint64_t>(wide));
    return (high << nanobind::int_(64)) | low;
}

[[noreturn]] inline void raise_too_wide(nanobind::handle number) {
    const nanobind::object digits =
        nanobind::steal(slot_of_int<reprfunc>(Py_tp_repr)(number.ptr()));
    if (!digits.is_valid()) throw nanobind::python_error();  // more than Python writes out
    throw std::overflow_error(std::string(nanobind::str(digits).c_str()) +
                              " does not fit into 127 bits");
}

}  // namespace lawful

namespace nanobind::detail {

template <>
struct type_caster<lawful::Wide> {
    using Value = lawful::Wide;
    static constexpr auto Name = const_name("int");
    template <class T>
    using Cast = Value;

    bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
        if (!PyLong_Check(src.ptr())) return false;
        source_ = src;
        fits_ = lawful::read_wide(src.ptr(), value_);
        return true;
    }
    static handle from_cpp(Value value, rv_policy, cleanup_list*) {
        return lawful::written_wide(value).release();
    }
    template <class T>
    bool can_cast() const {
        return fits_;
    }
    explicit operator Value() const {
        if (!fits_) lawful::raise_too_wide(source_);
        return value_;
    }

private:
    handle source_;
    Value value_ = 0;
    bool fits_ = false;
};

}  // namespace nanobind::detail
