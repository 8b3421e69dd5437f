// Searches under rules for Python: spans, plans and lookups in; readings and labels out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/arrays.hpp"
#include "python/gil.hpp"
#include "python/module.hpp"
#include "rules/plan.hpp"
#include "search/admission.hpp"
#include "search/case_search.hpp"
#include "search/label_costs.hpp"
#include "search/label_spans.hpp"
#include "search/lattice.hpp"
#include "search/layout.hpp"
#include "search/mass.hpp"
#include "search/reading_graph.hpp"
#include "search/search.hpp"

namespace lawful {
namespace {

using namespace nb::literals;

using Seconds = std::optional<double>;
using Steps = std::optional<std::size_t>;  // at most so many elementary steps

[[noreturn]] void raise_out_of_memory(std::size_t memory) {
    raise("MemoryBudgetError",
          "the memory budget of " + std::to_string(memory) + " bytes is spent");
}

/// Runs `work(clock)` without the GIL; raises errors of `base.errors` if time or memory is spent.
template <class Work>
void within_budget(Seconds seconds, std::size_t memory, Work&& work) {
    try {
        unlocked(seconds, std::forward<Work>(work));
    } catch (const OutOfTime&) {
        raise("TimeBudgetError", "the time is up");
    } catch (const OutOfMemoryBudget&) {
        raise_out_of_memory(memory);
    }
}

LabelCosts label_costs(const Matrix& costs) {
    return {span_of(costs), costs.shape(0), costs.shape(1)};
}

/// The spans of a lattice up to some cost; Python finds the possible values of their texts.
struct PySpans {
    PySpans(std::shared_ptr<const Lattice> lattice, double slack, std::size_t most, Seconds seconds)
        : lattice(std::move(lattice)) {
        const double limit = this->lattice->best() + slack;
        within_budget(seconds, 0, [&](Clock& clock) {
            complete = this->lattice->list_spans(limit, most, clock, spans);
        });
    }

    template <std::uint32_t FieldSpan::* member>
    nb::object column() const {
        std::vector<std::uint32_t> values;
        for (const FieldSpan& span : spans) values.push_back(span.*member);
        return array_of(values);
    }

