"""Texts that say the same, and texts that only look alike."""

from __future__ import annotations

import pytest

from lawful.candidates.same import same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ACME, Inc.", "Acme Incorporated"),
        ("Müller  GmbH", "MULLER GmbH"),
        ("$1,234.50", "1234.5"),
        ("19 %", "19"),
        ("2024-12-31", "31/12/24"),
        ("(030) 123-4567", "030 1234567"),
        ("1.5 kg", "1,50KG"),
        ("日本", " 日本"),
    ],
)
def test_one_value_in_two_notations_is_one(one, other):
    assert same(one) == same(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5 kg", "15 kg"), ("007", "7"), ("-5 kg", "5 kg"), ("1-5", "15"), ("1/2 in", "12 in"),
     ("20.000", "20"), ("12.3", "12.30001"), ("…", "-"), ("A1", "A 11")],
)  # fmt: skip
def test_digits_are_never_confused(one, other):
    assert same(one) != same(other)
