"""The shipped model on invoices that carry their own truth: per field, with and without rules.

    python -m lab.benchmarks.invoices [--model FOLDER] [--half 0|1]

Reads the PDF files of ``../shared/data/facturx``, of which the model has seen nothing. A value
counts if it is printed, and is right if the first readable one of its field is. Where what is due
is not printed with words of its own, it is the gross amount; where no sum of allowances or of
charges is labelled, it is that of single ones. Halves are by layout: what was chosen was chosen on
half 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from lawful_models import INVOICE as MODEL

from lab.benchmarks.data import FACTURX, records
from lab.benchmarks.study import study
from lawful import Rules, decode
from lawful.models.tagger import KIND, from_pretrained
from lawful.readers import Reader
from lawful.results.decoding import Decoding
from lawful.rules.packs import PACKS

AMOUNTS = {
    "gross": "GrandTotalAmount", "net": "TaxBasisTotalAmount", "tax": "TaxTotalAmount",
    "due": "DuePayableAmount", "line_total": "LineTotalAmount", "prepaid": "TotalPrepaidAmount",
    "allowances": "AllowanceTotalAmount", "charges": "ChargeTotalAmount",
}  # fmt: skip
TEXTS = {
    "number": "number",
    "seller": "seller",
    "buyer": "buyer",
    "iban": "iban",
    "order_number": "order",
    "seller_vat_id": "seller_vat",
}
DATES = {"issued": "issued", "due_date": "due", "delivered": "delivered"}
INSTEAD = {"due": "gross", "line_total": "net"}
"""The field that has the value where it is not printed with words of its own."""
PARTS = {"allowances": "allowance_amount", "charges": "charge_amount"}
"""Single amounts, whose sum is the value where it is not printed."""

Truth = Mapping[str, Any]


def plain(text: object) -> str:
    """A text without blanks and case."""
    return "".join(str(text).casefold().split())


def read(found: Decoding, name: str) -> list[Any]:
    """The values of a field that can be read."""
    return [value for value in found.values(name) if value is not None]


def right_fields(found: Decoding, truth: Truth) -> Iterator[tuple[str, bool]]:
    """By field that is printed, whether its value is right."""
    header, spans = truth["truth"], truth["spans"]
    for name, key in AMOUNTS.items():
        if header.get(key) and spans.get(key) and Decimal(header[key]):
            values = read(found, name) or read(found, INSTEAD.get(name, name))
            if not values and name in PARTS:
                values = [sum(read(found, PARTS[name]))]
            yield name, [abs(v) for v in values[:1]] == [abs(Decimal(header[key]))]
    for name, key in DATES.items():
        if header.get(key) and spans.get(key):
            yield name, read(found, name)[:1] == [date.fromisoformat(header[key])]
    everything = plain("".join(truth["words"]))
    for name, key in TEXTS.items():
        true = plain((header.get(key) or "").split("\n")[0])
        if true and true in everything:
            yield name, any(true in plain(v) or plain(v) in true for v in read(found, name)[:1])


def right_rows(found: Decoding, truth: Truth) -> tuple[int, int, int]:
    """How many printed amounts of lines are found, are printed, and how many rows were found."""
    true = Counter(
        abs(Decimal(line["amount"]))
        for line in truth["lines"]
        if line.get("amount") and (line.get("spans") or {}).get("amount")
    )
    rows = Counter(
        abs(row["line_amount"].value)
        for row in found.rows("line")
        if row.get("line_amount") and row["line_amount"].value is not None
    )
    return (true & rows).total(), true.total(), rows.total()


def documents(folder: Path, half: int | None) -> Iterator[Truth]:
    """The documents, or one half of the layouts."""
    for truth in records(folder / "documents.jsonl.gz"):
        if half is None or truth["group"] % 2 == half:
            yield truth


def main() -> None:
    """Prints how many values are right."""
    options = study(__doc__, model=MODEL, data=FACTURX, half=int, wrong=False)
    rules = Rules.load(PACKS["invoice"])
    bare = Rules(rules.fields, scheme=rules.scheme, defaults=rules.defaults, rows=rules.rows)
    tagger, reader = from_pretrained(options.model, backend="onnx"), Reader()
    counts: dict[str, Counter[str]] = {"without rules": Counter(), "with rules": Counter()}
    printed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for truth in documents(options.data, options.half):
        [scored] = tagger.predict([reader.read(options.data / f"pdf/{truth['id']}.pdf")])
        scores = (scored.document.classes or {}).get(KIND, {"none": 0.0})
        kinds[max(scores, key=lambda kind: scores[kind])] += 1
        for how, some in (("without rules", bare), ("with rules", rules)):
            found = decode(scored.document, scored.scores, some)
            statuses[found.status] += how == "with rules"
            fields = dict(right_fields(found, truth))
            found_rows, true, all_rows = right_rows(found, truth)
            counts[how].update(name for name, right in fields.items() if right)
            counts[how].update({"rows": found_rows, "rows found": all_rows})
            amounts = all(fields[name] for name in ("gross", "net", "tax", "due") if name in fields)
            counts[how]["all four amounts"] += amounts
            if how == "with rules":
                printed.update(dict.fromkeys(fields, 1) | {"rows": true, "all four amounts": 1})
                if options.wrong:
                    report(truth, found, fields, (found_rows, true, all_rows))
    print(f"kinds: {dict(kinds)}; statuses with rules: {dict(statuses)}")
    for name, of in printed.items():
        cells = [f"{each[name]:4} ({100 * each[name] / of:5.1f} %)" for each in counts.values()]
        print(f"{name:18}{of:5}" + "".join(f"{cell:>20}" for cell in cells))
    print("rows found", *(each["rows found"] for each in counts.values()))


def report(
    truth: Truth, found: Decoding, fields: Mapping[str, bool], rows: tuple[int, int, int]
) -> None:
    """Prints what is wrong with a document."""
    keys = AMOUNTS | DATES | TEXTS
    wrong = [
        f"{name} {truth['truth'][keys[name]]} != {[v.text for v in found.fields.get(name, [])][:3]}"
        for name, right in fields.items()
        if not right
    ]
    print(truth["id"], truth["lang"], found.status, rows, *wrong, sep="\n    ")


if __name__ == "__main__":
    main()
