#pragma once

// Arrays from Python, as spans of their elements; and new arrays for Python, which own theirs.
// New arrays come from NumPy's own interface, because a stream makes one per candidate: 0.05 us
// each, where an `nb::ndarray` with a capsule takes 0.27 us (nanobind 3.1, NumPy 2.4).

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL lawful_numpy
#ifndef LAWFUL_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

namespace lawful {

namespace nb = nanobind;

template <class T, std::size_t dimensions = 1>
using Array = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Vector = Array<double>;
using Matrix = Array<double, 2>;
using Numbers = Array<std::uint32_t>;
using Flags = Array<std::uint8_t>;

template <class T, class... Shape>
std::span<const T> span_of(const nb::ndarray<const T, Shape...>& array) {
    return {array.data(), array.size()};
}

template <class T, class... Shape>
std::vector<T> vector_of(const nb::ndarray<const T, Shape...>& array) {
    return {array.data(), array.data() + array.size()};
}

/// Throws std::invalid_argument unless a table has a row and a column per label.
template <class T>
void check_square(const Array<T, 2>& table) {
    if (table.shape(0) != table.shape(1))
        throw std::invalid_argument("a table of transitions is not labels x labels");
}

inline PyArrayObject* as_numpy(nb::handle array) {
    return reinterpret_cast<PyArrayObject*>(array.ptr());
}

/// A new, uninitialised array of a NumPy type, such as NPY_UINT32.
inline nb::object new_array(std::initializer_list<std::size_t> shape, int type) {
    npy_intp sizes[2];
    std::copy(shape.begin(), shape.end(), sizes);
    PyObject* array = PyArray_SimpleNew(static_cast<int>(shape.size()), sizes, type);
    if (array == nullptr) throw nb::python_error();
    return nb::steal(array);
}

inline nb::object array_of(std::span<const std::uint32_t> values) {
    nb::object array = new_array({values.size()}, NPY_UINT32);
    std::ranges::copy(values, static_cast<std::uint32_t*>(PyArray_DATA(as_numpy(array))));
    return array;
}

}  // namespace lawful
