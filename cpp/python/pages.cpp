// What pages have thousands of: characters of PDF files, and words in printed lines.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "python/arrays.hpp"
#include "python/module.hpp"

namespace lawful {
namespace {

using namespace nb::literals;

/// FS_RECTF of PDFium.
struct Rectangle {
    float left, top, right, bottom;
};

using Address = std::uintptr_t;
using Unicode = unsigned int (*)(void*, int);
using Unmapped = int (*)(void*, int);
using Box = int (*)(void*, int, Rectangle*);
using Angle = float (*)(void*, int);

template <class T>
T* data_of(nb::handle array) {
    return static_cast<T*>(PyArray_DATA(as_numpy(array)));
}

/// What PDFium's functions say of characters 0 to `count` - 1 of a text page. pypdfium2 has loaded
/// PDFium and says where they are; a call through ctypes takes 1 us. The GIL is held: PDFium is for
/// one thread at a time.
nb::tuple characters(Address unicode, Address unmapped, Address box, Address angle, Address page,
                     std::size_t count) {
    const nb::object codes = new_array({count}, NPY_UINT32);
    const nb::object errors = new_array({count}, NPY_BOOL);
    const nb::object boxes = new_array({count, 4}, NPY_FLOAT64);
    const nb::object angles = new_array({count}, NPY_FLOAT64);
    auto* text = reinterpret_cast<void*>(page);
    Rectangle place{};
    for (std::size_t i = 0; i < count; ++i) {
        const int at = static_cast<int>(i);
        data_of<std::uint32_t>(codes)[i] = reinterpret_cast<Unicode>(unicode)(text, at);
        data_of<npy_bool>(errors)[i] = reinterpret_cast<Unmapped>(unmapped)(text, at) == 1;
        reinterpret_cast<Box>(box)(text, at, &place);
        const double corners[] = {place.left, place.bottom, place.right, place.top};
        std::copy(corners, corners + 4, data_of<double>(boxes) + 4 * i);
        data_of<double>(angles)[i] = reinterpret_cast<Angle>(angle)(text, at);
    }
    return nb::make_tuple(codes, errors, boxes, angles);
}

struct Word {
    double left, top, right, bottom;

    /// The share of the smaller height by which it overlaps with another in height.
    double level_with(const Word& other) const {
        const double overlap = std::min(bottom, other.bottom) - std::max(top, other.top);
        return overlap / std::max(std::min(bottom - top, other.bottom - other.top), 1e-9);
    }
};

/// By word, the number of its line: words in `order` join the line whose last word is most level
/// with them, and begin another one if none is by `least`.
nb::object lines(const Matrix& boxes, const Array<std::int64_t>& order, double least) {
    const std::size_t count = boxes.shape(0);
    if (boxes.shape(1) != 4 || order.size() != count)
        throw std::invalid_argument("boxes are not words x 4, or the order is not of all words");
    const nb::object numbers = new_array({count}, NPY_INT64);
    std::vector<Word> lasts;
    for (const std::int64_t i : span_of(order)) {
        if (i < 0 || static_cast<std::size_t>(i) >= count)
            throw std::invalid_argument("the order has words that are not there");
        const double* box = boxes.data() + 4 * i;
        const Word word{box[0], box[1], box[2], box[3]};
        double best = 0;
        std::size_t line = lasts.size();
        for (std::size_t n = 0; n < lasts.size(); ++n) {
            const double level = word.level_with(lasts[n]);
            if (level >= least && level > best) {
                best = level;
                line = n;
            }
        }
        if (line == lasts.size()) lasts.emplace_back();
        lasts[line] = word;
        data_of<std::int64_t>(numbers)[i] = static_cast<std::int64_t>(line);
    }
    return numbers;
}

}  // namespace

void bind_pages(nb::module_& m) {
    m.def("characters", &characters, "unicode"_a, "unmapped"_a, "box"_a, "angle"_a, "page"_a,
          "count"_a);
    m.def("lines", &lines, "boxes"_a, "order"_a, "least"_a);
}

}  // namespace lawful
