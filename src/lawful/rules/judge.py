"""The judge of one document: reads the fields that a labelling makes, and checks the rules.

A decoder asks it about thousands of labellings, most of which differ in words that no rule reads.
So verdicts are kept by what the fields are, and values by the words they are read from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from math import inf, prod
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.document import Box, Document
from lawful.errors import RuleFailure
from lawful.labels import Scheme
from lawful.rules import wording
from lawful.rules.definitions import CompiledRule, Field, Rules
from lawful.rules.nodes import COUNT, plain
from lawful.rules.settle import Settler
from lawful.rules.spans import Cost, Occurrence, Reading, Spans
from lawful.values import format_value, read

Labels: TypeAlias = NDArray[np.integer[Any]]  # (words,): label indices
State: TypeAlias = Literal["satisfied", "violated", "vacuous"]

Verdict: TypeAlias = Literal["satisfied", "violated", "missing", "idle", "undecided"]
"""What came of a rule: ``missing`` and ``idle``, where it does not apply, are both vacuous.
``undecided``: there were more combinations of values than could be tried."""

_STATES: Mapping[Verdict, State] = {
    "satisfied": "satisfied",
    "violated": "violated",
    "missing": "vacuous",
    "idle": "vacuous",
    "undecided": "vacuous",
}

MOST_COMBINATIONS = 2**12
"""Of repeated values that are tried for a rule under ``repeat: any``; beyond, it is undecided."""

MOST_SPANS_HELD = 2**18
"""Spans in what is remembered of labellings, some 100 bytes each; beyond, all is forgotten."""

_BETWEEN_LOOKS = 32  # combinations between two looks at the time


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One occurrence of a field: the text, what it was read as, and where it stands."""

    text: str
    value: Any  # none: the text could not be read as the field's type
    words: tuple[int, int]
    box: Box | None = None
    page: int | None = None
    reading: int = 0  # which of the text's readings the value is, the most plausible being 0


@dataclass(frozen=True, slots=True)
class Check:
    """What came of a rule: satisfied, violated, or vacuous where it could not be checked.

    ``price`` is what it costs as it came out: the weight of a violated rule, or of one that is not
    checked what leaving it so costs. ``implied``: no rule of its own, but what a field asks for.
    """

    id: str
    state: State
    message: str
    weight: float = inf
    price: float = 0.0
    implied: bool = False
    decided: bool = True  # false: vacuous because there were too many combinations, or no time

    def __str__(self) -> str:
        return f"{self.state} {self.id}" + (f": {self.message}" if self.message else "")


class _Sight(NamedTuple):
    """What rules see of one field."""

    options: list[Any]  # the values it may have
    occurs: int  # how often
    penalty: float  # the weights that it violates by itself


