"""What rules inside the search cost and solve.

    python -m benchmarks.search [--receipts 20] [--out build/search.json]

First, one labelling judged: the compiled rules against plain Python. Then the hard case,
``subtotal == sum(items)``, by the number of items: lines with a name, a quantity, a price for one
and a price for all of them, which the model confuses on some lines, so that up to four labels must
change together before the sum is right; and the same with a subtotal that no choice adds up to.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from lawful import Budget, Decoding, Field, Rules, _core, decode, demo
from lawful.rules.plan import Tables, plan_of
from lawful.search.problem import Problem
from tests.fixtures.slow import receipt

ITEMS = Rules(
    [Field("subtotal", "subtotal", "money"), Field("items", "item", "money", many=True)],
    ["subtotal == sum(items)"],
)


def check_speed(labellings: int = 20_000) -> tuple[float, float]:
    """Microseconds to judge a labelling's fields, natively and in Python, on a long page."""
    rules = Rules.load(demo.RULES)
    page = max(demo.generate(40, seed=11), key=lambda page: len(page.document))
    problem = Problem(page.document, page.scores, rules)
    judge, plan = problem.judge, plan_of(rules)
    reading = judge.read(problem.argmax)
    spans = sorted((s.start, s.end, i) for i, found in enumerate(reading) for s in found)
    tables = Tables(rules, plan)
    values = []
    for start, end, i in spans:
        found = judge.readings(i, start, end)
        values.append(tables.number_of(i, found[0]) if found else 0)
    arguments = (
        plan.core,
        tables.lookups(),
        np.array([judge.missing(i) for i in range(len(rules.fields))]),
        np.tile(np.array([i for *_, i in spans], np.uint32), labellings),
        np.tile(np.array(values, np.uint32), labellings),
        np.arange(1, labellings + 1, dtype=np.uint32) * np.uint32(len(spans)),
    )
    begin = perf_counter()
    native = _core.judge(*arguments)
    took = perf_counter() - begin
    begin = perf_counter()
    for _ in range(labellings // 100):
        judge.keep_fields(judge.kept)  # forgets what it has seen, but for the values of texts
        python = judge.weigh(reading).most
    if native[0] + sum(judge.faults(i, start, end) for start, end, i in spans) != python:
        raise SystemExit("the compiled rules and the judge disagree")
    return 1e6 * took / labellings, 1e6 * (perf_counter() - begin) / (labellings // 100)


@dataclass(frozen=True, slots=True)
class Row:
    """One number of items."""

    items: int
    weight: str
    adds_up: bool
    proven: float
    right: float  # found at least as good an answer as the truth
    median_ms: float
    worst_ms: float

    def __str__(self) -> str:
        return (
            f"{self.items:>5}  {self.weight:<6}{'adds up' if self.adds_up else 'never':<9}"
            f"{self.proven:>8.0%}{self.right:>8.0%}{self.median_ms:>11.1f}{self.worst_ms:>11.1f}"
        )


def measure(items: int, rules: Rules, *, adds_up: bool, receipts: int, decoder: str) -> Row:
    rng = np.random.default_rng(items)
    found: list[Decoding] = []
    times = []
    for _ in range(receipts):
        document, scores = receipt(items, rng, adds_up=adds_up)
        begin = perf_counter()
        found.append(decode(document, scores, rules, decoder=decoder, budget=Budget(2**17)))
        times.append(1000 * (perf_counter() - begin))
    return Row(
        items,
        "hard" if rules.defaults.weight == float("inf") else f"{rules.defaults.weight:g}",
        adds_up,
        sum(d.optimal or d.status == "infeasible" for d in found) / receipts,
        sum(d.status == "satisfied" for d in found) / receipts,
        float(np.median(times)),
        max(times),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--receipts", type=int, default=20, help="of each kind; %(default)s")
    parser.add_argument("--decoder", default="exact", help="%(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/search.json"))
    arguments = parser.parse_args()
    native, python = check_speed()
    print(f"one labelling judged: {native:.2f} us compiled, {python:.0f} us in Python, "
          f"{python / native:.0f} times less")  # fmt: skip
    print(f"\n{'items':>5}  weight subtotal   proven satisfied  median ms   worst ms")
    rows = []
    for items in (10, 20, 30, 40, 50, 60):
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
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    checks = {"native_us": native, "python_us": python}
    record = {"check": checks, "items": [asdict(row) for row in rows]}
    arguments.out.write_text(json.dumps(record, indent=1))
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
