"""The readings decoder against every labelling."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings

from lawful import decode
from tests.helpers import ENOUGH
from tests.oracles.labellings import best_worth
from tests.strategies import problems


@settings(max_examples=300)
@given(problem=problems())
def test_readings_finds_the_best_too(problem):
    expected = best_worth(*problem)
    found = decode(*problem, decoder="readings", budget=ENOUGH)
    if expected == -inf:
        assert found.status == "infeasible"
    else:
        assert found.worth == pytest.approx(expected, abs=1e-9)
        assert found.optimal
