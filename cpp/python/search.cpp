// Searches under rules for Python: plans and facts in, readings and their labels out.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "python/gil.hpp"
#include "rules/plan.hpp"
#include "search/lattice.hpp"
#include "search/layout.hpp"
#include "search/mass.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"

namespace lawful {
namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = Column<std::uint8_t>;
using FlagTable = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>;

template <class T>
std::span<const T> items(const Column<T>& column) {
    return {column.data(), column.size()};
}

Numbers as_array(std::vector<std::uint32_t> values) {
    auto* kept = new std::vector<std::uint32_t>(std::move(values));
    const nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
    return Numbers(kept->data(), {kept->size()}, owner);
}

/// A whole number of any size that fits 127 bits, in decimal digits.
Wide as_wide(const std::string& digits) {
    Wide number = 0;
    const bool negative = digits[0] == '-';
    for (const char digit : std::string_view(digits).substr(negative))
        if (__builtin_mul_overflow(number, Wide{10}, &number) ||
            __builtin_add_overflow(number, Wide{digit - '0'}, &number))
            throw std::invalid_argument("a constant does not fit");
    return negative ? -number : number;
}

using PyField = std::tuple<bool, bool, std::vector<std::int32_t>, double>;
using PyProgram =
    std::pair<std::vector<std::tuple<int, std::uint16_t, std::uint32_t>>, std::vector<std::string>>;
using PyRule = std::tuple<PyProgram, double, double, std::vector<std::uint32_t>, bool,
                          std::vector<std::uint32_t>>;
using PyTerm = std::tuple<int, std::uint32_t, std::uint32_t, std::int64_t>;
using PyEquation = std::tuple<std::vector<PyTerm>, std::string, std::string, double, double, bool>;

Program as_program(const PyProgram& given) {
    std::vector<Instruction> instructions;
    for (const auto& [op, operand, index] : given.first)
        instructions.push_back({static_cast<Op>(op), operand, index});
    std::vector<Wide> constants;
    for (const std::string& digits : given.second) constants.push_back(as_wide(digits));
    return {std::move(instructions), std::move(constants)};
}

std::shared_ptr<Plan> make_plan(const std::vector<PyField>& fields, std::size_t slots,
                                std::vector<std::uint32_t> lookup_slots,
                                const std::vector<PyRule>& rules,
                                const std::vector<PyEquation>& equations) {
    auto plan = std::make_shared<Plan>();
    plan->slots = slots;
    plan->lookup_slots = std::move(lookup_slots);
    for (const auto& [many, has_default, s, disagreement] : fields)
        plan->fields.push_back({many, has_default, s.at(0), s.at(1), s.at(2), s.at(3), s.at(4),
                                s.at(5), s.at(6), s.at(7), s.at(8), disagreement});
    for (const auto& [program, weight, unchecked, reads, early, any] : rules)
        plan->rules.push_back({as_program(program), weight, unchecked, reads, early, any});
    for (const auto& [terms, constant, tolerance, weight, unchecked, early] : equations) {
        Equation equation{{}, as_wide(constant), as_wide(tolerance), weight, unchecked, early};
        for (const auto& [kind, field, lookup, factor] : terms)
            equation.terms.push_back({static_cast<Equation::Kind>(kind), field, lookup, factor});
        plan->equations.push_back(std::move(equation));
    }
    return plan;
}

/// Numbers come in two parts: so many times 10^12, and the rest.
using PyLookup = std::tuple<Column<std::int64_t>, Column<std::int64_t>, Flags>;
constexpr Wide kPart = 1'000'000'000'000;

Facts make_facts(const Plan* plan, const std::vector<PyLookup>& lookups, const Vector& missing) {
    Facts facts;
    for (std::size_t i = 0; i < lookups.size(); ++i) {
        const auto& [high, low, states] = lookups[i];
        Lookup lookup{plan->lookup_slots.at(i), {}, {states.data(), states.data() + states.size()}};
        for (std::size_t value = 0; value < high.size(); ++value)
            lookup.numbers.push_back(high.data()[value] * kPart + low.data()[value]);
        facts.lookups.push_back(std::move(lookup));
    }
    facts.missing.assign(missing.data(), missing.data() + missing.size());
    return facts;
}

using Seconds = std::optional<double>;

[[noreturn]] void raise_out_of_memory(std::size_t memory) {
    raise("MemoryBudgetError",
          "the memory budget of " + std::to_string(memory) + " bytes is spent");
}

[[noreturn]] void raise_out_of_time() { raise("TimeBudgetError", "the time is up"); }

/// The spans of a lattice up to some cost, whose texts somebody else will read.
struct PySpans {
    PySpans(std::shared_ptr<const Lattice> lattice, double slack, std::size_t most, Seconds seconds)
        : lattice(std::move(lattice)) {
        const double limit = this->lattice->best() + slack;
        try {
            unlocked(seconds, [&](Clock& clock) {
                complete = this->lattice->list_spans(limit, most, clock, spans);
            });
        } catch (const OutOfTime&) {
            raise_out_of_time();
        }
    }

