"""``lawful teach`` on statements of banks: how many transactions are found, day and amount.

    python -m lab.benchmarks.statements [--part shown|chosen]

Needs ``../shared/data/brokers``, which is not part of the project. A model is taught on rows of a
booking day and an amount, and tested on other statements of the same banks, and on other banks.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from lab.benchmarks.study import Study
from lab.benchmarks.teach import DATA, by_hash, laid_out
from lawful import Budget, Decoding, Document, Field, Rules, decode
from lawful.learn.align import Truth
from lawful.models.teaching import Teacher
from lawful.rules import RowKind

RULES = Rules(
    [Field("booked", "entry.date", "date"), Field("amount", "entry.amount", "money")],
    rows=[RowKind("entry", ("booked", "amount"), shared=("booked",))],
)
BUDGET = Budget(seconds=5)


class Statement(NamedTuple):
    """A statement, with its true rows, and its transactions."""

    bank: str
    document: Document
    truth: Truth
    transactions: Counter[tuple[date | None, Decimal]]


def statements() -> list[Statement]:
    found = []
    with gzip.open(DATA / "brokers" / "statements.jsonl.gz", "rt", encoding="utf-8") as lines:
        for each in map(json.loads, lines):
            known = [
                (date.fromisoformat(t["date"][:10]), Decimal(t["amount"]))
                for t in each["transactions"]
            ]
            document = laid_out(each["id"], each["text"])
            rows = tuple(
                {"booked": day.isoformat(), "amount": str(amount)} for day, amount in known
            )
            truth = Truth(each["id"], {}, {"entry": rows})
            found.append(Statement(each["bank"], document, truth, Counter(known)))
    return found


def transactions_of(found: Decoding) -> Counter[tuple[date | None, Decimal]]:
    rows = [row for row in found.rows("entry") if "amount" in row]
    return Counter(
        (row["booked"].value if "booked" in row else None, abs(row["amount"].value))
        for row in rows
        if row["amount"].value is not None
    )


def measure(name: str, taught: list[Statement], tested: list[Statement]) -> None:
    """Teaches a model, and prints a row of the table."""
    teacher = Teacher(RULES)
    for each in taught:
        teacher.add(each.document, each.truth)
    tagger = teacher.teach().tagger
    true = right = amounts = said = 0
    for each in tested:
        found = transactions_of(decode(*tagger.scored(each.document), RULES, budget=BUDGET))
        true, said = true + each.transactions.total(), said + found.total()
        right += (found & each.transactions).total()
        one, other = (Counter(a for _, a in c.elements()) for c in (found, each.transactions))
        amounts += (one & other).total()
    print(
        f"| {name} | {len(tested)} | {right} of {true} ({right / true:.1%}) | {amounts / true:.1%} "
        f"| {said} |",
        flush=True,
    )


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--part", choices=("shown", "chosen"), default="shown")
    options = parser.parse_args()
    if not DATA.is_dir():
        parser.error(f"needs {DATA}")
    known = statements()
    print("| tested on | statements | transactions right | amounts right | rows said |")
    print("| --- | --- | --- | --- | --- |")
    halves: list[list[Statement]] = [[], []]
    for each in known:
        halves[by_hash(each.document.id, 2)].append(each)
    if options.part == "chosen":  # of the half that ``shown`` is taught on
        parts: list[list[Statement]] = [[], []]
        for each in halves[0]:
            parts[by_hash(each.document.id + "chosen", 3) > 0].append(each)
        halves = parts[::-1]
    measure("other statements of the same banks", *halves)
    banks: list[list[Statement]] = [[], []]
    for each in known if options.part == "shown" else halves[0] + halves[1]:
        banks[by_hash(each.bank, 5) > 0].append(each)
    measure("other banks", banks[1], banks[0])


if __name__ == "__main__":
    main()
