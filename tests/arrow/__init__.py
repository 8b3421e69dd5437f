"""Tests of lawful.arrow."""