    template <class Member>
    Numbers column(Member member) const {
        std::vector<std::uint32_t> values;
        for (const FieldSpan& span : spans) values.push_back(span.*member);
        return as_array(std::move(values));
    }

    std::shared_ptr<const Lattice> lattice;
    std::vector<FieldSpan> spans;
    bool complete = false;
};

std::vector<SpanReading> as_readings(const Column<std::uint32_t>& span,
                                     const Column<std::uint32_t>& value, const Vector& price) {
    std::vector<SpanReading> readings;
    for (std::size_t i = 0; i < span.size(); ++i)
        readings.push_back({span.data()[i], value.data()[i], price.data()[i]});
    return readings;
}

/// One thread at a time: Python's side has one generator for each.
class PySearch {
public:
    PySearch(const PySpans& spans, const Column<std::uint32_t>& span,
             const Column<std::uint32_t>& value, const Vector& price,
             std::shared_ptr<const Plan> plan, const std::vector<PyLookup>& lookups,
             const Vector& missing, double slack, std::optional<double> max_cost,
             std::size_t memory, std::size_t patience, Seconds seconds) {
        Search::Limits limits;
        if (max_cost) limits.labelling = spans.lattice->best() + *max_cost;
        limits.memory = memory_ = memory;
        limits.patience = patience;
        const std::size_t most = memory / sizeof(Graph::Step);
        std::vector<SpanReading> readings = as_readings(span, value, price);
        open(std::move(plan), lookups, missing, limits, seconds, [&](Clock& clock) {
            return std::make_shared<const Graph>(spans.lattice, spans.spans, std::move(readings),
                                                 spans.lattice->best() + slack, most, clock);
        });
    }

    /// The ways to read given spans, by the field of each, up to a limit of what they violate.
    PySearch(const Column<std::uint32_t>& field, const Column<std::uint32_t>& span,
             const Column<std::uint32_t>& value, const Vector& price,
             std::shared_ptr<const Plan> plan, const std::vector<PyLookup>& lookups,
             const Vector& missing, double limit, std::size_t memory, std::size_t patience,
             Seconds seconds) {
        Search::Limits limits;
        limits.memory = memory_ = memory;
        limits.patience = patience;
        std::vector<FieldSpan> spans;
        for (std::uint32_t i = 0; i < field.size(); ++i)
            spans.push_back({field.data()[i], i, i + 1, 0, 0});
        std::vector<SpanReading> readings = as_readings(span, value, price);
        open(std::move(plan), lookups, missing, limits, seconds, [&](Clock&) {
            return std::make_shared<const Graph>(std::move(spans), std::move(readings), limit);
        });
    }

    /// kPaused: so many extensions or seconds are spent.
    Search::State next(std::size_t extensions, Seconds seconds) {
        Search::State state = Search::State::kPaused;
        try {
            unlocked(seconds, [&](Clock& clock) { state = search_->next(extensions, clock); });
        } catch (const OutOfTime&) {
            return Search::State::kPaused;
        } catch (const OutOfMemoryBudget&) {
            raise_out_of_memory(memory_);
        }
        return state;
    }

    bool dive(std::size_t tries, Seconds seconds) {
        bool found = false;
        unlocked(seconds, [&](Clock& clock) { found = search_->dive(tries, clock); });
        return found;
    }

