"""Statuses, doubts and distances in plain words."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, inf, log, log10

from lawful.results.decoding import Decoding, Status
from lawful.results.promise import is_promised
from lawful.rules.judging.checks import State

STATUSES: dict[Status, tuple[str, str]] = {
    "satisfied": ("rules hold", "Every rule that could be checked holds for these values."),
    "unchecked": (
        "not checked",
        "No rule could be checked: only the model supports these values.",
    ),
    "relaxed": (
        "rule broken",
        "These values break a rule: those that keep all rules are too unlikely, or do not exist.",
    ),
    "exhausted": (
        "not finished",
        "The search ended early; these values are the best that it had found.",
    ),
    "infeasible": ("rules clash", "Proven: no values can keep all hard rules."),
}
"""For each status, the words of its badge and a sentence."""

STATES: dict[State, str] = {"satisfied": "holds", "violated": "broken", "vacuous": "not checked"}

DOUBTS = {
    "broken": "with a broken rule",
    "unchecked": "without any rule that could be checked",
    "unproven": "whose values are not proven to be the best ones",
    "unpromised": "that the promise does not cover",
    "contradicted": "with other values than the known ones",
    "repaired": "with a character that OCR read otherwise",
}
"""The reasons why a document needs a person, most serious first, in words after a number."""


def doubt(decoding: Decoding) -> str | None:
    """The first of ``DOUBTS`` that applies to a decoding; ``None`` if no person is needed."""
    by_rules = not is_promised(
        decoding.passes_because
    )  # otherwise, by the needed values and the promise
    broken = bool(decoding.violations) or decoding.status in ("relaxed", "infeasible")
    applies = {
        "broken": by_rules and broken,
        "unchecked": by_rules and decoding.status == "unchecked",
        "unproven": by_rules and not decoding.optimal,
        "unpromised": not by_rules and not decoding.passes,
        "contradicted": not all(each.right for each in decoding.known),
        "repaired": by_rules and bool(decoding.repaired),
    }
    return next((reason for reason in DOUBTS if applies[reason]), None)


def counted(number: int, what: str) -> str:
    """A number and what it counts: "1 rule", "2 rules"."""
    return f"{number:,} {plural(number, what)}"


def plural(number: int, what: str) -> str:
    """The noun that goes with a number."""
    return what if number == 1 else f"{what}s"


def less_likely(nats: float) -> str:
    """A difference of log-probabilities as a factor: 0.69 nats are "2 times less likely"."""
    if abs(nats) < _SAME:
        return "about as likely"
    return f"{_times(abs(nats), round)} {'less' if nats > 0 else 'more'} likely"


def how_far_behind(margin: float) -> str:
    """A lower bound on such a difference, rounded down: "at least 4.4 times less likely"."""
    if margin == inf:
        return "impossible"
    if margin < _SAME:
        return "about as likely"
    return f"at least {_times(margin, floor)} less likely".replace("at least over", "over")


_SAME = log(1.05)
_MOST = log(1e6)


def _times(nats: float, rounded: Callable[[float], float]) -> str:
    """The factor with two digits, or one decimal."""
    if nats > _MOST:
        return "over a million times"
    factor = exp(nats)
    unit = 0.1 if factor < 10 else 10.0 ** (floor(log10(factor)) - 1)
    # A billionth more, so that 3.0 does not become 2.9 by the rounding of floats.
    factor = rounded(factor / unit + 1e-9) * unit
    return f"{factor:,.1f}".removesuffix(".0") + " times"
