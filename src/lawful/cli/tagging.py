"""Models and unscored documents, as ``lawful predict`` and ``lawful extract`` load them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from lawful.cli.output import plural, warn
from lawful.document import BadLine, Document, Labelled
from lawful.errors import InputError
from lawful.models.shipped import MODEL
from lawful.models.tagger import BOXLESS, Backend, Tagger, from_pretrained
from lawful.rules.rule_set import Rules


def load_tagger(model: str | None, device: str | None, backend: Backend | None) -> Tagger:
    """The named model; by default, the one that comes with the package."""
    warnings.filterwarnings("ignore", BOXLESS)  # warn_of_boxless says it once
    return from_pretrained(model or MODEL, device=device, backend=backend)


def check_labels(rules: Rules, tagger: Tagger) -> None:
    """Fails early if the model lacks a label of the rules; warns if it lacks most optional ones."""
    types = rules.scheme_for(tagger.labels).types
    unknown = [field.label for field in rules.fields if field.label not in types]
    message = (
        f"the model does not know {len(unknown)} of {len(rules.fields)} labels of the rules "
        f"({', '.join(unknown[:5])}{', …' * (len(unknown) > 5)}); --model takes one that was "
        "trained on documents of this kind"
    )
    if unknown and len(unknown) == len(rules.fields):
        raise InputError(message)
    if len(unknown) > len(rules.fields) / 2:
        warn(message)


class UnscoredFile:
    """The documents of a file, to be scored by a model."""

    def __init__(self, tagger: Tagger, *, keep_gold: bool) -> None:
        """Gold labels are dropped or kept; kept ones must be among the model's labels."""
        self._tagger, self._keep_gold = tagger, keep_gold
        self._boxless = 0

    def records(
        self, found: Iterable[Document | Labelled | BadLine], *, after: int = 0, batch: int = 1
    ) -> Iterator[Document | Labelled | BadLine]:
        """The documents found; some of those up to the line ``after`` are left out.

        Only such that the model reads the others in the same batches as without: rounding makes
        its scores depend on the batch.
        """
        size = self._tagger.group_size(batch)
        waiting: list[Document | Labelled | BadLine] = []
        documents = 0
        for record in self._checked(found):
            if after == 0:
                yield record
                continue
            waiting.append(record)
            documents += not isinstance(record, BadLine)
            line = record.line if isinstance(record, BadLine) else _document(record).line
            if (line or 0) > after:
                yield from waiting
                waiting, after = [], 0
            elif documents == size:
                waiting, documents = [], 0
        yield from waiting

    def _checked(
        self, records: Iterable[Document | Labelled | BadLine]
    ) -> Iterator[Document | Labelled | BadLine]:
        known = set(self._tagger.labels)
        for found in records:
            if isinstance(found, BadLine):
                yield found
                continue
            document = _document(found)
            gold = found.gold if isinstance(found, Labelled) and self._keep_gold else ()
            if unknown := set(gold) - known:
                message = (
                    f"document {document.id!r} has gold label {min(unknown)!r}, which the model "
                    f"does not know; its labels: {', '.join(self._tagger.labels)}"
                )
                yield BadLine(document.line or 0, message, document.id)
                continue
            self._boxless += self._tagger.lacks_boxes(document)
            yield found if self._keep_gold else document

    def warn_of_boxless(self) -> None:
        """Warns if documents lack the boxes that the model was trained with."""
        if self._boxless:
            warn(f"{plural(self._boxless)} without boxes, which the model was trained with")


def _document(found: Document | Labelled) -> Document:
    return found.document if isinstance(found, Labelled) else found
