"""How many documents need no review, at wanted error rates, on the outputs of real models.

    python -m benchmarks.automation [--seeds 20] [--outputs cord-l2,wild-l2text] [--generated 4000]
        [--alternatives 1]

needs ``../shared``, which is not part of the project. For each seed, trust and the threshold are
fitted on one half of the pages, and counted on the other, as ``lawful evaluate --automation`` does.
``all`` is about all fields of the rules, lists included; ``single`` is about those of one value.
``--generated`` adds receipts of the demo, whose scores are simulated, to see what more documents
do. With ``--alternatives 1``, decodings have a margin, for at most a second per page.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lawful import Budget, Rules, Scored, decode, demo
from lawful.datasets import RULES
from lawful.evaluation import right_fields
from lawful.learning.automation import Automation, Outcome, automate
from lawful.learning.parameters import Vector
from lawful.learning.trust import doubts_of
from tests.fixtures.outputs import OUTPUTS, read_outputs, require_outputs

WANTED = (0.01, 0.02, 0.05, 0.1)


class Page(NamedTuple):
    """A decoded page: its doubts, and whether each field is right."""

    id: str
    doubts: Vector
    right: dict[str, bool]


def decoded(pages: Iterable[Scored], rules: Rules, alternatives: int) -> Iterator[Page]:
    budget = Budget(seconds=1.0) if alternatives else None
    for page in pages:
        decoding = decode(
            page.document, page.scores, rules, budget=budget, alternatives=alternatives
        )
        right = right_fields(page, decoding.labels, rules)
        yield Page(page.document.id, doubts_of(page, decoding, rules), right)


def rows(name: str, pages: Sequence[Page], rules: Rules, seeds: int) -> None:
    """Prints the rows of one set of pages."""
    fields = {
        "all": [f.name for f in rules.fields],
        "single": [f.name for f in rules.fields if not f.many],
    }
    for which, names in fields.items():
        outcomes = [
            Outcome(page.id, page.doubts, all(page.right[field] for field in names))
            for page in pages
        ]
        right = sum(each.right for each in outcomes) / len(outcomes)
        for wanted in WANTED:
            found = [automate(outcomes, names, wanted=wanted, seed=seed) for seed in range(seeds)]
            print(
                f"| {name} | {which} | {right:.1%} | {wanted:.0%} | {_cells(found)} |", flush=True
            )


def _cells(found: Sequence[Automation]) -> str:
    points = [each.point for each in found]
    shares = [point.automated for point in points]
    automated = sum(point.right.of for point in points)
    wrong = automated - sum(point.right.holds for point in points)
    error = f"{wrong / automated:.1%}" if automated else "-"
    gaps = [each.mean_trust - each.tested_right.value for each in found]
    return (
        f"{np.mean(shares):.1%} ({min(shares):.1%} to {max(shares):.1%}) | {error} | "
        f"{sum(not share for share in shares)} | {sum(each.is_shown for each in found)} | "
        f"{100 * float(np.mean(gaps)):+.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--outputs", default=",".join(OUTPUTS))
    parser.add_argument("--seeds", type=int, default=20, help="number of splits into halves")
    parser.add_argument("--generated", type=int, default=0, help="receipts of the demo")
    parser.add_argument("--alternatives", type=int, default=0)
    arguments = parser.parse_args()
    require_outputs(parser)
    print(
        "| outputs | fields | right | wanted error | automated, mean (range) | error | seeds with "
        "nothing automated | seeds that show it | mean trust - right |\n" + "| --- " * 9 + "|"
    )
    for name in filter(None, arguments.outputs.split(",")):
        rules = Rules.load(RULES[OUTPUTS[name]])
        words = (page.to_words("mean") for page in read_outputs(name))
        pages = list(decoded(words, rules, arguments.alternatives))
        rows(name, pages, rules, arguments.seeds)
    if arguments.generated:
        rules = Rules.load(demo.RULES)
        pages = list(decoded(demo.generate(arguments.generated), rules, arguments.alternatives))
        rows(f"{arguments.generated:,} generated", pages, rules, arguments.seeds)


if __name__ == "__main__":
    main()
