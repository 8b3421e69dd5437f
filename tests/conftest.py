"""Hypothesis runs without deadlines, since a shared machine may be slow.

Every run draws other examples. Where ``CI`` is set, they are always the same, so that a commit
passes always or never.
"""

import os
import signal
from tempfile import TemporaryDirectory

from hypothesis import settings

import lab.datasets
import lab.decoders  # noqa: F401 - data sets and decoders of the paper are tested, too, by name

settings.register_profile("lawful", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("lawful")

# In the background of a shell, tests and the processes that they start would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests read is kept for this run of theirs alone.
_caches = TemporaryDirectory(prefix="lawful-tests-")
os.environ["XDG_CACHE_HOME"] = _caches.name