class Judge:
    """Reads and checks labellings of one document."""

    def __init__(self, document: Document, rules: Rules, scheme: Scheme) -> None:
        self.document = document
        self.rules = rules
        self.scheme = scheme
        self._index = {f.label: i for i, f in enumerate(rules.fields)}
        self._relevant = scheme.labels_of(tuple(self._index))
        self._costs: dict[bytes, Cost] = {}
        self._values: dict[tuple[str, int, int], tuple[Any, ...]] = {}
        self._sights: dict[tuple[int, Spans], _Sight] = {}
        self._names = [f.name for f in rules.fields]
        self._types = [f.type for f in rules.fields]
        self._faults: dict[tuple[int, int, int], tuple[str, ...]] = {}
        self._kept: frozenset[str] = frozenset()
        self._settler: Settler | None = None
        self._choices: dict[Any, tuple[Verdict, dict[str, Any]]] = {}
        self._spans_held = 0  # in what is remembered of labellings

    def keep(self, labels: Labels) -> None:
        """Says which labelling is the best legal one: fields it has are the ones to keep."""
        self.keep_fields(
            f.name
            for i, (f, spans) in enumerate(zip(self.rules.fields, self.read(labels), strict=True))
            if f.presence == "keep" and self._is_readable(i, spans)
        )

    def keep_fields(self, names: Iterable[str]) -> None:
        """Says which fields may not be missing."""
        self._kept = frozenset(names)
        self._costs.clear()
        self._sights.clear()

    @property
    def kept(self) -> frozenset[str]:
        """The fields that may not be missing."""
        return self._kept

    def read(self, labels: Labels) -> Reading:
        """Where the fields are, as a labelling has it."""
        found: list[list[Occurrence]] = [[] for _ in self.rules.fields]
        for type_, start, end in self.scheme.spans(labels, self._relevant):
            found[self._index[type_]].append(Occurrence(start, end))
        return tuple(map(tuple, found))

    def tells_apart(self, one: Labels, other: Labels) -> bool:
        """Whether two labellings differ in a word that some field has in either of them."""
        differ = one != other
        return bool((self._relevant[one[differ]] | self._relevant[other[differ]]).any())

    def settle(self, reading: Reading, until: float = inf) -> tuple[Reading, Cost]:
        """The same spans with their texts read so as to cost the least, and what that costs.

        The cost is the weights of violated rules, the prices of readings that are not the most
        plausible, and of rules left unchecked; of equals, the more plausible reading. Where time
        ends first (``until``, as ``perf_counter`` has it), the best so far, and what may be left.
        """
        cost = self.weigh(reading, until)
        if cost.most == 0 or not self._is_ambiguous(reading):
            return reading, cost
        if self._settler is None:
            self._settler = Settler(self)
        return self._settler.settle(reading, cost, until)

    def _is_ambiguous(self, reading: Reading) -> bool:
        return any(
            len(self.readings(i, span.start, span.end)) > 1
            for i, (f, spans) in enumerate(zip(self.rules.fields, reading, strict=True))
            if f.ambiguity != inf
            for span in spans
        )

    def weigh(self, reading: Reading, until: float = inf) -> Cost:
        """What a reading costs: the weights it violates, and the prices of all that has one."""
        return self._cost_of_rules(reading, until).plus(self.price(reading))

    def seen_values(self, reading: Reading) -> tuple[Any, ...]:
        """What a person takes from the fields: their values, of one that is no list the first."""
        values = (self._values_of(i, spans) for i, spans in enumerate(reading))
        return tuple(
            tuple(found if f.many else found[:1])
            for f, found in zip(self.rules.fields, values, strict=True)
        )

    def price(self, reading: Reading) -> float:
        """What it costs to read texts in other ways than the most plausible ones."""
        return sum(
            f.ambiguity or 0.0
            for f, spans in zip(self.rules.fields, reading, strict=True)
            for span in spans
            if span.reading
        )

    def costs(self, rows: NDArray[np.integer[Any]], until: float = inf) -> Iterator[Cost]:
        """For each labelling, what it costs when its texts are read as is best for it.

        Labels that no rule reads are all alike, so what is not new is looked up.
        """
        # A label that no rule reads is as good as any other such label.
        size = len(self.scheme)
        codes = np.where(self._relevant, np.arange(1, size + 1), 0)
        codes = np.ascontiguousarray(codes.astype(np.min_scalar_type(size))[rows])
        if not codes.shape[1]:
            yield from (self.cost(row, until) for row in rows)
            return
        keys = codes.view(np.dtype((np.void, codes.itemsize * codes.shape[1])))
        for key, row in zip(keys[:, 0].tolist(), rows, strict=True):
            cost = self._costs.get(key)
            if cost is None:
                cost = self._costs[key] = self.cost(row, until)
            yield cost

    def cost(self, labels: Labels, until: float = inf) -> Cost:
        """What a labelling costs, as ``checks`` would have it."""
        return self.settle(self.read(labels), until)[1]

    def _cost_of_rules(self, reading: Reading, until: float) -> Cost:
        sights = self._see_all(reading)
        environment = _environment(sights)
        least = most = sum(sight.penalty for sight in sights.values())
        for rule in self.rules.compiled:
            verdict, _ = self._judge_rule(rule, sights, environment, until)
            price = _price(rule, verdict)
            most += price
            least += 0.0 if verdict == "undecided" else price
        return Cost(most, least)

    def _see_all(self, reading: Reading) -> dict[str, _Sight]:
        return {name: self._see(i, reading[i]) for i, name in enumerate(self._names)}

    def _see(self, index: int, spans: Spans) -> _Sight:
        """What rules see of one field; most labellings share it with many others."""
        key = (index, spans)
        sight = self._sights.get(key)
        if sight is None:
            f = self.rules.fields[index]
            penalty = sum(weight for _, _, weight in self._faults_of_field(index, spans))
            sight = _Sight(self._options(f, index, spans), len(spans), penalty)
            self._spans_held += len(spans) + 1
            if self._spans_held > MOST_SPANS_HELD:  # long documents: each labelling has thousands
                self._spans_held = 0
                self._sights.clear()
                self._costs.clear()
                self._choices.clear()
            self._sights[key] = sight
        return sight

    def checks(self, reading: Reading, until: float = inf) -> list[Check]:
        """Every rule's check, and those of what fields imply that are violated."""
        sights = self._see_all(reading)
        environment = _environment(sights)
        found = [self._check_rule(rule, sights, environment, until) for rule in self.rules.compiled]
        for i, spans in enumerate(reading):
            found += (
                Check(
                    f"{self._names[i]}:{what}",
                    "violated",
                    self._complaint(i, what, span),
                    weight,
                    price=weight,
                    implied=True,
                )
                for what, span, weight in self._faults_of_field(i, spans)
            )
        return found

    def fields(self, reading: Reading) -> dict[str, list[FieldValue]]:
        """The fields with their values, for people; fields that are missing are left out."""
        found: dict[str, list[FieldValue]] = {}
        for i, (f, spans) in enumerate(zip(self.rules.fields, reading, strict=True)):
            for start, end, which in spans:
                values = self.readings(i, start, end)
                found.setdefault(f.name, []).append(
                    FieldValue(
                        self.document.text(start, end),
                        values[which] if values else None,
                        (start, end),
                        self.document.box(start, end),
                        self.document.page(start),
                        which,
                    )
                )
        return found

    def readings(self, index: int, start: int, end: int) -> tuple[Any, ...]:
        """What the text of a span may mean as a value of the field, the most plausible first."""
        type_ = self._types[index]
        key = (type_, start, end)
        values = self._values.get(key)
        if values is None:
            values = self._values[key] = read(self.document.text(start, end), type_)
        return values

    def _values_of(self, index: int, spans: Spans) -> list[Any]:
        """The values of the spans that can be read."""
        return [
            values[which]
            for start, end, which in spans
            if (values := self.readings(index, start, end))
        ]

    # What a search asks about one span, or about the field that has none.

    def faults(self, index: int, start: int, end: int) -> float:
        """The weights that a span violates by itself, whatever the rest of the document says."""
        faults = self._faults_of_span(index, start, end)
        return self.rules.defaults.weight * len(faults) if faults else 0.0

    def missing(self, index: int) -> float:
        """The weights that are violated where the field is not there."""
        f = self.rules.fields[index]
        if f.presence == "required":
            return self.rules.defaults.weight
        return inf if f.name in self._kept else 0.0

    # What rules see: by field, one value, or a tuple for many, or none.

    def _options(self, f: Field, index: int, spans: Spans) -> list[Any]:
        """The values that a field may have for a rule: several only under ``repeat: any``."""
        values = self._values_of(index, spans)
        if f.many:
            # One that cannot be read makes a sum over all of them unknown.
            return [tuple(values) if values and len(values) == len(spans) else None]
        if not spans:
            return [f.default]
        if f.repeat == "any" and values:
            return list(dict.fromkeys(values))
        return [values[0] if values else None]

    def _judge_rule(
        self,
        rule: CompiledRule,
        sights: dict[str, _Sight],
        environment: dict[str, Any],
        until: float,
    ) -> tuple[Verdict, dict[str, Any]]:
        """What came of a rule, and the values that show it.

        Under ``repeat: any`` a rule holds if it holds for some choice among repeated values.
        """
        verdict = self._judge_values(rule, environment)
        several = [name for name in rule.names if len(sights[name].options) > 1]
        if verdict == "satisfied" or not several:
            return verdict, environment
        key = rule.id, *((tuple(sights[n].options), sights[n].occurs) for n in sorted(rule.names))
        known = self._choices.get(key)
        if known is None:
            known = self._try_choices(rule, several, sights, environment, until)
            if known[0] != "undecided" or perf_counter() < until:
                self._choices[key] = known
        return known

    def _try_choices(
        self,
        rule: CompiledRule,
        several: list[str],
        sights: dict[str, _Sight],
        environment: dict[str, Any],
        until: float,
    ) -> tuple[Verdict, dict[str, Any]]:
        """What came of a rule whose fields have several values each."""
        choices = product(*(sights[name].options for name in several))
        verdicts: dict[Verdict, dict[str, Any]] = {}
        for tried, choice in enumerate(islice(choices, MOST_COMBINATIONS)):
            if tried % _BETWEEN_LOOKS == 0 and tried and perf_counter() > until:
                return "undecided", environment
            chosen = environment | dict(zip(several, choice, strict=True))
            verdict = self._judge_values(rule, chosen)
            if verdict == "satisfied":
                return verdict, chosen
            verdicts.setdefault(verdict, chosen)
        if prod(len(sights[name].options) for name in several) > MOST_COMBINATIONS:
            return "undecided", environment
        found = next(v for v in ("violated", "missing", "idle") if v in verdicts)
        return found, verdicts[found]

    def _check_rule(
        self,
        rule: CompiledRule,
        sights: dict[str, _Sight],
        environment: dict[str, Any],
        until: float,
    ) -> Check:
        verdict, environment = self._judge_rule(rule, sights, environment, until)
        return Check(
            rule.id,
            _STATES[verdict],
            _message(rule, verdict, environment),
            rule.weight,
            price=_price(rule, verdict),
            decided=verdict != "undecided",
        )

    def _judge_values(self, rule: CompiledRule, environment: Mapping[str, Any]) -> Verdict:
        """What a rule says of one value for each field."""
        applies = None if rule.when is None else rule.when.evaluate(environment)
        if applies is False:
            return "idle"
        if rule.when is not None and applies is None:
            return "missing"
        if rule.expression is not None:
            holds = rule.expression.evaluate(environment)
        elif any(environment[name] is None for name in rule.reads):
            holds = None
        else:
            holds = self._call(rule, [environment[name] for name in rule.reads])
            if holds is None:
                return "idle"
        return "missing" if holds is None else "satisfied" if holds else "violated"

    def _call(self, rule: CompiledRule, values: list[Any]) -> bool | None:
        """What a rule that is a function says."""
        assert rule.function is not None  # noqa: S101 - it is one or the other
        try:
            result = rule.function(*values)
        except Exception as error:
            raise RuleFailure(
                f"document {self.document.id!r}, rule {rule.id!r}: {type(error).__name__}: {error}"
            ) from error
        if result is not None and not isinstance(result, bool | np.bool_):
            raise RuleFailure(
                f"document {self.document.id!r}, rule {rule.id!r}: it returned {result!r}, "
                "expected True, False or None"
            )
        return None if result is None else bool(result)

    # What fields imply: what is wrong, with which spans, and what it weighs.

    def _faults_of_field(self, index: int, spans: Spans) -> list[tuple[str, Spans, float]]:
        """Presence, the form of each span, and repeats that agree: whatever is violated."""
        f, weight = self.rules.fields[index], self.rules.defaults.weight
        found: list[tuple[str, Spans, float]] = [
            (what, (span,), weight)
            for span in spans
            for what in self._faults_of_span(index, span.start, span.end)
        ]
        if not self._is_readable(index, spans):
            if f.presence == "required":
                found.append(("required", spans, weight))
            elif f.name in self._kept:
                # Hard, so that no rule is ever "satisfied" by taking away what it reads.
                found.append(("kept", spans, inf))
        one = len(spans) < 2 or f.many or f.repeat != "agree"
        if not one and len(dict.fromkeys(self._values_of(index, spans))) > 1:
            found.append(("agrees", spans, weight))
        return found

    def _complaint(self, index: int, what: str, spans: Spans) -> str:
        """What is wrong, in words."""
        f = self.rules.fields[index]
        if what == "required":
            return f"{f.name} is missing"
        if what == "kept":
            return f"{f.name} was there and may not vanish"
        if what == "agrees":
            distinct = dict.fromkeys(self._values_of(index, spans))
            return f"{f.name} is {' and '.join(map(format_value, distinct))}"
        text = self.document.text(spans[0].start, spans[0].end)
        return (
            f"{f.name} is {text!r}"
            + {
                "reads": f", which is no {f.type}",
                "max_words": f": more than {f.max_words} words",
                "pattern": f", which does not match {f.pattern!r}",
            }[what]
        )

    def _is_readable(self, index: int, spans: Spans) -> bool:
        """Whether a field is really there: with one text at least that its type can read."""
        return any(self.readings(index, start, end) for start, end, _ in spans)

    def _faults_of_span(self, index: int, start: int, end: int) -> tuple[str, ...]:
        """What is wrong with one span by itself, whatever the rest of the document says."""
        key = (index, start, end)
        faults = self._faults.get(key)
        if faults is None:
            faults = self._faults[key] = tuple(self._find_faults(index, start, end))
        return faults

    def _find_faults(self, index: int, start: int, end: int) -> Iterator[str]:
        f = self.rules.fields[index]
        if not self.readings(index, start, end):
            yield "reads"
        if f.max_words is not None and end - start > f.max_words:
            yield "max_words"
        if f.pattern is not None and not re.fullmatch(f.pattern, self.document.text(start, end)):
            yield "pattern"


