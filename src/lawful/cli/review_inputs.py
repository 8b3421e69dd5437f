"""What a review opens that has no scores yet: files, and lines of documents."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from lawful.base.errors import InputError, LawfulError
from lawful.candidates.on_page import on_page
from lawful.cli.inputs import Inputs
from lawful.cli.options import load_rules
from lawful.cli.scoring import UnscoredFile, load_kind_tagger, load_tagger
from lawful.cli.terminal import say, warn
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled, Scored
from lawful.io.jsonl import LineParser, parse_documents
from lawful.llm.schemas import load_schema, schema_file
from lawful.models.extraction import check_labels
from lawful.models.kinds import INVOICE, rules_by_kind
from lawful.models.quick import QuickTagger
from lawful.models.shipped import RULES, model_for, rules_for
from lawful.models.stated import stated
from lawful.models.tagger import Tagger
from lawful.pipeline.batch import score_each
from lawful.pipeline.workers import Idle
from lawful.readers import Reader
from lawful.review.answer import RuleSets
from lawful.review.needed import BROKEN, with_needs
from lawful.rules.packs import PACKS

Arriving = Generator[Scored | FailedDocument | Idle, None, None]


NULL = b"null"
NONE = msgspec.Raw(NULL)


class _Scores(msgspec.Struct):
    """The part of a line that says whether it has scores."""

    probs: msgspec.Raw = NONE
    log_probs: msgspec.Raw = NONE
    logits: msgspec.Raw = NONE
    spans: msgspec.Raw = NONE

    @property
    def any(self) -> bool:
        return any(bytes(getattr(self, name)) != NULL for name in self.__struct_fields__)


def rules_of(
    rules: Path | None, python: Path | None, schema: str | None, model: str | None,
    needs: str | None, *, by_kind: bool, teach: bool,
) -> tuple[Path, RuleSets]:  # fmt: skip
    """The rules of a review, and their file; ``by_kind`` if kinds may be told apart."""
    if schema is not None:
        if rules is not None:
            raise InputError("--schema and --rules: choose one of them")
        file = schema_file(schema)
        return file, {"": with_needs(load_schema(schema)[1], file, needs)}
    if by_kind and model is None:
        if teach or needs is not None:
            option = "--teach" if teach else "--needs"
            raise InputError(f"{option} wants --rules: receipts and invoices have other fields")
        return RULES, {kind: with_needs(own, PACKS[kind]) for kind, own in rules_by_kind().items()}
    rules = rules or rules_for(model)
    return rules, {"": with_needs(load_rules(rules, python), rules, needs)}


def model_of(sets: RuleSets, model: str | None, inputs: Inputs, *, teach: bool) -> Tagger:
    """The model that scores documents; one that knows nothing, if it will be taught."""
    if "" not in sets:
        return load_kind_tagger(None, None)
    rules = sets[""]
    if model is None and teach and not inputs.has_files:
        return QuickTagger(())
    tagger = load_tagger(model or model_for(rules), None, None)
    try:
        check_labels(rules, tagger, warn)
    except InputError:
        if model is not None or not teach:
            raise
        say("no shipped model knows the fields of the rules: teaching begins with nothing")
        return QuickTagger(())
    return tagger


def scored(inputs: Inputs, reader: Reader, tagger: Tagger, sets: RuleSets | None) -> Arriving:
    """Documents, scored by a model; what cannot be read is said, and listed.

    With rules, e-invoices have the values of their XML, as for ``lawful extract``.
    """

    def predict(documents: Iterable[Any]) -> Iterator[Scored]:
        for document in documents:
            known = sets and _stated(document, sets, inputs)
            yield known or next(iter(tagger.predict([document], batch=1)))

    records: Iterable[Scored | FailedDocument | Idle]
    if isinstance(tagger, QuickTagger) and not tagger.models and not inputs.has_files:
        records = _as_they_are(inputs, tagger)
    else:
        found = inputs.documents(inputs.lines(), reader)
        unscored = UnscoredFile(tagger, keep_gold=False).records(found)
        records = score_each(predict, unscored)
    for record in records:
        if isinstance(record, FailedDocument):
            warn(f"{inputs.name(record.line)}: {record.message}")
        yield record


def _stated(document: Document | Labelled, sets: RuleSets, inputs: Inputs) -> Scored | None:
    """The values of the XML in a document's file, on its page; what they contradict is said.

    Then its amounts are as doubtful as those of a broken rule.
    """
    kind = None if "" in sets else INVOICE
    rules = sets[kind or ""]
    try:
        known = stated(document, rules, kind)
        placed = None if known is None else on_page(known, rules)
    except LawfulError as error:
        line = document.line if isinstance(document, Document) else document.document.line
        warn(f"{inputs.name(line or 0)}: its page is read, not its XML: {error}")
        return None
    if known is None or placed is None:
        return None
    broken = [check for check in known.checks if check.state == "violated"]
    for check in broken:
        warn(f"{inputs.name(known.line or 0)}: {check.id}: {check.message}")
    amounts = [f.label for f in rules.fields if f.type == "money"] if broken else []
    placed.scores.named = dict.fromkeys(amounts, BROKEN)  # nobody guessed, as samples do
    return placed.scored


def _as_they_are(inputs: Inputs, nothing: QuickTagger) -> Iterator[Scored | FailedDocument]:
    """Lines with their own scores, or with those of a model that knows nothing."""
    parser = LineParser(inputs.only)
    for number, text in inputs.lines():
        record = parser.parse(number, text)
        if not isinstance(record, FailedDocument) or _has_scores(text):
            yield record
            continue
        for found in parse_documents([(number, text)]):
            yield from [found] if isinstance(found, FailedDocument) else nothing.predict([found])


def _has_scores(line: bytes) -> bool:
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(line, type=_Scores).any
    return False
