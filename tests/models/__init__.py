"""Tests of taggers: those of torch are left out where it is not installed."""
