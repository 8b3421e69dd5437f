"""What the service does with one document, in a worker thread: parse, decode or check, answer."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Protocol

from lawful.batch import Call, Preparation, decode_one
from lawful.checking import check_record
from lawful.decoding import Budget, Decoding
from lawful.document import BadLine, Scored, SpanScored
from lawful.errors import InputError, LawfulError, RulesError
from lawful.io.jsonl import LineParser, decoding_line, encode
from lawful.known import compare_known
from lawful.models.entities import entities, span_entities
from lawful.rules.rule_set import Rules
from lawful.server.messages import CheckForm, DecodeForm
from lawful.server.problems import HttpProblem
from lawful.server.rule_book import RuleBook, inline_rules
from lawful.server.settings import Settings

UNUSABLE = 422
"""The status of a document that cannot be decoded: the request's fault, not the service's."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one document, and what is counted about it."""

    body: bytes
    status: str  # of the decoding, or ``error``
    words: int = 0
    optimal: bool = False


class Work(Protocol):
    """Answers one document, given its line and its JSON; raises an ``HttpProblem``."""

    def __call__(self, line: int, text: bytes) -> Answer:
        """The answer."""


@dataclass(frozen=True, slots=True)
class DecodeWork:
    """Decodes a scored document: the answer is the line that ``lawful decode`` writes."""

    settings: Settings
    book: RuleBook
    form: DecodeForm

    def __post_init__(self) -> None:
        if self.form.rules is not None or not self.settings.inline_rules:
            self.call_with(self.book.find(self.form.rules))  # wrong for all documents: said at once

    def __call__(self, line: int, text: bytes) -> Answer:
        rules = _rules_for(self.settings, self.book, self.form.rules, text)
        return self.answer(_parsed(self.settings, line, text), rules)

    def answer(self, record: Scored | SpanScored, rules: Rules) -> Answer:
        """The answer for a document with scores."""
        preparation = Preparation(self.form.pool, self.form.temperature)
        result = decode_one(record, self.call_with(rules), preparation)
        if isinstance(result, BadLine):
            raise HttpProblem(UNUSABLE, result.message, id=result.id)
        scored, decoding = result
        if self.form.as_ == "entities":
            body = encode(_entities(scored, decoding, rules))
        else:
            known = compare_known(scored.document, decoding, rules)
            ranked = self.form.alternatives > 0
            body = decoding_line(decoding, ranked=ranked, known=known).encode()
        return Answer(body, decoding.status, len(scored.document), decoding.optimal)

    def call_with(self, rules: Rules) -> Call:
        """The options as a call of the library, with no more time than the service gives."""
        form = self.form
        seconds = min(self.settings.seconds, form.seconds or self.settings.seconds)
        budget = Budget(form.candidates, seconds, form.mass, form.max_cost)
        try:
            return Call(rules, form.decoder, budget, form.alternatives, form.by_field)
        except InputError as error:
            raise HttpProblem(422, f"options: {error}") from None


@dataclass(frozen=True, slots=True)
class CheckWork:
    """Judges labels of a document: the answer is the line that ``lawful check`` writes."""

    settings: Settings
    book: RuleBook
    form: CheckForm

    def __post_init__(self) -> None:
        if self.form.rules is not None or not self.settings.inline_rules:
            self.book.find(self.form.rules)

    def __call__(self, line: int, text: bytes) -> Answer:
        rules = _rules_for(self.settings, self.book, self.form.rules, text)
        record = _parsed(self.settings, line, text)
        try:
            found, _ = check_record(record, rules, self.form.labels)
        except LawfulError as error:
            raise HttpProblem(UNUSABLE, str(error), id=record.document.id) from None
        return Answer(encode(found), found["status"], len(record.document))


def _rules_for(settings: Settings, book: RuleBook, name: str | None, text: bytes) -> Rules:
    """The rules of a document: its own, or the service's of this name."""
    try:
        own = inline_rules(text, allowed=settings.inline_rules)
    except RulesError as error:
        raise HttpProblem(422, str(error)) from None
    if own is not None and name is not None:
        raise HttpProblem(422, f"the document has rules, and ?rules={name} names others")
    return book.find(name) if own is None else own


class _Parsers(threading.local):
    """A parser for each thread, which remembers lists of labels."""

    def __init__(self) -> None:
        self.parser = LineParser("-")  # no .npz file: requests reach no files


_parsers = _Parsers()


def _parsed(settings: Settings, line: int, text: bytes) -> Scored | SpanScored:
    """The document of a JSON text, within the limit of words × labels."""
    check_size(settings, text)
    found = _parsers.parser.parse_any(line, text)
    if isinstance(found, BadLine):
        raise HttpProblem(UNUSABLE, found.message, id=found.id)
    columns = len(found.scores.types if isinstance(found, SpanScored) else found.scores.labels)
    if (cells := len(found.document) * columns) > settings.cells:
        raise _too_many(f"{len(found.document):,} words × {columns:,} labels = {cells:,}", settings)
    return found


def check_size(settings: Settings, text: bytes) -> None:
    """Refuses a text with far more values than the limit allows, before they take memory."""
    if (commas := text.count(b",")) > 4 * settings.cells + 100_000:
        raise _too_many(f"{commas:,} commas", settings)


def _too_many(found: str, settings: Settings) -> HttpProblem:
    detail = f"the document has {found}, expected at most {settings.cells:,} words × labels"
    return HttpProblem(413, detail)


def _entities(
    scored: Scored | SpanScored, decoding: Decoding, rules: Rules
) -> list[dict[str, Any]]:
    """The decoding as transformers' token-classification pipeline would write it."""
    if isinstance(scored, SpanScored):
        return span_entities(scored.document, scored.scores, decoding.labels)
    return entities(scored.document, scored.scores, decoding.labels, scheme=rules.scheme)
