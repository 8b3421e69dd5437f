"""What else moves value F1 on WildReceipt: a bias per label, and the price of unchecked rules.

    python -m lab.benchmarks.biases [--ways price bias both] [--seeds 3] [--folds 5]

needs ``../shared``, which is not part of the project. A bias is added to the scores of all labels
of a field before decoding, in nats. Biases, and the price of rules that cannot be checked, are
chosen by value F1 on all folds but one, each in turn until nothing gets better, and measured on
that fold. Printed are value F1 of pages that nothing was chosen on, its difference to the defaults
with a 95 % interval by resampling pages, and the pages fixed and broken compared with the defaults.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.datasets import RULES
from lawful import Rules, Scores, decode
from lawful.documents.records import Scored
from lawful.evaluation.scoreboard import Scoreboard
from lawful.rules.definitions import DEFAULT_UNCHECKED
from tests.fixtures.outputs import read_outputs, require_outputs

BIASES = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
PRICES = (0.0, 0.5, 1.0, 2.0, 4.0, 6.0)
RESAMPLES = 2000


class Choice(NamedTuple):
    """Biases of the fields, in the order of the rules, and the price of an unchecked rule."""

    biases: tuple[float, ...]
    price: float


class Pages:
    """Real pages, and how they are decoded under a choice."""

    def __init__(self) -> None:
        self.rules = Rules.load(RULES["wildreceipt"])
        self.pages = [page.to_words("mean") for page in read_outputs("wild-l2text")]
        self.default = Choice((0.0,) * len(self.rules.fields), DEFAULT_UNCHECKED)
        self.results = cache(self._results)

    def _results(self, choice: Choice) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """By page: values that are right, found and true, (pages, 3); whether the page is right."""
        rules = self.rules.with_defaults(unchecked=choice.price)
        counts, right = [], []
        for page in self.pages:
            decoding = decode(page.document, self._biased(page, choice.biases), rules)
            board = Scoreboard(self.rules)
            board.add(page, decoding)
            counts.append((board.values.right, board.values.found, board.values.true))
            right += board.right_pages
        return np.array(counts), np.array(right)

    def _biased(self, page: Scored, biases: Sequence[float]) -> Scores:
        if not any(biases):
            return page.scores
        scheme = self.rules.scheme_for(page.scores.labels)
        added = np.zeros(len(scheme))
        for field, bias in zip(self.rules.fields, biases, strict=True):
            added += bias * scheme.labels_of((field.label,))
        return Scores.from_logits(page.scores.log_probs + added, page.scores.labels)

    def chosen(self, some: NDArray[np.intp], *, biases: bool, prices: bool) -> Choice:
        """The choice of highest value F1 on some pages, one part at a time from the defaults."""
        best = self.default
        highest = f1(self.results(best)[0][some])
        while True:
            before = best
            for other in self._parts(best, biases, prices):
                found = f1(self.results(other)[0][some])
                if found > highest + 1e-12:
                    best, highest = other, found
            if best == before:
                return best

    def _parts(self, choice: Choice, biases: bool, prices: bool) -> Iterator[Choice]:
        """The choices that differ from one in one part."""
        for i in range(len(choice.biases)) if biases else ():
            for bias in BIASES:
                changed = (*choice.biases[:i], bias, *choice.biases[i + 1 :])
                yield choice._replace(biases=changed)
        for price in PRICES if prices else ():
            yield choice._replace(price=price)


def f1(counts: NDArray[np.int64]) -> float:
    right, found, true = counts.sum(axis=0)
    return float(2 * right / max(1, found + true))


WAYS: Mapping[str, tuple[bool, bool]] = {
    "price": (False, True),
    "bias": (True, False),
    "both": (True, True),
}
"""Whether biases and prices are chosen, by the name of the way."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["price", "bias"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=5)
    arguments = parser.parse_args()
    require_outputs(parser)
    pages = Pages()
    counts, right = pages.results(pages.default)
    print(f"defaults: value F1 {100 * f1(counts):.1f}, {right.sum()} of {len(right)} pages right")
    for way in arguments.ways:
        biases, prices = WAYS[way]
        for seed in range(arguments.seeds):
            random = np.random.default_rng(seed)
            fold_of = random.permutation(np.arange(len(right)) % arguments.folds)
            new, now = counts.copy(), right.copy()
            choices = []
            for fold in range(arguments.folds):
                out = fold_of == fold
                choice = pages.chosen(np.flatnonzero(~out), biases=biases, prices=prices)
                choices.append(choice)
                found = pages.results(choice)
                new[out], now[out] = found[0][out], found[1][out]
            picks = random.integers(len(right), size=(RESAMPLES, len(right)))
            gains = [100 * (f1(new[pick]) - f1(counts[pick])) for pick in picks]
            low, high = np.quantile(gains, [0.025, 0.975])
            print(
                f"{way}, seed {seed}: value F1 {100 * f1(new):.1f}, "
                f"{100 * (f1(new) - f1(counts)):+.1f} ({low:+.1f} to {high:+.1f}), "
                f"{(now & ~right).sum()} pages fixed, {(~now & right).sum()} broken; chosen: "
                + "; ".join(f"{list(c.biases)} {c.price:g}" for c in choices),
                flush=True,
            )


if __name__ == "__main__":
    main()
