"""Rules inside the search: a problem that they solve.

    python -m lab.benchmarks.search [--receipts 20]

A hard case, ``subtotal == sum(items)``, by the number of items. Each line has a name, a
quantity, a unit price and a total price, and the model confuses them on some lines: up to four
labels must change together before the sum is right. Finally, the same with a subtotal that no
choice of items adds up to.
"""

from __future__ import annotations

from itertools import product
from math import inf
from time import process_time

import numpy as np

from lab.benchmarks.study import Study
from lab.benchmarks.tables import Table
from lab.benchmarks.timing import percentiles
from lawful import Budget, Decoding, Rules, decode
from tests.fixtures.searches import ITEMS
from tests.fixtures.slow import receipt

SIZES = (10, 20, 30, 40, 50, 60, 80, 100)


def measure(
    table: Table, items: int, rules: Rules, *, adds_up: bool, receipts: int, decoder: str
) -> list[float]:
    """The milliseconds of the processor per receipt."""
    rng = np.random.default_rng(items)
    found: list[Decoding] = []
    times = []
    for _ in range(receipts):
        document, scores = receipt(items, rng, adds_up=adds_up)
        begin = process_time()
        found.append(decode(document, scores, rules, decoder=decoder, budget=Budget(2**17)))
        times.append(1000 * (process_time() - begin))
    table.add(
        {
            "items": items,
            "weight": "hard" if rules.defaults.weight == inf else f"{rules.defaults.weight:g}",
            "subtotal": "adds up" if adds_up else "never",
            "proven": f"{sum(d.optimal or d.status == 'infeasible' for d in found) / receipts:.0%}",
            "satisfied": f"{sum(d.status == 'satisfied' for d in found) / receipts:.0%}",
            "median ms": f"{np.median(times):.1f}", "worst ms": f"{max(times):.1f}",
        }
    )  # fmt: skip
    return times


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument(
        "--receipts", type=int, default=20, help="receipts per row; default: %(default)s"
    )
    parser.add_argument("--decoder", default="exact", help="default: %(default)s")
    arguments = parser.parse_args()
    if arguments.receipts < 1:
        parser.error(f"--receipts is {arguments.receipts}, expected at least 1")
    table, times = Table(), list[float]()
    for items, weight, adds_up in product(SIZES, (10.0, inf), (True, False)):
        times += measure(
            table, items, ITEMS.with_defaults(weight=weight), adds_up=adds_up,
            receipts=arguments.receipts, decoder=arguments.decoder,
        )  # fmt: skip
    middle, slow, worst = percentiles(times, 50, 99, 100)
    print(f"all {len(times):,}: median {middle:.1f}, 99 % {slow:.1f}, worst {worst:.1f} ms")


if __name__ == "__main__":
    main()
