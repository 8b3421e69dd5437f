"""Places of candidates: where each text of each slot stands on the page, and what that costs.

The most probable texts of all slots are an object, the second ones another, and so on. Each object
is placed on the page as a whole, as by ``lawful.ground``; so a text has the places that suit the
best texts of the other slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lawful.candidates.grounding.leaves import Leaf
from lawful.candidates.grounding.page import Page
from lawful.candidates.grounding.placing import prices
from lawful.documents.document import Box, Document
from lawful.rules.rule_set import Rules

NOT_PRINTED = 5.0
"""Nats that a text pays that is printed nowhere."""

SHARE = 0.35
"""Nats that a text pays for each nat that its place costs."""

MAX_PLACES = 3
"""Places of a text that rules choose among, if they are about places."""


class Spot(NamedTuple):
    """A place of a text, and its price in nats; without a box and a page if it is not printed."""

    price: float
    words: tuple[int, ...] = ()
    box: Box | None = None
    page: int | None = None


class Wanted(NamedTuple):
    """The texts of a slot by falling probability, their field, and the row or list they are in."""

    field: str
    texts: Sequence[str]
    row: int | None
    many: bool


def places_of(
    document: Document, slots: Sequence[Wanted], rules: Rules, *, several: bool
) -> list[Mapping[str, list[Spot]]]:
    """By slot and text, its places by rising price; a single one unless ``several``."""
    page = Page(document, rules)
    found: list[dict[str, list[Spot]]] = [{} for _ in slots]
    versions = max((len(slot.texts) for slot in slots), default=0)
    for version in range(versions):
        seekers, placing = page.place(list(_leaves(slots, version)))
        for slot, texts, seeker, costs in zip(
            slots, found, seekers, prices(seekers, placing), strict=True
        ):
            if version < len(slot.texts):
                ranked = sorted(zip(costs[1:], seeker.places, strict=True), key=lambda e: e[0])
                spots = [
                    Spot(SHARE * cost, place.words, page.box(place.words),
                         document.page(place.words[0]))
                    for cost, place in ranked[: MAX_PLACES if several else 1]
                    if cost <= costs[0]
                ]  # fmt: skip
                texts[slot.texts[version]] = spots or [Spot(NOT_PRINTED)]
    return list(found)


def _leaves(slots: Sequence[Wanted], version: int) -> list[Leaf]:
    """The object whose slots have their texts of this rank, or their best ones."""
    found = []
    chains: dict[str, int] = {}
    for number, slot in enumerate(slots):
        text = slot.texts[version if version < len(slot.texts) else 0]
        if slot.row is not None:
            found.append(Leaf(("rows", slot.row, slot.field), text, 0, slot.row))
        elif slot.many:
            chain = chains.setdefault(slot.field, len(chains) + 1)
            found.append(Leaf((slot.field, number), text, chain, number))
        else:
            found.append(Leaf((slot.field,), text))
    return found
