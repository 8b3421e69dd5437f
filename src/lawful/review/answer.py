"""A decoding as the page shows it: the JSON lines' own form, with plain words added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from math import exp, isfinite
from typing import Any

from lawful.decoding import Confidence, Decoding, Move, differences
from lawful.document import Scored, SpanScored
from lawful.pins import Pin
from lawful.review.rows import Outcome
from lawful.review.wording import Wording, odds
from lawful.rules.checks import Check
from lawful.rules.given import given_values
from lawful.rules.judge import FieldValue
from lawful.rules.rule_set import Rules
from lawful.values import format_value

SURE = 0.9
"""A field is doubtful if the model gives one of its words a smaller probability than this."""

WIDE = 0.3
"""Bounds of a confidence that are further apart tell a person nothing."""


class Answers:
    """Makes answers of decodings under one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.words = Wording(rules)
        self._single = {f.name for f in rules.fields if not f.many}

    def answer(
        self, scored: Scored | SpanScored, decoding: Decoding, moved: Sequence[Move] | None
    ) -> dict[str, Any]:
        """The decoding, in JSON lines' form, with what the page says about it."""
        record = decoding.to_dict()
        given = given_values(scored.document, self.rules.given)
        record["digest"] = digest(decoding.labels)
        record["summary"] = self.words.summary(decoding)
        record["doubtful"] = self.doubtful(scored, decoding)
        record["moved"] = None if moved is None else list(map(_move, moved))
        self._show(record["fields"], decoding)
        for plain, check in zip(record["checks"], decoding.checks, strict=True):
            plain["text"] = self.words.rule(check.id)
            plain["sum"] = self.words.arithmetic(check, decoding, given)
            plain["words"] = [list(each.words) for each in self._values_of(check, decoding)]
        for plain in (*record["corrections"], *record.get("span_corrections", ())):
            plain["why"] = self.words.because(plain["because"])
            plain["odds"] = odds(plain["price"])
        return record

    def _show(self, fields: dict[str, list[dict[str, Any]]], decoding: Decoding) -> None:
        for name, values in fields.items():
            for plain, value in zip(values, decoding.fields[name], strict=True):
                plain["shown"] = shown(value)

    def _values_of(self, check: Check, decoding: Decoding) -> Iterator[FieldValue]:
        for name in sorted(self.words.fields_of(check)):
            for value in decoding.fields.get(name, ()):
                if check.row is None or value.row in (None, check.row):
                    yield value

    def doubtful(self, scored: Scored | SpanScored, decoding: Decoding) -> list[str]:
        """The fields that a person should look at, those of broken rules first.

        Then those whose words the rules have moved, those of which the model is unsure, and those
        that rules lack.
        """
        broken = self._fields_of(decoding.violations)
        lacking = self._fields_of(c for c in decoding.checks if c.state == "vacuous")
        changed = {each.word for each in decoding.corrections}
        spans = [s for each in decoding.span_corrections for s in (each.old, each.new) if s]
        changed |= {word for span in spans for word in range(span.start, span.end)}
        ranks: dict[str, tuple[int, float]] = {}
        for f in self.rules.fields:
            values = decoding.fields.get(f.name, [])
            words = {word for value in values for word in range(*value.words)}
            sure = least_probability(scored, decoding, words)
            if f.name in broken:
                ranks[f.name] = (0, sure)
            elif words & changed:
                ranks[f.name] = (1, sure)
            elif sure < SURE or any(value.value is None for value in values):
                ranks[f.name] = (2, sure)
            elif f.name in lacking and not values and f.default is None:
                ranks[f.name] = (3, sure)
        return sorted(ranks, key=ranks.__getitem__)

    def to_look_at(self, scored: Scored | SpanScored, best: Decoding) -> list[str]:
        """The doubtful fields, and those whose confidence is low, the least sure first."""
        known = ((name, sure) for name, sure in best.confidence.items() if is_known(sure))
        unsure = [name for name, sure in known if sure.low < SURE]
        unsure.sort(key=lambda name: best.confidence[name].low)
        return list(dict.fromkeys([*self.doubtful(scored, best), *unsure]))

    def _fields_of(self, checks: Iterable[Check]) -> set[str]:
        return {name for check in checks for name in self.words.fields_of(check)}

    def alternative(self, best: Decoding, other: Decoding, pins: Sequence[Pin]) -> dict[str, Any]:
        """One of the next best decodings: what differs, and the pins that choose it."""
        differs = [name for name, _, _ in differences(best, other, self._single)]
        record = other.to_dict()
        self._show(record["fields"], other)
        margin = best.worth - other.worth
        return {
            "fields": record["fields"],
            **({"classes": record["classes"]} if "classes" in record else {}),
            "worth": finite(other.worth),
            "margin": finite(margin),
            "odds": odds(margin),
            "violated": [check.id for check in other.violations],
            "differs": differs,
            "pins": [pin.to_dict() for pin in _choosing(best, other, differs, pins)],
        }


