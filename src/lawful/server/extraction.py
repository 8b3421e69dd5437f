"""From a file to a scored document: read in a process of its own, scored by the model."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lawful.document import BadLine, Document, Labelled, Scored
from lawful.errors import LawfulError, MissingExtraError
from lawful.io.jsonl import parse_documents
from lawful.models.shipped import MODEL
from lawful.models.tagger import BOXLESS, Tagger, from_pretrained
from lawful.server.messages import ExtractForm
from lawful.server.problems import HttpProblem
from lawful.server.rule_book import RuleBook
from lawful.server.running import ending
from lawful.server.security import TOKEN_VARIABLE
from lawful.server.settings import Settings
from lawful.server.work import UNUSABLE, Answer, DecodeWork, check_size

FILES = {
    "application/pdf": ".pdf",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/tiff": ".tif",
    "image/webp": ".webp",
}
"""Media types of files, and the ending of each."""

_GRACE = 10.0
"""Seconds for starting the process that reads a file, besides those for reading it."""


class Model:
    """The model of the service, loaded when it is first needed; the threads share it."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._tagger: Tagger | None = None

    def load(self) -> Tagger:
        """The model; raises a ``LawfulError`` if it cannot be loaded."""
        with self._lock:
            if self._tagger is None:
                warnings.filterwarnings("ignore", BOXLESS)
                self._tagger = from_pretrained(self._name or MODEL)
            return self._tagger

    def score(self, document: Document) -> Scored:
        """The document with the model's scores."""
        return next(iter(self.load().predict([document], batch=1)))


class FileReading:
    """The processes that read files. ``stop`` ends them all, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(self, command: list[str], seconds: float, **how: Any) -> tuple[bytes, bytes]:
        """What a command writes to its two outputs.

        Raises a ``TimeoutExpired`` after so many seconds, and 503 once ``stop`` was called.
        """
        with self._lock:
            if self._stopped:
                raise ending()
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                **how,
            )  # fmt: skip
            self._running.add(process)
        try:
            with process:
                try:
                    found = process.communicate(timeout=seconds)
                finally:
                    process.kill()
        finally:
            self._running.discard(process)
        if self._stopped:
            raise ending()
        return found

    def stop(self) -> None:
        """Ends all processes; there will be no others."""
        with self._lock:
            self._stopped = True
            for process in tuple(self._running):
                process.kill()


@dataclass(frozen=True, slots=True)
class ExtractWork:
    """Reads a file or a document without scores, scores and decodes it."""

    settings: Settings
    book: RuleBook
    form: ExtractForm
    model: Model
    reading: FileReading
    media_type: str

    def __call__(self, line: int, text: bytes) -> Answer:
        work = DecodeWork(self.settings, self.book, self.form)
        rules = self.book.find(self.form.rules)
        try:
            self.model.load()
            document = self._document(line, text)
            columns = len(self.model.load().labels)
            if len(document) * columns > self.settings.cells:
                detail = f"the document has {len(document):,} words, too many for this service"
                raise HttpProblem(413, detail)
            scored = self.model.score(document)
        except MissingExtraError as error:
            raise HttpProblem(501, str(error)) from None
        except LawfulError as error:
            raise HttpProblem(UNUSABLE, str(error)) from None
        return work.answer(scored, rules)

    def _document(self, line: int, text: bytes) -> Document:
        if self.media_type in FILES:
            return self._read(text)
        check_size(self.settings, text)
        return _only(parse_documents([(line, text)]))

    def _read(self, content: bytes) -> Document:
        """The document of a file, which a process of its own reads: it may crash, or hang."""
        _check_extra(self.media_type)
        with TemporaryDirectory(prefix="lawful-") as folder:
            name = f"document{FILES[self.media_type]}"
            Path(folder, name).write_bytes(content)
            command = [
                sys.executable, "-m", "lawful", "read", name, "--quiet",
                "--file-seconds", str(self.settings.file_seconds),
                "--max-pages", str(self.settings.pages),
            ]  # fmt: skip
            environment = {k: v for k, v in os.environ.items() if k != TOKEN_VARIABLE}
            try:
                seconds = self.settings.file_seconds + _GRACE
                output, errors = self.reading.run(command, seconds, cwd=folder, env=environment)
            except subprocess.TimeoutExpired:
                detail = f"reading the file took more than {self.settings.file_seconds:g} seconds"
                raise HttpProblem(UNUSABLE, detail) from None
        if not output:
            said = errors.decode(errors="replace").strip().splitlines()
            raise HttpProblem(UNUSABLE, said[-1] if said else "the file cannot be read")
        found = _only(parse_documents([(1, output)]))
        return replace(found, id=self.form.id, images=None)


def _only(found: Any) -> Document:
    document = next(found)
    if isinstance(document, BadLine):
        raise HttpProblem(UNUSABLE, document.message, id=document.id)
    return document.document if isinstance(document, Labelled) else document


def _check_extra(media_type: str) -> None:
    """Raises a ``MissingExtraError`` if files of this kind cannot be read here."""
    if find_spec("pypdfium2") is None:
        raise MissingExtraError("reading files needs pypdfium2: install the 'pdf' extra")
    if media_type != "application/pdf" and find_spec("rapidocr") is None:
        raise MissingExtraError("reading images needs rapidocr: install the 'ocr' extra")
