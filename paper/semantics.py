"""What rules do to the amounts a user reads, by what they mean: presence, repeats and weight.

    python -m paper.semantics wild-l2text cord-l2 cord-l6text
    python -m paper.semantics documents.jsonl.gz --rules rules.yaml

The first are real outputs, where ``../shared`` is. For each way to read the rules: value F1 on all
pages, pages fixed and broken against the best legal labelling, and a bootstrap interval of the
gain. Then the weight that does best on one half of the pages, scored on the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.outputs import OUTPUTS
from lawful import Rules, Scored, decode
from lawful.evaluation import Scoreboard
from paper.documents import load

WEIGHTS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, inf)
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way to decode the pages: by page, the counts of values, and whether all are right."""

    name: str
    counts: NDArray[np.int_]  # (pages, 3): right, found, true
    right: NDArray[np.bool_]
    proven: float

    def f1(self, pages: NDArray[np.intp] | slice = slice(None)) -> float:
        """Value F1 on some of the pages."""
        right, found, true = self.counts[pages].sum(axis=0)
        return float(2 * right / max(1, found + true))


def outcome(name: str, pages: list[Scored], rules: Rules, judged_by: Rules) -> Outcome:
    """Decodes the pages under some rules; what counts as a value is the same for all."""
    counts, right, proven = [], [], 0
    for page in pages:
        decoding = decode(page.document, page.scores, rules)
        board = Scoreboard(judged_by)
        board.add(page, decoding)
        counts.append((board.values.right, board.values.found, board.values.true))
        right.append(board.right_pages[0])
        proven += decoding.optimal or decoding.status == "infeasible"
    return Outcome(name, np.array(counts), np.array(right), proven / len(pages))


def gain(found: Outcome, baseline: Outcome, seed: int = 0) -> tuple[float, float]:
    """The middle 95 % of the gain in value F1 over resampled pages."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, len(found.right), (RESAMPLES, len(found.right)))
    gains = [found.f1(sample) - baseline.f1(sample) for sample in samples]
    low, high = np.percentile(gains, [2.5, 97.5])
    return float(low), float(high)


def compare(title: str, pages: list[Scored], rules: Rules) -> Iterator[str]:
    """The table, and the choice of a weight, as Markdown."""
    nothing = rules.with_defaults(presence="free", repeat="any", weight=0.0)
    baseline = outcome("best legal labelling, no rules", pages, nothing, rules)
    yield f"\n### {title}: {len(pages)} pages\n"
    yield "| semantics | value F1 | gain, 95 % | fixed / broken | proven |"
    yield "| --- | --- | --- | --- | --- |"
    yield f"| {baseline.name} | {100 * baseline.f1():.1f} | | | |"
    by_weight: dict[float, Outcome] = {}
    for presence, repeat in (
        ("free", "first"),
        ("free", "agree"),
        ("keep", "first"),
        ("keep", "agree"),
    ):
        for weight in WEIGHTS if (presence, repeat) == ("keep", "agree") else (10.0, inf):
            meaning = rules.with_defaults(presence=presence, repeat=repeat, weight=weight)
            shown = "hard" if weight == inf else f"weight {weight:g}"
            paper = ", the paper" if (presence, repeat, weight) == ("free", "first", inf) else ""
            found = outcome(f"{presence}, {repeat}, {shown}{paper}", pages, meaning, rules)
            if (presence, repeat) == ("keep", "agree"):
                by_weight[weight] = found
            low, high = gain(found, baseline)
            fixed = int((found.right & ~baseline.right).sum())
            broken = int((baseline.right & ~found.right).sum())
            yield (
                f"| {found.name} | {100 * found.f1():.1f} | {100 * low:+.1f} to {100 * high:+.1f} "
                f"| {fixed} / {broken} | {found.proven:.1%} |"
            )
    order = np.random.default_rng(1).permutation(len(pages))
    halves = order[: len(pages) // 2], order[len(pages) // 2 :]
    yield ""
    for mine, other in (halves, halves[::-1]):
        chosen = max(by_weight, key=lambda weight: by_weight[weight].f1(mine))
        yield (
            f"weight chosen on one half: {chosen:g}; on the other half it has "
            f"{100 * by_weight[chosen].f1(other):.1f}, weight 10 "
            f"{100 * by_weight[10.0].f1(other):.1f}, no rules {100 * baseline.f1(other):.1f}  "
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", nargs="+", help=f"a file, or one of {', '.join(OUTPUTS)}")
    parser.add_argument("--rules", type=Path, help="for files")
    arguments = parser.parse_args()
    for title, pages, rules in load(arguments.documents, arguments.rules):
        for line in compare(title, pages, rules):
            print(line, flush=True)


if __name__ == "__main__":
    main()
