"""Receipts and invoices without being told which: a model for each, and the rules of its pack.

The invoice model says of every page what kind it is. Receipts are then read by their own model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from lawful.base.errors import InputError, RulesError
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.documents.scores import Pooling
from lawful.models.shipped import invoice_model, receipt_model
from lawful.models.tagger import (
    KIND,
    Backend,
    Given,
    Tagger,
    Units,
    from_pretrained,
    parts_of,
)
from lawful.pipeline.call import Call
from lawful.results.decoding import Decoding
from lawful.rules.packs import PACKS
from lawful.rules.rule_set import Rules

RECEIPT, INVOICE, OTHER = "receipt", "invoice", "other"

NARROW = 33.0
"""The width of a page's print, in heights of a word, below which it is the roll of a till."""

SURE = 8.0
"""How much more probable than a receipt, in nats, another kind must be on such paper."""


class KindTagger(Tagger):
    """The shipped models: the labels of a document are those of the model for its kind.

    Each document says its kind, and no other, in ``classes``; one without words says none.
    """

    def __init__(self, invoices: Tagger, receipts: Tagger) -> None:
        super().__init__(invoices.tokenizer, invoices.runner, invoices.card)
        self.receipts = receipts

    @classmethod
    def shipped(cls, device: str | None = None, backend: Backend | None = None) -> KindTagger:
        """The models of the package lawful-models."""
        models = (
            from_pretrained(folder, device=device, backend=backend)
            for folder in (invoice_model(), receipt_model())
        )
        return cls(*models)

    def _predict(
        self, given: tuple[Given, ...], batch: int, units: Units, pool: Pooling
    ) -> Iterator[Scored]:
        documents = tuple(parts_of(each)[0] for each in given)
        scored = [_of_one_kind(each) for each in super()._predict(documents, batch, units, pool)]
        of_receipts = [each.document for each in scored if kind_of(each.document) != INVOICE]
        receipts = self.receipts.predict(of_receipts, batch=batch, units=units, pool=pool)
        for each in scored:
            yield each if kind_of(each.document) == INVOICE else next(receipts)


def kind_of(document: Document) -> str | None:
    """What kind a document is, according to a model; ``None`` if none has said so."""
    scores = (document.classes or {}).get(KIND)
    return max(scores, key=lambda kind: scores[kind]) if scores else None


def _of_one_kind(scored: Scored) -> Scored:
    document = scored.document
    kind = kind_of(document)
    if kind is None:
        return scored
    scores = (document.classes or {})[KIND]
    if kind != RECEIPT and scores[kind] < scores[RECEIPT] + SURE and _width(document) < NARROW:
        kind = RECEIPT
    return replace(
        scored, document=replace(document, classes={**(document.classes or {}), KIND: {kind: 0.0}})
    )


def _width(document: Document) -> float:
    """The width of what is printed, in heights of a word; infinite if places are unknown."""
    if not document.boxes:
        return float("inf")
    boxes = np.array(document.boxes)
    high = float(np.median(boxes[:, 3] - boxes[:, 1]))
    return float(boxes[:, 2].max() - boxes[:, 0].min()) / max(high, 1e-9)


OF_NO_KIND = (
    "looks like neither a receipt nor an invoice: choose --rules receipt or --rules "
    "invoice to read it as one, or --model and --rules that were made for such pages"
)
"""Why a page cannot be decoded, and what to do."""


@cache
def rules_by_kind() -> Mapping[str, Rules]:
    """The rules of the packs for receipts and invoices, which also say what each document is."""
    return {
        kind: replace(Rules.load(PACKS[kind]), classes={KIND: KIND}) for kind in (INVOICE, RECEIPT)
    }


@dataclass(frozen=True, slots=True)
class CallByKind(Call):
    """Decodes each document under the rules for its kind; ``rules`` has the fields of all."""

    calls: Mapping[str, Call] = field(default_factory=dict)

    @classmethod
    def of_packs(cls, made: Callable[[Rules], Call]) -> CallByKind:
        """Receipts and invoices under the rules of their packs, as ``made`` makes a call of them.

        The class ``kind`` of a decoding says which it was. What does not fit one of the packs is a
        ``RulesError`` that names it, and the other one if that fits.
        """
        packs = rules_by_kind()
        calls: dict[str, Call] = {}
        wrong: dict[str, RulesError] = {}
        for kind, rules in packs.items():
            try:
                calls[kind] = made(rules)
            except RulesError as error:
                wrong[kind] = error
        for kind, why in wrong.items():
            fits = "".join(f" (--rules {other} alone would do)" for other in calls)
            both = f"without --rules, this must fit the packs {' and '.join(packs)}{fits}"
            raise RulesError(f"{both}; {kind}: {why}")
        fields = {
            field.name: replace(field, label=f"{kind}.{field.name}")
            for kind in (RECEIPT, INVOICE)
            for field in packs[kind].fields
        }
        first = calls[INVOICE]
        every = Rules(fields.values(), classes={KIND: KIND})
        return cls(
            every, first.decoder, first.budget, first.alternatives, first.confidence,
            first.by_field, first.temperature, first.pool, calls,
        )  # fmt: skip

    @property
    def rule_sets(self) -> tuple[Rules, ...]:
        return tuple(call.rules for call in self.calls.values())

    def given(self, scored: Scored) -> Scored:
        """What is decoded; an ``InputError`` says what to do about a page of another kind."""
        return self._call(scored).given(scored)

    def decode(self, given: Scored) -> Decoding:
        """Decodes one document under the rules for its kind."""
        return self._call(given).decode(given)

    def _call(self, scored: Scored) -> Call:
        kind = kind_of(scored.document) or RECEIPT
        if kind not in self.calls:
            raise InputError(OF_NO_KIND)
        return self.calls[kind]
