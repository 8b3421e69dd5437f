"""A simulated tagger: scores as a good but imperfect model would give them.

It is sure of most words. Its mistakes are like those of models: they affect whole amounts, confuse
similar fields, and give the true label mostly the second highest probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.receipts.dice import Dice
from lab.receipts.printer import AMOUNTS, LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INDEX = {label: i for i, label in enumerate(LABELS)}

_MISTAKEN_FOR: Mapping[str, tuple[tuple[str, float], ...]] = {
    "total": (("cash", 4), ("subtotal", 4), ("item.price", 1), ("O", 1)),
    "subtotal": (("total", 4), ("item.price", 3), ("cash", 1), ("O", 1)),
    "cash": (("total", 5), ("change", 2), ("O", 1)),
    "change": (("discount", 2), ("cash", 3), ("O", 1)),
    "discount": (("change", 3), ("item.price", 2), ("O", 1)),
    "service": (("tax", 3), ("item.price", 2), ("O", 1)),
    "tax": (("service", 3), ("subtotal", 1), ("O", 2)),
    "item.price": (("subtotal", 4), ("O", 2), ("total", 1), ("discount", 1)),
    "item.count": (("O", 3), ("item.name", 2), ("item.price", 1)),
    "item.name": (("shop.name", 2), ("shop.address", 2), ("O", 3)),
    "shop.name": (("shop.address", 3), ("item.name", 2), ("O", 2)),
    "shop.address": (("shop.name", 3), ("O", 3), ("item.name", 1)),
    "date": (("O", 3), ("shop.address", 1)),
    "O": (("item.name", 4), ("shop.address", 2), ("shop.name", 1), ("item.count", 1)),
}
"""Fields that each field is mistaken for, with weights."""

_NUMBER_MISTAKEN_FOR = (("item.price", 3), ("item.count", 2), ("total", 1), ("date", 1))
"""Fields that a number outside all fields is mistaken for, with weights."""

_PARTNERS = {"total": ("cash", "subtotal"), "cash": ("total", "change"), "subtotal": ("total",)}
"""Fields that may be swapped."""

# Rates of mistakes at a noise of 1: per span, or per word outside all fields.
_MOVES = {
    **dict.fromkeys(AMOUNTS, 0.075),
    **dict.fromkeys(("shop.name", "shop.address", "date"), 0.1),
    "item.price": 0.01,
    "item.count": 0.015,
    "item.name": 0.04,
}
_SWAPS_BACK = 0.6
_TEARS = 0.2  # of moves: only a part of the span moves
_BREAKS = {True: 0.025, False: 0.05}  # amounts, and all other fields
_TAKES_KEY = 0.015
_INVENTS = 0.012
_CERTAIN = 0.12  # of mistakes: the wrong label is almost certain
_NEARLY = 0.2  # of mistakes: the wrong label is only the second most probable


@dataclass(frozen=True, slots=True)
class _Span:
    field: str
    start: int
    end: int

    def labels(self, field: str) -> dict[int, str]:
        """The labels of the span's words if it belonged to this field."""
        if field == "O":
            return dict.fromkeys(range(self.start, self.end), "O")
        inside = dict.fromkeys(range(self.start + 1, self.end), f"I-{field}")
        return {self.start: f"B-{field}", **inside}


