"""Hypothesis runs without deadlines: a shared machine is slow now and then."""

import signal

from hypothesis import settings

settings.register_profile("lawful", deadline=None, print_blob=True)
settings.load_profile("lawful")

# A shell that runs tests in the background has them ignore Ctrl-C, and all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
