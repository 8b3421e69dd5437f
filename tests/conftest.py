"""Hypothesis runs without deadlines, since a shared machine may be slow."""

import signal

from hypothesis import settings

settings.register_profile("lawful", deadline=None, print_blob=True)
settings.load_profile("lawful")

# In the background of a shell, tests and the processes that they start would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
