"""Choose: the most probable combination of candidates that obeys the rules.

Candidates become a document whose words are their texts, slot by slot. Each candidate is a span
from its text to the end of its slot, so that candidates of one slot overlap, and at most one of
them is chosen; rules see its text alone. From there on, it is decoded like any other document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import exp, expm1, fsum, inf, log, log1p
from typing import Any, NamedTuple

import numpy as np

from lawful.base.errors import InputError, RulesError
from lawful.candidates.candidates import TOLERANCE, Candidates
from lawful.candidates.grounding.leaves import fields_of
from lawful.candidates.placed import Spot, Wanted, places_of
from lawful.candidates.same import same
from lawful.candidates.samples import Path
from lawful.candidates.slots import Slot
from lawful.decoders import Decoder, decode
from lawful.documents.document import NOWHERE, Document
from lawful.documents.labels import Span
from lawful.documents.placed_texts import PlacedTexts
from lawful.documents.span_scores import SpanScores
from lawful.results.decoding import Budget, Decoding
from lawful.rules.definitions import Field, Rule
from lawful.rules.judging.places import line_numbers
from lawful.rules.rule_set import Rules
from lawful.values import identity, read

FOR_ROWS = 2**13
"""Candidates that are tried to find out which rows are there."""


def choose(
    candidates: Candidates,
    rules: Rules,
    *,
    document: Document | None = None,
    decoder: str | Decoder = "auto",
    budget: Budget | None = None,
    alternatives: int = 0,
    confidence: bool = False,
) -> Decoding:
    """The most probable combination of candidates that the rules accept, or the best trade-off.

    Slots are independent, so the log-probability of a combination is the sum over its slots, those
    without a value included. ``words`` of the decoding are the texts of all candidates, and
    ``span_corrections`` compares it with the most probable combination. Texts that a field's type
    reads as the same value are one candidate, unless a condition or a rule tells them apart. A
    field of one value that has several slots is one slot: its candidates exclude each other.

    Rows that only some sources have are there or not as a whole: first it is settled which, under
    the rules, then their values; so ``optimal`` is meant among answers with these rows.

    ``confidence`` of a field, asked for or with ``alternatives``, counts that its true value may be
    one that no source has named: five of five samples that agree are 92 % sure.

    ``document`` is the page that the candidates were read from. Then a text pays for a place that
    suits it badly, and one that is printed nowhere pays ``NOT_PRINTED`` nats; rules about places
    apply, and values have boxes and pages.
    """
    if not isinstance(candidates, Candidates):
        found = type(candidates).__name__
        raise InputError(f"candidates is of type {found}, expected a Candidates")
    if not isinstance(rules, Rules):
        raise InputError(f"rules is of type {type(rules).__name__}, expected a Rules")
    if not (document is None or isinstance(document, Document)):
        raise InputError(f"document is of type {type(document).__name__}, expected a Document")
    found = ready(candidates, rules, document)
    decoding = decode(found.document, found.scores, found.rules, decoder=decoder, budget=budget,
                      alternatives=alternatives, confidence=confidence)  # fmt: skip
    return found.on_page(decoding)


def ready(
    candidates: Candidates,
    rules: Rules,
    page: Document | None = None,
    seconds: float | None = None,
) -> LaidOut:
    """The candidates laid out, with the rows that are there, found in this time at most."""
    found = laid_out(candidates, rules, page)
    if not found.deciding:
        return found
    some = Budget(candidates=FOR_ROWS, seconds=seconds)
    first = decode(found.document, found.scores, found.rules, budget=some)
    return laid_out(_settled(candidates, found, first), rules, page)


def _settled(candidates: Candidates, found: LaidOut, decoding: Decoding) -> Candidates:
    """The candidates with those open rows whose deciding fields have values, as a whole."""
    there = {found.rows[value.words[0]] for name in found.deciding
             for value in decoding.fields.get(name, ())}  # fmt: skip
    out = set(found.rows) - there
    return candidates.with_slots(
        slot._replace(log_out=-inf if slot.log_out == -inf or row not in out else 0.0)
        for slot in candidates.slots
        for row in [(slot.rows, slot.item)]
    )


def _with_rows(
    candidates: Candidates, fields: Mapping[Path, str], rules: Rules
) -> tuple[Candidates, frozenset[str]]:
    """The candidates with rows that are there or not, as is more probable, and deciding fields.

    These are fields that a rule of the whole document reads. In a row that has one of them, and
    that may or may not be there, all values may be missing.
    """
    if all(slot.log_out in (-inf, 0.0) for slot in candidates.slots):
        return candidates.with_slots(s for s in candidates.slots if s.log_out == -inf), frozenset()
    read_ = {name for rule in rules.parsed if rule.each is None for name in rule.names}
    about = {(slot.rows, slot.item) for slot in candidates.slots
             if fields.get(slot.path) in read_ and 0 > slot.log_out > -inf}  # fmt: skip
    kept = []
    for slot in candidates.slots:
        if (slot.rows, slot.item) in about:
            there = log1p(-exp(slot.log_out))
            kept.append(slot._replace(
                log_probs={text: p + there for text, p in slot.log_probs.items()},
                log_missing=_log_sum([slot.log_out, slot.log_missing + there]),
                absent_in=slot.absent_in | {-1},
                log_out=-inf,
            ))  # fmt: skip
        elif slot.log_out < log(0.5):
            kept.append(slot._replace(log_out=-inf))
    return candidates.with_slots(kept), frozenset(read_ if about else ())


@lru_cache(maxsize=16)
def without_places(rules: Rules) -> Rules:
    """The same rules without conditions about places, with a label of its own for every field.

    Raises a ``RulesError`` for a rule that cannot be judged without places.
    """
    for rule in rules.parsed:
        if rule.places:
            raise RulesError(
                f"rule {rule.id!r} is about the place of {min(rule.places)}, which candidates do "
                "not have"
            )
    fields = tuple(replace(f, label=f.name, where=None) for f in rules.fields)
    return replace(_on_candidates(rules), fields=fields)


@lru_cache(maxsize=16)
def with_places(rules: Rules) -> Rules:
    """The same rules for candidates on a page, with a label of its own for every field.

    An order becomes rules about the lines of fields of one value. Raises a ``RulesError`` for a
    rule about the order of words: candidates have places on the page, but not among its words.
    """
    for rule in rules.parsed:
        if rule.places and rule.expression and _IN_WORDS.search(rule.expression.source):
            raise RulesError(
                f"rule {rule.id!r} is about the order of words, which candidates do not have; "
                "write line, left, top and the like"
            )
    single = {f.name for f in rules.fields if not f.many}
    orders = [
        Rule(
            f"line({a}) < line({b}) or (line({a}) == line({b}) and left({a}) <= left({b}))",
            id=f"{order.id}: {a}, {b}",
            weight=order.weight,
            unchecked=0,
        )
        for order in rules.orders
        for a, b in combinations([name for name in order.fields if name in single], 2)
    ]
    return _on_candidates(rules).with_rules(*orders)


_IN_WORDS = re.compile(r"\b(start|end|before)\s*\(")


def _on_candidates(rules: Rules) -> Rules:
    """The same rules without conditions about the words beside a field."""
    return replace(
        rules,
        fields=tuple(replace(f, label=f.name) for f in rules.fields),
        rows=tuple(replace(kind, starts=None) for kind in rules.rows),
        boundaries=None,
        orders=(),
    )


def has_places(rules: Rules) -> bool:
    """Whether rules, orders or conditions of fields are about places."""
    about = (rule.places for rule in rules.parsed)
    return any(about) or bool(rules.orders) or any(f.where for f in rules.fields)


class _Place(NamedTuple):
    """A slot of a field, with the number of its row."""

    field: str
    log_probs: Mapping[str, float]
    log_missing: float  # minus infinity if the value cannot be missing
    row: int | None


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Candidates as a document, the scores of its spans, and the rules for them.

    ``spots`` are the places on the page, by word, if there is a page; ``rows`` are the list and the
    item of each word. If rows may be there or not, they are if a field that is
    ``deciding`` has a value.
    """

    document: Document
    scores: SpanScores
    rules: Rules
    spots: Sequence[Spot]
    rows: Sequence[tuple[Path | None, int | None]] = ()
    deciding: frozenset[str] = frozenset()

    def on_page(self, decoding: Decoding) -> Decoding:
        """The decoding with boxes and pages of the values that are printed, and no others."""
        return on_spots(decoding, self.spots)