    double cost() const { return least() + search_->found().cost; }
    double violated() const { return search_->found().violated; }
    Numbers readings() const { return as_array(search_->found().readings); }
    Numbers labels() const {
        if (lattice() == nullptr) return as_array({});
        std::vector<std::uint32_t> labels(lattice()->words());
        search_->graph().write_labels(search_->found().readings, labels.data());
        return as_array(std::move(labels));
    }
    double bound() const { return least() + search_->bound(); }
    std::size_t extended() const { return search_->extended(); }
    std::size_t memory() const { return search_->held(); }

private:
    template <class MakeGraph>
    void open(std::shared_ptr<const Plan> plan, const std::vector<PyLookup>& lookups,
              const Vector& missing, const Search::Limits& limits, Seconds seconds,
              MakeGraph&& make_graph) {
        Facts facts = make_facts(plan.get(), lookups, missing);
        try {
            unlocked(seconds, [&](Clock& clock) {
                search_.emplace(make_graph(clock), std::move(plan), std::move(facts), limits,
                                clock);
            });
        } catch (const OutOfTime&) {
            raise_out_of_time();
        } catch (const OutOfMemoryBudget&) {
            raise_out_of_memory(memory_);
        }
    }

    const Lattice* lattice() const { return search_->graph().lattice(); }
    double least() const { return lattice() == nullptr ? 0 : lattice()->least(); }

    std::optional<Search> search_;
    std::size_t memory_ = 0;
};

/// How sure fields are, from the same spans and readings that a search has.
class PyMass {
public:
    PyMass(const PySpans& spans, const Column<std::uint32_t>& span,
           const Column<std::uint32_t>& value, const Vector& price,
           std::shared_ptr<const Plan> plan, const std::vector<PyLookup>& lookups,
           const Vector& missing, const Vector& most_readings, bool everything, std::size_t memory,
           Seconds seconds)
        : memory_(memory) {
        Facts facts = make_facts(plan.get(), lookups, missing);
        std::vector<SpanReading> readings = as_readings(span, value, price);
        std::vector<double> most(most_readings.data(), most_readings.data() + most_readings.size());
        try {
            unlocked(seconds, [&](Clock& clock) {
                mass_.emplace(spans.lattice, spans.spans, std::move(readings), std::move(plan),
                              std::move(facts), std::move(most), everything, clock);
            });
        } catch (const OutOfTime&) {
            raise_out_of_time();
        }
    }

    double log_total() const { return mass_->log_total(); }

