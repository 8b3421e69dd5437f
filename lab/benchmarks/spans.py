"""Span scores on the outputs of real models: how good, how fast, and how often proven.

    python -m lab.benchmarks.spans [--pages N] [--samples 200] [--seed 0]

No span model's outputs are at hand, so candidates are made from word scores: a span's probability
is its share of legal labellings sampled from the model. Values are compared as in
``lab.benchmarks.choose``; words are decoded with all scores for comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from lab.benchmarks.choose import Page, sampled
from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import study
from lab.benchmarks.tables import Table
from lab.benchmarks.timing import percentiles
from lawful import Decoding, SpanScores, decode
from lawful.evaluation.scoreboard import Counts
from lawful.search import Problem
from tests.fixtures.outputs import OUTPUTS

TABLE = Table()


def candidates_of(page: Page, count: int, seed: int) -> SpanScores:
    """The spans of sampled labellings, with their shares."""
    scored = page.scored
    problem = Problem(scored.document, scored.scores, page.rules, keep=False)
    rows = sampled(problem, count, np.random.default_rng(seed))
    found = Counter(span for row in rows for span in problem.scheme.spans(row))
    candidates = ((span.start, span.end, span.type, n / count) for span, n in found.items())
    return SpanScores(candidates, len(scored.document), problem.scheme.types)


def show(outputs: str, way: str, pages: Sequence[Page], found: Sequence[Decoding]) -> None:
    counts, right = Counts(), 0
    for page, decoding in zip(pages, found, strict=True):
        values: Mapping[str, Any] = page.of_fields(decoding.fields)
        for name, truth in page.truth.items():
            counts.add({values[name]} - {None}, {truth} - {None})
        right += all(values[name] == truth for name, truth in page.truth.items())
    times = [1000 * decoding.seconds for decoding in found]
    middle, late, worst = percentiles(times, 50, 99, 100)
    proven = sum(decoding.optimal for decoding in found) / len(found)
    TABLE.add(
        {
            "outputs": outputs, "way": way, "value F1": f"{counts.f1:.1%}",
            "pages right": f"{right} of {len(found)}", "optimal": f"{proven:.1%}",
            "median ms": f"{middle:.2f}", "99 % ms": f"{late:.1f}", "worst ms": f"{worst:.1f}",
        }
    )  # fmt: skip


def main() -> None:
    arguments = study(__doc__, outputs=True, pages=int, samples=200, seed=0)
    for name in OUTPUTS:
        rules = rules_of(name)
        scored = outputs_of(name, arguments.pages)
        pages = [Page(page, rules, 1, arguments.seed) for page in scored]
        spans = [
            candidates_of(p, arguments.samples, arguments.seed + i) for i, p in enumerate(pages)
        ]
        documents = [page.document for page in scored]
        pairs = list(zip(documents, spans, strict=True))
        began = perf_counter()
        show(name, "spans, the model's own", pages,
             [decode(d, s, rules, decoder="argmax") for d, s in pairs])  # fmt: skip
        show(name, "spans, rules", pages, [decode(d, s, rules) for d, s in pairs])
        show(name, "words, rules", pages,
             [decode(p.document, p.scores, rules) for p in scored])  # fmt: skip
        print(f"{name}: {perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
