"""Several settings at once on WildReceipt, chosen on some pages and shown on others.

    python -m lab.benchmarks.nested [--ways none inequalities both] [--prices 0.5 1 2 3 4 5 6]
        [--presence labelling 0.5 0.8] [--biases 0 -1] [--pools mean first] [--seeds 2] [--folds 5]
        [--rows] [--halves]

needs ``../shared``, which is not part of the project. A setting is: the mined rules that are added
(``lab.benchmarks.mined_rules``, with a price of 0 if they cannot be checked, suggested weights, and
half of them for lines); the price of the paper's rules that cannot be checked; which fields may not
be missing, those of the best labelling or those that are present with some probability; and a bias
of the tax's labels. For each fold, every setting is tried on the others by folds of these, with
rules mined without the fold that is decoded and without the fold that the setting is chosen for.
A setting is worth the pages that it fixes, less ten for each one that it breaks; chosen is the
first one that is within one standard error of the best, in the order in which they are given. It is
shown on the fold, with rules mined on all others. Also said is what each setting has by itself, on
folds that its rules were not mined on (``--rows``: only this). With ``--halves``, a setting is
chosen by folds of one half of the folds, and shown on the other half.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.benchmarks.biases import f1
from lab.benchmarks.mined_rules import Option, Pages, Results, show
from lawful import Rules, Scores
from lawful.decoders.exact import Exact, find_best
from lawful.documents.records import Scored
from lawful.documents.scores import Pooling
from lawful.evaluation.scoreboard import Scoreboard, best_legal
from lawful.learn.mining import Mined
from lawful.rules.definitions import DEFAULT_UNCHECKED
from lawful.rules.judging.judge import Judge
from lawful.search.problem import ROUNDING, Problem
from tests.fixtures.outputs import require_outputs

WAYS = {
    "none": None,
    "inequalities": Option("inequalities", "suggested", 0.0),
    "lines": Option("lines", "half for lines", 0.0),
    "both": Option("both", "half for lines", 0.0),
    "both in full": Option("both", "suggested", 0.0),
}
"""Mined rules that are added, by name."""

LABELLING = "labelling"

HALVES = (0, 1)

BROKEN = 10
"""Pages that must be fixed to make up for a broken one."""


class Setting(NamedTuple):
    """What is chosen."""

    way: str
    price: float  # of a rule of the paper that cannot be checked
    presence: str  # of which fields: those of the best labelling, or of at least this probability
    bias: float  # of the tax's labels, in nats

    def __str__(self) -> str:
        return f"{self.way}, price {self.price:g}, presence {self.presence}, bias {self.bias:g}"


DEFAULT = Setting("none", DEFAULT_UNCHECKED, LABELLING, 0.0)


class Trial(Pages):
    """The pages under settings. Equal problems are solved once."""

    def __init__(self, pool: Pooling) -> None:
        super().__init__(pool)
        self.base = [
            find_best(problem, Exact.default_budget, problem.judge.plan()).best
            for problem in (Problem(p.document, p.scores, self.rules) for p in self.scored)
        ]
        self._known: dict[str, dict[int, tuple[tuple[int, int, int], bool]]] = {}

    def rules_of(
        self, setting: Setting, without: frozenset[int], fold_of: tuple[int, ...]
    ) -> Rules:
        """The rules of a setting, mined without some folds."""
        rules, option = self.rules, WAYS[setting.way]
        if option is not None:
            rules = self.with_mined(*self.mined_without(without, fold_of), option)
        own = {rule.id for rule in self.rules.rules}
        changed = [
            replace(rule, unchecked=setting.price) if rule.id in own else rule
            for rule in rules.rules
        ]
        return replace(rules, rules=tuple(changed))

    @cache  # noqa: B019 - lives as long as the process
    def mined_without(
        self, folds: frozenset[int], fold_of: tuple[int, ...]
    ) -> tuple[Rules, list[Mined]]:
        """What the pages of the other folds say."""
        rest = [i for i, fold in enumerate(fold_of) if fold not in folds]
        return self.mined(rest, 0)

    def decoded(self, some: Iterable[int], setting: Setting, rules: Rules) -> Results:
        """The results of some pages under a setting with these rules."""
        key = repr((setting._replace(way=""), rules.fields, rules.rules))
        known = self._known.setdefault(key, {})
        for i in some:
            if i not in known:
                board = Scoreboard(self.rules)
                board.add_labels(self.scored[i], self._labels(i, setting, rules))
                values = board.values
                known[i] = (values.right, values.found, values.true), board.right_pages[0]
        counts, right = zip(*(known[i] for i in some), strict=True)
        return Results(np.array(counts), np.array(right))

    def _labels(self, i: int, setting: Setting, rules: Rules) -> Sequence[str]:
        page = self.scored[i]
        if setting.bias:
            page = self._biased(page, setting.bias)
        problem = Problem(page.document, page.scores, rules)
        judge, kept = problem.judge, problem.judge.kept
        if setting.presence != LABELLING:
            judge.keep_fields(probable(page, rules, float(setting.presence)))
        base = self.base[i]
        if base is not None and not setting.bias and judge.kept >= kept:
            # What is added costs something or nothing. If it costs the best answer nothing, that
            # answer is still the best.
            default = Problem(page.document, page.scores, self.rules).judge
            costs = [each.settled(base)[1].most for each in (default, judge)]
            if costs[1] <= costs[0] + ROUNDING:
                return problem.names(base)
        found = find_best(problem, Exact.default_budget, judge.plan())
        return best_legal(page, rules) if found.best is None else problem.names(found.best)

    def _biased(self, page: Scored, bias: float) -> Scored:
        scheme = self.rules.scheme_for(page.scores.labels)
        added = bias * scheme.labels_of(("Tax_value",))
        scores = Scores.from_logits(page.scores.log_probs + added, page.scores.labels)
        return replace(page, scores=scores)


def wrong_fields(trial: Trial) -> Counter[str]:
    """Why fields of one value are wrong under the defaults, and how many have several true ones."""
    lists = Rules([replace(field, many=True) for field in trial.rules.fields if not field.many])
    counts: Counter[str] = Counter()
    for page, best in zip(trial.scored, trial.base, strict=True):
        scheme = lists.scheme_for(page.scores.labels)
        judge = Judge(page.document, lists, scheme)
        gold = scheme.indices(page.gold or ())
        found, true = (
            judge.seen_values(judge.read(gold if labels is None else labels))
            for labels in (best, gold)
        )
        for own, other in zip(found, true, strict=True):
            counts["several true values"] += len({*other}) > 1
            if own[:1] == other[:1]:
                continue
            if not own:
                counts["left out"] += 1
            elif not other:
                counts["found where there is none"] += 1
            else:
                counts["another true value" if own[0] in other else "wrong otherwise"] += 1
    return counts


def probable(page: Scored, rules: Rules, least: float) -> list[str]:
    """The fields of which some word has a label, with at least this probability.

    Words are independent of each other, as scores without transitions say.
    """
    scheme = rules.scheme_for(page.scores.labels)
    probs = np.exp(page.scores.log_probs)
    found = []
    for field in rules.fields:
        own = probs[:, scheme.labels_of((field.label,))].sum(axis=1)
        if 1 - np.prod(1 - np.minimum(own, 1.0)) >= least:
            found.append(field.name)
    return found


def chosen(results: dict[Setting, Results], some: NDArray[np.intp], base: Results) -> Setting:
    """The first setting that is as good as the best one, as far as some pages can tell.

    A setting is worth the pages that it fixes, less ten for each one that it breaks. It is as good
    as the best if it is within one standard error of it: of what the best itself is worth.
    """
    worth = {setting: _worth(found.of(some), base.of(some)) for setting, found in results.items()}
    best = max(worth.values(), key=lambda each: each.sum())
    least = best.sum() - np.sqrt(len(some)) * best.std(ddof=1)
    return next(setting for setting, own in worth.items() if own.sum() >= least)


def _worth(found: Results, base: Results) -> NDArray[np.int64]:
    """By page, 1 if it is fixed, and -10 if it is broken."""
    fixed, broken = found.right & ~base.right, base.right & ~found.right
    return fixed.astype(np.int64) - BROKEN * broken.astype(np.int64)


def put_together(
    trial: Trial,
    setting: Setting,
    fold_of: NDArray[np.intp],
    parts: Iterable[Iterable[int]],
    out: frozenset[int] = frozenset(),
) -> Results:
    """Each part, which is some folds, decoded with rules mined without it and without ``out``."""
    counts = np.zeros((len(fold_of), 3), np.int64)
    right = np.zeros(len(fold_of), np.bool_)
    for part in map(frozenset, parts):
        rules = trial.rules_of(setting, part | out, tuple(fold_of.tolist()))
        here = np.flatnonzero(np.isin(fold_of, list(part)))
        counts[here], right[here] = trial.decoded(here.tolist(), setting, rules)
    return Results(counts, right)


class Nested(NamedTuple):
    """Results of all pages, and the setting that was chosen for each part."""

    results: Results
    choices: dict[frozenset[int], Setting]


def nested(
    trial: Trial,
    settings: Iterable[Setting],
    fold_of: NDArray[np.intp],
    parts: Iterable[frozenset[int]],
    base: Results,
) -> Nested:
    """Each part under the setting that is best on the others, by folds of these."""
    now = Results(base.counts.copy(), base.right.copy())
    choices = {}
    for part in parts:
        rest = [[fold] for fold in np.unique(fold_of).tolist() if fold not in part]
        inner = {each: put_together(trial, each, fold_of, rest, part) for each in settings}
        choices[part] = chosen(inner, np.flatnonzero(np.isin(fold_of, rest)), base)
        own = put_together(trial, choices[part], fold_of, [part])
        here = np.isin(fold_of, list(part))
        now.counts[here], now.right[here] = own.counts[here], own.right[here]
    return Nested(now, choices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["none", "inequalities"])
    parser.add_argument(
        "--prices", nargs="+", type=float, default=[DEFAULT_UNCHECKED, *range(1, 7)]
    )
    parser.add_argument("--presence", nargs="+", default=[LABELLING])
    parser.add_argument("--biases", nargs="+", type=float, default=[0.0])
    parser.add_argument("--pools", nargs="+", choices=["mean", "first"], default=["mean"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rows", action="store_true", help="each setting by itself, none chosen")
    parser.add_argument("--halves", action="store_true", help="choose on a half, show on the other")
    arguments = parser.parse_args()
    require_outputs(parser)
    if arguments.folds < 4:
        parser.error("--folds is too small, expected 4 or more")
    folds, ways = range(arguments.folds), arguments.ways
    parts = (
        [frozenset(folds[half::2]) for half in HALVES]
        if arguments.halves
        else [frozenset({fold}) for fold in folds]
    )
    settings = [
        Setting(*each)
        for each in product(arguments.ways, arguments.prices, arguments.presence, arguments.biases)
    ]
    for pool in arguments.pools:
        trial = Trial(pool)
        every = range(len(trial.scored))
        base = trial.decoded(every, DEFAULT, trial.rules_of(DEFAULT, frozenset(), ()))
        print(f"{pool}: value F1 {100 * f1(base.counts):.1f}, {base.right.sum()} pages right")
        print(f"  fields: {dict(wrong_fields(trial))}", flush=True)
        for seed in range(arguments.seeds):
            random = np.random.default_rng(seed)
            fold_of = random.permutation(np.arange(len(base.right)) % arguments.folds)
            for setting in settings:
                own = put_together(trial, setting, fold_of, parts)
                show(f"{pool}, seed {seed}, {setting}", base, own, random)
            if arguments.rows:
                continue
            groups = {way: [each for each in settings if each.way == way] for way in ways}
            for name, some in {"all": settings, **groups}.items():
                found = nested(trial, some, fold_of, parts, base)
                show(f"{pool}, seed {seed}, chosen of {name}", base, found.results, random)
                for part, choice in found.choices.items():
                    here = np.flatnonzero(np.isin(fold_of, list(part)))
                    show(f"  {choice}", base.of(here), found.results.of(here), random)


if __name__ == "__main__":
    main()
