"""Hypothesis runs without deadlines, since a shared machine may be slow.

Every run draws other examples. Where ``CI`` is set, they are always the same, so that a commit
passes always or never.
"""

import os
import signal

from hypothesis import settings

settings.register_profile("lawful", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("lawful")

# In the background of a shell, tests and the processes that they start would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
