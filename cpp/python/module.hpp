#pragma once

#include <nanobind/nanobind.h>

namespace lawful {

namespace nb = nanobind;

/// Each adds one room of the core to the module; `rules` comes before `search`.
void bind_streams(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_search(nb::module_& m);

}  // namespace lawful
