"""Print the compiler's flags for the headers that the bindings include, as system headers."""

import sysconfig

import nanobind
import numpy as np

folders = [nanobind.include_dir(), np.get_include(), sysconfig.get_path("include")]
print(*(f"-isystem {folder}" for folder in folders))
