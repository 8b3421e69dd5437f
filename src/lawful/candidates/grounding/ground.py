"""Ground: where the values of JSON objects stand on a page.

Every value is compared with the words of the page by its type. What it may stand on, how well the
words around fit the names of the field, and which values stand together in the object decide where
it stands: all values are placed together by an exact search.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp
from typing import Any

from lawful.base.errors import InputError, shown
from lawful.candidates.grounding.leaves import Leaf, is_object, leaves_of
from lawful.candidates.grounding.matches import Span
from lawful.candidates.grounding.page import Page
from lawful.candidates.grounding.placing import Seeker, prices
from lawful.candidates.grounding.results import Grounded, Grounding
from lawful.documents.document import Document
from lawful.rules.rule_set import Rules

TRUST = 2.5
"""Factor of differences in cost when they become probabilities; chosen on pages with truth."""

DOUBT = 0.005
"""Odds that a value stands at none of the places that are known."""


def ground(document: Document, objects: Any, rules: Rules | None = None) -> Any:
    """The values of an object, or of a list of objects, on the words of the document.

    An object is a mapping as in JSON, or a Pydantic object; its ``Grounding`` comes back, or a list
    of these for a list. Every value has one place: numbers and dates by their value in any
    notation, texts without regard to case, accents, blanks and hyphens, and with a few wrong
    letters, but never with other digits. Key words, the order of rows, values that stand together
    and columns decide between several places; two values share words only if there are no others.
    True and false are not looked for.

    Fields of the rules, found as by ``lawful.choose``, give values their types, and say where they
    may be (``where``).
    """
    if not isinstance(document, Document):
        raise InputError(f"document is of type {type(document).__name__}, expected a Document")
    if not (rules is None or isinstance(rules, Rules)):
        raise InputError(f"rules is of type {type(rules).__name__}, expected Rules or None")
    page = Page(document, rules)
    if is_object(objects):
        return _grounding(page, leaves_of(objects))
    if isinstance(objects, str | bytes) or not isinstance(objects, Iterable):
        raise InputError(f"objects is {shown(objects)}, expected an object or a list of objects")
    return [_grounding(page, leaves_of(each, f"object {i}")) for i, each in enumerate(objects)]


def _grounding(page: Page, leaves: list[Leaf]) -> Grounding:
    seekers, placing = page.place(leaves)
    values = (
        _grounded(page, leaf, seeker, at, costs)
        for leaf, seeker, at, costs in zip(
            leaves, seekers, placing.chosen, prices(seekers, placing), strict=True
        )
    )
    return Grounding(tuple(values), placing.optimal)


def _grounded(
    page: Page, leaf: Leaf, seeker: Seeker, at: int | None, costs: list[float]
) -> Grounded:
    chosen = costs.pop(0 if at is None else at + 1)
    probability = 1 / (1 + DOUBT + sum(exp(-TRUST * (cost - chosen)) for cost in costs))
    if at is None:
        nearest = page.occurrences.nearest(leaf.value)
        return Grounded(leaf.path, leaf.value, (), None, None, None, probability, nearest)
    words, document = seeker.places[at].words, page.document
    text = " ".join(document.text(*run) for run in _runs(words))
    box, number = page.box(words), document.page(words[0])
    return Grounded(leaf.path, leaf.value, words, text, box, number, probability)


def _runs(words: tuple[int, ...]) -> list[Span]:
    """Words as half-open spans."""
    starts = [i for i, word in enumerate(words) if i == 0 or word != words[i - 1] + 1]
    ends = [*starts[1:], len(words)]
    return [(words[a], words[b - 1] + 1) for a, b in zip(starts, ends, strict=True)]