def _choosing(
    best: Decoding, other: Decoding, differs: Iterable[str], pins: Sequence[Pin]
) -> list[Pin]:
    """The pins, and those that make an alternative the answer in the fields in which it differs."""
    found = list(pins)
    for name in differs:
        ours = {value.words for value in best.fields.get(name, ())}
        theirs = {value.words for value in other.fields.get(name, ())}
        found += [Pin("is", words, name) for words in sorted(theirs - ours)]
        if not theirs and name in best.fields:
            found.append(Pin("absent", None, name))
            continue
        taken = {word for words in theirs for word in range(*words)}
        for start, end in sorted(ours - theirs):
            free = [word for word in range(start, end) if word not in taken]
            found += [Pin("not", run, name) for run in runs(free)]
    return list(dict.fromkeys(found))


def runs(words: list[int]) -> Iterator[tuple[int, int]]:
    """Half-open runs of words that follow each other."""
    for _, run in groupby(enumerate(words), lambda pair: pair[1] - pair[0]):
        together = [word for _, word in run]
        yield together[0], together[-1] + 1


def least_probability(
    scored: Scored | SpanScored, decoding: Decoding, words: Iterable[int]
) -> float:
    """The smallest probability that the model gives to the label of one of these words."""
    if isinstance(scored, SpanScored):
        return 1.0
    index = {label: i for i, label in enumerate(scored.scores.labels)}
    log_probs = scored.scores.log_probs
    return min((exp(log_probs[w, index[decoding.labels[w]]]) for w in words), default=1.0)


def outcome_of(decoding: Decoding) -> Outcome:
    """The decoding as a row keeps it."""
    return Outcome(
        decoding.status,
        decoding.optimal,
        list(dict.fromkeys(check.id for check in decoding.violations)),
        sum(check.state == "vacuous" for check in decoding.rules),
        {name: [value.text for value in values] for name, values in decoding.fields.items()},
        [(label, len(list(run))) for label, run in groupby(decoding.labels)],
    )


def labels_of(outcome: Outcome) -> tuple[str, ...]:
    """The labels of an answer that a row keeps, one per word."""
    return tuple(label for label, count in outcome.labels for _ in range(count))


def digest(labels: Sequence[str]) -> str:
    """A short hash of labels: two answers with the same one are the same."""
    return sha256("\0".join(labels).encode()).hexdigest()[:16]


def texts_of(scored: Scored | SpanScored, pins: Sequence[Pin]) -> Mapping[str, str]:
    """By number of the word, the texts that reviewers have corrected."""
    texts = [pin for pin in pins if pin.kind == "text"]
    if not texts:
        return {}
    corrected = replace(scored.document, pins=tuple(pins)).corrected()
    words = sorted({word for pin in texts for word in range(*(pin.words or (0, 0)))})
    return {str(word): corrected.words[word] for word in words}


def shown(value: FieldValue) -> str:
    """A value as people read it; the text itself if it cannot be read."""
    return value.text if value.value is None else format_value(value.value)


def is_known(sure: Confidence) -> bool:
    """Whether a confidence says anything; its bounds are far apart if the time was up."""
    return sure.high - sure.low < WIDE


def finite(number: float | None) -> float | None:
    """The number, unless it is infinite, which JSON cannot say."""
    return number if number is not None and isfinite(number) else None


def _move(move: Move) -> dict[str, Any]:
    return {"word": move.word, "from": move.old, "to": move.new, "pinned": move.pinned}
