"""``lawful.choose`` on answers of a small language model, with and without the page and a tagger.

    python -m lab.benchmarks.choose_on_page [--part chosen|shown] [--share 0.5] [--not-printed 3]

Seven answers of Qwen2.5-Coder-1.5B per document (``../shared/data/llm_samples``). The prices of
places and of texts that are printed nowhere were chosen on every other document (``chosen``);
``shown`` are the others. On receipts, the shipped receipt model's scores of words join the answers
(``Candidates.from_sources``, both with the usual reliability). A field is right if its value is
that of the truth; fields are fixed or broken in comparison with ``choose`` without the page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any

from lab.benchmarks.data import answers, page_of, texts_of
from lab.benchmarks.study import study
from lab.benchmarks.tables import changes, interval
from lawful import Candidates, Field, InputError, Rules, choose
from lawful.candidates import placed
from lawful.models.shipped import receipt_model
from lawful.models.tagger import from_pretrained
from lawful.rules import RowKind

RECEIPT = Rules(
    [
        *(Field(n, label=n, type="money") for n in ("total", "subtotal", "cash", "change")),
        *(Field(n, label=n, type="money", default=0) for n in ("tax", "service", "discount")),
        Field("rounding", label="rounding", type="money", default=0),
        Field("price", label="price", type="money", many=True),
    ],
    [
        "total == subtotal + tax + service - abs(discount) + rounding",
        "cash == total + change",
        "subtotal == sum(price)",
        "total == sum(price)",
        "total <= cash",
    ],
    rows=[RowKind("items", ("price",))],
).with_defaults(weight=2)
INVOICE = Rules(
    [
        *(Field(n, label=n, type="money") for n in ("net", "tax", "gross", "due")),
        Field("prepaid", label="prepaid", type="money", default=0),
        Field("amount", label="amount", type="money", many=True),
    ],
    ["gross == net + tax", "due == gross - prepaid", "net == sum(amount)", "tax <= net"],
    rows=[RowKind("lines", ("amount",))],
).with_defaults(weight=2)

FIELDS = {
    "sroie": ("total",),
    "cord": ("total", "subtotal", "tax", "service", "cash", "change"),
    "facturx": ("gross", "net", "tax", "due"),
}


def answer(text: str) -> dict[str, Any] | None:
    """The object in an answer, as far as it is JSON; lists of numbers only."""
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def amount(value: Any) -> Decimal | None:
    try:
        return None if value is None else Decimal(str(value)).normalize()
    except InvalidOperation:
        return None


def values(found: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Decimal | None]:
    return {name: amount(found.get(name)) for name in names}


def truth_of(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Decimal | None]:
    truth = record["truth"]
    return {n: amount(truth.get(n)) for n in names if not isinstance(truth.get(n), list)}


def of_decoding(decoding: Any, names: tuple[str, ...]) -> dict[str, Decimal | None]:
    read = (
        (n, [v.value for v in decoding.fields.get(n, ()) if v.value is not None]) for n in names
    )
    return {n: each[0].normalize() if each else None for n, each in read}


def vote(samples: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, Decimal | None]:
    each = [values(sample, names) for sample in samples]
    return {n: Counter(v[n] for v in each).most_common(1)[0][0] for n in names}


def main() -> None:
    arguments = study(
        __doc__, part=("shown", "chosen"), share=placed.SHARE, not_printed=placed.NOT_PRINTED
    )
    tagger = from_pretrained(receipt_model())
    placed.SHARE, placed.NOT_PRINTED = arguments.share, arguments.not_printed
    for name, names in FIELDS.items():
        rules = INVOICE if name == "facturx" else RECEIPT
        none = rules.with_defaults(weight=0)
        right: dict[str, list[bool]] = {}
        seconds = Counter[str]()
        records = answers(name, arguments.part)
        pages = list(map(page_of, records))
        scored = tagger.predict(pages) if name != "facturx" else [None] * len(pages)
        sure: list[tuple[float, bool]] = []
        for record, page, tagged in zip(records, pages, scored, strict=True):
            texts = texts_of(record)
            samples = [each for each in map(answer, texts) if each is not None]
            if not samples:
                continue
            truth = truth_of(record, names)
            ways: dict[str, Callable[[Candidates], Any]] = {
                "choose without rules": lambda c: choose(c, none),
                "choose without rules, on the page": lambda c: choose(c, none, document=page),
                "choose": lambda c: choose(c, rules),
                "choose on the page": lambda c: choose(c, rules, document=page),
            }
            if tagged is not None:
                given = {"model": texts, "tagger": tagged.scores}
                joined = partial(Candidates.from_sources, given, document=page, rules=rules)
                tagger_alone = {"tagger": tagged.scores}
                ways |= {
                    "tagger alone, page": lambda _: choose(
                        Candidates.from_sources(tagger_alone, document=page, rules=rules),
                        rules, document=page,
                    ),
                    "choose with the tagger without rules, page": lambda _: choose(
                        joined(), none, document=page
                    ),
                    "choose with the tagger": lambda _: choose(joined(), rules),
                    "choose with the tagger, page": lambda _: choose(
                        joined(), rules, document=page
                    ),
                }  # fmt: skip
            found = {"vote": vote(samples, names)}
            for way, work in ways.items():
                begin = perf_counter()
                try:
                    candidates = Candidates.from_samples(samples)
                    decoding = work(candidates)
                    found[way] = of_decoding(decoding, names)
                except InputError:
                    found[way] = dict.fromkeys(names)
                seconds[way] += perf_counter() - begin
            for n, value in truth.items():
                if value is None:
                    continue
                for way, each in found.items():
                    right.setdefault(way, []).append(each[n] == value)
                some = any(values(sample, names)[n] == value for sample in samples)
                right.setdefault("some answer", []).append(some)
            best = choose(
                joined() if tagged is not None else Candidates.from_samples(samples),
                rules, document=page, confidence=True,
            )  # fmt: skip
            values_ = of_decoding(best, names)
            sure += [(best.confidence[n].low, values_[n] == v) for n, v in truth.items()
                     if v is not None and n in best.confidence]  # fmt: skip
        print(name)
        for low, high in pairwise((0.0, 0.5, 0.8, 0.9, 0.97, 0.99, 1.01)):
            of = [right_ for p, right_ in sure if low <= p < high]
            if of:
                share = 100 * sum(of) / len(of)
                print(
                    f"  confidence {low:.2f} to {high:.2f}: {len(of)} values, {share:.0f} % right"
                )
        for way, each in right.items():
            base = right["choose" if "rules" not in way else "choose without rules"]
            fixed, broken = changes(base, each)
            low, high = interval([100.0 * right_ for right_ in each])
            print(
                f"  {way:<46}{sum(each):>5} of {len(each):<5}{100 * sum(each) / len(each):>6.1f} %"
                f" ({low:.0f} to {high:.0f})"
                f"  fixed {fixed} broken {broken}"
                f"  {1000 * seconds[way] / len(records):.0f} ms"
            )


if __name__ == "__main__":
    main()
