"""Rules inside the search: their cost, and the problems they solve.

    python -m lab.benchmarks.search [--receipts 20] [--out build/search.json]

First, the time of a step of the search with compiled rules, and of judging a labelling in Python.
Then a hard case, ``subtotal == sum(items)``, by the number of items. Each line has a name, a
quantity, a unit price and a total price, and the model confuses them on some lines: up to four
labels must change together before the sum is right. Finally, the same with a subtotal that no
choice of items adds up to.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from lab import receipts as demo
from lab.benchmarks.study import Study, write
from lawful import Budget, Decoding, Rules, _core, decode
from lawful.rules.compiled.plan import plan_of
from lawful.search.problem import Problem
from lawful.search.reading_search import Lattice
from tests.fixtures.searches import ITEMS
from tests.fixtures.slow import receipt


def check_speed(extensions: int = 20_000) -> tuple[float, float]:
    """Microseconds on a long page: to extend a partial reading, and to judge a labelling in Python.

    An extension tries all possible next steps and judges each by the rules.
    """
    rules = Rules.load(demo.RULES)
    page = max(demo.generate(40, seed=11), key=lambda page: len(page.document))
    problem = Problem(page.document, page.scores, rules)
    judge = problem.judge
    search, _, _ = Lattice(problem.costs, judge, plan_of(rules)).open_search(16.0, inf, inf)
    begin = perf_counter()
    while search.extended < extensions:
        if search.next(extensions - search.extended) is _core.SearchStatus.nothing:
            break
    native = (perf_counter() - begin) / search.extended
    reading = judge.read(problem.argmax)
    labellings = 200
    begin = perf_counter()
    for _ in range(labellings):
        judge.keep_fields(judge.kept)  # clears its caches, except that of values
        judge.weigh(reading)
    return 1e6 * native, 1e6 * (perf_counter() - begin) / labellings


@dataclass(frozen=True, slots=True)
class Row:
    """The results for one number of items."""

    items: int
    weight: str
    adds_up: bool
    proven: float
    right: float  # share of satisfied answers
    median_ms: float
    worst_ms: float
    gap: float  # the most that an answer may be below the optimum, in nats
    times_ms: list[float]

    def __str__(self) -> str:
        return (
            f"{self.items:>5}  {self.weight:<6}{'adds up' if self.adds_up else 'never':<9}"
            f"{self.proven:>8.0%}{self.right:>8.0%}{self.median_ms:>11.1f}{self.worst_ms:>11.1f}"
            f"{self.gap:>7.1f}"
        )


def measure(items: int, rules: Rules, *, adds_up: bool, receipts: int, decoder: str) -> Row:
    rng = np.random.default_rng(items)
    found: list[Decoding] = []
    times = []
    for _ in range(receipts):
        document, scores = receipt(items, rng, adds_up=adds_up)
        begin = process_time()
        found.append(decode(document, scores, rules, decoder=decoder, budget=Budget(2**17)))
        times.append(1000 * (process_time() - begin))
    return Row(
        items,
        "hard" if rules.defaults.weight == float("inf") else f"{rules.defaults.weight:g}",
        adds_up,
        sum(d.optimal or d.status == "infeasible" for d in found) / receipts,
        sum(d.status == "satisfied" for d in found) / receipts,
        float(np.median(times)),
        max(times),
        max((d.bound - d.worth for d in found if not d.optimal and d.worth > -inf), default=0.0),
        times,
    )


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument(
        "--receipts", type=int, default=20, help="receipts per row; default: %(default)s"
    )
    parser.add_argument("--decoder", default="exact", help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/search.json"))
    arguments = parser.parse_args()
    if arguments.receipts < 1:
        parser.error(f"--receipts is {arguments.receipts}, expected at least 1")
    native, python = check_speed()
    print(f"to extend a partial reading by all next steps, with compiled rules: {native:.1f} us")
    print(f"to judge a labelling in Python: {python:.0f} us")
    print(f"\n{'items':>5}  weight subtotal   proven satisfied  median ms   worst ms    gap")
    rows = []
    for items in (10, 20, 30, 40, 50, 60, 80, 100):
        for weight in (10.0, float("inf")):
            for adds_up in (True, False):
                rows.append(
                    measure(
                        items,
                        ITEMS.with_defaults(weight=weight),
                        adds_up=adds_up,
                        receipts=arguments.receipts,
                        decoder=arguments.decoder,
                    )
                )
                print(rows[-1], flush=True)
    times = [time for row in rows for time in row.times_ms]
    middle, slow, worst = np.percentile(times, [50, 99, 100])
    print(f"all {len(times):,}: median {middle:.1f}, 99 % {slow:.1f}, worst {worst:.1f} ms")
    checks = {"native_us": native, "python_us": python}
    record = {"check": checks, "items": [asdict(row) for row in rows]}
    write(arguments.out, record)


if __name__ == "__main__":
    main()