def _environment(sights: dict[str, _Sight]) -> dict[str, Any]:
    """What expressions look their names up in."""
    environment: dict[str, Any] = {}
    for name, sight in sights.items():
        environment[name] = sight.options[0]
        environment[COUNT + name] = sight.occurs
    return environment


def _price(rule: CompiledRule, verdict: Verdict) -> float:
    """What a rule costs as it came out; the most that it may cost where that is not decided."""
    if verdict == "violated":
        return rule.weight
    if verdict == "undecided":
        return max(rule.weight, rule.unchecked)
    return rule.unchecked if verdict == "missing" else 0.0


def _message(rule: CompiledRule, verdict: Verdict, environment: Mapping[str, Any]) -> str:
    if verdict == "violated":
        return _complaint(rule, environment)
    if verdict == "satisfied":
        if rule.expression is not None:
            return wording.why_satisfied(rule.expression, environment)
        return _values_of(rule, environment)
    if verdict == "missing":
        missing = sorted(name for name in rule.reads if environment[name] is None)
        return f"not checked: {', '.join(missing)} missing" if missing else "not checked"
    if verdict == "idle":
        return "does not apply"
    return f"not decided: more than {MOST_COMBINATIONS:,} combinations of values, or no time"


def _complaint(rule: CompiledRule, environment: Mapping[str, Any]) -> str:
    if rule.message is not None:
        return re.sub(
            r"\{([^{}]*)\}",
            lambda match: plain(environment.get(match.group(1))),
            rule.message,
        )
    if rule.expression is not None:
        return wording.why_violated(rule.expression, environment)
    return f"{rule.id} does not hold: {_values_of(rule, environment)}"


def _values_of(rule: CompiledRule, environment: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} is {plain(environment[name])}" for name in rule.reads)
