"""What the service does with one document, in a worker thread: parse, decode or check, answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from lawful.base.errors import InputError, LawfulError, MissingExtraError
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.span_scores import SpanScores
from lawful.evaluation.checking import check_record
from lawful.io.jsonl import LineParser, decoding_line, encode
from lawful.models.entities import entities, span_entities
from lawful.pipeline.call import Call, DecodeOptions, decode_one
from lawful.results.decoding import Decoding
from lawful.rules.rule_set import Rules
from lawful.server.messages import CheckForm, DecodeForm
from lawful.server.problems import HttpProblem
from lawful.server.rule_book import NamedRules, RuleBook, inline_rules
from lawful.server.settings import Settings
from lawful.server.uploads import Upload

UNUSABLE = 422
"""The status of a document that cannot be decoded: the request's fault, not the service's."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one document, and what is counted about it."""

    body: bytes
    status: str  # of the decoding, or ``error``
    words: int = 0
    optimal: bool = False
    rules: str | None = None  # their name, if the decoding has trust
    trust: float = 0.0
    passes: bool = False


class Work(Protocol):
    """Answers one document, given its line and its JSON; raises an ``HttpProblem``."""

    def __call__(self, line: int, text: bytes) -> Answer:
        """The answer."""


class FileWork(Work, Protocol):
    """The same, also for files."""

    def of_parts(self, parts: Mapping[str, Upload]) -> Answer:
        """The answer to a form with files; a file that is the whole body is its part ``file``."""


def usable(found: T | FailedDocument) -> T:
    """What was found; a problem for a document that cannot be used."""
    if isinstance(found, FailedDocument):
        raise HttpProblem(UNUSABLE, found.message, id=found.id)
    return found


@contextmanager
def refusing(id_: str | None = None) -> Iterator[None]:
    """Errors of the library become problems, about the document of this id."""
    try:
        yield
    except MissingExtraError as error:
        raise HttpProblem(501, str(error)) from None
    except LawfulError as error:
        raise HttpProblem(UNUSABLE, str(error), id=id_) from None


@dataclass(frozen=True, slots=True)
class DecodeWork:
    """Decodes a scored document: the answer is the line that ``lawful decode`` writes."""

    settings: Settings
    book: RuleBook
    form: DecodeForm

    def __post_init__(self) -> None:
        if self.form.rules is not None or not self.settings.inline_rules:
            # What is wrong for all documents is said at once.
            limited_call(self.form, self.book.find(self.form.rules), self.settings)

    def __call__(self, line: int, text: bytes) -> Answer:
        rules, entry = _rules_for(self.settings, self.book, self.form.rules, text)
        call = limited_call(self.form, rules, self.settings)
        return decoded(_parsed(self.settings, line, text), call, self.form, entry)


def decoded(record: Scored, call: Call, form: DecodeForm, entry: NamedRules | None) -> Answer:
    """The answer for a document with scores; ``entry`` says whether it passes."""
    scored, decoding = usable(decode_one(record, call))
    if entry is not None:
        decoding = entry.judged(scored, decoding, call)
    if form.as_ == "entities":
        body = encode(_entities(scored, decoding, call.rules))
    else:
        body = decoding_line(decoding, ranked=form.alternatives > 0).encode()
    rules = None if entry is None or decoding.trust is None else entry.name
    return Answer(
        body, decoding.status, len(scored.document), decoding.optimal,
        rules, decoding.trust or 0.0, bool(decoding.passes),
    )  # fmt: skip


def limited_call(form: DecodeOptions, rules: Rules, settings: Settings) -> Call:
    """The options as a call of the library, with no more time than the service gives."""
    seconds = min(settings.seconds, form.seconds or settings.seconds)
    try:
        return replace(form, seconds=seconds).call(rules)
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
        rules, _ = _rules_for(self.settings, self.book, self.form.rules, text)
        record = _parsed(self.settings, line, text)
        with refusing(record.document.id):
            found, _ = check_record(record, rules, self.form.labels)
        return Answer(encode(found), found.status, len(record.document))


def _rules_for(
    settings: Settings, book: RuleBook, name: str | None, text: bytes
) -> tuple[Rules, NamedRules | None]:
    """The rules of a document: its own, or the service's of this name."""
    with refusing():
        own = inline_rules(text, allowed=settings.inline_rules)
    if own is not None and name is not None:
        raise HttpProblem(422, f"the document has rules, and ?rules={name} names others")
    if own is not None:
        return own, None
    entry = book.entry(name)
    return entry.rules, entry


class _Parsers(threading.local):
    """A parser for each thread, which remembers lists of labels."""

    def __init__(self) -> None:
        self.parser = LineParser("-")  # no .npz file: requests reach no files


_parsers = _Parsers()


def _parsed(settings: Settings, line: int, text: bytes) -> Scored:
    """The document of a JSON text, within the limit of words × labels."""
    check_size(settings, text)
    found = usable(_parsers.parser.parse(line, text))
    scores = found.scores
    columns = len(scores.types if isinstance(scores, SpanScores) else scores.labels)
    if (cells := len(found.document) * columns) > settings.max_cells:
        raise too_many(f"{len(found.document):,} words × {columns:,} labels = {cells:,}", settings)
    if (
        cells := columns * columns
    ) > settings.max_cells:  # tables of those that may follow each other
        raise too_many(f"{columns:,} × {columns:,} labels = {cells:,}", settings)
    return found


def check_size(settings: Settings, text: bytes) -> None:
    """Refuses a text with far more values than the limit allows, before they take memory."""
    if (commas := text.count(b",")) > 4 * settings.max_cells + 100_000:
        raise too_many(f"{commas:,} commas", settings)


def too_many(found: str, settings: Settings) -> HttpProblem:
    """413, for a document with so many of something."""
    detail = f"the document has {found}, expected at most {settings.max_cells:,}"
    return HttpProblem(413, detail)


def _entities(scored: Scored, decoding: Decoding, rules: Rules) -> list[dict[str, Any]]:
    """The decoding as transformers' token-classification pipeline would write it."""
    scores = scored.scores
    if isinstance(scores, SpanScores):
        return span_entities(scored.document, scores, decoding.labels)
    return entities(scored.document, scores, decoding.labels, scheme=rules.scheme)