    std::tuple<std::vector<double>, double, double, bool> of(
        const std::vector<std::vector<std::uint32_t>>& answers, double least, std::size_t states,
        std::size_t work, Seconds seconds) const {
        Mass::Shares found;
        try {
            unlocked(seconds, [&](Clock& clock) {
                found = mass_->of(answers, {least, states, work, memory_}, clock);
            });
        } catch (const OutOfTime&) {
            raise_out_of_time();
        } catch (const OutOfMemoryBudget&) {
            raise_out_of_memory(memory_);
        }
        return {found.same, found.all, found.open, found.unsure};
    }

private:
    std::optional<Mass> mass_;
    std::size_t memory_;
};

/// What each of many labellings violates, given by the fields and values of their spans, one after
/// another; `ends` says where each labelling's spans end.
nb::ndarray<nb::numpy, double, nb::ndim<1>> judge(const Plan& plan,
                                                  const std::vector<PyLookup>& lookups,
                                                  const Vector& missing,
                                                  const Column<std::uint32_t>& field,
                                                  const Column<std::uint32_t>& value,
                                                  const Column<std::uint32_t>& ends) {
    const Facts facts = make_facts(&plan, lookups, missing);
    auto* violated = new std::vector<double>(ends.size());
    const nb::capsule owner(violated,
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    {
        const Unlocked unlocked;
        Follower follower(plan, facts);
        std::vector<Wide> memory(plan.slots);
        for (std::size_t i = 0, at = 0; i < ends.size(); ++i) {
            std::fill(memory.begin(), memory.end(), 0);
            double& sum = (*violated)[i] = follower.begin(memory);
            for (; at < ends.data()[i]; ++at)
                sum += follower.extend(memory, field.data()[at], value.data()[at]);
            sum += follower.finish(memory);
        }
    }
    return {violated->data(), {violated->size()}, owner};
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<Layout>(m, "Layout")
        .def(
            "__init__",
            [](Layout* self, const Flags& start, const FlagTable& between, const Flags& end,
               const Column<std::int32_t>& kind, const Flags& opens, const Flags& closes,
               std::size_t fields) {
                new (self) Layout(items(start), {between.data(), between.size()}, items(end),
                                  items(kind), items(opens), items(closes), fields);
            },
            "start"_a, "between"_a, "end"_a, "kind"_a, "opens"_a, "closes"_a, "fields"_a);
    nb::class_<Lattice>(m, "Lattice")
        .def(
            "__init__",
            [](Lattice* self, const Matrix& costs, std::shared_ptr<const Layout> layout) {
                const Unlocked unlocked;
                new (self) Lattice(span_of(costs), costs.shape(0), std::move(layout));
            },
            "costs"_a, "layout"_a)
        .def_prop_ro("best", [](const Lattice& self) { return self.least() + self.best(); });
    nb::class_<PySpans>(m, "Spans")
        .def(nb::init<std::shared_ptr<const Lattice>, double, std::size_t, Seconds>(), "lattice"_a,
             "slack"_a, "most"_a, "seconds"_a.none() = nb::none())
        .def_ro("complete", &PySpans::complete)
        .def_prop_ro(
            "field", [](const PySpans& self) { return self.column(&FieldSpan::field); },
            nb::rv_policy::move)
        .def_prop_ro(
            "start", [](const PySpans& self) { return self.column(&FieldSpan::start); },
            nb::rv_policy::move)
        .def_prop_ro(
            "end", [](const PySpans& self) { return self.column(&FieldSpan::end); },
            nb::rv_policy::move);
    nb::class_<Plan>(m, "Plan").def(nb::new_(&make_plan), "fields"_a, "slots"_a, "lookup_slots"_a,
                                    "rules"_a, "equations"_a);
    nb::enum_<Search::State>(m, "State")
        .value("found", Search::State::kFound)
        .value("nothing", Search::State::kNothing)
        .value("paused", Search::State::kPaused);
    nb::class_<PySearch>(m, "Search")
        .def(nb::init<const PySpans&, const Column<std::uint32_t>&, const Column<std::uint32_t>&,
                      const Vector&, std::shared_ptr<const Plan>, const std::vector<PyLookup>&,
                      const Vector&, double, std::optional<double>, std::size_t, std::size_t,
                      Seconds>(),
             "spans"_a, "span"_a, "value"_a, "price"_a, "plan"_a.none(), "lookups"_a, "missing"_a,
             "slack"_a, "max_cost"_a.none(), "memory"_a, "patience"_a,
             "seconds"_a.none() = nb::none())
        .def(nb::init<const Column<std::uint32_t>&, const Column<std::uint32_t>&,
                      const Column<std::uint32_t>&, const Vector&, std::shared_ptr<const Plan>,
                      const std::vector<PyLookup>&, const Vector&, double, std::size_t, std::size_t,
                      Seconds>(),
             "field"_a, "span"_a, "value"_a, "price"_a, "plan"_a, "lookups"_a, "missing"_a,
             "limit"_a, "memory"_a, "patience"_a, "seconds"_a.none() = nb::none())
        .def("next", &PySearch::next, "extensions"_a, "seconds"_a.none() = nb::none())
        .def("dive", &PySearch::dive, "tries"_a, "seconds"_a.none() = nb::none())
        .def_prop_ro("cost", &PySearch::cost)
        .def_prop_ro("violated", &PySearch::violated)
        .def_prop_ro("labels", &PySearch::labels, nb::rv_policy::move)
        .def_prop_ro("readings", &PySearch::readings, nb::rv_policy::move)
        .def_prop_ro("bound", &PySearch::bound)
        .def_prop_ro("extended", &PySearch::extended)
        .def_prop_ro("memory", &PySearch::memory);
    nb::class_<PyMass>(m, "Mass")
        .def(nb::init<const PySpans&, const Column<std::uint32_t>&, const Column<std::uint32_t>&,
                      const Vector&, std::shared_ptr<const Plan>, const std::vector<PyLookup>&,
                      const Vector&, const Vector&, bool, std::size_t, Seconds>(),
             "spans"_a, "span"_a, "value"_a, "price"_a, "plan"_a, "lookups"_a, "missing"_a,
             "most_readings"_a, "everything"_a, "memory"_a, "seconds"_a.none() = nb::none())
        .def_prop_ro("log_total", &PyMass::log_total)
        .def("of", &PyMass::of, "answers"_a, "least"_a, "states"_a, "work"_a,
             "seconds"_a.none() = nb::none());
    m.def("judge", &judge, "plan"_a, "lookups"_a, "missing"_a, "field"_a, "value"_a, "ends"_a);
}

}  // namespace lawful
