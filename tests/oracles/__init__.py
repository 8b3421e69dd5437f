"""Slow and obvious versions of what lawful does, to compare it with."""