def on_spots(decoding: Decoding, spots: Sequence[Spot]) -> Decoding:
    """The decoding of candidates with the boxes and pages of their places, by first word."""
    if not spots:
        return decoding
    fields = {
        name: [replace(value, box=spot.box, page=spot.page)
               for value in values for spot in [spots[value.words[0]]]]
        for name, values in decoding.fields.items()
    }  # fmt: skip
    others = tuple(on_spots(each, spots) for each in decoding.alternatives)
    return replace(decoding, fields=fields, alternatives=others)


def laid_out(candidates: Candidates, rules: Rules, page: Document | None = None) -> LaidOut:
    """The document of all candidates, the scores of its spans, and the rules for them.

    With a page, and rules about places, each text is there once per place.
    """
    names = fields_of(candidates.paths, rules)
    candidates, deciding = _with_rows(candidates, names, rules)
    about_places = page is not None and has_places(rules)
    rules = without_places(rules) if page is None else with_places(rules)
    known = {f.name: f for f in rules.fields}
    numbers: dict[tuple[Path | None, int | None], int] = {}
    slots = [
        place._replace(log_probs=_merged(place.log_probs, known[place.field], rules))
        for place in _places(candidates, names, rules, numbers)
        if place.log_probs
    ]
    found = None
    if page is not None:
        wanted = [Wanted(s.field, _ranked(s.log_probs), s.row, known[s.field].many) for s in slots]
        found = places_of(page, wanted, rules, several=about_places)
    words: list[str] = []
    spots: list[Spot] = []
    rows: list[int | None] = []
    spans: list[Span] = []
    log_odds: list[float] = []
    ends: list[int] = []
    taken: list[int] = []
    log_none = 0.0
    for number, slot in enumerate(slots):
        f = known[slot.field]
        split = rules.words or f.max_words or f.starts or f.ends  # what a word is matters
        priced = _priced(slot.log_probs, None if found is None else found[number])
        starts = []
        for text, spot, _ in priced:
            starts.append(len(words))
            words += (text.split() if split else None) or [text]
            more = len(words) - starts[-1]
            ends += [len(words)] * more
            spots += [spot] * (more if page is not None else 0)
        spans += [Span(f.label, start, len(words)) for start in starts]
        log_probs = [log_prob for _, _, log_prob in priced]
        if slot.log_missing == -inf:
            taken += starts[-1:]  # a word of all candidates of the slot, so one of them has it
            log_odds += log_probs
        else:
            log_none += slot.log_missing
            log_odds += (log_prob - slot.log_missing for log_prob in log_probs)
        rows += [slot.row] * (len(words) - len(rows))
    document = Document(
        candidates.id,
        tuple(words),
        rows=tuple(rows) if rules.rows else None,
        line=candidates.line,
        given=candidates.given,
        classes=candidates.classes,
    )
    if page is not None:
        document = _placed(document, spots, page)
    types = tuple(f.label for f in rules.fields)
    scores = SpanScores.of_slots(
        len(words), spans, np.array(log_odds), log_none, types, np.array(ends, np.intp), taken,
        _named(candidates, names),
    )  # fmt: skip
    of_number = {number: row for row, number in numbers.items()}
    of_word = [(None, None) if row is None else of_number[row] for row in rows]
    return LaidOut(document, scores, rules, spots, of_word, deciding)


