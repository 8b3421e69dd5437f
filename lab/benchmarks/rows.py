"""Rules of rows: their search on long receipts, and what they do for real receipts.

    python -m lab.benchmarks.rows [--rows 10 20 50 100] [--pages 5] [--seconds 5]
        [--rules all|product|rows]
    python -m lab.benchmarks.rows --statements [--rows 100 300]
    python -m lab.benchmarks.rows --shared

The first decodes generated receipts under a product per row and two sums, and has OR-tools solve
the same problem over spans (``tests.oracles.referee``), with the same time limit. On ``doubtful``
receipts the model is unsure of every tenth word; on ``broken`` ones, the true labels of four rows
also violate the product; on ``wrong sum`` ones, the printed subtotal is not the sum.

The second decodes generated statements of a bank over ten pages, with a balance after each entry,
under the pack ``bank-statement``; of some shares of the entries, the model holds one of the two
amounts for the other.

The third needs ``../shared``, which is not part of the project: CORD and models' outputs on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import inf
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from lab.benchmarks.study import Study
from lab.datasets import RULES
from lab.datasets.cord import read_cord
from lawful import Box, Budget, Document, Field, Labelled, Rule, Rules, Scored, Scores, decode
from lawful.evaluation.scoreboard import Counts
from lawful.rules import RowKind
from lawful.rules.judging.judge import Judge
from lawful.rules.packs import PACKS
from tests.fixtures.outputs import OUTPUTS, SHARED, read_outputs, require_outputs
from tests.fixtures.searches import TROUBLES, row_rules, rows_of_four

# Generated receipts and statements.


def statement(
    rules: Rules, rows: int, doubtful: float, seed: int, pages: int = 10
) -> tuple[Document, Scores, list[str]]:
    """A statement, the scores of a model, and the true labels."""
    chance = np.random.default_rng([seed, rows])
    balance, height = Decimal(1000), -(-rows // pages)
    words = [(f"{balance}.00", "opening_balance", 400, 0, 0)]
    for row in range(rows):
        page, line = divmod(row, height)
        amount = Decimal(int(chance.integers(-9999, 9999))) / 100
        balance += amount
        printed = f"{1 + 28 * row // rows:02}.03.2024", "Shop", f"{amount:.2f}", f"{balance:.2f}"
        names = "entry.date", "entry.description", "entry.amount", "entry.balance"
        places = zip(printed, names, (10, 100, 300, 400), strict=True)
        words += [(text, name, x, 20 + 12 * line, page) for text, name, x in places]
    words.append((f"{balance:.2f}", "closing_balance", 400, 30 + 12 * height, pages - 1))
    labels = ["O", *(f"B-{label}" for label in dict.fromkeys(f.label for f in rules.fields))]
    gold = [f"B-{name}" for _, name, *_ in words]
    probs = np.full((len(words), len(labels)), 1e-3)
    probs[range(len(words)), list(map(labels.index, gold))] = 1
    other = {"entry.amount": "B-entry.balance", "entry.balance": "B-entry.amount"}
    for at, (_, name, *_) in enumerate(words):
        if name in other and chance.random() < doubtful / 2:
            probs[at, labels.index(other[name])] = 1.2
    boxes = [Box(x, y, x + 50, y + 10) for _, _, x, y, _ in words]
    document = Document("d", [word for word, *_ in words], boxes, [page for *_, page in words])
    return document, Scores.from_probs(probs / probs.sum(1, keepdims=True), labels), gold


def time_statements(rows: list[int], pages: int, seconds: float) -> None:
    """Prints times of the processor for statements, and how many are proven and right."""
    rules = Rules.load(PACKS["bank-statement"])
    print("| rows | entries in doubt | median ms | worst ms | proven | all right |")
    print("| --- | --- | --- | --- | --- | --- |")
    for count in rows:
        for share in (0.0, 0.02, 0.1):
            times, proven, right = [], 0, 0
            for seed in range(pages):
                document, scores, gold = statement(rules, count, share, seed)
                begin = process_time()
                found = decode(document, scores, rules, budget=Budget(inf, seconds))
                times.append(1000 * (process_time() - begin))
                proven += found.optimal
                right += [*found.labels] == gold
            print(
                f"| {count} | {share:.0%} | {median(times):.0f} | {max(times):.0f} "
                f"| {proven} of {pages} | {right} |",
                flush=True,
            )


def time_searches(rules: Rules, rows: list[int], pages: int, seconds: float) -> None:
    """Prints times of the exact search and of CP-SAT."""
    from tests.oracles.referee import referee

    print(
        f"{'receipts':<11}{'rows':>5}{'median ms':>11}{'worst ms':>10}{'proven':>8}"
        f"{'tried/row':>11}{'CP-SAT ms':>11}{'worst ms':>10}{'proven':>8}  both proven, same worth"
    )
    for trouble in TROUBLES:
        for count in rows:
            ours, theirs, tried, proven, settled, same = [], [], [], 0, 0, [0, 0]
            for seed in range(pages):
                document, scores = rows_of_four(count, trouble, seed)
                begin = perf_counter()
                found = decode(document, scores, rules, budget=Budget(inf, seconds))
                ours.append(1000 * (perf_counter() - begin))
                tried.append(found.tried / count)
                begin = perf_counter()
                verdict = referee(document, scores, rules, seconds=seconds)
                theirs.append(1000 * (perf_counter() - begin))
                proven += found.optimal
                settled += verdict.status == "optimal"
                if found.optimal and verdict.status == "optimal":
                    same[0] += abs(found.worth - verdict.worth) < 1e-4
                    same[1] += 1
            print(
                f"{trouble:<11}{count:>5}{median(ours):>11.1f}{max(ours):>10.0f}"
                f"{proven / pages:>8.0%}{median(tried):>11.1f}{median(theirs):>11.0f}"
                f"{max(theirs):>10.0f}{settled / pages:>8.0%}  {same[0]} of {same[1]}",
                flush=True,
            )


# Real receipts.

ITEM = RowKind("item", ("count", "unit_price", "items"))
PAPER = Rules.load(RULES["cord"])
FIELDS = [
    *PAPER.fields,
    Field("count", "menu.cnt", "number"),
    Field("unit_price", "menu.unitprice", "money"),
]


def cord_rules(*, page: bool, **row: Any) -> Rules:
    """The paper's rules for CORD, or none, and the rule of rows if it has settings."""
    rules = list(PAPER.rules) if page else []
    if row:
        rules.append(Rule("items == count * unit_price", id="item", each="item", **row))
    return Rules(FIELDS, rules, rows=[ITEM])


