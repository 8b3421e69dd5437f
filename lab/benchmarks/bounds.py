"""What each kind of bound is worth, and that none changes the optimum.

    python -m lab.benchmarks.bounds [--documents 10000] [--pages 12] [--shared] [--repeats 1]
        [--candidates 16384]

Random documents (those of ``tests.fuzz``) are decoded with all bounds from the first step on,
without each kind of them, and without any. So are the generated pages of
``tests.fixtures.searches``, with the default patience, and with ``--shared`` the outputs of real
models under the default rules and hard ones. All answers that are proven must have the same worth;
the first that has not is printed, with exit code 1.

The number of partial readings is the same in each run. Times are of the processor, without that of
naming what clashes: the settings take turns on each page, and of the repeats the fastest counts.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import inf
from time import process_time
from unittest import mock

from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import Study
from lab.benchmarks.tail import MEANINGS
from lawful import Budget, Decoding, decode
from lawful.decoders import exact
from lawful.search import reading_search
from tests.fixtures import searches
from tests.fixtures.outputs import OUTPUTS, require_outputs
from tests.fixtures.slow import Given
from tests.fuzz import draw

KINDS = ("equations", "detours", "projections", "admission", "cases")
SETTINGS: dict[str, tuple[str, ...] | None] = {
    "all bounds": (),
    **{f"without {kind}": (kind,) for kind in KINDS},
    "no bounds": None,
}
CLOSE = 1e-8  # nats


@contextmanager
def bounds(without: tuple[str, ...] | None, patience: int) -> Iterator[None]:
    """Searches make their bounds after this many steps, without some kinds, or none at all."""
    with (
        mock.patch.object(reading_search, "WITHOUT", KINDS if without is None else without),
        mock.patch.object(reading_search, "PATIENCE", 2**62 if without is None else patience),
        mock.patch.object(exact, "with_clash", lambda decoding, *_: decoding),
    ):
        yield


@dataclass(slots=True)
class Row:
    """The results of one setting."""

    documents: int = 0
    proven: int = 0
    tried: int = 0  # partial readings
    changed: int = 0  # documents that take another number of them than with all bounds
    most: int = 0
    seconds: float = 0.0

    def add(self, found: Decoding, whole: Decoding, seconds: float) -> None:
        self.documents += 1
        self.changed += found.tried != whole.tried
        self.proven += is_proven(found)
        self.tried += found.tried
        self.most = max(self.most, found.tried)
        self.seconds += seconds


def is_proven(found: Decoding) -> bool:
    """Whether the answer is proven to be the best, or that there is none."""
    return found.optimal or found.status == "infeasible"


def compare(
    name: str, pages: Iterator[Given], patience: int, repeats: int, budget: Budget | None = None
) -> None:
    """Prints a table; exits if two proven answers differ in their worth."""
    rows = {setting: Row() for setting in SETTINGS}
    for number, page in enumerate(pages):
        worths: dict[str, float] = {}
        times = dict.fromkeys(SETTINGS, inf)
        found: dict[str, Decoding] = {}
        decode(*page, decoder="exact", budget=Budget(1))  # compiles the rules
        settings = deque(SETTINGS.items())
        for _ in range(repeats):
            settings.rotate(number + len(SETTINGS) // 2)
            for setting, without in settings:
                with bounds(without, patience):
                    begin = process_time()
                    found[setting] = decode(*page, decoder="exact", budget=budget)
                    times[setting] = min(times[setting], process_time() - begin)
        for setting in SETTINGS:
            decoding = found[setting]
            rows[setting].add(decoding, found["all bounds"], times[setting])
            if is_proven(decoding):
                worths[setting] = decoding.worth
        first, worth = next(iter(worths.items()), ("", 0.0))
        for setting, other in worths.items():
            if other != worth and not abs(other - worth) < CLOSE:
                sys.exit(
                    f"{name}, document {number} ({page[0].id}): the optimum is {worth} with "
                    f"{first}, and {other} with {setting}"
                )
    whole = rows["all bounds"]
    print(f"\n{name}, {whole.documents} documents: every optimum is the same")
    for setting, row in rows.items():
        print(
            f"  {setting:<22}{row.proven:>6} proven{row.tried:>10,} tried"
            f"{row.tried / whole.tried - 1:>+9.1%} on{row.changed:>4}, at most{row.most:>7,}"
            f"{1000 * row.seconds / row.documents:>9.3f} ms{row.seconds / whole.seconds:>7.2f}",
            flush=True,
        )


def random_documents(count: int) -> Iterator[Given]:
    """The documents of ``tests.fuzz``."""
    for number in range(count):
        document, scores, rules, _ = draw(number)
        yield document, scores, rules


def real_outputs(name: str, meaning: str) -> Iterator[Given]:
    """The outputs of a model."""
    rules = rules_of(name, **MEANINGS[meaning])
    for page in outputs_of(name):
        yield page.document, page.scores, rules


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--documents", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--pages", type=int, default=12, help="generated, per kind")
    parser.add_argument("--shared", action="store_true", help="real outputs, too")
    parser.add_argument("--repeats", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--candidates", type=int, default=2**14, help="default: %(default)s")
    arguments = parser.parse_args()
    if arguments.shared:
        require_outputs(parser)
    repeats, budget = arguments.repeats, Budget(arguments.candidates)
    patience = reading_search.PATIENCE
    if arguments.shared:
        for outputs, meaning in product(OUTPUTS, MEANINGS):
            name, pages = f"{outputs}, {meaning} rules", real_outputs(outputs, meaning)
            compare(name, pages, patience, repeats, budget)
    for name, make in searches.KINDS.items():
        compare(name, map(make, range(arguments.pages)), patience, repeats, budget)
    if arguments.documents:
        compare("random documents", random_documents(arguments.documents), 1, 1)


if __name__ == "__main__":
    main()
