"""Sets of real pages whose needed value is known, for ``lab.benchmarks.trust``.

``cord-l2``, ``cord-l6text`` and ``wild-l2text`` are outputs of receipt models. ``sroie-shipped``
and ``photos`` are receipts of SROIE read by the shipped receipt model, from their words and from
photos (of other ones); ``sroie-qwen``, ``cord-qwen`` and ``facturx-qwen`` are by seven answers of
a small language model, whose probability of a value is its share of votes; ``sroie-both`` by these
and the shipped model in one lattice. ``ads`` are ad orders read by models that ``lawful teach``
made of the other half of them. Needed is the total; of ad orders and e-invoices, the gross amount.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lab.benchmarks import adbuy, teach
from lab.benchmarks.choose_on_page import (
    INVOICE,
    RECEIPT,
    amount,
    answer,
    of_decoding,
    values,
)  # fmt: skip
from lab.benchmarks.data import PHOTOS, answers, rules_of, texts_of, true_total
from lab.benchmarks.data import page_of as document_of
from lab.benchmarks.questions import Recorded
from lawful import Candidates, Document, Field, Rules, Scored, SpanScores
from lawful.candidates.choose import laid_out
from lawful.documents.records import FailedDocument
from lawful.evaluation.scoreboard import right_fields
from lawful.learn.promise import Reviewed
from lawful.learn.trust import DOUBTS, bar_to, doubts_of
from lawful.llm.extraction import Asking
from lawful.llm.schemas import schema_of_rules
from lawful.models.shipped import receipt_model
from lawful.models.tagger import from_pretrained
from lawful.pipeline.call import Call, DecodeOptions
from lawful.readers import Reader
from lawful.results.decoding import Decoding
from lawful.rules.packs import PACKS
from tests.fixtures import outputs

WORDS = tuple(DOUBTS).index("words")


class Page(NamedTuple):
    """A decoded page: what trust sees of it, and what other ways to let it pass do."""

    reviewed: Reviewed
    satisfied: bool
    model: float  # the probability of needed values by the model alone


def page_of(
    name: str, scored: Scored, found: Decoding, rules: Rules, *, right: bool, model: float | None
) -> Page:
    doubts, barred = doubts_of(scored, found, rules), bar_to(found.repairs, rules.needs) is not None
    if model is None:
        model = float(1 - np.exp(doubts[WORDS]))
    return Page(Reviewed(name, doubts, right, barred), found.status == "satisfied", model)


def of_outputs(name: str, needs: str = "total") -> Iterator[Page]:
    """The pages of a model's outputs, decoded as by ``lawful trust fit``."""
    rules = rules_of(name)
    call = DecodeOptions(needs=needs, pool="mean").call(rules)
    for page in outputs.read_outputs(name):
        given = call.given(page)
        found = call.decode(given)
        right = right_fields(given, found.labels, call.rules)
        all_right = all(right[each] for each in call.rules.needs)
        yield page_of(page.document.id, given, found, call.rules, right=all_right, model=None)


def answered(name: str) -> Iterator[Page]:
    """Documents by seven answers of a small language model, under rules."""
    rules, needed = (INVOICE, "gross") if name == "facturx" else (RECEIPT, "total")
    rules = replace(rules, needs=(needed,))
    for record in answers(name):
        if amount(record["truth"].get(needed)) is None:
            continue
        client = Recorded(record, 7)
        asking = Asking(client, schema_of_rules(rules), Call(rules), 7, 0)  # type: ignore[arg-type]
        result = asyncio.run(asking.settle(document_of(record))).result
        if isinstance(result, FailedDocument):
            raise SystemExit(f"{record['id']}: {result.message}")
        yield of_answers(record, needed, rules, *result)


def of_answers(
    record: dict[str, Any], needed: str, rules: Rules, scored: Scored, found: Decoding
) -> Page:
    total = of_decoding(found, (needed,))[needed]
    texts = texts_of(record)
    found_ = [each for each in map(answer, texts) if each is not None]
    votes = [values(each, (needed,))[needed] for each in found_]
    right = total == amount(record["truth"][needed])
    share = votes.count(total) / len(texts)
    return page_of(record["id"], scored, found, rules, right=right, model=share)


def joined() -> Iterator[Page]:
    """SROIE's totals by the language model's answers and the shipped model in one lattice."""
    rules = replace(RECEIPT, needs=("total",))
    records = answers("sroie")
    scores = from_pretrained(receipt_model()).predict(map(document_of, records))
    for record, tagged in zip(records, scores, strict=True):
        given = {"model": texts_of(record), "tagger": tagged.scores}
        page = tagged.document
        candidates = Candidates.from_sources(given, document=page, rules=rules)
        laid = laid_out(candidates, rules, page)
        scored = Scored(laid.document, laid.scores)
        found = Call(laid.rules).decode(scored)
        yield of_answers(record, "total", laid.rules, scored, found)


def by_shipped(known: Iterable[tuple[Document, Any]]) -> Iterator[Page]:
    """Totals by the shipped receipt model."""
    call = DecodeOptions(needs="total").call(Rules.load(PACKS["receipt"]))
    tagger = from_pretrained(receipt_model())
    for document, truth in known:
        (scored,) = tagger.predict([document])
        found = call.decode(scored)
        right = found.values("total")[:1] == (truth,)
        yield page_of(document.id, scored, found, call.rules, right=right, model=None)


def words() -> Iterator[tuple[Document, Any]]:
    for record in answers("sroie"):
        yield document_of(record), amount(record["truth"]["total"])


def photos() -> Iterator[tuple[Document, Any]]:
    reader = Reader()
    for file in sorted((PHOTOS / "img").glob("*.jpg")):
        yield reader.read(file), true_total(file)


def ads() -> Iterator[Page]:
    """Gross amounts of ad orders, each by a model that was taught on the other half."""
    rules = replace(adbuy.ad_rules(), needs=("gross",))
    for split in teach.ads("shown"):
        tagger, _ = teach.taught_on(split.taught, rules)
        for document, truth in split.tested:
            if "gross" not in truth.values:
                continue
            scored = Scored(document, tagger.scores_of(document))
            found = Call(rules, budget=teach.BUDGET).decode(scored)
            value = next(iter(found.values("gross")), None)
            (f,) = (each for each in rules.fields if each.name == "gross")
            right = value is not None and adbuy.is_right(value, truth.values["gross"][0], f)
            model = spans_alone(scored.scores, f, found)
            yield page_of(document.id, scored, found, rules, right=right, model=model)


def spans_alone(scores: SpanScores, f: Field, found: Decoding) -> float:
    """The probability of a field's words by the model alone, that it has no other value."""
    at = {value.words for value in found.fields.get(f.name, ())}
    wrong = 0.0
    for span, odds in zip(scores.spans, scores.log_odds.tolist(), strict=True):
        if span.type == f.label:
            p = 1 / (1 + np.exp(-odds))
            wrong += 1 - p if (span.start, span.end) in at else p
    return float(1 - min(wrong, 1.0)) if at else 0.0


SETS: Mapping[str, Callable[[], Iterable[Page]]] = {
    **{name: partial(of_outputs, name) for name in outputs.OUTPUTS},
    "sroie-shipped": lambda: by_shipped(words()),
    "photos": lambda: by_shipped(photos()),
    **{f"{name}-qwen": partial(answered, name) for name in ("sroie", "cord", "facturx")},
    "sroie-both": joined,
    "ads": ads,
}  # fmt: skip
