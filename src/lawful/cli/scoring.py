"""Models and unscored documents, as ``lawful predict`` and ``lawful extract`` load them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from lawful.cli.output import plural
from lawful.cli.terminal import warn
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled
from lawful.models.kinds import KindTagger
from lawful.models.shipped import receipt_model
from lawful.models.tagger import BOXLESS, Backend, Tagger, from_pretrained
from lawful.pipeline.workers import Idle


def load_tagger(model: str | Path | None, device: str | None, backend: Backend | None) -> Tagger:
    """The named model; by default, the one of receipts that comes with the package."""
    warnings.filterwarnings("ignore", BOXLESS)  # warn_of_boxless says it once
    return from_pretrained(model or receipt_model(), device=device, backend=backend)


def load_kind_tagger(device: str | None, backend: Backend | None) -> Tagger:
    """The models that come with the package."""
    warnings.filterwarnings("ignore", BOXLESS)
    return KindTagger.shipped(device, backend)


class UnscoredFile:
    """The documents of a file, to be scored by a model."""

    def __init__(self, tagger: Tagger, *, keep_gold: bool) -> None:
        """Gold labels are dropped or kept; kept ones must be among the model's labels."""
        self._tagger, self._keep_gold = tagger, keep_gold
        self._boxless = 0

    def records(
        self,
        found: Iterable[Document | Labelled | FailedDocument | Idle],
        *,
        after: int = 0,
        batch: int = 1,
    ) -> Iterator[Document | Labelled | FailedDocument | Idle]:
        """The documents found; some of those up to the line ``after`` are left out.

        Only such that the model reads the others in the same batches as without: rounding makes
        its scores depend on the batch.
        """
        size = self._tagger.group_size(batch)
        waiting: list[Document | Labelled | FailedDocument] = []
        documents = 0
        for record in self._checked(found):
            if after == 0 or isinstance(record, Idle):
                yield record
                continue
            waiting.append(record)
            documents += not isinstance(record, FailedDocument)
            line = record.line if isinstance(record, FailedDocument) else _document(record).line
            if (line or 0) > after:
                yield from waiting
                waiting, after = [], 0
            elif documents == size:
                waiting, documents = [], 0
        yield from waiting

    def _checked(
        self, records: Iterable[Document | Labelled | FailedDocument | Idle]
    ) -> Iterator[Document | Labelled | FailedDocument | Idle]:
        known = set(self._tagger.labels)
        for found in records:
            if isinstance(found, FailedDocument | Idle):
                yield found
                continue
            document = _document(found)
            gold = found.gold if isinstance(found, Labelled) and self._keep_gold else ()
            if unknown := set(gold) - known:
                message = (
                    f"document {document.id!r} has gold label {min(unknown)!r}, which the model "
                    f"does not know; its labels: {', '.join(self._tagger.labels)}"
                )
                yield FailedDocument(document.line or 0, message, document.id)
                continue
            self._boxless += self._tagger.lacks_boxes(document)
            yield found if self._keep_gold else document

    def warn_of_boxless(self) -> None:
        """Warns if documents lack the boxes that the model was trained with."""
        if self._boxless:
            warn(f"{plural(self._boxless)} without boxes, which the model was trained with")


def _document(found: Document | Labelled) -> Document:
    return found.document if isinstance(found, Labelled) else found
