"""All statements of a decoding about a small document, by brute force.

This is the specification of ``lawful.decode``, written from the definitions. It uses lawful for
fields, rules and scores, and to choose among ties for the best legal labelling: the one that
``lawful.paths`` yields first. Values of texts are in a table and checks are Python functions, both
written by hand; labellings are enumerated.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import exp, inf
from typing import NamedTuple

import numpy as np

import lawful
from tests.oracles.checks_by_hand import hand_made, possible_values, strict
from tests.oracles.streams import LEGAL

# Labellings.


class Span(NamedTuple):
    """The words from ``start`` to ``end``, exclusive, as a span of the field with this index."""

    field: int
    start: int
    end: int


def split(label, scheme):
    """The prefix and type of a label; one without prefix is outside or, under IO, a type."""
    if label == "O":
        return "O", None
    if label[1:2] == "-":
        return label[0], label[2:]
    return ("I", label) if scheme == "IO" else ("O", None)


def spans_of(labels, scheme, types):
    """The spans of ``types`` in a legal labelling."""
    spans, before = [], None
    for at, (prefix, type_) in enumerate(split(label, scheme) for label in labels):
        if type_ in types:
            if prefix in "BSU" or type_ != before:
                spans.append(Span(types.index(type_), at, at + 1))
            else:
                spans[-1] = spans[-1]._replace(end=at + 1)
        before = type_
    return tuple(spans)


ALIASES = {"IOB2": "BIO", "BIOES": "IOBES"}


def is_legal(labels, scheme):
    return LEGAL[ALIASES.get(scheme, scheme)](labels)


@lru_cache(maxsize=2000)
def legal_labellings(scheme, labels, words, types):
    """All legal labellings, grouped by their spans of ``types``.

    Returns rows of label indices, the first row of each group, and the spans of each group.
    """
    groups = {}
    for row in product(range(len(labels)), repeat=words):
        names = [labels[number] for number in row]
        if is_legal(names, scheme):
            groups.setdefault(spans_of(names, scheme, types), []).append(row)
    rows = np.array([row for group in groups.values() for row in group], np.intp)
    sizes = [0, *(len(group) for group in groups.values())]
    return rows.reshape(-1, words), np.cumsum(sizes[:-1]), tuple(groups)


# Worth.


class Verdict(NamedTuple):
    """The rules' verdict on one reading."""

    cost: float
    violated: frozenset[str]
    satisfied: frozenset[str]  # rules only, no implied checks
    seen: tuple[tuple, ...]  # by field: all values of a list, the first of any other field


class Pair(NamedTuple):
    """All labellings with one reading: the log-probability of the best, and the mass of all."""

    log_prob: float
    mass: float
    verdict: Verdict

    @property
    def worth(self):
        return self.log_prob - self.verdict.cost


def plain(value):
    """A value of lawful as a value of the oracle, which has numbers as fractions."""
    return Fraction(value) if isinstance(value, int | Decimal) else value


