"""A decoding as the page shows it: the JSON lines' own form, with plain words added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from math import exp, isfinite
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from lawful.base.errors import InputError
from lawful.documents.document import NOWHERE, Document
from lawful.documents.pins import Pin
from lawful.documents.records import Scored
from lawful.documents.span_scores import SpanScores
from lawful.models.kinds import OF_NO_KIND, RECEIPT, kind_of
from lawful.results.decoding import Confidence, Decoding, Move, differences
from lawful.results.wire import line_of, plain_values
from lawful.review.needed import WIDE, by_use, headline, risk, stops
from lawful.review.phrases import said
from lawful.review.rows import Outcome
from lawful.review.wording import Wording, language_of, languages_of, odds, unchecked_rules
from lawful.rules.definitions import ENGLISH
from lawful.rules.given_values import given_values
from lawful.rules.judging.checks import Check
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.rule_set import Rules
from lawful.values import format_value

SURE = 0.9
"""A field is doubtful if the model gives one of its words a smaller probability than this."""


RuleSets: TypeAlias = Mapping[str, Rules]
"""Rules by the kind of document that they are for; under an empty name, for all documents."""


class AnswersOf:
    """Makes answers of decodings under the rules for each document."""

    def __init__(self, sets: RuleSets) -> None:
        self.sets = {name: Answers(rules, name) for name, rules in sets.items()}

    def of(self, document: Document) -> Answers:
        """Those for a document; an ``InputError`` if it is of no kind that there are rules for."""
        if "" in self.sets:
            return self.sets[""]
        kind = kind_of(document) or RECEIPT
        if kind not in self.sets:
            raise InputError(OF_NO_KIND)
        return self.sets[kind]


class Answers:
    """Makes answers of decodings under one set of rules, in all languages that these have."""

    def __init__(self, rules: Rules, name: str = "") -> None:
        self.rules, self.name = rules, name
        self.languages = {each: Wording(rules, each) for each in languages_of(rules)}
        self.words = self.languages[ENGLISH]
        self.headline = headline(rules)
        self._single = {f.name for f in rules.fields if not f.many}

    def answer(
        self,
        scored: Scored,
        decoding: Decoding,
        moved: Sequence[Move] | None,
        language: str = ENGLISH,
    ) -> dict[str, Any]:
        """The decoding, in JSON lines' form, with what the page says about it."""
        record = decoding.to_dict()
        given = self.given(scored)
        record["digest"] = digest(decoding.labels)
        words = self.languages[language_of(language, self.languages)]
        record["summary"] = words.summary(decoding, given)
        record["doubtful"] = self.doubtful(scored, decoding)
        record["stops"] = self.stops(scored, decoding, record["doubtful"])
        record["moved"] = plain_values(moved)
        self._show(record["fields"], decoding)
        for plain, check in zip(record["checks"], decoding.checks, strict=True):
            plain["text"] = self.words.rule(check.id)
            if check.state == "violated":
                plain["said"] = words.complaint(check, decoding, given)
            plain["sum"] = self.words.arithmetic(check, decoding, given)
            plain["words"] = [list(each.words) for each in self._values_of(check, decoding)]
        for plain in (*record["corrections"], *record.get("span_corrections", ())):
            plain["why"] = self.words.because(plain["because"])
            plain["odds"] = words.said(odds(plain["price"]))
        return record

    def _show(self, fields: dict[str, list[dict[str, Any]]], decoding: Decoding) -> None:
        for name, values in fields.items():
            for plain, value in zip(values, decoding.fields[name], strict=True):
                plain["shown"] = shown(value)
                if value.box == NOWHERE:
                    plain["nowhere"] = True

    def _values_of(self, check: Check, decoding: Decoding) -> Iterator[FieldValue]:
        for name in sorted(self.words.fields_of(check)):
            for value in decoding.fields.get(name, ()):
                if check.row is None or value.row in (None, check.row):
                    yield value

    def given(self, scored: Scored) -> dict[str, Any]:
        """The values that the document brings itself."""
        return dict(given_values(scored.document, self.rules.given))

    def reasons(self, scored: Scored, decoding: Decoding) -> dict[str, list[str]]:
        """By language, why a person should look at a document."""
        given = self.given(scored)
        return {
            language: list(words.reasons(decoding, given))
            for language, words in self.languages.items()
        }

    def heading(self, decoding: Decoding) -> list[str]:
        """What the document is, as the queue shows it: a text for each field of the headline."""
        return [", ".join(map(shown, decoding.fields.get(name, [])[:1])) for name in self.headline]

    def texts(self, decoding: Decoding) -> dict[str, str]:
        """By field, its values in words."""
        return {
            name: ", ".join(map(shown, values))
            for name, values in decoding.fields.items()
            if values
        }

    def stops(
        self, scored: Scored, decoding: Decoding, doubtful: Sequence[str]
    ) -> list[tuple[str, int]]:
        """The places at which a person should look, those of broken rules first."""
        rows = {(name, c.row) for c in decoding.violations if c.row is not None
                for name in self.words.fields_of(c)}  # fmt: skip
        wrong = {each.word for each in decoding.corrections}
        for name, values in decoding.fields.items():
            for value in values:
                words = set(range(*value.words))
                unsure = least_probability(scored, decoding, words) < SURE
                if unsure or value.value is None or (name, value.row) in rows:
                    wrong |= words
        return stops(self.rules, decoding, doubtful, wrong)

    def risk(self, scored: Scored, decoding: Decoding) -> float:
        """A guess of the probability that a needed value is wrong."""
        sure = {
            name: least_probability(
                scored, decoding, {word for value in values for word in range(*value.words)}
            )
            for name, values in decoding.fields.items()
        }
        return risk(self.rules, decoding, self._fields_of(decoding.violations), sure)

    def passes(self, scored: Scored, decoding: Decoding) -> bool:
        """Whether nothing that is needed asks for a look.

        With a model of trust, by its promise. Otherwise the answer must be proven, its rules
        checked, and of the needed fields none doubtful, missing or part of a broken rule.
        """
        if decoding.trust is not None:
            return bool(decoding.passes)
        if not decoding.optimal or decoding.status in ("unchecked", "infeasible"):
            return False
        if not all(each.right for each in decoding.known):
            return False
        if not self.rules.needs:
            return not decoding.violations and not self.to_look_at(scored, decoding)
        needed = [decoding.fields.get(name) for name in self.rules.needs]
        doubtful = self.to_look_at(scored, decoding)
        return all(needed) and not set(self.rules.needs) & set(doubtful)

    def doubtful(self, scored: Scored, decoding: Decoding) -> list[str]:
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
            elif (
                sure < SURE
                or any(value.value is None for value in values)
                or (f.name in self.rules.needs and not values)
            ):
                ranks[f.name] = (2, sure)
            elif f.name in lacking and not values and f.default is None:
                ranks[f.name] = (3, sure)
        return sorted(ranks, key=ranks.__getitem__)

    def to_look_at(self, scored: Scored, best: Decoding) -> list[str]:
        """The doubtful fields, and those whose confidence is low, the least sure first.

        A field of which rules and model together are sure is not doubtful, whatever the model
        says alone.
        """
        known = {name: sure.low for name, sure in best.confidence.items() if is_known(sure)}
        unsure = sorted((name for name in known if known[name] < SURE), key=known.__getitem__)
        broken = self._fields_of(best.violations)
        doubtful = [
            name
            for name in self.doubtful(scored, best)
            if known.get(name, 0.0) < SURE or name in broken or None in best.values(name)
        ]
        return list(dict.fromkeys([*doubtful, *unsure]))

    def _fields_of(self, checks: Iterable[Check]) -> set[str]:
        return {name for check in checks for name in self.words.fields_of(check)}

    def alternative(
        self, best: Decoding, other: Decoding, pins: Sequence[Pin], language: str = ENGLISH
    ) -> dict[str, Any]:
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
            "odds": said(odds(margin), language),
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


