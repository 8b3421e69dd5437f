// Streams for Python: arrays in, arrays out, one thread at a time.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "python/arrays.hpp"
#include "python/gil.hpp"
#include "python/module.hpp"
#include "streams/assignments.hpp"
#include "streams/paths.hpp"
#include "streams/stream.hpp"
#include "streams/transitions.hpp"

namespace lawful {
namespace {

using namespace nb::literals;

using Memory = std::optional<std::size_t>;

std::string text_of(const nb::object& object) {
    const nb::str text(object);
    if (text.c_str() == nullptr) throw nb::python_error();
    return text.c_str();
}

/// The type of an object, with its module unless it is built in.
std::string type_of(nb::handle object) {
    const nb::handle type = object.type();
    const std::string module = text_of(type.attr("__module__"));
    const std::string name = text_of(type.attr("__qualname__"));
    return module == "builtins" ? name : module + "." + name;
}

/// The first `rows` of an array: the array itself if these are all, else a view. Of a subclass of
/// ndarray it is always a plain view, because a subclass may redefine indexing.
nb::object first_rows(nb::object array, std::size_t rows) {
    const bool all = static_cast<std::size_t>(PyArray_DIM(as_numpy(array), 0)) == rows;
    if (all && PyArray_CheckExact(array.ptr())) return array;
    PyObject* plain = PyArray_View(as_numpy(array), nullptr, &PyArray_Type);
    if (plain == nullptr) throw nb::python_error();
    return nb::steal(plain)[nb::slice(nb::int_(0), nb::int_(rows), nb::none())];
}

bool overlap(PyArrayObject* a, PyArrayObject* b) {
    const auto* start_a = static_cast<const std::byte*>(PyArray_DATA(a));
    const auto* start_b = static_cast<const std::byte*>(PyArray_DATA(b));
    return start_a < start_b + PyArray_NBYTES(b) && start_b < start_a + PyArray_NBYTES(a);
}

/// A stream for Python: it has a position, and threads may share it.
///
/// The position moves only once candidates are returned, and the core can write a candidate more
/// than once. So a call that is interrupted, or that exceeds the memory budget, loses no candidate.
class PyStream {
public:
    PyStream(std::unique_ptr<Stream> stream, Memory memory)
        : stream_(std::move(stream)),
          memory_(memory),
          type_(stream_->labels() <= 1 << 8    ? NPY_UINT8
                : stream_->labels() <= 1 << 16 ? NPY_UINT16
                                               : NPY_UINT32),
          held_(stream_->held()) {}

    /// The next (labels, log_prob), or a null object at the end.
    nb::object next() {
        const Turn turn(*this);
        if (find(yielded_ + 1) == yielded_) return {};
        nb::object labels = new_array({stream_->words()}, type_);
        double log_prob;
        write_labels(yielded_, 1, PyArray_DATA(as_numpy(labels)));
        stream_->write_log_probs(yielded_, 1, &log_prob);
        ++yielded_;
        return nb::make_tuple(std::move(labels), log_prob);
    }

    nb::tuple take(Py_ssize_t count, nb::handle out) {
        if (count < 0)
            raise("InputError", "cannot take " + std::to_string(count) +
                                    " candidates, expected a count of 0 or more");
        check_out(out, static_cast<std::size_t>(count));
        const Turn turn(*this);
        const std::size_t target =
            static_cast<std::size_t>(count) > std::numeric_limits<std::size_t>::max() - yielded_
                ? std::numeric_limits<std::size_t>::max()
                : yielded_ + static_cast<std::size_t>(count);
        const std::size_t taken = search(target) - yielded_;

        nb::object labels, log_probs;
        if (out.is_none()) {
            labels = new_array({taken, stream_->words()}, type_);
            log_probs = new_array({taken}, NPY_FLOAT64);
        } else {
            labels = first_rows(nb::borrow(out[0]), taken);
            log_probs = first_rows(nb::borrow(out[1]), taken);
        }
        auto* rows = static_cast<std::byte*>(PyArray_DATA(as_numpy(labels)));
        const std::size_t row_bytes = stream_->words() * item_size();
        const std::size_t first = yielded_;
        stream_->write_log_probs(first, taken,
                                 static_cast<double*>(PyArray_DATA(as_numpy(log_probs))));
        unlocked(std::nullopt, [&](Clock& clock) {
            for (std::size_t done = 0; done < taken; clock.look()) {
                const std::size_t rows_now = std::min(taken - done, rows_at_once());
                write_labels(first + done, rows_now, rows + done * row_bytes);
                done += rows_now;
            }
        });
        yielded_ += taken;
        return nb::make_tuple(std::move(labels), std::move(log_probs));
    }

