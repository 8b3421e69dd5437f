"""Generated tables with totals of rows and of columns, some cells of which were misread.

    python -m lab.benchmarks.grids [--rows 55] [--columns 24] [--pages 5] [--seconds 5]

One digit of each misread cell is wrong. Of the pages with *readings*, the recogniser also has the
right text of these cells (and a wrong one of one cell in a hundred), at a price of 0.5 to 3 nats;
of the others it has nothing, so that a wrong cell can only be named: by the broken rules of its row
and of its column. Seconds are of one core.
"""

from __future__ import annotations

from math import inf
from statistics import mean
from time import process_time

import numpy as np

from lab.benchmarks.study import study
from lab.benchmarks.tables import header, row
from lawful import Budget, Document, Field, Rule, Rules, Scores, decode
from lawful.documents.misreads import Misread
from lawful.rules import RowKind


def grid_rules(columns: int) -> Rules:
    names = [f"c{i}" for i in range(columns)]
    fields = [*names, "total", *(f"t_{name}" for name in names)]
    rules = [
        Rule(f"total == {' + '.join(names)}", id="row", each="line"),
        *(Rule(f"t_{name} == sum({name})", id=name) for name in names),
    ]
    made = Rules(
        [Field(name, name, "integer") for name in fields],
        rules,
        rows=[RowKind("line", (*names, "total"))],
    )
    return made.with_defaults(unchecked=0.0, misreads=6.0)


def misread(text: str, rng: np.random.Generator) -> str:
    """The text with another digit in one place."""
    at = int(rng.integers(len(text)))
    digit = (int(text[at]) + int(rng.integers(1, 10))) % 10
    return f"{text[:at]}{digit}{text[at + 1 :]}"


def grid(
    rules: Rules, rows: int, share: float, readings: bool, rng: np.random.Generator
) -> tuple[Document, Scores, list[str], set[int]]:
    """A page, the scores of a model that knows all fields, the true texts, and the wrong words."""
    names = [f.name for f in rules.fields]
    columns = len(names) // 2
    cells = rng.integers(0, 2000, (rows, columns))
    table = np.hstack([cells, cells.sum(axis=1, keepdims=True)])
    true = [*map(str, table.ravel().tolist()), *map(str, cells.sum(axis=0).tolist())]
    labels = [*(names[: columns + 1] * rows), *names[columns + 1 :]]
    ids = [*np.repeat(np.arange(rows), columns + 1).tolist(), *(None,) * columns]
    wrong = set(
        rng.choice(rows * (columns + 1), round(share * rows * (columns + 1)), False).tolist()
    )
    words = [misread(text, rng) if i in wrong else text for i, text in enumerate(true)]
    misreads: list[tuple[Misread, ...]] = [()] * len(words)
    for i, text in enumerate(true):
        other = text if i in wrong else misread(text, rng) if rng.random() < 0.01 else None
        if readings and other is not None:
            misreads[i] = (Misread(other, float(rng.uniform(0.5, 3))),)
    all_labels = ["O", *(f"B-{name}" for name in names)]
    probs = np.full((len(words), len(all_labels)), 1e-5)
    probs[range(len(words)), [all_labels.index(f"B-{label}") for label in labels]] = 1
    document = Document("grid", words, rows=ids, misreads=misreads)
    scores = Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), all_labels)
    return document, scores, true, wrong


def main() -> None:
    options = study(__doc__, rows=55, columns=24, pages=5, seconds=5.0)
    rules = grid_rules(options.columns)
    header("misread", "readings", "right before", "right", "right or named", "proven", "s per page")
    for share in (0.01, 0.03):
        for readings in (True, False):
            before, right, named, proven, seconds = [], [], [], 0, []
            for seed in range(options.pages):
                rng = np.random.default_rng([seed, round(1000 * share)])
                page, scores, true, wrong = grid(rules, options.rows, share, readings, rng)
                began = process_time()
                found = decode(page, scores, rules, budget=Budget(inf, options.seconds))
                seconds.append(process_time() - began)
                read = {
                    value.words[0]: value.read_as or value.text
                    for values in found.fields.values()
                    for value in values
                }
                rows = {check.row for check in found.violations if check.id == "row"}
                broken = {check.id for check in found.violations}
                good = {i for i, text in enumerate(true) if read.get(i) == text}
                width = options.columns + 1
                told = {
                    i
                    for i in set(range(len(true))) - good
                    if i < options.rows * width
                    and i // width + 1 in rows
                    and (i % width == options.columns or f"c{i % width}" in broken)
                }
                before.append(1 - len(wrong) / len(true))
                right.append(len(good) / len(true))
                named.append((len(good) + len(told)) / len(true))
                proven += found.optimal
            cells = (before, right, named)
            row(
                f"{share:.0%}", "yes" if readings else "no", *(f"{mean(c):.2%}" for c in cells),
                f"{proven} of {options.pages}", f"{mean(seconds):.2f}",
            )  # fmt: skip


if __name__ == "__main__":
    main()