def _placed(texts: Document, spots: Sequence[Spot], page: Document) -> PlacedTexts:
    """The texts with their places on the page."""
    boxes = None if page.boxes is None else [spot.box or NOWHERE for spot in spots]
    printed = line_numbers(page) or [1] * len(page)
    lines = [printed[spot.words[0]] if spot.words else None for spot in spots]
    pages = [spot.page or 0 for spot in spots]
    return PlacedTexts.of(texts, boxes, pages, lines, page, [spot.words for spot in spots])


def _named(candidates: Candidates, fields: Mapping[Path, str]) -> dict[str, float]:
    """By field, the probability that all its true values are among the candidates."""
    found: dict[str, float] = {}
    for slot in candidates.slots:
        if slot.path in fields:
            name = fields[slot.path]
            found[name] = found.get(name, 1.0) * -expm1(min(slot.log_other, 0.0))
    return found


def _ranked(log_probs: Mapping[str, float]) -> list[str]:
    """The texts by falling probability."""
    return sorted(log_probs, key=lambda text: -log_probs[text])


def _priced(
    log_probs: Mapping[str, float], spots: Mapping[str, Sequence[Spot]] | None
) -> list[tuple[str, Spot, float]]:
    """The texts, once per place, with log-probabilities that their places have changed.

    The cheapest text pays nothing. Places of one text share its probability.
    """
    if spots is None:
        return [(text, Spot(0.0), log_prob) for text, log_prob in log_probs.items()]
    least = {text: min(spot.price for spot in spots[text]) for text in log_probs}
    free = min(least[text] for text in log_probs)
    found = []
    for text, log_prob in log_probs.items():
        whole = _log_sum([least[text] - spot.price for spot in spots[text]])
        found += [(text, spot, log_prob + free - spot.price - whole) for spot in spots[text]]
    return found


