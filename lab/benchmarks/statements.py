"""``lawful teach`` on statements of banks: how many transactions are found, day and amount.

    python -m lab.benchmarks.statements

Needs ``../shared/data/brokers``, which is not part of the project. A model is taught on rows of a
booking day and an amount, and tested on other statements of the same banks, and on other banks.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from lab.benchmarks.study import Study
from lab.benchmarks.teach import DATA, by_hash, laid_out
from lawful import Budget, Decoding, Document, Field, Rules, decode
from lawful.documents.reading_order import printed_lines
from lawful.learn.align import Truth
from lawful.models.teaching import Teacher
from lawful.rules import RowKind
from lawful.values import read

RULES = Rules(
    [Field("booked", "entry.date", "date"), Field("amount", "entry.amount", "money")],
    rows=[RowKind("entry", ("booked", "amount"))],
)
BUDGET = Budget(seconds=5)


class Statement(NamedTuple):
    """A statement, its rows in the order of print, and its transactions."""

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
            truth = Truth(each["id"], {}, {"entry": in_order_of_print(document, known)})
            found.append(Statement(each["bank"], document, truth, Counter(known)))
    return found


def in_order_of_print(
    document: Document, known: Sequence[tuple[date, Decimal]]
) -> tuple[dict[str, Any], ...]:
    """The rows whose amount is printed, with the day if that is on the same line."""
    lines = printed_lines(document)
    amounts: dict[Decimal, list[int]] = {}
    days: dict[Any, set[int]] = {}
    for word, line in zip(document.words, lines, strict=True):
        if any(map(str.isdigit, word)):
            for value in read(word, "money")[:2]:
                amounts.setdefault(abs(value), []).append(line)
            for value in read(word, "date")[:2]:
                days.setdefault(value, set()).add(line)
    rows: dict[int, dict[str, Any]] = {}
    for day, amount in known:
        free = [line for line in amounts.get(amount, ()) if line not in rows]
        for line in [line for line in free if line in days.get(day, ())][:1]:
            rows[line] = {"booked": day.isoformat(), "amount": str(amount)}
            break
        else:
            if free:
                rows[free[0]] = {"amount": str(amount)}
    return tuple(rows[line] for line in sorted(rows))


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
        scores = tagger.scores_of(each.document)
        found = transactions_of(decode(each.document, scores, RULES, budget=BUDGET))
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
    parser.parse_args()
    if not DATA.is_dir():
        parser.error(f"needs {DATA}")
    known = statements()
    rows = [row for each in known for row in each.truth.rows["entry"]]
    days = sum("booked" in row for row in rows)
    print(f"{len(rows)} of {sum(e.transactions.total() for e in known)} amounts found, {days} days")
    print("| tested on | statements | transactions right | amounts right | rows said |")
    print("| --- | --- | --- | --- | --- |")
    halves: list[list[Statement]] = [[], []]
    for each in known:
        halves[by_hash(each.document.id, 2)].append(each)
    measure("other statements of the same banks", *halves)
    banks: list[list[Statement]] = [[], []]
    for each in known:
        banks[by_hash(each.bank, 5) > 0].append(each)
    measure("other banks", banks[1], banks[0])


if __name__ == "__main__":
    main()
