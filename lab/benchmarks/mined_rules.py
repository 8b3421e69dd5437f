"""Rules mined on some pages of WildReceipt and shown on others: value F1, pages fixed and broken.

    python -m lab.benchmarks.mined_rules [--ways both …] [--weights suggested half …]
        [--prices 0 0.5] [--seeds 2] [--folds 5] [--learn] [--pages]

needs ``../shared``, which is not part of the project. For each fold, rules are mined from the true
labels of the others; those of some kinds that say something new about the fields of the paper's
rules are added to these, and the fold is decoded. Weights are those that mining suggests, half of
them (of all rules, or of those about lines), or, to be careful, at most the log-odds that true
pages obey the rule. A price is that of a mined rule that cannot be checked. With ``--learn``,
weights are learned on the other folds. ``--pages`` lists the pages that are fixed and broken, and
the rules that the answer violates. ``lab.benchmarks.nested`` chooses between such settings.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.benchmarks.biases import RESAMPLES, f1
from lab.datasets import RULES
from lawful import Rules
from lawful.documents.records import Labelled, Scored
from lawful.documents.scores import Pooling
from lawful.evaluation.scoreboard import Scoreboard, labels_obey
from lawful.learn.candidates import Finder
from lawful.learn.mining import IMPLIED, Mined, mine
from lawful.learn.parameters import Parameters
from lawful.learn.proposals import Kind
from lawful.learn.truth import guessed_rules
from lawful.learn.weights import Learner, best_labels
from lawful.rules.definitions import DEFAULT_UNCHECKED, Rule
from lawful.rules.span_rules import Order
from tests.fixtures.outputs import SHARED, read_outputs, require_outputs

WAYS: Mapping[str, tuple[Kind, ...]] = {
    "inequalities": ("inequality",),
    "lines": ("line",),
    "both": ("inequality", "line"),
    "both and orders": ("inequality", "line", "order"),
    "all": ("inequality", "line", "order", "equation", "share", "count", "set"),
}
"""Kinds of mined rules that are added to the paper's."""


class Option(NamedTuple):
    """How mined rules are added."""

    way: str
    weights: str
    price: float  # of a mined rule that cannot be checked

    def __str__(self) -> str:
        return f"{self.way}, {self.weights} weights, price {self.price:g}"


def careful_weight(each: Mined) -> float:
    """At most the log-odds that true pages obey the rule, from the low end of its interval.

    The suggested weight compares with random values; but the answers that a decoder compares are
    nearly right, and often obey the rule by themselves.
    """
    low = min(each.pages.interval()[0], 1 - 1e-6)
    return min(each.weight, max(log(low / (1 - low)), 0.0))


WEIGHTS: Mapping[str, Callable[[Mined], float]] = {
    "suggested": lambda each: each.weight,
    "half": lambda each: each.weight / 2,
    "half for lines": lambda each: each.weight / (2 if each.proposal.kind == "line" else 1),
    "careful": careful_weight,
}
"""Weights of mined rules, by name."""


class Results(NamedTuple):
    """By page: values that are right, found and true, (pages, 3); whether the page is right."""

    counts: NDArray[np.int64]
    right: NDArray[np.bool_]

    def of(self, some: NDArray[np.intp]) -> Results:
        return Results(self.counts[some], self.right[some])

    def against(self, before: Results) -> tuple[int, int]:
        """Pages fixed and broken."""
        return int((self.right & ~before.right).sum()), int((~self.right & before.right).sum())


class Pages:
    """Real pages with boxes, and how they are decoded."""

    def __init__(self, pool: Pooling = "mean") -> None:
        self.rules = Rules.load(RULES["wildreceipt"])
        boxes = _boxes()
        self.scored: list[Scored] = []
        for page in read_outputs("wild-l2text"):
            words = page.to_words(pool)
            own = boxes[words.document.id][: len(words.document)]
            self.scored.append(replace(words, document=replace(words.document, boxes=own)))

    def results(self, which: Iterable[int], rules: Rules) -> Results:
        board = Scoreboard(self.rules)
        counts = []
        for i in which:
            values = board.values
            before = values.right, values.found, values.true
            board.add_labels(self.scored[i], best_labels(self.scored[i], rules))
            counts.append(np.subtract((values.right, values.found, values.true), before))
        return Results(np.array(counts), np.array(board.right_pages))

    def mined(self, which: Iterable[int], seed: int) -> tuple[Rules, list[Mined]]:
        """What the true labels of some pages say, and the fields that it is about."""
        labelled = [Labelled(self.scored[i].document, self.scored[i].gold or ()) for i in which]
        rules = guessed_rules(labelled, self.rules)
        return rules, mine(labelled, rules, seed)

    def with_mined(self, fields: Rules, found: Sequence[Mined], option: Option) -> Rules:
        """The paper's rules and mined ones, with the fields that these need."""
        kinds = WAYS[option.way]
        own = {f.name for f in self.rules.fields}
        new, needed = list[Rule | Order](), set(own)
        for each in found:
            rule = each.proposal.rule
            if each.proposal.kind not in kinds or (each.said or 0.0) >= IMPLIED:
                continue
            weight = WEIGHTS[option.weights](each)
            if isinstance(rule, Order):
                known = tuple(name for name in rule.fields if name in own)
                if len(known) > 1:
                    new.append(Order(known, weight))
            elif isinstance(rule, Rule):
                parsed = Rules(fields.fields, [rule], rows=fields.rows).parsed[0]
                if parsed.names & own:
                    new.append(replace(rule, weight=weight, unchecked=option.price))
                    needed |= parsed.names
        return replace(
            self.rules,
            fields=tuple(f for f in fields.fields if f.name in needed),
            rules=(*self.rules.rules, *(each for each in new if isinstance(each, Rule))),
            orders=tuple(each for each in new if isinstance(each, Order)),
        )


