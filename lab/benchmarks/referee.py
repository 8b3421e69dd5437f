"""The exact decoder against an integer program of the same problem, page by page.

    python -m lab.benchmarks.referee [--pages 20] [--words 40 150] [--seconds 60] [--all-spans]

``tests.oracles.referee`` builds the program, and OR-tools solves it. Each line has both times, and
says whether both found a labelling of the same worth.
"""

from __future__ import annotations

import argparse
from math import inf
from statistics import median
from time import perf_counter

from lab import receipts as demo
from lawful import Rules, decode
from tests.oracles.referee import FIRST_SLACK, referee


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--words", type=int, nargs=2, default=(40, 150))
    parser.add_argument("--seconds", type=float, default=60.0, help="for the referee, per page")
    parser.add_argument("--all-spans", action="store_true", help="leave out no spans in advance")
    arguments = parser.parse_args()
    rules = Rules.load(demo.RULES).with_defaults(unchecked=0.0)
    pages = demo.generate(arguments.pages, seed=17, words=tuple(arguments.words))
    slack = inf if arguments.all_spans else FIRST_SLACK
    theirs, ours = [], []
    print(f"{'page':<16}{'words':>6}{'referee ms':>12}{'exact ms':>10}{'worth':>12}  verdict")
    for page in pages:
        begin = perf_counter()
        verdict = referee(page.document, page.scores, rules, seconds=arguments.seconds, slack=slack)
        theirs.append(1000 * (perf_counter() - begin))
        begin = perf_counter()
        worth = decode(page.document, page.scores, rules, decoder="exact").worth
        ours.append(1000 * (perf_counter() - begin))
        same = "the same" if abs(worth - verdict.worth) < 1e-4 else f"exact has {worth:.4f}"
        print(
            f"{page.document.id:<16}{len(page.document):>6}{theirs[-1]:>12.1f}{ours[-1]:>10.2f}"
            f"{verdict.worth:>12.4f}  {verdict.status}, {same}",
            flush=True,
        )
    print(f"median of the referee: {median(theirs):.1f} ms, at most {max(theirs):.1f} ms")
    ratio = median(theirs) / median(ours)
    print(f"median of exact: {median(ours):.2f} ms, {ratio:.0f} times less")


if __name__ == "__main__":
    main()
