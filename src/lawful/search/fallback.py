"""The labelling of an answer that no search found: legal, and in agreement with the pins.

Pins about words are in the costs of a problem, so its best legal labelling agrees with them. A pin
on a value is not: here, words that have the value are looked for and pinned, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import inf
from time import perf_counter

from lawful.base.clock import is_up
from lawful.base.errors import DocumentError
from lawful.documents.pins import Pin
from lawful.search.problem import Labels, Problem

GRACE = 0.01
"""Seconds for looking for pinned values when the time is up."""

MAX_WAYS = 64
"""Ways to give all pinned fields a span that are tried."""

LONGEST = 16
"""Words of the longest span that may have a pinned value."""


def fallback(problem: Problem, deadline: float) -> Labels:
    """The best legal labelling, or one that agrees with as many pins on values as are found.

    Without a legal labelling that agrees with the pins about words, the best legal one; without
    any, the model's first choice for every word.
    """
    best = problem.best_legal
    if best is None:
        best = problem.best_without_pins
        return problem.argmax if best is None else best
    values = [pin for pin in problem.document.pins if pin.subject == "value"]
    if not values or not set(values) & problem.broken_pins(best):
        return best
    until = max(deadline, perf_counter() + GRACE)
    labels = _agreeing(problem, values, until)
    if labels is not None:
        return labels
    obeyed: list[Pin] = []
    for pin in values if len(values) > 1 else ():
        labels = _agreeing(problem, [*obeyed, pin], until)
        if labels is not None:
            best = labels
            obeyed.append(pin)
    return best


def _agreeing(problem: Problem, values: Sequence[Pin], until: float) -> Labels | None:
    """A legal labelling that agrees with these pins on values and all pins about words."""
    about_words = [pin for pin in problem.document.pins if pin.subject != "value"]
    words = len(problem.document)
    for way in islice(product(*(_spans(problem, pin, until) for pin in values)), MAX_WAYS):
        if is_up(until):
            return None
        said: list[Pin] = []
        for pin, span in zip(values, way, strict=True):
            if span is None:
                said.append(Pin("absent", field=pin.field))
                continue
            said.append(Pin("is", words=span, field=pin.field))
            around = ((0, span[0]), (span[1], words))
            said += (Pin("not", words=o, field=pin.field) for o in around if o[0] < o[1])
        try:
            pins = tuple(dict.fromkeys((*about_words, *said)))
            document = replace(problem.document, pins=pins)
            labels = Problem(document, problem.scores, problem.judge.rules, keep=False).best_legal
        except DocumentError:  # the words of one value are pinned to something else
            continue
        if labels is not None and not {*values, *about_words} & problem.broken_pins(labels):
            return labels
    return None


def _spans(problem: Problem, pin: Pin, until: float) -> list[tuple[int, int] | None]:
    """The words that have a pinned value, the likeliest first; none stands for the default."""
    judge, pinned = problem.judge, problem.judge.pinned
    assert pinned is not None  # noqa: S101 - there is a pin
    index = judge.rules.field_index[pin.field or ""]
    of_field = problem.scheme.labels_of((judge.rules.fields[index].label,))
    costs, is_meant = problem.costs, pinned.is_meant
    prices = (costs[:, of_field].min(axis=1, initial=inf) - costs.min(axis=1)).tolist()

    def found() -> Iterator[tuple[float, tuple[int, int]]]:
        for length in range(1, min(len(prices), LONGEST) + 1):
            for start in range(len(prices) - length + 1):
                if is_up(until):
                    return
                span = (start, start + length)
                price = sum(prices[slice(*span)])
                if price < inf and is_meant(index, judge.values(index, *span)):
                    yield price, span

    spans: list[tuple[int, int] | None] = [span for _, span in sorted(found())]
    return spans if pin.field in pinned.present else [*spans, None]
