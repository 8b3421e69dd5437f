"""What each kind of bound is worth, and that none changes the optimum.

    python -m benchmarks.bounds [--documents 10000] [--rows 200] [--shared] [--candidates 16384]

Random documents under random rules (those of ``tests.fuzz``, and receipts with rules of rows) are
decoded with all bounds from the first step on, without each kind of them, and without any. With
``--shared``, so are the outputs of real models, under the default rules and hard ones. All answers
that are proven must have the same worth; the first that has not is printed, with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from unittest import mock

from benchmarks.rows import LONG_RULES, TROUBLES, receipt
from benchmarks.tail import MEANINGS
from lawful import Budget, Decoding, Document, Rules, Scores, decode
from lawful.datasets import RULES
from lawful.search import reading_search
from tests.fixtures.outputs import OUTPUTS, read_outputs, require_outputs
from tests.fuzz import draw

KINDS = ("rows", "presence", "equations", "detours", "projections", "doubles", "admission", "cases")
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
        mock.patch.object(reading_search, "WITHOUT", without or ()),
        mock.patch.object(reading_search, "PATIENCE", 2**62 if without is None else patience),
    ):
        yield


@dataclass(slots=True)
class Row:
    """The results of one setting."""

    documents: int = 0
    proven: int = 0
    tried: int = 0
    most: int = 0
    seconds: float = 0.0

    def add(self, found: Decoding, seconds: float) -> None:
        self.documents += 1
        self.proven += is_proven(found)
        self.tried += found.tried
        self.most = max(self.most, found.tried)
        self.seconds += seconds


def is_proven(found: Decoding) -> bool:
    """Whether the answer is proven to be the best, or that there is none."""
    return found.optimal or found.status == "infeasible"


def compare(
    name: str,
    documents: Iterator[tuple[Document, Scores, Rules]],
    patience: int,
    budget: Budget | None = None,
) -> None:
    """Prints a table; exits if two proven answers differ in their worth."""
    rows = {setting: Row() for setting in SETTINGS}
    for number, (document, scores, rules) in enumerate(documents):
        worths: dict[str, float] = {}
        for setting, without in SETTINGS.items():
            with bounds(without, patience):
                begin = process_time()
                found = decode(document, scores, rules, decoder="exact", budget=budget)
                rows[setting].add(found, process_time() - begin)
            if is_proven(found):
                worths[setting] = found.worth
        if worths:
            first, worth = next(iter(worths.items()))
            for setting, other in worths.items():
                if other != worth and not abs(other - worth) < CLOSE:
                    sys.exit(
                        f"{name}, document {number} ({document.id}): the optimum is {worth} with "
                        f"{first}, and {other} with {setting}"
                    )
    print(f"\n{name}, {rows['all bounds'].documents} documents: every optimum is the same")
    for setting, row in rows.items():
        print(
            f"  {setting:<22}{row.proven / row.documents:>8.2%} proven{row.tried:>12,} tried, "
            f"at most{row.most:>9,}{row.seconds:>9.1f} s",
            flush=True,
        )


def random_documents(count: int) -> Iterator[tuple[Document, Scores, Rules]]:
    """The documents of ``tests.fuzz``."""
    for number in range(count):
        document, scores, rules, _ = draw(number)
        yield document, scores, rules


def random_rows(count: int) -> Iterator[tuple[Document, Scores, Rules]]:
    """Receipts of a few rows."""
    for number in range(count):
        document, scores = receipt(3 + number % 4, TROUBLES[number % 3], number)
        yield document, scores, LONG_RULES


def real_outputs(name: str, meaning: str) -> Iterator[tuple[Document, Scores, Rules]]:
    """The outputs of a model."""
    rules = Rules.load(RULES[OUTPUTS[name]]).with_defaults(**MEANINGS[meaning])
    for page in read_outputs(name):
        words = page.to_words()
        yield words.document, words.scores, rules


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--rows", type=int, default=200, help="receipts; default: %(default)s")
    parser.add_argument("--shared", action="store_true", help="real outputs, too")
    parser.add_argument(
        "--candidates", type=int, default=2**14, help="for real outputs; default: %(default)s"
    )
    arguments = parser.parse_args()
    if arguments.shared:
        require_outputs(parser)
    compare("random documents", random_documents(arguments.documents), patience=1)
    compare("receipts with rows", random_rows(arguments.rows), patience=1)
    if arguments.shared:
        budget = Budget(arguments.candidates)
        for name in OUTPUTS:
            for meaning in MEANINGS:
                compare(
                    f"{name}, {meaning} rules",
                    real_outputs(name, meaning),
                    reading_search.PATIENCE,
                    budget,
                )


if __name__ == "__main__":
    main()
