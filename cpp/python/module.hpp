#pragma once

#include <nanobind/nanobind.h>

namespace lawful {

namespace nb = nanobind;

/// Each adds one folder of the core to the module; `search` uses classes of `rules`. Pages have
/// none.
void bind_pages(nb::module_& m);
void bind_streams(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_search(nb::module_& m);

}  // namespace lawful
