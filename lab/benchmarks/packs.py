"""The rule packs on real documents: on how many of them each rule holds.

    python -m lab.benchmarks.packs

Needs the data sets in ``../shared/data``, which are not part of the project. Receipts are judged by
their gold labels, in reading order, invoices by the XML inside their PDFs. Ad orders have a label
for the gross amount only, so it counts whether printed amounts exist for which the rule holds.
Rules of rows count rows, others documents; documents and rows that lack a value are not counted.
"all rules" are documents on which no rule is violated, of those on which one can be checked.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any

from lab.benchmarks.data import sorted_page
from lab.benchmarks.study import Study
from lab.datasets.cord import read_cord
from lab.receipts.labels import CORD, WILDRECEIPT, renamed
from lawful import Document, InputError, Labelled, Rules
from lawful.evaluation.survey import judge_gold
from lawful.readers.einvoice import read_einvoice
from lawful.rules.packs import PACKS
from lawful.values import read
from tests.fixtures.outputs import SHARED, read_gold

# Invoices: a document of the values in the XML, each a word with its label.


def printed(text: str) -> str:
    """A number such that its decimal point cannot be taken for a separator of thousands."""
    try:
        number = Decimal(text).normalize()
    except ArithmeticError:
        return text
    exponent = number.as_tuple().exponent
    places = max(2, -exponent if isinstance(exponent, int) else 0)
    return f"{number:.{places + (places == 3)}f}"


def read_invoice(path: Path) -> Labelled | None:
    """The values of an invoice in Factur-X or ZUGFeRD; ``None`` for anything else."""
    try:
        invoice = read_einvoice(path.read_bytes())
    except InputError:  # one of the files is broken
        return None
    if invoice.syntax != "CII":
        return None
    rows = [*invoice.lines, *invoice.rates, *invoice.allowances, *invoice.charges]
    values = [(None, *pair) for pair in invoice.header.items()]
    values += [(i, *pair) for i, row in enumerate(rows) for pair in row.items()]
    ids, labels, texts = zip(*values, strict=True)
    document = Document(path.stem, list(map(printed, texts)), rows=ids)
    return Labelled(document, tuple(f"B-{label}" for label in labels))


# Ad orders: printed amounts for which a rule holds.


def ad_orders(path: Path) -> dict[str, tuple[int, int]]:
    """By rule, on how many documents printed amounts satisfy it, and of how many."""
    found = {"gross": [0, 0], "net": [0, 0], "commission": [0, 0], "flight": [0, 0]}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            flight = [
                read(line["label"][name] or "", "date") for name in ("flight_from", "flight_to")
            ]
            if all(flight):
                found["flight"][0] += min(flight[0]) <= max(flight[1])
                found["flight"][1] += 1
            gross = (read(line["label"]["gross_amount"] or "", "money") or (None,))[0]
            amounts = amounts_of(line)
            if gross is None or gross not in {amount for amount, _, _ in amounts}:
                continue
            found["gross"][0] += adds_up(amounts, gross)
            found["gross"][1] += 1
            printed_amounts = {abs(amount) for amount, _, _ in amounts}
            pairs = [
                a for a in printed_amounts if 0 < a < gross / 2 and gross - a in printed_amounts
            ]
            found["net"][0] += bool(pairs)
            found["net"][1] += 1
            if pairs:
                found["commission"][0] += any(
                    abs(a - gross * 15 / 100) <= Decimal("0.01") for a in pairs
                )
                found["commission"][1] += 1
    return {name: (holds, of) for name, (holds, of) in found.items()}


def amounts_of(line: Mapping[str, Any]) -> list[tuple[Decimal, int, tuple[float, ...]]]:
    """The amounts with cents on the pages, with page and box, from top to bottom."""
    found = []
    for word, box, page in zip(line["words"], line["boxes"], line["pages"], strict=True):
        values = read(word, "money") if word[-3:-2] == "." or word.endswith(")") else ()
        if values:
            found.append((values[0], page, tuple(box)))
    return sorted(found, key=lambda each: (each[1], each[2][1]))


def adds_up(amounts: list[tuple[Decimal, int, tuple[float, ...]]], gross: Decimal) -> bool:
    """Whether amounts that stand below each other, flush right, add up to the gross amount."""
    columns: dict[int, list[Decimal]] = {}
    for amount, _, box in amounts:
        for edge in {round(box[2] / 3), int(box[2] / 3)}:
            columns.setdefault(edge, []).append(amount)
    for column in columns.values():
        sums = [Decimal(0), *accumulate(column)]
        for i in range(len(sums)):
            if any(sums[j] - sums[i] == gross for j in range(i + 2, len(sums))):
                return True
    return False


def line_of(pack: str, rule: str, data: str, holds: int, of: int) -> str:
    share = f"{holds / of:>8.1%}" if of else f"{'-':>8}"
    return f"{pack:<10}{rule:<13}{data:<13}{holds:>7}{of:>9}{share}"


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.parse_args()
    data = SHARED / "data"
    print(f"{'pack':<10}{'rule':<13}{'data':<13}{'holds':>7}{'checked':>9}{'share':>8}")
    cord = (renamed(sorted_page(each), CORD) for each in read_cord(data / "cord" / "raw"))
    wild = (renamed(sorted_page(each), WILDRECEIPT) for each in read_gold("wildreceipt"))
    invoices = filter(None, map(read_invoice, sorted((data / "facturx" / "xml").glob("*.xml"))))
    for pack, name, documents in (
        ("receipt", "CORD", cord),
        ("receipt", "WildReceipt", wild),
        ("invoice", "Factur-X", invoices),
    ):
        truth = judge_gold(documents, Rules.load(PACKS[pack]))
        for rule, states in truth.states.items():
            of = states["satisfied"] + states["violated"]
            print(line_of(pack, rule, name, states["satisfied"], of))
        print(
            line_of(
                pack,
                "all rules",
                name,
                truth.lawful - truth.unchecked,
                truth.documents - truth.unchecked,
            )
        )
    for rule, (holds, of) in ad_orders(data / "adbuy" / "documents.jsonl.gz").items():
        print(line_of("ad-order", rule, "adbuy", holds, of))


if __name__ == "__main__":
    main()