def _places(
    candidates: Candidates,
    fields: Mapping[Path, str],
    rules: Rules,
    numbers: dict[tuple[Path | None, int | None], int],
) -> Iterator[_Place]:
    """The slots in the order of the document: single values, lists, then rows one by one."""
    if candidates.slots and not fields:
        some = ", ".join(".".join(path) for path in candidates.paths[:10])
        names = ", ".join(f.name for f in rules.fields)
        raise InputError(f"no candidates for the fields of the rules: {names}; found {some}")
    many = {f.name for f in rules.fields if f.many}
    single: dict[str, list[Slot]] = {}
    in_rows: dict[tuple[Path | None, int | None], dict[str, list[Slot]]] = {}
    lists: list[_Place] = []
    for slot in candidates.slots:
        if slot.path not in fields:
            continue
        name = fields[slot.path]
        if name not in many:
            single.setdefault(name, []).append(slot)
        elif slot.rows is not None:
            row = in_rows.setdefault((slot.rows, slot.item), {})
            row.setdefault(name, []).append(slot)
        else:
            lists.append(_Place(name, slot.log_probs, slot.log_missing, None))
    for name, slots in single.items():
        yield _Place(name, *_together(slots), None)
    yield from lists
    for row_of, slots_of_row in in_rows.items():
        number = numbers.setdefault(row_of, len(numbers))
        for name, slots in slots_of_row.items():
            yield _Place(name, *_together(slots), number)


def _together(slots: Sequence[Slot]) -> tuple[Mapping[str, float], float]:
    """The candidates of several slots, at most one of which has a value, and of missing.

    The value can be missing only if some source left out all of them.
    """
    if len(slots) == 1:
        return slots[0].log_probs, slots[0].log_missing
    found: dict[str, list[float]] = {}
    for slot in slots:
        against = max(slot.log_missing, log(TOLERANCE))
        for text, log_prob in slot.log_probs.items():
            found.setdefault(text, []).append(log_prob - against)
    log_odds = {text: _log_sum(odds) for text, odds in found.items()}
    missing = [0.0] if frozenset.intersection(*(slot.absent_in for slot in slots)) else []
    whole = _log_sum([*log_odds.values(), *missing])
    log_probs = {text: odds - whole for text, odds in log_odds.items()}
    return log_probs, -whole if missing else -inf


def _merged(log_probs: Mapping[str, float], f: Field, rules: Rules) -> dict[str, float]:
    """Texts of the same value as one candidate, which is the most probable of them."""
    told_apart = rules.words or f.name in rules.printed or f.lexicon is not None
    if told_apart or f.max_words or f.pattern or f.starts or f.ends or len(log_probs) == 1:
        return dict(log_probs)
    groups: dict[Any, dict[str, float]] = {}
    for text, log_prob in log_probs.items():
        values = read(text, f.type) if f.kind != "text" else (same(text),)
        groups.setdefault(identity(values) if values else text, {})[text] = log_prob
    return {max(texts, key=lambda text: texts[text]): _log_sum(list(texts.values()))
            for texts in groups.values()}  # fmt: skip


def _log_sum(logs: Sequence[float]) -> float:
    top = max(logs)
    return top + log(fsum(exp(each - top) for each in logs))