def tag(
    dice: Dice, words: Sequence[str], gold: Sequence[str], noise: float = 1.0
) -> NDArray[np.float64]:
    """Probabilities of shape ``(words, labels)``.

    Rows sum to 1 and have no zeros. ``noise`` multiplies the rates of mistakes; at 0, the best
    label of every word is the true one.
    """
    everyone = np.arange(len(gold))
    truth = np.array([_INDEX[label] for label in gold], dtype=np.intp)
    claims = np.zeros((len(gold), len(LABELS)))
    uniform = dice.generator.random
    # The doubt about a sure word: mostly below 1 %, with a tail.
    doubt = 0.001 * np.exp(4.0 * uniform(len(gold)) ** 1.5)
    claims[everyone, truth] = 1.0 - doubt
    for mistake in _mistakes(dice, words, gold, noise):
        _make(dice, mistake, truth, claims)
    # The remaining probability is spread over all labels, across three orders of magnitude.
    spread = np.exp(7.0 * uniform(claims.shape))
    spread /= spread.sum(axis=1, keepdims=True)
    probabilities = claims + (1.0 - claims.sum(axis=1, keepdims=True)) * spread
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def _make(
    dice: Dice, mistake: Mapping[int, str], truth: NDArray[np.intp], claims: NDArray[np.float64]
) -> None:
    """Makes one mistake: its words get wrong labels with similar probabilities."""
    if dice.chance(_CERTAIN):
        wrong, right = dice.between(0.9, 0.97), dice.between(0.01, 0.025)
    else:
        wrong = dice.between(0.36, 0.6)
        right = dice.between(0.12, min(0.34, 0.9 - wrong))
        if dice.chance(_NEARLY):
            wrong, right = right, wrong
    other = dice.between(0.2, 0.8) * (1.0 - wrong - right)
    for i, label in mistake.items():
        if _INDEX[label] == truth[i]:
            continue
        shift = 1.0 - 0.06 * dice.generator.random()
        claims[i] = 0.0
        third = dice.weighted(_MISTAKEN_FOR[label.partition("-")[2] or "O"])
        claims[i, _INDEX["O" if third == "O" else f"B-{third}"]] = other * shift
        claims[i, _INDEX[label]] = wrong * shift
        claims[i, truth[i]] = right * shift


def _mistakes(
    dice: Dice, words: Sequence[str], gold: Sequence[str], noise: float
) -> Iterator[dict[int, str]]:
    """Mistakes, each as wrong labels by word."""
    spans = list(_spans(gold))
    for span in spans:
        if dice.chance(noise * _MOVES[span.field]):
            yield _move(dice, span, spans)
        elif span.end - span.start > 1 and dice.chance(noise * _BREAKS[span.field in AMOUNTS]):
            yield _break(dice, span)
        elif _has_key(span, gold) and dice.chance(noise * _TAKES_KEY):
            yield _taken_key(dice, span)
    for i, label in enumerate(gold):
        if label == "O" and dice.chance(noise * _INVENTS):
            number = any(map(str.isdigit, words[i]))
            field = dice.weighted(_NUMBER_MISTAKEN_FOR if number else _MISTAKEN_FOR["O"])
            yield {i: f"B-{field}"}


def _move(dice: Dice, span: _Span, spans: Sequence[_Span]) -> dict[int, str]:
    """Moves a span, or a part of it, to another field; sometimes swaps it with that field's."""
    field = dice.weighted(_MISTAKEN_FOR[span.field])
    mistake = span.labels(field)
    if dice.chance(_TEARS):
        part = dice.pick((span.start, span.end - 1))
        return {part: mistake[part]}
    if field in _PARTNERS.get(span.field, ()) and dice.chance(_SWAPS_BACK):
        other = next((other for other in spans if other.field == field), None)
        mistake |= other.labels(span.field) if other else {}
    return mistake


def _break(dice: Dice, span: _Span) -> dict[int, str]:
    """Breaks a span in two, or removes its first or last word."""
    begin = f"B-{span.field}"
    return dice.pick(
        (
            {dice.whole(span.start + 1, span.end - 1): begin},
            {span.start: "O", span.start + 1: begin},
            {span.start: "O"},  # the rest stays I-, which is illegal
            {span.end - 1: "O"},
        )
    )


def _has_key(span: _Span, gold: Sequence[str]) -> bool:
    return span.field in AMOUNTS and span.start > 0 and gold[span.start - 1] == "O"


def _taken_key(dice: Dice, span: _Span) -> dict[int, str]:
    """Labels the word before an amount as its beginning, or as another amount."""
    begin = {span.start - 1: f"B-{span.field}"}
    return {**begin, span.start: f"I-{span.field}"} if dice.chance(0.6) else begin


def _spans(gold: Sequence[str]) -> Iterator[_Span]:
    start = 0
    for i in range(1, len(gold) + 1):
        if i == len(gold) or not gold[i].startswith("I-"):
            if gold[start] != "O":
                yield _Span(gold[start][2:], start, i)
            start = i