def least_probability(scored: Scored, decoding: Decoding, words: Iterable[int]) -> float:
    """The smallest probability that the model gives to the label of one of these words."""
    scores = scored.scores
    if isinstance(scores, SpanScores):
        return 1.0
    index = {label: i for i, label in enumerate(scores.labels)}
    log_probs = scores.log_probs
    return min((exp(log_probs[w, index[decoding.labels[w]]]) for w in words), default=1.0)


def outcome_of(decoding: Decoding) -> Outcome:
    """The decoding as a row keeps it."""
    return Outcome(
        decoding.status,
        decoding.optimal,
        list(dict.fromkeys(check.id for check in decoding.violations)),
        unchecked_rules(decoding),
        {name: [value.text for value in values] for name, values in decoding.fields.items()},
        [(label, len(list(run))) for label, run in groupby(decoding.labels)],
    )


def with_values(outcome: Outcome, decoding: Decoding, rules: Rules) -> Outcome:
    """The outcome with all values, as they are accepted: nothing needs to be decoded again."""
    line = line_of(decoding)
    found = {f.name: line.fields.get(f.name, []) for f in by_use(rules)}
    for value in (each for values in found.values() for each in values):
        if value.box == NOWHERE:
            value.box = value.page = UNSET
    rows = {kind.name: list(kind.fields) for kind in rules.rows}
    return msgspec.structs.replace(outcome, values=found, rows=rows)


def labels_of(outcome: Outcome) -> tuple[str, ...]:
    """The labels of an answer that a row keeps, one per word."""
    return tuple(label for label, count in outcome.labels for _ in range(count))


def digest(labels: Iterable[str]) -> str:
    """A short hash of labels: two answers with the same one are the same."""
    return sha256("\0".join(labels).encode()).hexdigest()[:16]


def corrected(document: Document, pins: tuple[Pin, ...]) -> Document:
    """The document with the texts that reviewers said its words have, and without pins."""
    return replace(replace(document, pins=pins).corrected(), pins=())


def texts_of(scored: Scored, pins: Sequence[Pin]) -> Mapping[str, str]:
    """By number of the word, the texts that reviewers have corrected."""
    texts = [pin for pin in pins if pin.subject == "text"]
    if not texts:
        return {}
    corrected = replace(scored.document, pins=tuple(pins)).corrected()
    words = sorted({word for pin in texts for word in range(*(pin.words or (0, 0)))})
    return {str(word): corrected.words[word] for word in words}


def shown(value: FieldValue) -> str:
    """A value as people read it, and what is printed if that differs; else the text itself."""
    if value.value is None:
        return value.text
    printed = "" if value.read_as is None else f" (print looks like {value.text})"
    return f"{format_value(value.value)}{printed}"


def is_known(sure: Confidence) -> bool:
    """Whether a confidence says anything; its bounds are far apart if the time was up."""
    return sure.high - sure.low < WIDE


def finite(number: float | None) -> float | None:
    """The number, unless it is infinite, which JSON cannot say."""
    return number if number is not None and isfinite(number) else None
