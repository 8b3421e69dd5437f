"""What the service does without scores: choose among candidates, and ground values on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from lawful.candidates.choose import ready
from lawful.candidates.grounding.ground import ground
from lawful.candidates.grounding.leaves import leaves_of
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.io.candidate_lines import parse_candidates
from lawful.io.jsonl import BAD_TEXT, check_line, decoding_line, encode, parse_documents
from lawful.pipeline.call import decode_one
from lawful.rules.rule_set import Rules
from lawful.server.extraction import FILE, only, read_part
from lawful.server.file_reading import FileReading, silent
from lawful.server.messages import NOT_FOR_CANDIDATES, ChooseForm, GroundForm
from lawful.server.problems import HttpProblem
from lawful.server.rule_book import RuleBook
from lawful.server.settings import Settings
from lawful.server.uploads import Upload
from lawful.server.work import (
    UNUSABLE,
    Answer,
    check_size,
    limited_call,
    refusing,
    too_many,
    usable,
)

CANDIDATES = "candidates"
VALUES = "values"


class _WithDocument(msgspec.Struct):
    document: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _WithValues(_WithDocument):
    values: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChooseWork:
    """Chooses among candidates: the answer is the line that ``lawful choose`` writes.

    A page, in the key ``document`` or as a file, gives values places, and prices to what is printed
    nowhere.
    """

    settings: Settings
    book: RuleBook
    form: ChooseForm
    reading: FileReading

    def __post_init__(self) -> None:
        for name in NOT_FOR_CANDIDATES:
            if getattr(self.form, name) != getattr(ChooseForm(), name):
                raise HttpProblem(422, f"options: {name} is about scores, which candidates lack")
        limited_call(self.form, self.book.find(self.form.rules), self.settings)

    def __call__(self, line: int, text: bytes) -> Answer:
        check_size(self.settings, text)
        page = _decoded(text, _WithDocument).document
        return self._answer(line, text, _document(line, page))

    def of_parts(self, parts: Mapping[str, Upload]) -> Answer:
        """The answer for candidates and the file that they were read from."""
        page = _read_file(parts, CANDIDATES, None, self.reading)
        return self._answer(1, parts[CANDIDATES].content, page)

    def _answer(self, line: int, text: bytes, page: Document | None) -> Answer:
        candidates = usable(parse_candidates(line, text, self.form.smoothing))
        if page is not None:
            texts = sum(len(slot.log_probs) for slot in candidates.slots)
            check_cells(len(page), texts, "candidates", self.settings)
        with refusing(candidates.id):
            rules = self.book.find(self.form.rules)
            found = ready(candidates, rules, page, self.settings.seconds)
        words = len(found.document)
        check_cells(words, len(found.rules.fields), "fields", self.settings)
        call = limited_call(self.form, found.rules, self.settings)
        _, decided = usable(decode_one(Scored(found.document, found.scores), call))
        decoding = found.on_page(decided)
        body = decoding_line(decoding, ranked=self.form.alternatives > 0).encode()
        return Answer(body, decoding.status, words, decoding.optimal)


@dataclass(frozen=True, slots=True)
class GroundWork:
    """Finds where the values of an object are printed on a page, as ``lawful.ground`` does."""

    settings: Settings
    book: RuleBook
    form: GroundForm
    reading: FileReading

    def __post_init__(self) -> None:
        self._rules()

    def __call__(self, line: int, text: bytes) -> Answer:
        check_size(self.settings, text)
        given = _decoded(text, _WithValues)
        page = _document(line, given.document)
        if page is None or given.values is None:
            raise HttpProblem(UNUSABLE, "expected an object with the keys document and values")
        return self._answer(page, given.values)

    def of_parts(self, parts: Mapping[str, Upload]) -> Answer:
        """The answer for values and the file that they were read from."""
        page = _read_file(parts, VALUES, self.form.id, self.reading)
        check_size(self.settings, parts[VALUES].content)
        return self._answer(page, _decoded(parts[VALUES].content, dict[str, Any]))

    def _rules(self) -> Rules | None:
        return None if self.form.rules is None else self.book.find(self.form.rules)

    def _answer(self, page: Document, values: Mapping[str, Any]) -> Answer:
        with refusing(page.id):
            check_cells(len(page), len(leaves_of(values)), "values", self.settings)
            found = ground(page, values, self._rules())
        line = {
            "id": page.id,
            "optimal": found.optimal,
            "values": [each.to_dict() for each in found],
        }
        status = "grounded" if found.optimal else "exhausted"
        return Answer(encode(line), status, len(page), found.optimal)


def check_cells(words: int, others: int, what: str, settings: Settings) -> None:
    """Refuses more words × others than the service allows: all are compared with each other."""
    if words * others > settings.max_cells:
        raise too_many(f"{words:,} words × {others:,} {what} = {words * others:,}", settings)


def _document(line: int, given: msgspec.Raw | msgspec.UnsetType) -> Document | None:
    if isinstance(given, msgspec.UnsetType) or bytes(given) == b"null":
        return None
    return only(parse_documents([(line, bytes(given))]))


def _decoded(text: bytes, kind: Any) -> Any:
    try:
        check_line(text)
        return msgspec.json.decode(text, type=kind)
    except BAD_TEXT as error:
        raise HttpProblem(UNUSABLE, str(error)) from None


def _read_file(
    parts: Mapping[str, Upload], name: str, id_: str | None, reading: FileReading
) -> Document:
    """The document of the file beside the part of this name."""
    if set(parts) != {name, FILE}:
        found = ", ".join(map(repr, parts)) or "nothing"
        raise HttpProblem(422, f"the form has {found}, expected {name!r} and {FILE!r}")
    with refusing():
        return read_part(parts[FILE], id_, reading, silent)
