"""``lawful.ground`` given true values: words found, against the first occurrence of each value.

    python -m lab.benchmarks.ground [--part chosen|shown] [--pages N] [--errors N]

The values of CORD, WildReceipt and Factur-X (``../shared/data``) as JSON objects without places;
amounts and quantities are numbers. Settings were chosen on the part ``chosen``: CORD's training
split, fold 0 of WildReceipt and the Factur-X documents of even groups; ``shown`` are the others.

A word is found if it is one of the true value's; a value, if the words found and the true ones
have an intersection of at least half of their union. Where several places are right, as in the
header of Factur-X, the best counts. Planted inventions are true values with one digit changed and
values of another document, as far as they are printed nowhere on the page.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from itertools import islice, pairwise
from time import process_time
from typing import Any

import numpy as np

from lab.benchmarks.data import DATA, records
from lab.benchmarks.study import study
from lab.datasets.cord import read_cord
from lawful import Document, ground
from lawful.candidates.grounding.leaves import Leaf, leaves_of
from lawful.candidates.grounding.matches import Occurrences
from lawful.documents.reading_order import in_reading_order, reading_order
from lawful.values import read

PLANTED = 3
"""Values of each page that are replaced, one after the other."""

Words = frozenset[int]


@dataclass(frozen=True, slots=True)
class Page:
    """A document, its values as an object, and by leaf, in order, the sets of words it may have."""

    document: Document
    object: dict[str, Any]
    truth: tuple[tuple[Words, ...], ...]


CORD = {
    "nm": "name", "cnt": "quantity", "unitprice": "unit_price", "price": "price", "num": "number",
    "discountprice": "discount", "sub_nm": "sub_name", "sub_cnt": "sub_quantity",
    "sub_price": "sub_price", "sub_unitprice": "sub_unit_price", "itemsubtotal": "subtotal",
    "vatyn": "vat", "etc": "other", "sub_etc": "sub_other",
    "subtotal_price": "subtotal", "tax_price": "tax", "service_price": "service",
    "discount_price": "discount", "othersvc_price": "other_service",
    "total_price": "total", "cashprice": "cash", "changeprice": "change", "creditcardprice": "card",
    "emoneyprice": "emoney", "menutype_cnt": "types", "menuqty_cnt": "item_count",
    "total_etc": "other_total",
}  # fmt: skip
WILD = {
    "Store_name": "store_name", "Store_addr": "address", "Tel": "phone", "Date": "date",
    "Time": "time", "Prod_item": "items", "Prod_quantity": "quantities", "Prod_price": "prices",
    "Subtotal": "subtotal", "Tax": "tax", "Tips": "tip", "Total": "total",
}  # fmt: skip
NUMBERS = {"quantity", "sub_quantity", "item_count", "types", "quantities"}
AMOUNTS = {
    "unit_price", "price", "prices", "discount", "sub_price", "sub_unit_price", "subtotal", "tax",
    "service", "other_service", "total", "cash", "change", "card", "emoney", "tip",
}  # fmt: skip


def value_of(text: str, name: str) -> Any:
    """The value as JSON would have it: a number if the text of a field of numbers is one."""
    type_ = "number" if name in NUMBERS else "money" if name in AMOUNTS else None
    found = read(text, type_) if type_ else ()
    return float(found[0]) if found else text


def entities(labels: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
    found: list[tuple[str, list[int]]] = []
    for i, label in enumerate(labels):
        if label.startswith("B-"):
            found.append((label[2:], [i]))
        elif label.startswith("I-"):
            found[-1][1].append(i)
    return [(name, tuple(words)) for name, words in found]


class Known(str):
    """A value as text while an object is built, with its places."""

    value: Any
    places: tuple[Words, ...]

    @classmethod
    def of(cls, value: Any, *places: Any) -> Known:
        made = cls(str(value))
        made.value, made.places = value, tuple(frozenset(each) for each in places)
        return made


def unwrapped(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: unwrapped(each) for name, each in given.items()}
    if isinstance(given, list):
        return [unwrapped(each) for each in given]
    return given.value if isinstance(given, Known) else given


def in_order(found: dict[str, Any], schema: dict[str, str]) -> dict[str, Any]:
    """The object with its names in the order of the schema, as a language model answers."""
    names = list(dict.fromkeys(schema.values()))
    return {name: found[name] for name in sorted(found, key=names.index)}


def put(into: dict[str, Any], name: str, value: Any) -> None:
    """The second value of a name makes it a list."""
    if name not in into:
        into[name] = value
    elif isinstance(into[name], list):
        into[name].append(value)
    else:
        into[name] = [into[name], value]


def in_order_of_print(document: Document) -> tuple[Document, dict[int, int]]:
    """The document in reading order, and where each of its words is now."""
    order = reading_order(document.boxes or (), document.pages)
    return in_reading_order(document), {old: new for new, old in enumerate(order)}


def cord(part: str) -> Iterator[Page]:
    splits = ("train",) if part == "chosen" else ("dev", "test")
    for split in splits:
        for labelled in read_cord(DATA / "cord" / "raw", split):
            document = labelled.document
            page, at = in_order_of_print(replace(document, rows=None))
            found: dict[str, Any] = {}
            rows: dict[int, dict[str, Any]] = {}
            for label, words in entities(labelled.gold):
                group, _, last = label.partition(".")
                name = CORD.get(last, last)
                text = " ".join(document.words[i] for i in words)
                value = Known.of(value_of(text, name), [at[i] for i in words])
                row = (document.rows or ())[words[0]] if group == "menu" else None
                put(found if row is None else rows.setdefault(row, {}), name, value)
            if rows:
                found["items"] = [in_order(row, CORD) for row in rows.values()]
            yield made(page, in_order(found, {"items": "items", **CORD}))


def wildreceipt(part: str) -> Iterator[Page]:
    folds = json.loads((DATA / "wildreceipt" / "folds.json").read_text())
    for record in records(DATA / "wildreceipt" / "part.jsonl.gz"):
        if (folds[record["id"]] == 0) != (part == "chosen"):
            continue
        page, at = in_order_of_print(Document(record["id"], record["words"], record["boxes"]))
        found: dict[str, Any] = {}
        spans = sorted(entities(record["labels"]), key=lambda e: min(at[i] for i in e[1]))
        for label, words in spans:
            if label.endswith("_value"):
                name = WILD[label.removesuffix("_value")]
                text = " ".join(record["words"][i] for i in words)
                put(found, name, Known.of(value_of(text, name), [at[i] for i in words]))
        yield made(page, in_order(found, WILD))


def facturx(part: str) -> Iterator[Page]:
    for record in records(DATA / "facturx" / "documents.jsonl.gz"):
        if (record["group"] % 2 == 0) != (part == "chosen"):
            continue
        words = record["words"]
        page, at = in_order_of_print(
            Document(record["id"], words, record["boxes"], record["pages"])
        )
        in_lines = {tuple(s) for each in record["lines"] for s in (each["spans"] or {}).values()}
        found: dict[str, Any] = {}
        for name, spans in record["spans"].items():
            value, is_amount = record["truth"].get(name), name.endswith("Amount")
            places = [
                range(*s) for s in spans
                if tuple(s) not in in_lines  # a number in a date is no amount
                and (not is_amount or any(mark in words[s[0]] for mark in ".,"))
            ]  # fmt: skip
            if value is not None and places:
                value = float(value) if is_amount else value
                put(found, name, Known.of(value, *([at[i] for i in p] for p in places)))
        rows = [line_of(each, at) for each in record["lines"] if each["spans"]]
        if rows:
            found["lines"] = rows
        yield made(page, found)


def line_of(record: dict[str, Any], at: dict[int, int]) -> dict[str, Any]:
    """A line of an invoice; where price and amount are equal, it is not known which is which."""
    spans = {name: [at[i] for i in range(*span)] for name, span in record["spans"].items()}
    equal = float(record["amount"] or 0) == float(record["price"] or -1)
    row = {}
    for name, key in (("quantity", "qty"), ("unit_price", "price"), ("amount", "amount")):
        if key in spans:
            both = ("price", "amount") if equal and key != "qty" else (key,)
            row[name] = Known.of(float(record[key]), *(spans[k] for k in both if k in spans))
    return row


def made(document: Document, found: dict[str, Any]) -> Page:
    return Page(document, unwrapped(found), tuple(leaf.value.places for leaf in leaves_of(found)))


SETS = {"cord": cord, "wildreceipt": wildreceipt, "facturx": facturx}


@dataclass(slots=True)
class Counts:
    """Words and values found, of those that there are."""

    words: int = 0
    found: int = 0
    right: int = 0
    values: int = 0
    placed: int = 0
    hits: int = 0

    def add(self, guess: Words, places: Sequence[Words]) -> bool:
        truth = max(places, key=lambda each: (len(each & guess), -len(each)))
        self.words += len(truth)
        self.found += len(guess)
        self.right += len(guess & truth)
        self.values += 1
        self.placed += bool(guess)
        hit = bool(guess) and len(guess & truth) >= len(guess | truth) / 2
        self.hits += hit
        return hit

    @property
    def word_f1(self) -> float:
        return 2 * self.right / max(1, self.words + self.found)

    @property
    def value_f1(self) -> float:
        return 2 * self.hits / max(1, self.values + self.placed)


def first_occurrence(document: Document, leaves: Sequence[Leaf]) -> list[Words]:
    occurrences = Occurrences(document)
    found = [occurrences.matches(leaf.value) for leaf in leaves]
    return [frozenset(each[0].words) if each else frozenset() for each in found]


@dataclass(slots=True)
class Planted:
    """Values that are not true, and how many were said not to be printed."""

    all: int = 0
    found: int = 0
    nowhere: int = 0  # of all: no text of the page has this value
    found_nowhere: int = 0

    def add(self, page: Page, leaf: Leaf, value: Any) -> None:
        answer = ground(page.document, planted(page.object, leaf.path, value))
        is_found = not answer[leaf.path].printed
        digits = (
            f"{Decimal(str(value)):f}".strip("0").replace(".", "")
            if isinstance(value, float)
            else str(value)
        )
        nowhere = letters_of(digits) not in letters_of(" ".join(page.document.words))
        self.all += 1
        self.found += is_found
        self.nowhere += nowhere
        self.found_nowhere += is_found and nowhere


def letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def planted(given: Any, path: Sequence[str | int], value: Any) -> Any:
    """The object with another value at a path."""
    if not path:
        return value
    here = dict(given) if isinstance(given, dict) else list(given)
    here[path[0]] = planted(here[path[0]], path[1:], value)
    return here


def digit_changed(value: Any, dice: random.Random) -> Any:
    """The value with another digit in one place; none if it has no digits."""
    text = (
        f"{value:.2f}" if isinstance(value, float) and value % 1 else str(value).removesuffix(".0")
    )
    places = [i for i, mark in enumerate(text) if mark.isdigit()]
    if not places:
        return None
    at = dice.choice(places)
    other = dice.choice([d for d in "123456789" if d != text[at]])
    text = text[:at] + other + text[at + 1 :]
    return float(text) if isinstance(value, float) else text


class Table:
    """What was measured on the pages of one data set."""

    def __init__(self) -> None:
        self.ours, self.first = Counts(), Counts()
        self.changed, self.foreign = Planted(), Planted()
        self.times: list[tuple[float, int]] = []
        self.sure: list[tuple[float, bool]] = []
        self.missing = self.optimal = 0

    def add(self, page: Page) -> list[str]:
        """Counts a page, and returns its mistakes."""
        leaves, mistakes = leaves_of(page.object), []
        begin = process_time()
        answer = ground(page.document, page.object)
        self.times.append((1000 * (process_time() - begin), len(page.document)))
        self.optimal += answer.optimal
        simple = first_occurrence(page.document, leaves)
        for mine, places, other in zip(answer, page.truth, simple, strict=True):
            self.first.add(other, places)
            hit = self.ours.add(frozenset(mine.words), places)
            self.sure.append((mine.probability, hit))
            self.missing += not mine.printed
            if not hit:
                true = sorted(max(places, key=len))
                mistakes.append(
                    f"  {page.document.id} {mine.path} {mine.value!r}: {mine.words} {mine.text!r}, "
                    f"true {true}"
                )
        return mistakes

    def plant(self, page: Page, before: dict[str, Any], dice: random.Random) -> None:
        """Replaces some values by those with another digit, and by those of other documents."""
        leaves = leaves_of(page.object)
        for leaf in dice.sample(leaves, min(PLANTED, len(leaves))):
            if (other := digit_changed(leaf.value, dice)) not in (None, leaf.value):
                self.changed.add(page, leaf, other)
            if before.get(leaf.names[-1], leaf.value) != leaf.value:
                self.foreign.add(page, leaf, before[leaf.names[-1]])
        before |= {leaf.names[-1]: leaf.value for leaf in leaves}

    def row(self) -> dict[str, Any]:
        ms = [t for t, _ in self.times]
        long = [t for t, n in self.times if 400 <= n <= 600]
        return {
            "pages": len(ms), "values": self.ours.values,
            "word_f1": self.ours.word_f1, "value_f1": self.ours.value_f1,
            "first_word_f1": self.first.word_f1, "first_value_f1": self.first.value_f1,
            "false_alarms": self.missing, "optimal": self.optimal,
            "digit_changed": asdict(self.changed), "foreign": asdict(self.foreign),
            "median_ms": float(np.median(ms)), "late_ms": float(np.percentile(ms, 95)),
            "worst_ms": max(ms), "median_ms_of_400_to_600_words": np.median(long) if long else None,
        }  # fmt: skip

    def calibration(self) -> Iterator[str]:
        for low, high in pairwise((0, 0.5, 0.8, 0.95, 0.99, 1.01)):
            some = [each for each in self.sure if low <= each[0] < high]
            if some:
                said, right = np.mean(some, axis=0)
                yield f"  p from {low}: {len(some)} values, said {said:.3f}, right {right:.3f}"


def main() -> None:
    arguments = study(
        __doc__, DATA, part=("shown", "chosen"), data=",".join(SETS), pages=int, errors=0
    )
    for name in arguments.data.split(","):
        dice, before, table = random.Random(0), dict[str, Any](), Table()  # noqa: S311
        mistakes = []
        for page in islice(SETS[name](arguments.part), arguments.pages):
            if page.truth:
                mistakes += table.add(page)
                table.plant(page, before, dice)
        print(*mistakes[: arguments.errors], name, *table.calibration(), sep="\n")
        for key, value in table.row().items():
            print(f"  {key:<32}{value:.4f}" if isinstance(value, float) else f"  {key:<32}{value}")


if __name__ == "__main__":
    main()