    std::size_t words() const { return stream_->words(); }
    std::size_t labels() const { return stream_->labels(); }
    // These two do not wait, so that another thread can watch a long take().
    std::size_t yielded() const { return yielded_; }
    std::size_t memory() const { return held_; }
    void limit(std::size_t candidates) {
        const Turn turn(*this);
        stream_->limit(candidates);
    }

private:
    // Candidates found, and labels written, between two looks at the clock.
    static constexpr std::size_t kCandidatesAtOnce = 64;
    static constexpr std::size_t kLabelsAtOnce = std::size_t{1} << 20;

    std::size_t rows_at_once() const { return 1 + kLabelsAtOnce / (stream_->words() + 1); }
    std::size_t item_size() const { return type_ == NPY_UINT8 ? 1 : type_ == NPY_UINT16 ? 2 : 4; }

    /// Holds the stream for one call.
    class Turn {
    public:
        explicit Turn(PyStream& stream) : stream_(stream), turn_(stream.turns_) {}
        ~Turn() { stream_.held_ = stream_.stream_->held(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        PyStream& stream_;
        Turns::Turn turn_;
    };

    /// Finds up to `target` candidates with the GIL held: for a single one.
    std::size_t find(std::size_t target) {
        return with_errors([&] { return stream_->find(target); });
    }

    /// Finds up to `target` candidates without the GIL.
    std::size_t search(std::size_t target) {
        std::size_t found = stream_->found();
        if (found >= target) return target;
        with_errors([&] {
            unlocked(std::nullopt, [&](Clock& clock) {
                for (bool more = true; more; clock.look()) {
                    const std::size_t next = found + std::min(target - found, kCandidatesAtOnce);
                    found = stream_->find(next);
                    held_ = stream_->held();
                    more = found == next && found < target;
                }
            });
            return found;
        });
        return found;
    }

    /// The result of `work`; exceptions of the core become errors of `lawful.base.errors`.
    template <class Work>
    std::size_t with_errors(Work&& work) {
        try {
            return work();
        } catch (const OutOfMemoryBudget&) {
            raise("MemoryBudgetError", "the memory budget of " + std::to_string(*memory_) +
                                           " bytes is spent" + what_is_left());
        } catch (const OutOfIndices& limit) {
            raise("LimitError",
                  std::string("a stream cannot number any more ") + limit.of + what_is_left());
        }
    }

    std::string what_is_left() const {
        return " after " + std::to_string(stream_->found()) + " candidates, of which " +
               std::to_string(stream_->found() - yielded_) + " can still be taken";
    }

    void write_labels(std::size_t first, std::size_t count, void* rows) {
        if (type_ == NPY_UINT8)
            stream_->write_labels(first, count, static_cast<std::uint8_t*>(rows));
        else if (type_ == NPY_UINT16)
            stream_->write_labels(first, count, static_cast<std::uint16_t*>(rows));
        else
            stream_->write_labels(first, count, static_cast<std::uint32_t*>(rows));
    }

    void check_out(nb::handle out, std::size_t count) const {
        if (out.is_none()) return;
        if (!nb::isinstance<nb::tuple>(out) || nb::len(out) != 2)
            raise("InputError", "out is a " + type_of(out) +
                                    ", expected the pair of arrays that an earlier take returned");
        check_array(out[0], "labels", 2, type_, count);
        check_array(out[1], "log_probs", 1, NPY_FLOAT64, count);
        if (overlap(as_numpy(out[0]), as_numpy(out[1])))
            raise("InputError", "out holds two arrays that share memory");
    }

    void check_array(nb::handle object, const char* name, int dimensions, int type,
                     std::size_t count) const {
        PyArrayObject* array = as_numpy(object);
        const bool fits = PyArray_Check(object.ptr()) && PyArray_NDIM(array) == dimensions &&
                          PyArray_TYPE(array) == type && PyArray_ISCARRAY(array) &&
                          static_cast<std::size_t>(PyArray_DIM(array, 0)) >= count &&
                          (dimensions == 1 ||
                           static_cast<std::size_t>(PyArray_DIM(array, 1)) == stream_->words());
        if (fits) return;
        std::string expected = type == NPY_FLOAT64  ? "float64"
                               : type == NPY_UINT8  ? "uint8"
                               : type == NPY_UINT16 ? "uint16"
                                                    : "uint32";
        expected += " of shape (" + std::to_string(count);
        expected += dimensions == 1 ? ",)" : ", " + std::to_string(stream_->words()) + ")";
        std::string found = type_of(object);
        if (PyArray_Check(object.ptr()))
            found = text_of(object.attr("dtype")) + " of shape " + text_of(object.attr("shape"));
        raise("InputError", "out[" + std::string(dimensions == 2 ? "0" : "1") + "] (" + name +
                                ") is " + found + ", expected a writable, C-contiguous " +
                                expected + " or longer");
    }

    std::unique_ptr<Stream> stream_;
    Memory memory_;
    int type_;
    std::atomic<std::size_t> yielded_ = 0;
    std::atomic<std::size_t> held_ = 0;
    Turns turns_{"stream"};
};

/// `__next__` as a type slot: Python looks up no method, and no exception ends a stream.
PyObject* next_slot(PyObject* self) noexcept {
    if (!nb::inst_ready(self)) {
        PyErr_SetString(PyExc_TypeError, "the stream was never opened");
        return nullptr;
    }
    try {
        return nb::inst_ptr<PyStream>(self)->next().release().ptr();
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    return nullptr;
}

PyType_Slot iterator_slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_tp_iternext, reinterpret_cast<void*>(next_slot)},
                                {0, nullptr}};

template <class Make>
std::unique_ptr<PyStream> open_stream(Memory memory, Make make) {
    std::unique_ptr<Stream> stream;
    try {
        const Unlocked gil;
        stream = make(memory.value_or(std::numeric_limits<std::size_t>::max()));
    } catch (const OutOfMemoryBudget&) {
        raise("MemoryBudgetError", "the memory budget of " + std::to_string(*memory) +
                                       " bytes does not even hold the scores");
    } catch (const OutOfIndices& limit) {
        raise("LimitError",
              std::string("the scores have too many ") + limit.of + ": a stream numbers 2^32");
    }
    return std::make_unique<PyStream>(std::move(stream), memory);
}

}  // namespace

void bind_streams(nb::module_& m) {
    nb::class_<PyStream>(m, "Stream", nb::is_final(), nb::type_slots(iterator_slots),
                         "Candidates by falling probability: an iterator of (labels, log_prob).")
        .def("take", &PyStream::take, "count"_a, nb::kw_only(), "out"_a = nb::none(),
             "The next `count` candidates as arrays: labels (count, words), log-probabilities.")
        .def_prop_ro("words", &PyStream::words)
        .def_prop_ro("labels", &PyStream::labels)
        .def_prop_ro("yielded", &PyStream::yielded, "The number of candidates yielded so far.")
        .def_prop_ro("memory", &PyStream::memory, "Bytes that the stream holds.")
        .def("_limit", &PyStream::limit, "candidates"_a)
        .def("__repr__", [](PyStream& self) {
            return "<lawful.Stream: " + std::to_string(self.words()) + " words x " +
                   std::to_string(self.labels()) + " labels, " + std::to_string(self.yielded()) +
                   " yielded>";
        });

    nb::class_<Transitions>(m, "Transitions")
        .def(
            "__init__",
            [](Transitions* self, const Vector& start, const Matrix& between, const Vector& end) {
                check_square(between);
                new (self) Transitions(span_of(start), span_of(between), span_of(end));
            },
            "start"_a, "between"_a, "end"_a)
        .def_prop_ro("labels", &Transitions::labels)
        .def_prop_ro("classes", &Transitions::classes);

    m.def(
        "assignments",
        [](const Matrix& costs, Memory memory) {
            return open_stream(memory, [&](std::size_t bytes) {
                return std::make_unique<AssignmentStream>(span_of(costs), costs.shape(0),
                                                          costs.shape(1), bytes);
            });
        },
        "costs"_a, "memory"_a.none() = nb::none());
    m.def(
        "paths",
        [](const Matrix& costs, std::shared_ptr<const Transitions> transitions, Memory memory) {
            return open_stream(memory, [&](std::size_t bytes) {
                return std::make_unique<PathStream>(span_of(costs), costs.shape(0),
                                                    std::move(transitions), bytes);
            });
        },
        "costs"_a, "transitions"_a, "memory"_a.none() = nb::none());
}

}  // namespace lawful
