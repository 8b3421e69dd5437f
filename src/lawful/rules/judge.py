"""The judge of one document: reads the fields that a labelling makes, and checks the rules.

A decoder asks it about thousands of labellings, most of which differ in words that no rule reads.
So verdicts are kept by what the fields are, and values by the words they are read from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from math import inf
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.document import Box, Document
from lawful.errors import RuleFailure
from lawful.labels import Scheme
from lawful.rules.model import CompiledRule, Field, Rules
from lawful.values import format_value, read

Labels: TypeAlias = NDArray[np.integer[Any]]  # (words,): label indices
State: TypeAlias = Literal["satisfied", "violated", "vacuous"]

MOST_COMBINATIONS = 64
"""Of repeated values that are tried for a rule under ``repeat: any``."""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One occurrence of a field: the text, what it was read as, and where it stands."""

    text: str
    value: Any  # none: the text could not be read as the field's type
    words: tuple[int, int]
    box: Box | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """What came of a rule: satisfied, violated, or vacuous where it could not be checked."""

    id: str
    state: State
    message: str
    weight: float = inf


Reading: TypeAlias = tuple[tuple[tuple[int, int], ...], ...]
"""By field, the word ranges of its spans: all that rules can see of a labelling."""


class Judge:
    """Reads and checks labellings of one document."""

    def __init__(self, document: Document, rules: Rules, scheme: Scheme) -> None:
        self.document = document
        self.rules = rules
        self.scheme = scheme
        self._index = {f.label: i for i, f in enumerate(rules.fields)}
        assert scheme.labels is not None  # noqa: S101 - named schemes have labels
        # A label that no rule reads is as good as any other such label.
        relevant = [scheme.type_of(i) in self._index for i in range(len(scheme))]
        self._relevant = np.where(relevant, np.arange(1, len(scheme) + 1), 0).astype(np.uint32)
        self._penalties: dict[bytes, float] = {}
        self._values: dict[tuple[int, int, int], tuple[Any, ...]] = {}
        self._kept: frozenset[str] = frozenset()

    def keep(self, labels: Labels) -> None:
        """Says which labelling is the best legal one: fields it has are the ones to keep."""
        reading = self.read(labels)
        self._kept = frozenset(
            f.name
            for f, spans in zip(self.rules.fields, reading, strict=True)
            if spans and f.presence == "keep"
        )
        self._penalties.clear()

    def read(self, labels: Labels) -> Reading:
        """Where the fields are, as a labelling has it."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.rules.fields]
        for span in self.scheme.spans(labels):
            if (index := self._index.get(span.type)) is not None:
                found[index].append((span.start, span.end))
        return tuple(map(tuple, found))

    def penalty(self, labels: Labels) -> float:
        """The weights of the violated rules, added up; ``inf`` when a hard one is among them."""
        key = self._relevant[labels].tobytes()
        penalty = self._penalties.get(key)
        if penalty is None:
            reading = self.read(labels)
            penalty = sum(c.weight for c in self._violations(reading))
            self._penalties[key] = penalty
        return penalty

    def _violations(self, reading: Reading) -> list[Check]:
        return [check for check in self.checks(reading) if check.state == "violated"]

    def checks(self, reading: Reading) -> list[Check]:
        """Every rule's check, and those of what fields imply that are violated."""
        environments = self._environments(reading)
        found = [self._check_rule(rule, environments) for rule in self.rules.compiled]
        for f, spans in zip(self.rules.fields, reading, strict=True):
            found += self._check_field(f, spans)
        return found

    def fields(self, reading: Reading) -> dict[str, list[FieldValue]]:
        """The fields with their values, for people; fields that are missing are left out."""
        found: dict[str, list[FieldValue]] = {}
        for i, (f, spans) in enumerate(zip(self.rules.fields, reading, strict=True)):
            for start, end in spans:
                values = self._read_span(i, start, end)
                found.setdefault(f.name, []).append(
                    FieldValue(
                        self.document.text(start, end),
                        values[0] if values else None,
                        (start, end),
                        self.document.box(start, end),
                        self.document.page(start),
                    )
                )
        return found

    def _read_span(self, index: int, start: int, end: int) -> tuple[Any, ...]:
        key = (index, start, end)
        values = self._values.get(key)
        if values is None:
            values = read(self.document.text(start, end), self.rules.fields[index].type)
            self._values[key] = values
        return values

    # What rules see: by field, one value, or a tuple for many, or none.

    def _environments(self, reading: Reading) -> list[dict[str, Any]]:
        """Usually one. Under ``repeat: any``, one for every choice among repeated values."""
        options: list[list[Any]] = []
        for i, (f, spans) in enumerate(zip(self.rules.fields, reading, strict=True)):
            values = [v[0] for start, end in spans if (v := self._read_span(i, start, end))]
            if f.many:
                # One that cannot be read makes a sum over all of them unknown.
                complete = len(values) == len(spans) and values
                options.append([tuple(values) if complete else None])
            elif not spans:
                options.append([f.default])
            elif f.repeat == "any" and values:
                options.append(list(dict.fromkeys(values)))
            else:
                options.append([values[0] if values else None])
        names = [f.name for f in self.rules.fields]
        return [
            dict(zip(names, choice, strict=True))
            for choice in islice(product(*options), MOST_COMBINATIONS)
        ]

    def _check_rule(self, rule: CompiledRule, environments: list[dict[str, Any]]) -> Check:
        verdicts = [self._holds(rule, environment) for environment in environments]
        if True in verdicts:
            return Check(rule.id, "satisfied", "", rule.weight)
        if False in verdicts:
            environment = environments[verdicts.index(False)]
            return Check(rule.id, "violated", _message(rule, environment), rule.weight)
        environment = environments[0]
        missing = sorted(name for name in rule.reads if environment[name] is None)
        why = f"not checked: {', '.join(missing)} missing" if missing else "does not apply"
        return Check(rule.id, "vacuous", why, rule.weight)

    def _holds(self, rule: CompiledRule, environment: Mapping[str, Any]) -> bool | None:
        if rule.when is not None and rule.when.evaluate(environment) is not True:
            return None
        if rule.expression is not None:
            return rule.expression.evaluate(environment)
        values = [environment[name] for name in rule.reads]
        if any(value is None for value in values):
            return None
        assert rule.function is not None  # noqa: S101 - it is one or the other
        try:
            result = rule.function(*values)
        except Exception as error:
            raise RuleFailure(
                f"document {self.document.id!r}, rule {rule.id!r}: {type(error).__name__}: {error}"
            ) from error
        return None if result is None else bool(result)

    def _check_field(self, f: Field, spans: tuple[tuple[int, int], ...]) -> list[Check]:
        """The violated ones among what a field implies: presence, form, and repeats that agree."""
        weight = self.rules.defaults.weight
        violated: list[Check] = []

        def violate(what: str, message: str, weight: float = weight) -> None:
            violated.append(Check(f"{f.name}:{what}", "violated", message, weight))

        if not spans:
            if f.presence == "required":
                violate("required", f"{f.name} is missing")
            elif f.name in self._kept:
                # Hard, so that no rule is ever "satisfied" by deleting what it reads.
                violate("kept", f"{f.name} was there and may not vanish", inf)
            return violated
        index = self._index[f.label]
        texts = [self.document.text(start, end) for start, end in spans]
        values = [self._read_span(index, start, end) for start, end in spans]
        for text, readings, (start, end) in zip(texts, values, spans, strict=True):
            if not readings:
                violate("reads", f"{f.name} is {text!r}, which is no {f.type}")
            if f.max_words is not None and end - start > f.max_words:
                violate("max_words", f"{f.name} is {text!r}: more than {f.max_words} words")
            if f.pattern is not None and not re.fullmatch(f.pattern, text):
                violate("pattern", f"{f.name} is {text!r}, which does not match {f.pattern!r}")
        if not f.many and f.repeat == "agree":
            distinct = list(dict.fromkeys(readings[0] for readings in values if readings))
            if len(distinct) > 1:
                violate("agrees", f"{f.name} is {' and '.join(map(format_value, distinct))}")
        return violated


def _message(rule: CompiledRule, environment: Mapping[str, Any]) -> str:
    if rule.message is not None:
        return re.sub(
            r"\{([^{}]*)\}",
            lambda match: _print(environment.get(match.group(1))),
            rule.message,
        )
    if rule.expression is not None:
        return rule.expression.explain(environment)
    values = ", ".join(f"{name} is {_print(environment[name])}" for name in rule.reads)
    return f"{rule.id} does not hold: {values}"


def _print(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, tuple):
        return ", ".join(map(format_value, value))
    return format_value(value)
