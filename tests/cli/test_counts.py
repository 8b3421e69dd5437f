"""Counts of statuses and rules, in the words of the command line."""

from __future__ import annotations

from lawful.cli.counts import Tally, counts_of
from lawful.rules.judging.checks import Check


def test_a_tally_lists_statuses_in_one_order_and_rules_that_are_rules():
    tally = Tally()
    assert str(tally) == ""
    states = ("satisfied", "violated", "vacuous")
    checks = [Check(state, state, "") for state in states]
    implied = Check("total:agrees", "violated", "", implied=True)
    for status in ("exhausted", "relaxed", "relaxed", "infeasible", "unchecked", "satisfied"):
        tally.update(counts_of(status, [*checks, implied]))
    tally["bad lines"] += 3
    assert str(tally) == (
        "1 satisfied, 1 unchecked, 2 relaxed, 1 infeasible, 1 exhausted, 3 bad lines; "
        "12 of 18 rules checked, 6 hold"
    )
