"""Doubts and distances in plain words: what is said is so."""

from __future__ import annotations

import re
from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.report.plain import DOUBTS, STATUSES, doubt, how_far_behind, less_likely
from lawful.results.decoding import Decoding
from lawful.results.known import Known
from lawful.rules.judging.checks import Check


def decoding(status="satisfied", **changes):
    values = {
        "id": "d", "decoder": "exact", "status": status, "labels": (), "fields": {},
        "optimal": status in ("satisfied", "unchecked", "relaxed"), "log_prob": 0.0,
        "penalty": 0.0, "bound": 0.0, "checks": (), "corrections": (), "tried": 1, "mass": 1.0,
        "seconds": 0.0,
    }  # fmt: skip
    return Decoding(**values | changes)


SURE = "trust of at least 0.9: at most 1 in 100 wrong (95 % sure)"
BROKEN = (Check("r", "violated", ""),)
OTHER = (Known("total", ("1",), ("2",), right=False),)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (decoding(), None),
        (decoding(known=(Known("total", ("1",), ("1",), right=True),)), None),
        (decoding(trust=0.9, passes=True, passes_because=SURE), None),
        (decoding("relaxed", checks=BROKEN, trust=0.9, passes=True, passes_because=SURE), None),
        (decoding(passes=False, passes_because="no promise"), None),
        (decoding("relaxed", checks=BROKEN), "broken"),
        (decoding("exhausted", checks=BROKEN), "broken"),
        (decoding("infeasible"), "broken"),
        (decoding("unchecked"), "unchecked"),
        (decoding("unchecked", known=OTHER), "unchecked"),  # only the first one counts
        (decoding("exhausted"), "unproven"),
        (decoding(optimal=False), "unproven"),
        (decoding(trust=0.2, passes=False, passes_because="trust below 0.9"), "unpromised"),
        (decoding(known=OTHER), "contradicted"),
    ],
)
def test_who_needs_a_person(found, expected):
    assert doubt(found) == expected
    assert expected is None or expected in DOUBTS


def test_only_satisfied_documents_can_do_without_a_person():
    assert [status for status in STATUSES if doubt(decoding(status)) is None] == ["satisfied"]


@pytest.mark.parametrize(
    ("nats", "words"),
    [
        (0.0, "about as likely"),
        (0.04, "about as likely"),
        (log(2), "2 times less likely"),
        (-log(2), "2 times more likely"),
        (log(2.46), "2.5 times less likely"),
        (log(12.4), "12 times less likely"),
        (log(1234), "1,200 times less likely"),
        (log(999_999), "1,000,000 times less likely"),
        (50, "over a million times less likely"),
        (inf, "over a million times less likely"),
    ],
)
def test_nats_as_factors(nats, words):
    assert less_likely(nats) == words


@pytest.mark.parametrize(
    ("nats", "words"),
    [
        (0.0, "about as likely"),
        (log(3), "at least 3 times less likely"),
        (log(2.99), "at least 2.9 times less likely"),
        (log(9.99), "at least 9.9 times less likely"),
        (log(999_999), "at least 990,000 times less likely"),
        (50, "over a million times less likely"),
        (inf, "impossible"),
    ],
)
def test_margins_are_rounded_down(nats, words):
    assert how_far_behind(nats) == words


@given(st.floats(log(1.05), log(1e6)))
def test_no_margin_is_overstated(nats):
    (factor,) = re.findall(r"[\d,.]+", how_far_behind(nats))
    assert 0.9 * exp(nats) <= float(factor.replace(",", "")) <= exp(nats) * (1 + 1e-6)