def _boxes() -> dict[str, tuple[tuple[float, ...], ...]]:
    """The boxes of words in reading order, by page."""
    orders = json.loads((SHARED / "predictions" / "wild-order.json").read_text())
    boxes = {}
    with gzip.open(SHARED / "data" / "wildreceipt" / "part.jsonl.gz", "rt") as lines:
        for line in map(json.loads, lines):
            boxes[line["id"]] = tuple(
                tuple(map(float, line["boxes"][i])) for i in orders[line["id"]]
            )
    return boxes


def learned(pages: Sequence[Scored], rules: Rules, seed: int) -> Rules:
    """The weights that ``learn`` fits to all pages, without the figures about them."""
    parameters = Parameters(rules)
    finder = Finder(parameters)
    learner = Learner(parameters, pages, [finder.page(page) for page in pages], seed)
    return parameters.apply(np.round(learner.fit(list(range(len(pages)))).weights, 2))


def show(name: str, before: Results, now: Results, random: np.random.Generator) -> None:
    """Prints value F1, its gain with an interval by resampling pages, and pages that changed."""
    picks = random.integers(len(before.right), size=(RESAMPLES, len(before.right)))
    gains = [100 * (f1(now.counts[pick]) - f1(before.counts[pick])) for pick in picks]
    low, high = np.quantile(gains, [0.025, 0.975])
    fixed, broken = now.against(before)
    gain = 100 * (f1(now.counts) - f1(before.counts))
    print(
        f"{name}: value F1 {100 * f1(now.counts):.1f}, {gain:+.1f} ({low:+.1f} to {high:+.1f}), "
        f"{fixed} pages fixed, {broken} broken",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--weights", nargs="+", choices=WEIGHTS, default=list(WEIGHTS))
    parser.add_argument("--prices", nargs="+", type=float, default=[0.0, DEFAULT_UNCHECKED])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--learn", action="store_true", help="learn weights on the other folds")
    parser.add_argument("--pages", action="store_true", help="list pages fixed and broken")
    arguments = parser.parse_args()
    require_outputs(parser)
    pages = Pages()
    count = len(pages.scored)
    base = pages.results(range(count), pages.rules)
    print(f"defaults: value F1 {100 * f1(base.counts):.1f}, {base.right.sum()} of {count} right")
    options = [
        Option(*each) for each in product(arguments.ways, arguments.weights, arguments.prices)
    ]
    for seed in range(arguments.seeds):
        random = np.random.default_rng(seed)
        fold_of = random.permutation(np.arange(count) % arguments.folds)
        results = {option: Results(base.counts.copy(), base.right.copy()) for option in options}
        for fold in range(arguments.folds):
            out, rest = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
            fields, found = pages.mined(rest.tolist(), seed)
            for option, of_all in results.items():
                rules = pages.with_mined(fields, found, option)
                if arguments.learn:
                    rules = learned([pages.scored[i] for i in rest.tolist()], rules, seed)
                now = pages.results(out, rules)
                of_all.counts[out], of_all.right[out] = now
                if arguments.pages:
                    explain(pages, out, rules, base, now)
        for option, of_all in results.items():
            weights = ", learned" if arguments.learn else ""
            show(f"seed {seed}, {option}{weights}", base, of_all, random)


def explain(
    pages: Pages, which: NDArray[np.intp], rules: Rules, base: Results, now: Results
) -> None:
    """Lists the pages that changed, with the rules that differ between the two answers."""
    from lawful import decode

    for i, right in zip(which.tolist(), now.right.tolist(), strict=True):
        if right == base.right[i]:
            continue
        page = pages.scored[i]
        before, after = (decode(page.document, page.scores, each) for each in (pages.rules, rules))
        scheme = rules.scheme_for(page.scores.labels)
        broken = [c.id for c in after.checks if c.state == "violated"]
        names = sorted(pages.rules.fields, key=lambda f: f.many)[:3]
        values = (
            [str(d.fields[f.name][0].value) if f.name in d.fields else "-" for f in names]
            for d in (before, after)
        )
        print(
            f"  {'fixed' if right else 'broken'} {page.document.id[-16:]}: "
            f"{' -> '.join(map(', '.join, values))}; violated: {broken}; true labels obey: "
            f"{labels_obey(page.document, page.gold or (), rules, scheme)}"
        )


if __name__ == "__main__":
    main()
