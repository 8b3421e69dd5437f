"""From a file to its fields: read by a process of its own, scored by a model, decoded."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.documents.document import Document
from lawful.documents.records import Labelled
from lawful.io.hashes import hash_of_model
from lawful.io.jsonl import parse_documents
from lawful.models.extraction import check_labels, score_document
from lawful.models.kinds import CallByKind, KindTagger
from lawful.models.shipped import model_for
from lawful.models.tagger import BOXLESS, Tagger, from_pretrained
from lawful.pipeline.call import Call
from lawful.rules.rule_set import Rules
from lawful.server.file_reading import FileReading, Tell, silent
from lawful.server.messages import ExtractForm
from lawful.server.problems import HttpProblem
from lawful.server.rule_book import NamedRules, RuleBook
from lawful.server.settings import Settings
from lawful.server.uploads import Upload
from lawful.server.work import Answer, check_size, decoded, limited_call, refusing, usable

FILE = "file"
"""The part of a form that is the file to read."""


class Models:
    """The models of the service, each loaded when it is first needed; the threads share them.

    That is the one that was named, or else the shipped one for the rules, or, where neither is
    named, those that tell receipts and invoices apart.
    """

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loaded: dict[str, Tagger] = {}
        self._hashes: dict[str, str] = {}

    def load(self, rules: Rules | None) -> Tagger:
        """The model for rules; raises a ``LawfulError`` if it cannot be loaded."""
        with self._lock:
            if self._name is None and rules is None:
                return self._kept("kinds", KindTagger.shipped)
            name = self._name or str(model_for(rules or Rules([])))
            return self._kept(name, lambda: from_pretrained(name))

    def _kept(self, name: str, make: Any) -> Tagger:
        if name not in self._loaded:
            warnings.filterwarnings("ignore", BOXLESS)
            self._loaded[name] = make()
        return self._loaded[name]

    def are_of(self, entry: NamedRules) -> bool:
        """Whether trust, if there is any, was fitted to scores of the model for these rules."""
        wanted = None if entry.trust is None else entry.trust.setting.get("--model")
        if not wanted:
            return True
        name = self._name or str(model_for(entry.rules))
        with self._lock:
            if name not in self._hashes:
                self._hashes[name] = hash_of_model(Path(name))
            return self._hashes[name] == wanted

    @property
    def is_named(self) -> bool:
        """Whether a model was named, which then reads everything."""
        return self._name is not None


@dataclass(frozen=True, slots=True)
class ExtractWork:
    """Reads a file or a document without scores, scores and decodes it."""

    settings: Settings
    book: RuleBook
    form: ExtractForm
    models: Models
    reading: FileReading
    tell: Tell = silent

    def __post_init__(self) -> None:
        self._call()  # options that are wrong for all documents: said at once

    def __call__(self, line: int, text: bytes) -> Answer:
        check_size(self.settings, text)
        return self._answer(lambda: only(parse_documents([(line, text)])))

    def of_parts(self, parts: Mapping[str, Upload]) -> Answer:
        """The answer for a file."""
        file = file_part(parts)
        return self._answer(lambda: read_part(file, self.form.id, self.reading, self.tell))

    def _call(self) -> tuple[Call, NamedRules | None]:
        """The call, and its rules unless each document decides."""
        if self.form.rules is None and self.settings.by_kind and not self.models.is_named:
            call = CallByKind.of_packs(lambda own: limited_call(self.form, own, self.settings))
            return call, None
        entry = self.book.entry(self.form.rules)
        return limited_call(self.form, entry.rules, self.settings), entry

    def _answer(self, read: Any) -> Answer:
        call, entry = self._call()
        rules = None if entry is None else entry.rules
        with refusing():
            tagger = self.models.load(rules)  # before a file is read for nothing
            if rules is not None:
                check_labels(rules, tagger, lambda _: None)
            document = read()
            if len(document) * len(tagger.labels) > self.settings.max_cells:
                detail = f"the document has {len(document):,} words, too many for this service"
                raise HttpProblem(413, detail)
            xml = not self.models.is_named
            scored = score_document(document, tagger, call, pool=self.form.pool or "mean", xml=xml)
        if entry is not None and not self.models.are_of(entry):
            entry = None
        return decoded(scored, call, self.form, entry)


def file_part(parts: Mapping[str, Upload]) -> Upload:
    """The file of a form that has nothing else; a problem if it has."""
    if set(parts) != {FILE}:
        found = ", ".join(map(repr, parts)) or "nothing"
        raise HttpProblem(422, f"the form has {found}, expected one part: {FILE!r}")
    return parts[FILE]


def read_part(upload: Upload, id_: str | None, reading: FileReading, tell: Tell) -> Document:
    """The document of a file, by this id or the file's name."""
    return reading.read(upload, id_ or upload.name or "document", tell)


def only(found: Any) -> Document:
    """The only document of a text; a problem if there is none."""
    document = usable(next(found))
    return document.document if isinstance(document, Labelled) else document