    std::shared_ptr<const Lattice> lattice;
    std::vector<FieldSpan> spans;
    bool complete = false;
};

/// The possible values of spans. Throws std::invalid_argument unless the arrays have one length,
/// the spans exist and are in order, and no price is negative or NaN.
std::vector<SpanValue> as_span_values(const Numbers& span, const Numbers& value,
                                      const Vector& price, std::size_t spans) {
    if (value.size() != span.size() || price.size() != span.size())
        throw std::invalid_argument("span, value and price differ in length");
    std::vector<SpanValue> span_values;
    for (std::size_t i = 0; i < span.size(); ++i) {
        span_values.push_back({span.data()[i], value.data()[i], price.data()[i]});
        if (span_values[i].span >= spans) throw std::invalid_argument("a span is out of range");
        if (i > 0 && span_values[i].span < span_values[i - 1].span)
            throw std::invalid_argument("the spans are not in order");
        if (!(span_values[i].price >= 0)) throw std::invalid_argument("a price is negative or NaN");
    }
    return span_values;
}

/// Throws std::invalid_argument unless plan and tables suit these spans and values.
void check_tables(const DocumentTables& tables, const Plan& plan, std::span<const FieldSpan> spans,
                  std::span<const SpanValue> span_values) {
    std::vector<std::uint32_t> most(plan.fields.size());
    for (const FieldSpan& span : spans)
        if (std::max(span.field, span.seen_as()) >= most.size())
            throw std::invalid_argument("a field is out of range");
    for (const SpanValue& value : span_values) {
        std::uint32_t& last = most[spans[value.span].seen_as()];
        last = std::max(last, value.value);
    }
    check(tables, plan, most);
}

/// By field, the first word of each place that must have a value and the word after its last.
using Kept = std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

std::vector<std::vector<KeptPlace>> kept_of(const Kept& kept) {
    std::vector<std::vector<KeptPlace>> made(kept.size());
    for (std::size_t field = 0; field < kept.size(); ++field)
        for (const auto& [start, end] : kept[field]) made[field].push_back({start, end});
    return made;
}

/// Rows by span: the number of each span's row, or 0, and whether the row ends with the span.
using Rows = std::optional<Numbers>;
using Closes = std::optional<Flags>;
/// By span, the field that rules see.
using SeenAs = std::optional<Numbers>;

std::vector<FieldSpan> placed(std::vector<FieldSpan> spans, const Rows& row, const Closes& closes,
                              const Rows& page, const SeenAs& seen_as = std::nullopt) {
    const auto differs = [&](const auto& each) { return each && each->size() != spans.size(); };
    if (row.has_value() != closes.has_value() || differs(row) || differs(closes) || differs(page) ||
        differs(seen_as))
        throw std::invalid_argument("row, closes, page or seen_as differ in length from the spans");
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (row) spans[i].row = row->data()[i];
        if (closes) spans[i].closes = closes->data()[i] != 0;
        if (page) spans[i].page = page->data()[i];
        if (seen_as) spans[i].other_field = seen_as->data()[i];
    }
    return spans;
}

/// All kinds of bounds but those named.
Bounds::Kinds all_bounds_but(const std::vector<std::string>& without) {
    using Kinds = Bounds::Kinds;
    static const std::vector<std::pair<std::string, bool Kinds::*>> known{
        {"equations", &Kinds::equations},
        {"detours", &Kinds::detours},
        {"projections", &Kinds::projections},
        {"admission", &Kinds::admission},
        {"cases", &Kinds::cases},
    };
    Kinds kinds;
    for (const std::string& name : without) {
        const auto kind =
            std::ranges::find(known, name, [](const auto& each) { return each.first; });
        if (kind == known.end())
            throw std::invalid_argument(
                "unknown bounds '" + name +
                "'; known are equations, detours, projections, admission, cases");
        kinds.*kind->second = false;
    }
    return kinds;
}

/// A search for Python; threads that share it wait for each other.
class PySearch {
public:
    PySearch(const PySpans& spans, const Numbers& span, const Numbers& value, const Vector& price,
             std::shared_ptr<const Plan> plan, std::vector<Lookup> lookups, const Vector& missing,
             double slack, std::optional<double> max_cost, std::size_t memory, std::size_t patience,
             Seconds seconds, const Rows& row, const Closes& closes, const Rows& page,
             const SeenAs& seen_as, const Kept& kept, const std::vector<std::string>& without)
        : memory_(memory) {
        Search::Limits limits{
            .memory = memory, .patience = patience, .bounds = all_bounds_but(without)};
        if (max_cost) limits.labelling = spans.lattice->best() + *max_cost;
        const std::size_t most = memory / sizeof(ReadingGraph::Step);
        std::vector<SpanValue> span_values = as_span_values(span, value, price, spans.spans.size());
        DocumentTables tables{std::move(lookups), vector_of(missing), row.has_value(),
                              kept_of(kept)};
        std::vector<FieldSpan> there = placed(spans.spans, row, closes, page, seen_as);
        if (plan) check_tables(tables, *plan, there, span_values);
        within_budget(seconds, memory, [&](Clock& clock) {
            if (plan && limits.bounds.admission) {
                admitted_ = admitted_values(*plan, tables, there, span_values, clock)
                                .value_or(std::vector<std::uint32_t>());
                for (std::size_t i = 0; i < admitted_.size(); ++i)
                    span_values[i] = span_values[admitted_[i]];
                span_values.resize(admitted_.size());
            }
            auto graph = std::make_shared<const ReadingGraph>(
                spans.lattice, std::move(there), std::move(span_values),
                spans.lattice->best() + slack, most, clock);
            search_.emplace(std::move(graph), std::move(plan), std::move(tables), limits, clock);
        });
    }

    /// The readings of given spans, by the field of each, whose penalty is up to `limit`.
    PySearch(const Numbers& field, const Numbers& span, const Numbers& value, const Vector& price,
             std::shared_ptr<const Plan> plan, std::vector<Lookup> lookups, const Vector& missing,
             double limit, std::size_t memory, std::size_t patience, Seconds seconds,
             const Rows& row, const Closes& closes, const Rows& page)
        : memory_(memory) {
        const Search::Limits limits{.memory = memory, .patience = patience};
        std::vector<FieldSpan> spans;
        for (std::uint32_t i = 0; i < field.size(); ++i)
            spans.push_back(
                {.field = field.data()[i], .start = i, .end = i + 1, .cost = 0, .again = 0});
        spans = placed(std::move(spans), row, closes, page);
        std::vector<SpanValue> span_values = as_span_values(span, value, price, spans.size());
        DocumentTables tables{std::move(lookups), vector_of(missing), row.has_value()};
        check_tables(tables, *plan, spans, span_values);
        within_budget(seconds, memory, [&](Clock& clock) {
            auto graph = std::make_shared<const ReadingGraph>(std::move(spans),
                                                              std::move(span_values), limit);
            search_.emplace(std::move(graph), std::move(plan), std::move(tables), limits, clock);
        });
    }

