"""Comparing decodings with the truth: entities, and the values that a user reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lawful.decoding import Decoding
from lawful.errors import InputError
from lawful.readers.jsonl import Scored
from lawful.rules.judge import Judge
from lawful.rules.model import Rules


@dataclass(slots=True)
class Counts:
    """True positives, and how many were found and how many there are."""

    right: int = 0
    found: int = 0
    true: int = 0

    def add(self, found: set[Any], true: set[Any]) -> None:
        """Counts one document."""
        self.right += len(found & true)
        self.found += len(found)
        self.true += len(true)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; one when there was nothing to find."""
        return 2 * self.right / (self.found + self.true) if self.found + self.true else 1.0


@dataclass(slots=True)
class Scoreboard:
    """How one way of decoding did on documents whose true labels are known.

    A value is a field's, as read; only fields that a rule reads and that have one value count.
    A page is right when all its values are.
    """

    rules: Rules
    entities: Counts = field(default_factory=Counts)
    values: Counts = field(default_factory=Counts)
    pages: int = 0
    satisfied: int = 0
    checked: int = 0
    passed: int = 0
    unchecked: int = 0
    right_pages: list[bool] = field(default_factory=list)

    def add(self, scored: Scored, decoding: Decoding) -> None:
        """Counts one document, which must have gold labels."""
        if scored.gold is None:
            raise InputError(f"document {scored.document.id!r} has no gold labels")
        scheme = self.rules.scheme_for(scored.scores.labels)
        judge = Judge(scored.document, self.rules, scheme)
        gold = scheme.indices(scored.gold)
        found = scheme.indices(decoding.labels)
        self.entities.add(set(scheme.spans(found)), set(scheme.spans(gold)))
        found_values, true_values = (_values(judge, labels) for labels in (found, gold))
        self.values.add(found_values, true_values)
        self.right_pages.append(found_values == true_values)
        self.pages += 1
        self.satisfied += decoding.status == "satisfied"
        names = {rule.id for rule in self.rules.compiled}
        checks = judge.checks(judge.settle(judge.read(found))[0])
        states = [check.state for check in checks if check.id in names]
        self.passed += states.count("satisfied")
        self.unchecked += states.count("vacuous")
        self.checked += len(states) - states.count("vacuous")

    def against(self, baseline: Scoreboard) -> tuple[int, int]:
        """Pages fixed and pages broken, compared with another way of decoding them."""
        pairs = list(zip(self.right_pages, baseline.right_pages, strict=True))
        fixed = sum(mine and not theirs for mine, theirs in pairs)
        return fixed, sum(theirs and not mine for mine, theirs in pairs)


def _values(judge: Judge, labels: np.ndarray) -> set[tuple[str, Any]]:
    read = {name for rule in judge.rules.compiled for name in rule.reads}
    fields = judge.fields(judge.settle(judge.read(labels))[0])
    return {
        (f.name, value.value if value.value is not None else value.text)
        for f in judge.rules.fields
        if f.name in read and not f.many
        for value in fields.get(f.name, ())[:1]
    }
