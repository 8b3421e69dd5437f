"""Hypothesis runs without deadlines: a shared machine is slow now and then."""

from hypothesis import settings

settings.register_profile("lawful", deadline=None, print_blob=True)
settings.load_profile("lawful")