    /// kPaused: the extensions, the seconds or the work are spent.
    Search::Status next(std::size_t extensions, Seconds seconds, Steps work) {
        const Turns::Turn turn(turns_);
        Search::Status status = Search::Status::kPaused;
        try {
            unlocked(seconds, work, work_,
                     [&](Clock& clock) { status = search_->next(extensions, clock); });
        } catch (const OutOfTime&) {
        } catch (const OutOfMemoryBudget&) {
            raise_out_of_memory(memory_);
        }
        return status;
    }

    void stop_above(double cost) {
        const Turns::Turn turn(turns_);
        search_->stop_above(cost - least());
    }

    void nothing_below(double cost) {
        const Turns::Turn turn(turns_);
        search_->nothing_below(cost - least());
    }

    bool dive(std::size_t width, Seconds seconds, Steps work) {
        return is_done(seconds, work, [&](Clock& clock) { return search_->dive(width, clock); });
    }

    bool dive_beyond(double most, std::size_t width, Seconds seconds, Steps work) {
        return is_done(seconds, work, [&](Clock& clock) {
            return search_->dive_beyond(most - least(), width, clock);
        });
    }

    bool improve(bool last, Seconds seconds, Steps work) {
        return is_done(seconds, work, [&](Clock& clock) {
            std::optional<std::vector<std::uint32_t>> from;
            if (last) from = search_->found().choices;
            return search_->improve(from, clock);
        });
    }

    std::size_t work() const { return work_; }

    double cost() {
        const Turns::Turn turn(turns_);
        return least() + search_->found().cost;
    }
    double violated() {
        const Turns::Turn turn(turns_);
        return search_->found().violated;
    }
    nb::object choices() {
        const Turns::Turn turn(turns_);
        std::vector<std::uint32_t> choices = search_->found().choices;
        if (!admitted_.empty())
            for (std::uint32_t& choice : choices) choice = admitted_[choice];
        return array_of(choices);
    }
    /// Empty for given spans.
    nb::object labels() {
        const Turns::Turn turn(turns_);
        std::vector<std::uint32_t> labels(lattice() == nullptr ? 0 : lattice()->words());
        if (lattice() != nullptr)
            search_->graph().write_labels(search_->found().choices, labels.data());
        return array_of(labels);
    }
    double bound() {
        const Turns::Turn turn(turns_);
        return least() + search_->bound();
    }
    std::size_t extended() {
        const Turns::Turn turn(turns_);
        return search_->extended();
    }
    std::size_t memory() {
        const Turns::Turn turn(turns_);
        return search_->held();
    }

private:
    template <class Task>
    bool is_done(Seconds seconds, Steps most, Task&& task) {
        const Turns::Turn turn(turns_);
        bool done = false;
        unlocked(seconds, most, work_, [&](Clock& clock) { done = task(clock); });
        return done;
    }
    const Lattice* lattice() const { return search_->graph().lattice(); }
    double least() const { return lattice() == nullptr ? 0 : lattice()->least(); }

    std::optional<CaseSearch> search_;
    std::vector<std::uint32_t> admitted_;  // span values of the search, if not all of them
    std::size_t memory_;
    std::atomic<std::size_t> work_ = 0;
    Turns turns_{"search"};
};

/// A `Mass` for Python, from the same spans and span values as a search. It is immutable, so
/// threads may share it.
class PyMass {
public:
    PyMass(const PySpans& spans, const Numbers& span, const Numbers& value, const Vector& price,
           std::shared_ptr<const Plan> plan, std::vector<Lookup> lookups, const Vector& missing,
           const Vector& most_weight, bool everything, double negligible, std::size_t memory,
           Seconds seconds, const Rows& row, const Closes& closes, const Rows& page,
           const SeenAs& seen_as, const Kept& kept)
        : memory_(memory) {
        std::vector<SpanValue> span_values = as_span_values(span, value, price, spans.spans.size());
        DocumentTables tables{std::move(lookups), vector_of(missing), row.has_value(),
                              kept_of(kept), seen_as.has_value()};
        std::vector<FieldSpan> there = placed(spans.spans, row, closes, page, seen_as);
        check_tables(tables, *plan, there, span_values);
        fields_ = spans.lattice->layout().fields();
        if (plan->fields.size() != fields_ || most_weight.size() != fields_)
            throw std::invalid_argument("a plan has another number of fields than the layout");
        for (const double most : span_of(most_weight))
            if (!(most >= 0) || std::isinf(most))
                throw std::invalid_argument("a weight is negative, infinite or NaN");
        within_budget(seconds, memory, [&](Clock& clock) {
            mass_.emplace(spans.lattice, std::move(there), std::move(span_values), std::move(plan),
                          std::move(tables), vector_of(most_weight), everything, negligible, clock);
        });
    }

