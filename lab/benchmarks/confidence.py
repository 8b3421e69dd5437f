"""Calibration of the confidence of fields, on the outputs of real models.

    python -m lab.benchmarks.confidence [--outputs cord-l2,wild-l2text] [--seconds 1]
    python -m lab.benchmarks.confidence --needs total

Every page is decoded with the confidence of its fields, at temperature 1 and at the one that
``lawful calibrate`` fits on half of the pages; the tables are about the other half. Counted are
fields that a rule reads and that are no lists, if the page has a true or a decoded value. ``gap``
is confidence minus accuracy. The confidence is the middle of its interval; fields with an interval
wider than 0.1 are left out of the table and counted separately. ``--needs`` instead compares the
processor time of decoding with that of decoding with the confidence of needed fields.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import Study, named
from lawful import Budget, Rules, Scored, decode
from lawful.decoders import Problem
from lawful.evaluation.calibration import Words, fit_temperature
from lawful.evaluation.split import sample
from lawful.pipeline.call import DecodeOptions
from lawful.search.confidence import FINE, QUICK
from tests.fixtures.outputs import OUTPUTS, read_outputs

WIDE = 0.1
EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)


class Measured(NamedTuple):
    """Bounds of the confidence of fields, whether their values are right, and times."""

    low: list[float]
    high: list[float]
    right: list[bool]
    seconds: list[float]  # by page


def measure(pages: Iterable[Scored], rules: Rules, temperature: float, seconds: float) -> Measured:
    read = {name for rule in rules.parsed for name in rule.names}
    measured = Measured([], [], [], [])
    for page in pages:
        scores = page.scores.with_temperature(temperature)
        began = perf_counter()
        found = decode(page.document, scores, rules, budget=Budget(seconds=seconds), alternatives=1)
        measured.seconds.append(perf_counter() - began)
        judge = Problem(page.document, scores, rules).judge
        assert page.gold is not None  # noqa: S101 - all outputs have gold labels
        gold = judge.read(judge.scheme.indices(page.gold))
        true = judge.seen_values(judge.settle(gold)[0])
        for i, f in enumerate(rules.fields):
            if f.many or f.name not in read or f.name not in found.confidence:
                continue
            seen: tuple[Any, ...] = tuple(v for v in found.values(f.name) if v is not None)[:1]
            if seen or true[i]:
                measured.low.append(found.confidence[f.name].low)
                measured.high.append(found.confidence[f.name].high)
                measured.right.append(seen == true[i])
    return measured


def table(name: str, measured: Measured) -> None:
    low, high, right, took = map(np.array, measured)
    wide = high - low > WIDE
    print(f"\n{name}: {len(low):,} fields, {wide.sum():,} of them in wide intervals, of which "
          f"{right[wide].sum():,} are right")  # fmt: skip
    low, high, right = low[~wide], high[~wide], right[~wide]
    sure = (low + high) / 2
    place = np.clip(np.searchsorted(EDGES, sure, side="right") - 1, 0, len(EDGES) - 2)
    gaps = 0.0
    print("| sure | fields | mean | right | gap |\n| --- | --- | --- | --- | --- |")
    for i in range(len(EDGES) - 1):
        if (here := place == i).any():
            gap = sure[here].mean() - right[here].mean()
            gaps += here.sum() * abs(gap)
            print(f"| {EDGES[i]:.1%} to {EDGES[i + 1]:.1%} | {here.sum():,} | "
                  f"{sure[here].mean():.1%} | {right[here].mean():.1%} | {gap:+.1%} |")  # fmt: skip
    narrow = (high - low < FINE.narrow).mean()
    brier = ((sure - right) ** 2).mean()
    print(f"all: {sure.mean():.1%} sure, {right.mean():.1%} right, calibration error "
          f"{gaps / len(sure):.1%}, Brier score {brier:.3f}; {narrow:.0%} "
          f"narrower than {FINE.narrow}; time per page {1e3 * np.median(took):.1f} ms, 95 % "
          f"{1e3 * np.percentile(took, 95):.0f} ms, at most {1e3 * took.max():.0f} ms")  # fmt: skip


def needed(name: str, needs: str, count: int = 140) -> None:
    """Prints what the confidence of needed fields costs, and how narrow it is."""
    rules = rules_of(name)
    plain, asked = (DecodeOptions(pool="mean", needs=n).call(rules) for n in (None, needs))
    without, with_, wide = [], [], []
    pages = [plain.given(page) for page in read_outputs(name, count)]
    gc.collect()
    gc.freeze()  # what the benchmark holds is not looked at again
    for given in pages:
        plain.decode(given)  # values of texts are read once
        began = process_time()
        plain.decode(given)
        between = process_time()
        found = asked.decode(given)
        without.append(between - began)
        with_.append(process_time() - between)
        wide += [each.high - each.low >= QUICK.narrow for each in found.confidence.values()]
    ratios = np.array(with_) / np.array(without)
    print(
        f"{name}: {1 - np.mean(wide):.1%} narrower than {QUICK.narrow}; median page "
        f"{np.median(ratios):.1f} times the decoding, {1e3 * np.median(with_):.1f} ms; all "
        f"{sum(with_) / sum(without):.1f} times; 95 % {1e3 * np.percentile(with_, 95):.0f} ms"
    )


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.add_argument("--outputs", default=",".join(OUTPUTS))
    parser.add_argument("--seconds", type=float, default=1.0, help="Time limit per page.")
    parser.add_argument("--needs", help="fields, separated by commas")
    arguments = parser.parse_args()
    for name in named(parser, arguments.outputs, tuple(OUTPUTS)):
        if arguments.needs:
            needed(name, arguments.needs)
            continue
        rules, pages = rules_of(name), outputs_of(name)
        chosen = sample([page.document.id for page in pages], 0.5, 0)
        fitted = fit_temperature(Words.of(p for p in pages if p.document.id in chosen)).temperature
        rest = [page for page in pages if page.document.id not in chosen]
        for temperature in (1.0, fitted):
            found = measure(rest, rules, temperature, arguments.seconds)
            table(f"{name}, temperature {temperature:.2f}", found)


if __name__ == "__main__":
    main()
