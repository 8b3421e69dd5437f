"""Which fields people need, how sure these are, and so which documents need a look, and how much.

Needed are the fields that the rules say are (``needs``); of the packs, those that most people need;
of other rules, all fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from lawful.report.page import COLOURS
from lawful.results.decoding import Decoding
from lawful.rules.definitions import Field
from lawful.rules.packs import PACKS
from lawful.rules.rule_set import Rules

NEEDS: Mapping[str, tuple[str, ...]] = {
    "receipt": ("total", "issued", "shop"),
    "invoice": ("gross", "number", "issued", "seller", "net", "tax"),
    "ad-order": ("gross", "contract", "advertiser", "flight_from", "flight_to"),
    "bank-statement": ("entry", "closing"),
    "broker-note": ("amount", "date", "isin"),
}
"""By pack, the fields at which a review stops, unless others are said to be needed."""

WIDE = 0.3
"""Bounds of a confidence that are further apart tell nobody anything."""

BROKEN = 0.5
"""The probability that a value of a broken rule is wrong, at least."""

UNPROVEN = 0.1
"""What it adds that an answer is not proven to be the best, or that no rule could be checked."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What an error costs that nobody sees, and what a look costs, in the same unit."""

    error: float = 20.0
    look: float = 1.0

    def worth(self, risk: float) -> float:
        """What a look at a document is worth, if this is the probability that it is wrong."""
        return risk * self.error - self.look


COSTS = Costs()


def with_needs(rules: Rules, path: Path, needs: str | None = None) -> Rules:
    """The rules with what is needed, as somebody says (``total,issued``), or usual for the pack."""
    if needs is not None:
        names = tuple(name.strip() for name in needs.split(",") if name.strip())
        return replace(rules, needs=names)
    pack = next((name for name, file in PACKS.items() if file == path), None)
    return rules if rules.needs or pack is None else replace(rules, needs=NEEDS[pack])


def by_use(rules: Rules) -> list[Field]:
    """The fields: first those that are needed, then those that most rules read."""
    readers = [rule.names for rule in rules.parsed]
    counts = {f.name: sum(f.name in names for names in readers) for f in rules.fields}
    place = {name: at for at, name in enumerate(rules.needs)}
    return sorted(rules.fields, key=lambda f: (place.get(f.name, len(place)), -counts[f.name]))


def headline(rules: Rules) -> tuple[str, ...]:
    """The fields that tell documents apart: who, when and how much, if there are such."""
    columns = {name for kind in rules.rows for name in kind.fields}
    single = [f for f in by_use(rules) if f.name not in columns and not f.many]
    wanted = [f for f in single if f.name in rules.needs] or single
    found = [
        next((f.name for f in wanted if f.type in types), None)
        for types in (("text",), ("date", "us_date"), ("money", "number"))
    ]
    return tuple(name for name in found if name is not None)


def described(rules: Rules) -> dict[str, Any]:
    """The fields of rules by use, with their keys, and the kinds of rows."""
    kinds = {name: kind.name for kind in rules.rows for name in kind.fields}
    colours = {f.name: i % COLOURS for i, f in enumerate(rules.fields)}
    return {
        "fields": [
            {
                "name": f.name,
                "label": f.label,
                "type": f.type,
                "many": f.many,
                "row": kinds.get(f.name),
                "key": str(i + 1) if i < 9 else None,
                "colour": colours[f.name],
                "needed": f.name in rules.needs,
            }
            for i, f in enumerate(by_use(rules))
        ],
        "rows": {kind.name: list(kind.fields) for kind in rules.rows},
        "headline": list(headline(rules)),
    }


def is_needed(rules: Rules, name: str) -> bool:
    """Whether a field is one that people need."""
    return name in rules.needs if rules.needs else True


def stops(
    rules: Rules, decoding: Decoding, doubtful: Sequence[str], wrong: Iterable[int]
) -> list[tuple[str, int]]:
    """The places at which a person should look, by field and number of the value.

    These are doubtful fields that are needed; one that is not on the page only if ``needs`` names
    it. Of a list, the values that have one of the ``wrong`` words, or else the first one.
    """
    words, found = set(wrong), []
    for name in doubtful:
        values = decoding.fields.get(name, [])
        if not is_needed(rules, name) or not (values or name in rules.needs):
            continue
        own = [i for i, value in enumerate(values) if not words.isdisjoint(range(*value.words))]
        found += [(name, i) for i in own or [0]]
    return found


def risk(
    rules: Rules, decoding: Decoding, broken: Iterable[str], sure: Mapping[str, float]
) -> float:
    """A guess of the probability that a needed value is wrong, to order documents by.

    With a model of trust, what that says. ``broken`` are the fields of broken rules, ``sure`` is
    how probable the model finds each value's words where the search has found no confidence.
    """
    if decoding.trust is not None:
        return 1.0 - decoding.trust
    doubts = [*_risks(rules, decoding, set(broken), sure)]
    doubts += [UNPROVEN] * (not decoding.optimal or decoding.status == "unchecked")
    return 1.0 - prod(1.0 - each for each in doubts)


def _risks(
    rules: Rules, decoding: Decoding, broken: set[str], sure: Mapping[str, float]
) -> Iterator[float]:
    for f in rules.fields:
        if not is_needed(rules, f.name):
            continue
        known = decoding.confidence.get(f.name)
        found = decoding.fields.get(f.name)
        if known is not None and known.high - known.low < WIDE:
            doubt = 1.0 - (known.low + known.high) / 2
        else:
            doubt = 1.0 - sure.get(f.name, 1.0) if found else float(f.name in rules.needs) / 2
        yield max(doubt, BROKEN) if f.name in broken else doubt