    double log_total() const { return mass_->log_total(); }
    Mass::Shares of(const Mass::Answers& answers, double lost, std::size_t states, std::size_t work,
                    std::size_t steps, bool whole, Seconds seconds) const {
        if (answers.size() != fields_)
            throw std::invalid_argument("there is not one answer per field");
        Mass::Shares found;
        within_budget(seconds, memory_, [&](Clock& clock) {
            found = mass_->of(answers, {lost, states, work, steps, whole, memory_}, clock);
        });
        return found;
    }

private:
    std::optional<Mass> mass_;
    std::size_t memory_, fields_ = 0;
};

void bind_lattices(nb::module_& m) {
    nb::class_<Layout>(m, "Layout")
        .def(
            "__init__",
            [](Layout* self, const Flags& start, const Array<std::uint8_t, 2>& between,
               const Flags& end, const Array<std::int32_t>& types, const Flags& opens,
               const Flags& closes, std::size_t fields) {
                check_square(between);
                new (self) Layout(span_of(start), span_of(between), span_of(end), span_of(types),
                                  span_of(opens), span_of(closes), fields);
            },
            "start"_a, "between"_a, "end"_a, "types"_a, "opens"_a, "closes"_a, "fields"_a);
    m.def(
        "cost_of",
        [](const Matrix& costs, const Numbers& labels) {
            return label_costs(costs).of(span_of(labels));
        },
        "costs"_a, "labels"_a);
    m.def(
        "have_one_kind",
        [](const Matrix& costs, const Numbers& labels, const Numbers& kinds, double most) {
            return label_costs(costs).have_one_kind(span_of(labels), span_of(kinds), most);
        },
        "costs"_a, "labels"_a, "kinds"_a, "most"_a);
    nb::class_<LabelSpans>(m, "LabelSpans")
        .def(
            "__init__",
            [](LabelSpans* self, const Array<std::int32_t>& types, const Flags& opens,
               const Flags& closes) {
                new (self) LabelSpans(span_of(types), span_of(opens), span_of(closes));
            },
            "types"_a, "opens"_a, "closes"_a)
        .def(
            "find",
            [](const LabelSpans& self, const Numbers& labels) {
                nb::list found;
                for (const LabelSpan& span : self.find(span_of(labels)))
                    found.append(nb::make_tuple(span.type, span.start, span.end));
                return found;
            },
            "labels"_a);
    nb::class_<Lattice>(m, "Lattice")
        .def(
            "__init__",
            [](Lattice* self, const Matrix& costs, std::shared_ptr<const Layout> layout) {
                const Unlocked gil;
                new (self) Lattice(span_of(costs), costs.shape(0), std::move(layout));
            },
            "costs"_a, "layout"_a)
        .def_prop_ro("best", [](const Lattice& self) { return self.least() + self.best(); });
    nb::class_<PySpans>(m, "Spans")
        .def(nb::init<std::shared_ptr<const Lattice>, double, std::size_t, Seconds>(), "lattice"_a,
             "slack"_a, "most"_a, "seconds"_a.none() = nb::none())
        .def_ro("complete", &PySpans::complete)
        .def_prop_ro("field", &PySpans::column<&FieldSpan::field>)
        .def_prop_ro("start", &PySpans::column<&FieldSpan::start>)
        .def_prop_ro("end", &PySpans::column<&FieldSpan::end>);
}

void bind_searches(nb::module_& m) {
    nb::enum_<Search::Status>(m, "SearchStatus")
        .value("found", Search::Status::kFound)
        .value("nothing", Search::Status::kNothing)
        .value("paused", Search::Status::kPaused);
    nb::class_<PySearch>(m, "Search")
        .def(nb::init<const PySpans&, const Numbers&, const Numbers&, const Vector&,
                      std::shared_ptr<const Plan>, std::vector<Lookup>, const Vector&, double,
                      std::optional<double>, std::size_t, std::size_t, Seconds, const Rows&,
                      const Closes&, const Rows&, const SeenAs&, const Kept&,
                      const std::vector<std::string>&>(),
             "spans"_a, "span"_a, "value"_a, "price"_a, "plan"_a.none(), "lookups"_a, "missing"_a,
             "slack"_a, "max_cost"_a.none(), "memory"_a, "patience"_a,
             "seconds"_a.none() = nb::none(), "row"_a = nb::none(), "closes"_a = nb::none(),
             "page"_a = nb::none(), "seen_as"_a = nb::none(), "kept"_a = Kept(),
             "without"_a = std::vector<std::string>())
        .def(nb::init<const Numbers&, const Numbers&, const Numbers&, const Vector&,
                      std::shared_ptr<const Plan>, std::vector<Lookup>, const Vector&, double,
                      std::size_t, std::size_t, Seconds, const Rows&, const Closes&, const Rows&>(),
             "field"_a, "span"_a, "value"_a, "price"_a, "plan"_a, "lookups"_a, "missing"_a,
             "limit"_a, "memory"_a, "patience"_a, "seconds"_a.none() = nb::none(),
             "row"_a = nb::none(), "closes"_a = nb::none(), "page"_a = nb::none())
        .def("next", &PySearch::next, "extensions"_a, "seconds"_a.none() = nb::none(),
             "work"_a.none() = nb::none())
        .def("stop_above", &PySearch::stop_above, "cost"_a)
        .def("nothing_below", &PySearch::nothing_below, "cost"_a)
        .def("dive", &PySearch::dive, "width"_a, "seconds"_a.none() = nb::none(),
             "work"_a.none() = nb::none())
        .def("dive_beyond", &PySearch::dive_beyond, "most"_a, "width"_a,
             "seconds"_a.none() = nb::none(), "work"_a.none() = nb::none())
        .def("improve", &PySearch::improve, "last"_a, "seconds"_a.none() = nb::none(),
             "work"_a.none() = nb::none())
        .def_prop_ro("cost", &PySearch::cost)
        .def_prop_ro("violated", &PySearch::violated)
        .def_prop_ro("labels", &PySearch::labels)
        .def_prop_ro("choices", &PySearch::choices)
        .def_prop_ro("bound", &PySearch::bound)
        .def_prop_ro("extended", &PySearch::extended)
        .def_prop_ro("memory", &PySearch::memory)
        .def_prop_ro("work", &PySearch::work);
}

void bind_masses(nb::module_& m) {
    nb::class_<Mass::Shares>(m, "Shares")
        .def_ro("same", &Mass::Shares::same)
        .def_ro("all", &Mass::Shares::all)
        .def_ro("open_same", &Mass::Shares::open_same)
        .def_ro("open_other", &Mass::Shares::open_other)
        .def_ro("open", &Mass::Shares::open)
        .def_ro("unsure", &Mass::Shares::unsure);
    nb::class_<PyMass>(m, "Mass")
        .def(nb::init<const PySpans&, const Numbers&, const Numbers&, const Vector&,
                      std::shared_ptr<const Plan>, std::vector<Lookup>, const Vector&,
                      const Vector&, bool, double, std::size_t, Seconds, const Rows&, const Closes&,
                      const Rows&, const SeenAs&, const Kept&>(),
             "spans"_a, "span"_a, "value"_a, "price"_a, "plan"_a, "lookups"_a, "missing"_a,
             "most_weight"_a, "everything"_a, "negligible"_a, "memory"_a,
             "seconds"_a.none() = nb::none(), "row"_a = nb::none(), "closes"_a = nb::none(),
             "page"_a = nb::none(), "seen_as"_a = nb::none(), "kept"_a = Kept())
        .def_prop_ro("log_total", &PyMass::log_total)
        .def("of", &PyMass::of, "answers"_a, "lost"_a, "states"_a, "work"_a, "steps"_a, "whole"_a,
             "seconds"_a.none() = nb::none());
}

}  // namespace

void bind_search(nb::module_& m) {
    bind_lattices(m);
    bind_searches(m);
    bind_masses(m);
}

}  // namespace lawful
