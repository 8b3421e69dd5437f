"""Ways to use n sampled objects per receipt: one of them, votes, retries, or ``lawful.choose``.

    python -m lab.benchmarks.choose [--pages N] [--samples 5,20] [--seed 0] [--smoothing 0.5]

Objects are sampled from the outputs of real models: legal labellings of a page, by their
probability. An object has the text of each field, which is the first readable one, and lists of
texts for lists. Values are compared as in ``lawful.evaluation.scoreboard``: of fields that a rule
reads and that are no lists. Pages are fixed or broken in comparison with the vote on the same
samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import numbers, study
from lab.benchmarks.tables import Table, changes
from lawful import Candidates, Rules, Scored, choose, decode
from lawful.candidates.candidates import SMOOTHING
from lawful.evaluation.scoreboard import Counts
from lawful.rules.judging.reading import Reading
from lawful.search import Problem
from tests.fixtures.outputs import OUTPUTS

Values = Mapping[str, Any]


class Page:
    """A page with samples of its labellings."""

    def __init__(
        self, scored: Scored, rules: Rules, count: int, seed: int, smoothing: float = SMOOTHING
    ) -> None:
        self.scored, self.rules, self.smoothing = scored, rules, smoothing
        problem = Problem(scored.document, scored.scores, rules, keep=False)
        self.judge = problem.judge
        rows = sampled(problem, count, np.random.default_rng(seed))
        self.log_probs = [problem.log_prob(row) for row in rows]
        self.readings = [self.judge.settled(row)[0] for row in rows]
        read = {name for rule in rules.parsed for name in rule.names}
        self.compared = [f.name for f in rules.fields if f.name in read and not f.many]
        self.truth = self.values(self.judge.read(problem.scheme.indices(scored.gold or ())))

    def values(self, reading: Reading) -> Values:
        """The compared values of a reading; ``None`` if one is missing."""
        seen = zip(self.rules.fields, self.judge.seen_values(reading), strict=True)
        return {f.name: each[0] if each else None for f, each in seen if f.name in self.compared}

    def of_fields(self, fields: Mapping[str, Sequence[Any]]) -> Values:
        """The compared values of a decoding."""
        return {
            name: next((v.value for v in fields.get(name, ()) if v.value is not None), None)
            for name in self.compared
        }

    def object(self, reading: Reading) -> dict[str, Any]:
        """The object that a language model would return for a reading."""
        fields = self.judge.fields(reading)
        found: dict[str, Any] = {}
        for f in self.rules.fields:
            texts = [value.text for value in fields.get(f.name, ())]
            readable = [v.text for v in fields.get(f.name, ()) if v.value is not None]
            found[f.name] = texts if f.many else next(iter(readable or texts), None)
        return found


def sampled(problem: Problem, count: int, dice: np.random.Generator) -> np.ndarray:
    """Legal labellings by their probability: backward sums, then one word after another."""
    start, between, end = problem.scheme.allowed
    log_probs = -problem.costs
    words, labels = log_probs.shape
    onward = np.where(end, 0.0, -np.inf)  # by label, the log-weight of all that may follow it
    after = np.empty((words, labels))
    for word in range(words - 1, -1, -1):
        after[word] = log_probs[word] + onward
        top = after[word].max()
        with np.errstate(divide="ignore"):
            onward = np.log(between @ np.exp(after[word] - top)) + top
    rows = np.empty((count, words), np.intp)
    allowed = np.tile(start, (count, 1))
    for word in range(words):
        weights = np.where(allowed, np.exp(after[word] - after[word].max()), 0.0)
        shares = np.cumsum(weights, axis=1)
        drawn = dice.random(count) * shares[:, -1]
        rows[:, word] = (shares > drawn[:, None]).argmax(axis=1)
        allowed = between[rows[:, word]]
    return rows


def first(page: Page) -> Values:
    return page.values(page.readings[0])


def vote(page: Page) -> Values:
    """By field, the value that most samples have; of equals, the first."""
    seen = [page.values(reading) for reading in page.readings]
    return {n: Counter(each[n] for each in seen).most_common(1)[0][0] for n in page.compared}


def retry(page: Page) -> Values:
    """The first sample that violates nothing, or else the last."""
    for reading in page.readings:
        if all(check.state != "violated" for check in page.judge.checks(reading)):
            return page.values(reading)
    return page.values(page.readings[-1])


def best_of_n(page: Page) -> Values:
    """The sample that is worth the most."""
    pairs = zip(page.readings, page.log_probs, strict=True)
    worths = [log_prob - page.judge.weigh(reading).most for reading, log_prob in pairs]
    return page.values(page.readings[int(np.argmax(worths))])


def chosen(page: Page) -> Values:
    """``lawful.choose`` on votes."""
    objects = map(page.object, page.readings)
    candidates = Candidates.from_samples(objects, smoothing=page.smoothing)
    return page.of_fields(choose(candidates, page.rules).fields)


def chosen_by_log_probs(page: Page) -> Values:
    """``lawful.choose`` on the samples with their log-probabilities."""
    objects = map(page.object, page.readings)
    candidates = Candidates.from_samples(objects, page.log_probs, smoothing=page.smoothing)
    return page.of_fields(choose(candidates, page.rules).fields)


def full_scores(page: Page) -> Values:
    return page.of_fields(decode(page.scored.document, page.scored.scores, page.rules).fields)


WAYS: Mapping[str, Callable[[Page], Values]] = {
    "vote": vote,
    "first sample": first,
    "retry until valid": retry,
    "best of n": best_of_n,
    "choose": chosen,
    "choose, log_probs": chosen_by_log_probs,
    "full scores": full_scores,
}


def measure(outputs: str, pages: Sequence[Page], samples: int, table: Table) -> None:
    baseline: list[bool] = []
    for way, answer in WAYS.items():
        counts, right = Counts(), []
        began = perf_counter()
        answers = [answer(page) for page in pages]
        seconds = perf_counter() - began
        for page, found in zip(pages, answers, strict=True):
            for name, truth in page.truth.items():
                counts.add({found[name]} - {None}, {truth} - {None})
            right.append(all(found[name] == truth for name, truth in page.truth.items()))
        baseline = baseline or right
        fixed, broken = changes(baseline, right)
        table.add(
            {
                "outputs": outputs, "samples": samples, "way": way, "value F1": f"{counts.f1:.1%}",
                "pages right": f"{sum(right)} of {len(pages)}", "fixed": fixed, "broken": broken,
                "ms": f"{1000 * seconds / max(1, len(pages)):.1f}",
            }
        )  # fmt: skip


def main() -> None:
    arguments = study(__doc__, outputs=True, pages=int, samples="5,20", seed=0, smoothing=SMOOTHING)
    table = Table()
    for name in OUTPUTS:
        scored = outputs_of(name, arguments.pages)
        for count in numbers(arguments.samples):
            pages = [
                Page(page, rules_of(name), count, arguments.seed + i, arguments.smoothing)
                for i, page in enumerate(scored)
            ]
            measure(name, pages, count, table)


if __name__ == "__main__":
    main()
