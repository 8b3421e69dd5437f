"""Choose: the most probable combination of candidates that obeys the rules.

Candidates become a document whose words are their texts, slot by slot. Each candidate is a span
from its text to the end of its slot, so that candidates of one slot overlap, and at most one of
them is chosen; rules see its text alone. From there on, it is decoded like any other document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import exp, fsum, log
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from lawful.candidates import Candidates, Path, Slot
from lawful.decoders import Decoder, decode
from lawful.decoding import Budget, Decoding
from lawful.document import Document
from lawful.errors import InputError, RulesError
from lawful.labels import Span
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules
from lawful.span_scores import SpanScores
from lawful.values import identity, read


def choose(
    candidates: Candidates,
    rules: Rules,
    *,
    decoder: str | Decoder = "auto",
    budget: Budget | None = None,
    alternatives: int = 0,
) -> Decoding:
    """The most probable combination of candidates that the rules accept, or the best trade-off.

    Slots are independent, so the log-probability of a combination is the sum over its slots, those
    without a value included. ``words`` of the decoding are the texts of all candidates, and
    ``span_corrections`` compares it with the most probable combination. Texts that a field's type
    reads as the same value are one candidate, unless a condition or a rule tells them apart. A
    field of one value that has several slots is one slot: its candidates exclude each other.
    """
    if not isinstance(candidates, Candidates):
        found = type(candidates).__name__
        raise InputError(f"candidates is of type {found}, expected a Candidates")
    if not isinstance(rules, Rules):
        raise InputError(f"rules is of type {type(rules).__name__}, expected a Rules")
    problem = laid_out(candidates, rules)
    return decode(*problem, decoder=decoder, budget=budget, alternatives=alternatives)


_WITHOUT_PLACES: WeakKeyDictionary[Rules, Rules] = WeakKeyDictionary()


def without_places(rules: Rules) -> Rules:
    """The same rules without conditions about places, with a label of its own for every field.

    Raises a ``RulesError`` for a rule that cannot be judged without places.
    """
    found = _WITHOUT_PLACES.get(rules)
    if found is None:
        for rule in rules.parsed:
            if rule.places:
                raise RulesError(
                    f"rule {rule.id!r} is about the place of {min(rule.places)}, which candidates "
                    "do not have"
                )
        found = replace(
            rules,
            fields=tuple(replace(f, label=f.name, where=None) for f in rules.fields),
            rows=tuple(replace(kind, starts=None) for kind in rules.rows),
            boundaries=None,
            orders=(),
        )
        _WITHOUT_PLACES[rules] = found
    return found


def fields_of(paths: Sequence[Path], rules: Rules) -> dict[Path, str]:
    """By path, the field of the rules that it leads to, if there is one.

    That is the field named like the path with ``_`` in between, or like its last name, or else the
    one whose label is the path with dots in between, or its last name.
    """
    labels = {f.label: f.name for f in reversed(rules.fields)}
    names = {f.name for f in rules.fields}
    found: dict[Path, str] = {}
    for path in paths:
        wanted = next((name for name in ("_".join(path), path[-1]) if name in names), None)
        wanted = wanted or labels.get(".".join(path)) or labels.get(path[-1])
        if wanted is not None:
            found[path] = wanted
    return found


class _Place(NamedTuple):
    """A slot of a field, with the number of its row."""

    field: str
    log_odds: Mapping[str, float]
    row: int | None


def laid_out(candidates: Candidates, rules: Rules) -> tuple[Document, SpanScores, Rules]:
    """The document of all candidates, the scores of its spans, and the rules without places."""
    names = fields_of(candidates.paths, rules)
    rules = without_places(rules)
    known = {f.name: f for f in rules.fields}
    words: list[str] = []
    rows: list[int | None] = []
    spans: list[Span] = []
    log_odds: list[float] = []
    ends: list[int] = []
    log_none = 0.0
    for place in _places(candidates, names, rules):
        f = known[place.field]
        odds = _merged(place.log_odds, f, rules)
        log_none -= log(1 + fsum(map(exp, odds.values())))
        split = rules.words or f.max_words or f.starts or f.ends  # what a word is matters
        starts = []
        for text in odds:
            starts.append(len(words))
            words += (text.split() if split else None) or [text]
            ends += [len(words)] * (len(words) - starts[-1])
        spans += [Span(f.label, start, len(words)) for start in starts]
        log_odds += odds.values()
        rows += [place.row] * (len(words) - len(rows))
    document = Document(
        candidates.id,
        tuple(words),
        rows=tuple(rows) if rules.rows else None,
        line=candidates.line,
        given=candidates.given,
        classes=candidates.classes,
    )
    types = tuple(f.label for f in rules.fields)
    scores = SpanScores.of_slots(
        len(words), spans, np.array(log_odds), log_none, types, np.array(ends, np.intp)
    )
    return document, scores, rules


def _places(candidates: Candidates, fields: Mapping[Path, str], rules: Rules) -> Iterator[_Place]:
    """The slots in the order of the document: single values, lists, then rows one by one."""
    if candidates.slots and not fields:
        some = ", ".join(".".join(path) for path in candidates.paths[:10])
        names = ", ".join(f.name for f in rules.fields)
        raise InputError(f"no candidates for the fields of the rules: {names}; found {some}")
    many = {f.name for f in rules.fields if f.many}
    single: dict[str, list[Slot]] = {}
    in_rows: list[Slot] = []
    lists: list[_Place] = []
    for slot in candidates.slots:
        if slot.path not in fields:
            continue
        name = fields[slot.path]
        if name not in many:
            single.setdefault(name, []).append(slot)
        elif slot.rows is not None:
            in_rows.append(slot)
        else:
            lists.append(_Place(name, slot.log_odds, None))
    for name, slots in single.items():
        yield _Place(name, _together(slots), None)
    yield from lists
    by_row = groupby(in_rows, key=lambda slot: (slot.rows, slot.item))
    for number, (_, slots_of_row) in enumerate(by_row):
        for slot in slots_of_row:
            yield _Place(fields[slot.path], slot.log_odds, number)


def _together(slots: Sequence[Slot]) -> dict[str, float]:
    """The candidates of several slots, at most one of which has a value."""
    found: dict[str, list[float]] = {}
    for slot in slots:
        for text, odds in slot.log_odds.items():
            found.setdefault(text, []).append(odds)
    return {text: _log_sum(odds) for text, odds in found.items()}


def _merged(log_odds: Mapping[str, float], f: Field, rules: Rules) -> dict[str, float]:
    """Texts of the same value as one candidate, which is the most probable of them."""
    told_apart = rules.words or f.name in rules.printed or f.lexicon is not None
    if told_apart or f.max_words or f.pattern or f.starts or f.ends or f.kind == "text":
        return dict(log_odds)
    groups: dict[Any, dict[str, float]] = {}
    for text, odds in log_odds.items():
        values = read(text, f.type)
        groups.setdefault(identity(values) if values else text, {})[text] = odds
    return {max(texts, key=lambda text: texts[text]): _log_sum(list(texts.values()))
            for texts in groups.values()}  # fmt: skip


def _log_sum(logs: Sequence[float]) -> float:
    top = max(logs)
    return top + log(fsum(exp(each - top) for each in logs))