class Oracle:
    """A document with scores and rules, and all true statements about it."""

    def __init__(self, document, scores, rules):
        self.words, self.rules, self.scheme = document.words, rules, rules.scheme
        self.fields, self.weight = rules.fields, rules.defaults.weight
        self.types = tuple(field.label for field in self.fields)
        self.names = tuple(field.name for field in self.fields)
        self._looks, self._verdicts = {}, {}
        self._log_probs = dict(zip(scores.labels, scores.log_probs.T, strict=True))
        self._resolve()

        labels = tuple(sorted(scores.labels))
        rows, starts, groups = legal_labellings(self.scheme, labels, len(document), self.types)
        by_word = np.array([self._log_probs[label] for label in labels]).T  # (words, labels)
        log_probs = by_word[np.arange(len(document)), rows].sum(axis=1)
        self.best_legal = float(log_probs.max(initial=-inf))
        self.kept = self._kept_by(scores) if self.best_legal > -inf else frozenset()
        self.pairs = []
        if len(rows):
            best = np.maximum.reduceat(log_probs, starts).tolist()
            mass = np.add.reduceat(np.exp(log_probs), starts).tolist()
            for spans, *of_labellings in zip(groups, best, mass, strict=True):
                if of_labellings[0] > -inf:
                    self.pairs.extend(self._read(spans, *of_labellings))

        self.worths, self.masses = {}, {}  # by the values seen
        for pair in self.pairs:
            if pair.worth > -inf:
                seen = pair.verdict.seen
                self.worths[seen] = max(self.worths.get(seen, -inf), pair.worth)
                mass = pair.mass * exp(-pair.verdict.cost)
                self.masses[seen] = self.masses.get(seen, 0.0) + mass
        self.best = max(self.worths.values(), default=-inf)

    def best_without(self, seen):
        """The highest worth of a reading with other values than these."""
        return max((w for values, w in self.worths.items() if values not in seen), default=-inf)

    def probability(self, field, values):
        """The probability that a field has these values."""
        there = sum(mass for seen, mass in self.masses.items() if seen[field] == values)
        return there / sum(self.masses.values())

    def can_hold(self, demands):
        """Whether some reading meets all of these hard conditions."""
        return any(not (self._broken(pair.verdict) & set(demands)) for pair in self.pairs)

    def demands(self):
        """The ids of all hard conditions."""
        rules = {rule.id for rule, weight, *_ in self._rules if weight == inf}
        required = {f"{f.name}:required" for f in self.fields if f.presence == "required"}
        own = {name for name in self.rules.defaults.weights if not name.endswith(":required")}
        implied = {name for name in required | own if self.weight_of(name) == inf}
        of_file = {"every span"} if self.weight == inf else set()
        return rules | {f"{name}:kept" for name in self.kept} | implied | of_file

    def weight_of(self, name):
        """The weight of an implied condition: its own, or that of the file."""
        return self.rules.defaults.weights.get(name, self.weight)

    def spans_of(self, labels):
        return spans_of(labels, self.scheme, self.types)

    def is_legal(self, labels):
        return is_legal(labels, self.scheme)

    def log_prob(self, labels):
        return float(sum(self._log_probs[label][at] for at, label in enumerate(labels)))

    def text(self, span):
        return " ".join(self.words[span.start : span.end])

    def judge(self, spans, values):
        """The verdict on these spans with these values; ``None`` for a text without a value."""
        by_field, violated, price = [[] for _ in self.fields], [], 0.0
        for span, value in zip(spans, values, strict=True):
            found, faults = self.look(span)
            by_field[span.field].append(value)
            violated += faults
            if found and value != found[0]:
                price += self.fields[span.field].ambiguity
        by_field = tuple(map(tuple, by_field))
        if by_field not in self._verdicts:
            self._verdicts[by_field] = self._judge_values(by_field)
        verdict = self._verdicts[by_field]
        cost = verdict.cost + price + sum(map(self.weight_of, violated))
        return verdict._replace(cost=cost, violated=verdict.violated.union(violated))

    def look(self, span):
        """The allowed values of a span, and the implied checks that it violates by itself."""
        if span not in self._looks:
            field, text = self.fields[span.field], self.text(span)
            found = possible_values(text, field.type)
            faults = [
                (not found, "reads"),
                (field.max_words and span.end - span.start > field.max_words, "max_words"),
                (field.pattern and not re.fullmatch(field.pattern, text), "pattern"),
            ]
            allowed = found if field.ambiguity < inf else found[:1]
            names = [f"{field.name}:{fault}" for there, fault in faults if there]
            self._looks[span] = allowed, names
        return self._looks[span]

    def _resolve(self):
        """For each rule: itself, weight, price if vacuous, check and condition, reads."""
        defaults = self.rules.defaults
        known = {*self.names, *(f"count_{name}" for name in self.names), "t"}
        self._rules = []
        for rule in self.rules.rules:
            asked = [
                (strict(rule.check), rule.reads) if callable(rule.check) else hand_made(rule.check)
            ]
            asked += [] if rule.when is None else [hand_made(rule.when)]
            reads = tuple(sorted({name for _, names in asked for name in names}))
            assert known.issuperset(reads), f"{rule} reads a field that is not there"
            weight = defaults.weight if rule.weight is None else rule.weight
            price = defaults.unchecked if rule.unchecked is None else rule.unchecked
            tolerance = Fraction(defaults.tolerance if rule.tolerance is None else rule.tolerance)
            self._rules.append((rule, weight, price, asked, reads, tolerance))

    def _kept_by(self, scores):
        """The fields with presence keep that have a value in the best legal labelling."""
        scheme = self.rules.scheme_for(scores.labels)
        best, _ = next(lawful.paths(scores.costs, scheme, kind="costs"))
        spans = self.spans_of([scores.labels[number] for number in best])
        there = {span.field for span in spans if self.look(span)[0]}
        return frozenset(self.names[i] for i in there if self.fields[i].presence == "keep")

    def _read(self, spans, log_prob, mass):
        """All readings of a group of labellings with the same spans."""
        for values in product(*(self.look(span)[0] or (None,) for span in spans)):
            yield Pair(log_prob, mass, self.judge(spans, values))

    def _broken(self, verdict):
        """The violations of a verdict, named as in ``demands``."""
        of_spans = (":reads", ":max_words", ":pattern", ":agrees")
        shared = verdict.violated - set(self.rules.defaults.weights)
        every = any(name.endswith(of_spans) for name in shared)
        return verdict.violated | {"every span"} if every else verdict.violated

    def _judge_values(self, by_field):
        violated, satisfied, seen, cost = [], [], [], 0.0
        options = {}  # by name: the values that rules may use
        for field, values in zip(self.fields, by_field, strict=True):
            name = field.name
            readable = tuple(value for value in values if value is not None)
            if field.presence == "required" and not readable:
                violated.append(f"{name}:required")
                cost += self.weight_of(f"{name}:required")
            if name in self.kept and not readable:
                violated.append(f"{name}:kept")
                cost = inf
            if not field.many and field.repeat == "agree" and len(set(readable)) > 1:
                violated.append(f"{name}:agrees")
                cost += self.weight_of(f"{name}:agrees")
            seen.append(readable if field.many else readable[:1])
            options[f"count_{name}"] = [len(values)]
            if field.many:
                options[name] = [values if values and None not in values else None]
            elif not values:
                options[name] = [plain(field.default)]
            else:
                options[name] = (readable if field.repeat == "any" else readable[:1]) or [None]
        for rule, weight, unchecked, asked, reads, tolerance in self._rules:
            options["t"] = [tolerance]
            state, price = _ask(rule, asked, reads, [options[name] for name in reads], unchecked)
            cost += weight if state is False else price
            if state is not None:
                (satisfied if state else violated).append(rule.id)
        return Verdict(cost, frozenset(violated), frozenset(satisfied), tuple(seen))


def _ask(rule, asked, reads, options, unchecked):
    """Whether a rule is satisfied, over all combinations of values, and its price if vacuous."""
    states, price = set(), 0.0
    for combination in product(*options):
        values = dict(zip(reads, combination, strict=True))
        check, *when = (f(*(values[name] for name in names)) for f, names in asked)
        states.add(check if when in ([], [True]) else None)
        declined = (
            when in ([], [True])
            and callable(rule.check)
            and None not in [values[name] for name in rule.reads]
        )
        if when != [False] and not declined:
            price = unchecked
    if True in states:
        return True, 0.0
    return (False, 0.0) if False in states else (None, price)
