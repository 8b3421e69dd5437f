"""Rules mined on some pages of WildReceipt and shown on others: value F1, pages fixed and broken.

    python -m lab.benchmarks.mined_rules [--kinds inequality line] [--prices 0.5 2] [--seeds 3]
        [--folds 5]

For each fold, rules are mined from the true labels of the others; those of some kinds that say
something new about the fields of the paper's rules are added to these, with the weights that mining
suggests (half of them for rules about lines), at no price where they cannot be checked. A price is
that of the paper's own rules where they cannot be checked. Printed are value F1, its gain over the
paper's rules with a 95 % interval by resampling pages, and the pages fixed and broken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from lab.benchmarks.data import DATA, outputs_of, records, rules_of
from lab.benchmarks.study import Study
from lab.benchmarks.tables import changes
from lawful import Rules
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import Scoreboard
from lawful.learn.mining import IMPLIED, Mined, mine
from lawful.learn.proposals import Kind
from lawful.learn.truth import guessed_rules
from lawful.learn.weights import best_labels
from lawful.rules.definitions import DEFAULT_UNCHECKED, Rule
from tests.fixtures.outputs import SHARED

RESAMPLES = 2000
OUTPUTS = "wild-l2text"


class Pages:
    """Real pages with boxes, and how they are decoded."""

    def __init__(self) -> None:
        self.rules = rules_of(OUTPUTS)
        boxes = _boxes()
        self.scored = [
            replace(page, document=replace(page.document, boxes=own[: len(page.document)]))
            for page in outputs_of(OUTPUTS)
            for own in [boxes[page.document.id]]
        ]

    def results(
        self, which: Iterable[int], rules: Rules
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """By page: values that are right, found and true, (pages, 3); whether the page is right."""
        board = Scoreboard(self.rules)
        totals = []
        for i in which:
            board.add_labels(self.scored[i], best_labels(self.scored[i], rules))
            totals.append((board.values.right, board.values.found, board.values.true))
        return np.diff(totals, axis=0, prepend=0), np.array(board.right_pages)

    def with_mined(self, which: Iterable[int], kinds: Sequence[Kind], price: float) -> Rules:
        """The paper's rules, and what the true labels of some pages say about their fields."""
        labelled = [Labelled(self.scored[i].document, self.scored[i].gold or ()) for i in which]
        guessed = guessed_rules(labelled, self.rules)
        own = {f.name for f in self.rules.fields}
        rules = [replace(rule, unchecked=price) for rule in self.rules.rules]
        needed = set(own)
        for each in mine(labelled, guessed, 0):
            if _is_new(each, kinds):
                rule = each.proposal.rule
                parsed = Rules(guessed.fields, [rule], rows=guessed.rows).parsed[0]
                if parsed.names & own:
                    weight = each.weight / (2 if each.proposal.kind == "line" else 1)
                    rules.append(replace(rule, weight=weight, unchecked=0.0))
                    needed |= parsed.names
        fields = tuple(f for f in guessed.fields if f.name in needed)
        return replace(self.rules, fields=fields, rules=tuple(rules))


def _is_new(each: Mined, kinds: Sequence[Kind]) -> bool:
    is_rule = isinstance(each.proposal.rule, Rule)
    return is_rule and each.proposal.kind in kinds and (each.said or 0.0) < IMPLIED


def _boxes() -> dict[str, tuple[tuple[float, ...], ...]]:
    """The boxes of words in reading order, by page."""
    orders = json.loads((SHARED / "predictions" / "wild-order.json").read_text())
    return {
        line["id"]: tuple(tuple(map(float, line["boxes"][i])) for i in orders[line["id"]])
        for line in records(DATA / "wildreceipt" / "part.jsonl.gz")
    }


def f1(counts: NDArray[np.int64]) -> float:
    right, found, true = counts.sum(axis=0)
    return float(200 * right / max(1, found + true))


def main() -> None:
    parser = Study(__doc__, outputs=True)
    kinds = get_args(Kind)
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=["inequality", "line"])
    parser.add_argument("--prices", nargs="+", type=float, default=[DEFAULT_UNCHECKED])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=5)
    arguments = parser.parse_args()
    pages = Pages()
    count = len(pages.scored)
    before, was_right = pages.results(range(count), pages.rules)
    print(f"defaults: value F1 {f1(before):.1f}, {was_right.sum()} of {count} pages right")
    for price in arguments.prices:
        for seed in range(arguments.seeds):
            random = np.random.default_rng(seed)
            fold_of = random.permutation(np.arange(count) % arguments.folds)
            now, right = before.copy(), was_right.copy()
            for fold in range(arguments.folds):
                out, rest = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
                rules = pages.with_mined(rest.tolist(), arguments.kinds, price)
                now[out], right[out] = pages.results(out, rules)
            picks = random.integers(count, size=(RESAMPLES, count))
            gains = [f1(now[pick]) - f1(before[pick]) for pick in picks]
            low, high = np.quantile(gains, [0.025, 0.975])
            fixed, broken = changes(was_right.tolist(), right.tolist())
            print(
                f"price {price:g}, seed {seed}: value F1 {f1(now):.1f}, "
                f"{f1(now) - f1(before):+.1f} ({low:+.1f} to {high:+.1f}), "
                f"{fixed} pages fixed, {broken} broken",
                flush=True,
            )


if __name__ == "__main__":
    main()
