"""``lawful.extract``: from files to fields, with a model and rules, in one call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, Unpack, overload

from lawful.base.errors import InputError, shown
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled, Scored
from lawful.documents.scores import Pooling
from lawful.models.kinds import INVOICE, CallByKind, KindTagger
from lawful.models.shipped import model_for, rules_for
from lawful.models.stated import stated
from lawful.models.tagger import Tagger, from_pretrained
from lawful.pipeline.batch import checked_workers, decode_records
from lawful.pipeline.call import Call, Options, Record, Result, decode_one
from lawful.pipeline.workers import Idle, in_order
from lawful.readers import Item, Reader
from lawful.readers.many import read_files_or_idle
from lawful.results.decoding import Decoding
from lawful.rules.packs import rules_named
from lawful.rules.rule_set import Rules

FilePath: TypeAlias = str | Path


class How(Options, total=False):
    """How ``extract`` works."""

    rules: Rules | FilePath | None
    model: Tagger | FilePath | None
    reader: Reader | None
    pool: Pooling
    workers: int


@overload
def extract(  # type: ignore[overload-overlap]
    paths: FilePath, **how: Unpack[How]
) -> Decoding: ...


@overload
def extract(
    paths: Iterable[FilePath], **how: Unpack[How]
) -> Iterator[Decoding | FailedDocument]: ...


def extract(
    paths: FilePath | Iterable[FilePath], **how: Unpack[How]
) -> Decoding | Iterator[Decoding | FailedDocument]:
    """The fields of a file, or of several: read, scored by a model, decoded under rules.

    Of one path, the ``Decoding``; an ``InputError`` if the file cannot be read or decoded. Of
    several, an iterator with one result per file, in order: a ``FailedDocument`` for such a file.
    Files are PDF files, images and what OCR engines write, as for ``lawful extract``, whose answers
    are the same. Each is read by another process, so that a file that crashes a library costs no
    other.

    ``rules`` are ``Rules``, a rule file, or the name of a pack, such as ``"invoice"``; ``model`` is
    a ``Tagger``, a folder, or a name on the hub. Without both, receipts and invoices are told apart
    and read by the models and rules that come with lawful: ``decoding.classes["kind"]``. Rules
    without a model have that of the two which knows their labels; a model that ``lawful teach``
    made has rules of its own. Without a model, the values of an e-invoice are those of its XML,
    unless rules ask for others than the pack ``invoice``.
    ``reader`` says how files are read (``lawful.readers.Reader``). ``pool`` is that of
    ``Tagger.predict``; ``decoder``, ``budget`` and ``alternatives`` are those of ``lawful.decode``.
    ``by_field`` searches for one span per field. ``temperature`` is that of ``lawful calibrate``.
    ``workers`` is the number of processes, 1 by default.
    """
    extractor = Extractor.of(**how)
    if not isinstance(paths, str | Path):
        if not isinstance(paths, Iterable) or isinstance(paths, bytes):
            raise InputError(f"paths is {shown(paths)}, expected a path or several")
        return extractor.each(paths)
    if Path(paths).is_dir():
        raise InputError(
            f"{paths} is a folder, expected a file; lawful.readers.files_in lists those in a folder"
        )
    [found] = extractor.each([paths])
    if isinstance(found, FailedDocument):
        raise InputError(f"{paths}: {found.message}")
    return found


def decode_each(
    found: Iterable[Document | Labelled | FailedDocument | Idle],
    tagger: Tagger,
    call: Call,
    *,
    pool: Pooling,
    workers: int,
    xml: bool = False,
) -> Generator[Result, None, None]:
    """One result per document, in order, each scored by itself and as soon as it is there.

    With ``xml``, e-invoices are not scored: their values are those that their XML states. Several
    workers score what they decode, each with a copy of the model, if it has any.
    """
    task = _ScoreAndDecode(call, tagger, pool, xml)
    if tagger.copies or checked_workers(workers) == 1:
        return in_order(task, found, checked_workers(workers))
    records = (each if isinstance(each, Idle) else task.scored(each) for each in found)
    return decode_records(records, call, workers=workers)


@dataclass(frozen=True)
class _ScoreAndDecode:
    """The task of workers that score documents and decode them."""

    call: Call
    tagger: Tagger
    pool: Pooling
    xml: bool

    def start(self) -> Callable[[Document | Labelled | FailedDocument], Result]:
        return lambda found: decode_one(self.scored(found), self.call)

    def scored(self, found: Document | Labelled | FailedDocument) -> Record:
        if isinstance(found, FailedDocument):
            return found
        return score_document(found, self.tagger, self.call, pool=self.pool, xml=self.xml)

    def lost(self, item: Document | Labelled | FailedDocument, why: str) -> FailedDocument:
        if isinstance(item, FailedDocument):
            return item
        document = item if isinstance(item, Document) else item.document
        return FailedDocument(document.line or 0, why, document.id)


def score_document(
    document: Document | Labelled, tagger: Tagger, call: Call, *, pool: Pooling, xml: bool
) -> Scored:
    """The document with the scores of a model; with ``xml``, an e-invoice with its own values."""
    known = _stated(document, call) if xml else None
    return known or next(iter(tagger.predict([document], batch=1, pool=pool)))


def _stated(document: Document | Labelled, call: Call) -> Scored | None:
    if isinstance(call, CallByKind):
        return stated(document, call.calls[INVOICE].rules, INVOICE)
    return stated(document, call.rules)


def check_labels(rules: Rules, tagger: Tagger, warn: Callable[[str], Any] = warnings.warn) -> None:
    """Fails early if the model lacks a label of the rules; warns if it lacks most optional ones."""
    types = rules.scheme_for(tagger.labels).types
    unknown = [field.label for field in rules.fields if field.label not in types]
    message = (
        f"the model does not know {len(unknown)} of {len(rules.fields)} labels of the rules "
        f"({', '.join(unknown[:5])}{', …' * (len(unknown) > 5)}); choose one that was trained on "
        "documents of this kind"
    )
    if unknown and len(unknown) == len(rules.fields):
        raise InputError(message)
    if len(unknown) > len(rules.fields) / 2:
        warn(message)


@dataclass(frozen=True, slots=True)
class Extractor:
    """What ``extract`` loads once for all files: a model, rules, and whether XML is believed."""

    tagger: Tagger
    call: Call
    reader: Reader
    pool: Pooling
    workers: int
    xml: bool = False

    @classmethod
    def of(
        cls,
        *,
        rules: Rules | FilePath | None = None,
        model: Tagger | FilePath | None = None,
        reader: Reader | None = None,
        pool: Pooling = "mean",
        workers: int = 1,
        **how: Unpack[Options],
    ) -> Extractor:
        workers, reader = checked_workers(workers), reader or Reader()
        if rules is None and model is None:
            by_kind = CallByKind.of_packs(lambda rules: Call(rules, **how))
            return cls(KindTagger.shipped(), by_kind, reader, pool, workers, xml=True)
        if rules is None or isinstance(rules, str | Path):
            folder = None if isinstance(model, Tagger) else model
            rules = rules_named(str(rules or rules_for(folder)))
        call = Call(rules, **how)
        tagger = model if isinstance(model, Tagger) else from_pretrained(model or model_for(rules))
        check_labels(rules, tagger)
        return cls(tagger, call, reader, pool, workers, xml=model is None)

    def result(self, document: Document | Labelled) -> Result:
        """The result of one document."""
        scored = score_document(document, self.tagger, self.call, pool=self.pool, xml=self.xml)
        return decode_one(scored, self.call)

    def each(self, paths: Iterable[FilePath]) -> Iterator[Decoding | FailedDocument]:
        """One result per file, in order."""
        items = (Item(number, path=os.fspath(path)) for number, path in enumerate(paths, 1))
        read = read_files_or_idle(items, self.reader, workers=self.workers)
        results = decode_each(
            read, self.tagger, self.call, pool=self.pool, workers=self.workers, xml=self.xml
        )
        with closing(read), closing(results):
            for result in results:
                yield result if isinstance(result, FailedDocument) else result[1]