def rows_of(judge: Judge, labels: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    """The rows of a labelling as count, unit price and price; those without any are left out."""
    found: Counter[tuple[Any, ...]] = Counter()
    index = {f.name: i for i, f in enumerate(judge.rules.fields)}
    members = [index[name] for name in ITEM.fields]
    for row in judge.rows(ITEM, judge.read(judge.scheme.indices(labels))):
        values = []
        for i in members:
            spans = row.spans.get(i, ())
            texts = (judge.values(i, span.start, span.end)[:1] for span in spans)
            values.append(next((text[0] for text in texts if text), None))
        if any(value is not None for value in values):
            found[tuple(values)] += 1
    return found


@dataclass(slots=True)
class RowBoard:
    """Decoded rows compared with true ones, each as a whole and value by value."""

    rows: Counts = field(default_factory=Counts)  # all values are right
    full_rows: Counts = field(default_factory=Counts)  # of rows that have all three
    values: Counts = field(default_factory=Counts)
    times: list[float] = field(default_factory=list)

    def add(self, found: Counter[tuple[Any, ...]], true: Counter[tuple[Any, ...]]) -> None:
        """Counts one receipt."""
        _count(self.rows, found, true)
        _count(self.full_rows, *(Counter({r: n for r, n in each.items() if None not in r})
                                 for each in (found, true)))  # fmt: skip
        for i in range(len(ITEM.fields)):
            of_field = (Counter(r[i] for r in each.elements() if r[i] is not None)
                        for each in (found, true))  # fmt: skip
            _count(self.values, *of_field)


def _count(counts: Counts, found: Counter[Any], true: Counter[Any]) -> None:
    counts.right += (found & true).total()
    counts.found += found.total()
    counts.true += true.total()


def with_rows(name: str, receipts: list[Labelled], by: str) -> Iterator[tuple[Scored, Document]]:
    """A model's outputs with row ids or boxes, and the documents with row ids.

    The outputs lack both; their words are those of the data set, in the same order, without blanks
    inside them.
    """
    known = {each.document.id: each.document for each in receipts}
    for page in map(Scored.to_words, read_outputs(name)):
        size = len(page.document)
        whole = known[page.document.id.partition("/")[2]]
        words, ids = whole.words[:size], (whole.rows or (None,) * size)[:size]
        boxes = (whole.boxes or ())[:size]
        true = Document(whole.id, words, rows=ids)
        given = true if by == "ids" else Document(whole.id, words, boxes)
        yield replace(page, document=given), true


SETTINGS: tuple[tuple[str, Rules], ...] = (
    ("no rules", cord_rules(page=False)),
    ("row rule", cord_rules(page=False, weight=10)),
    ("page rules", cord_rules(page=True)),
    ("both", cord_rules(page=True, weight=10)),
    ("both, weight 3", cord_rules(page=True, weight=3)),
    ("both, weight 6", cord_rules(page=True, weight=6)),
    ("both, weight 20", cord_rules(page=True, weight=20)),
    ("both, unchecked 0.25", cord_rules(page=True, weight=10, unchecked=0.25)),
    ("both, unchecked 0.5", cord_rules(page=True, weight=10, unchecked=0.5)),
    ("both, unchecked 1", cord_rules(page=True, weight=10, unchecked=1)),
    ("both, unchecked 2", cord_rules(page=True, weight=10, unchecked=2)),
    ("both, tolerance 1", cord_rules(page=True, weight=10, tolerance=1)),
)


def judge_outputs(receipts: list[Labelled]) -> None:
    """Prints F1 of rows and of their values, for rows by ids and by printed lines."""
    print(
        f"\n{'outputs':<13}{'rows by':<9}{'rules':<22}{'row F1':>8}{'full row F1':>13}"
        f"{'value F1':>10}{'median ms':>11}{'worst ms':>10}"
    )
    for name in (name for name, data in OUTPUTS.items() if data == "cord"):
        for by in ("ids", "lines"):
            pages = list(with_rows(name, receipts, by))
            for setting, rules in (("gold labels", SETTINGS[0][1]), *SETTINGS):
                board = RowBoard()
                for page, true in pages:
                    assert page.gold is not None  # noqa: S101 - outputs have gold labels
                    begin = perf_counter()
                    labels = page.gold
                    if setting != "gold labels":
                        labels = decode(page.document, page.scores, rules).labels
                    board.times.append(1000 * (perf_counter() - begin))
                    scheme = rules.scheme_for(page.scores.labels)
                    found = rows_of(Judge(page.document, rules, scheme), labels)
                    board.add(found, rows_of(Judge(true, rules, scheme), page.gold))
                print(
                    f"{name:<13}{by:<9}{setting:<22}{board.rows.f1:>8.2%}{board.full_rows.f1:>13.2%}"
                    f"{board.values.f1:>10.2%}{median(board.times):>11.2f}{max(board.times):>10.1f}",
                    flush=True,
                )


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--shared", action="store_true", help="real receipts, not generated ones")
    parser.add_argument("--statements", action="store_true", help="generated statements")
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--pages", type=int, default=5, help="receipts per size")
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit per receipt")
    parser.add_argument(
        "--rules",
        choices=("all", "product", "rows"),
        default="all",
        help="product: without the sums; rows: also without the fields outside the rows",
    )
    arguments = parser.parse_args()
    if arguments.statements:
        time_statements(arguments.rows, arguments.pages, arguments.seconds)
        return
    if not arguments.shared:
        rules = row_rules(arguments.rules)
        time_searches(rules, arguments.rows, arguments.pages, arguments.seconds)
        return
    require_outputs(parser)
    receipts = list(read_cord(SHARED / "data" / "cord" / "raw"))
    judge_outputs(receipts)


if __name__ == "__main__":
    main()
