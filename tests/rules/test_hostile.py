"""Hostile rules, a few of each kind: refused by an error of ours, or used without one."""

from __future__ import annotations

import random

import pytest

from lawful import LawfulError
from tests.hostile import expressions, rule_dictionaries, rule_files


@pytest.mark.parametrize("target", [expressions, rule_dictionaries, rule_files])
def test_hostile_rules_are_refused_or_work(target):
    outcomes = set()
    for number in range(60):
        case = target.draw(random.Random(number))  # noqa: S311 - no secret
        try:
            outcomes.add(target.run(case))
        except LawfulError as error:
            outcomes.add(type(error).__name__)
    assert {"answer", "RulesError"} <= outcomes
