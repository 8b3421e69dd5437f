// The module `lawful._core`.

#define LAWFUL_IMPORTS_NUMPY
#include "python/module.hpp"

#include "python/arrays.hpp"
#include "python/gil.hpp"

NB_MODULE(_core, m) {
    using namespace lawful;
    if (_import_array() < 0) throw nb::python_error();
    nb::set_leak_warnings(false);  // streams of daemon threads outlive the interpreter
    Unlocked::watch_forks();
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&Unlocked::end));
    bind_pages(m);
    bind_streams(m);
    bind_rules(m);
    bind_search(m);
}
