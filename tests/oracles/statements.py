"""All statements of a decoding about a small document, by brute force.

This is the specification of ``lawful.decode``, written from the definitions. It uses lawful for
fields, rules and scores, and to choose among ties for the best legal labelling: the one that
``lawful.paths`` yields first. Values of texts are in a table and checks are Python functions, both
written by hand; rows, places and orders follow from ``tests.oracles.pages``; labellings are
enumerated.
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
from tests.oracles.checks_by_hand import possible_values, strict
from tests.oracles.pages import (
    PLACES,
    Found,
    first_value,
    given_value,
    late_spans,
    place_of,
    rows_of,
)
from tests.oracles.row_checks_by_hand import hand_made
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

UNCHECKED_ROW = 0.0
"""The price of a row on which a rule without a price of its own cannot be checked."""


class Violation(NamedTuple):
    """A violated rule or condition, its weight, and its name among the demands of a clash."""

    id: str
    weight: float
    demand: str


class Verdict(NamedTuple):
    """The rules' verdict on one reading."""

    cost: float
    violations: tuple[Violation, ...]
    holding: tuple[str, ...]  # the ids of rules that are satisfied; for rows, once per row
    seen: tuple[tuple, ...]  # by field: all values of a list, the first of any other field

    @property
    def violated(self):
        return {violation.id for violation in self.violations}

    @property
    def satisfied(self):
        return set(self.holding)

    @property
    def broken(self):
        """The demands that are not met."""
        return {violation.demand for violation in self.violations if violation.weight == inf}


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
        self.document, self.rules, self.scheme = document, rules, rules.scheme
        self.words = document.words
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

    @property
    def fallback(self):
        """The log-probability of the answer if everything violates what is hard."""
        return self.best_legal

    def best_without(self, seen):
        """The highest worth of a reading with other values than these."""
        return max((w for values, w in self.worths.items() if values not in seen), default=-inf)

    def probability(self, field, values):
        """The probability that a field has these values."""
        there = sum(mass for seen, mass in self.masses.items() if seen[field] == values)
        return there / sum(self.masses.values())

    def can_hold(self, demands):
        """Whether some reading meets all of these hard conditions."""
        return any(not (pair.verdict.broken & set(demands)) for pair in self.pairs)

    def demands(self):
        """The ids of all hard conditions."""
        rules = {rule.id for rule, weight, *_ in self._rules if weight == inf}
        orders = {order.id for order in self.rules.orders if order.weight == inf}
        required = {f"{f.name}:required" for f in self.fields if f.presence == "required"}
        own = {name for name in self.rules.defaults.weights if not name.endswith(":required")}
        implied = {name for name in required | own if self.weight_of(name) == inf}
        of_spans = [rule.weight for rule in (*self.rules.words, self.rules.boundaries) if rule]
        shared = {"every span"} if inf in (self.weight, *of_spans) else set()
        return rules | orders | {f"{name}:kept" for name in self.kept} | implied | shared

    def weight_of(self, name):
        """The weight of an implied condition: its own, or the file's, of a boundary up to 5."""
        most = 5 if name.endswith(":boundary") and self.weight < inf else inf
        return self.rules.defaults.weights.get(name, min(self.weight, most))

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
        by_field, violations, price = [[] for _ in self.fields], [], 0.0
        for span, value in zip(spans, values, strict=True):
            allowed, faults = self.look(span)
            by_field[span.field].append(value)
            violations += faults
            if allowed and value != allowed[0]:
                price += self.fields[span.field].ambiguity
        key = tuple(map(tuple, by_field)), spans if self._places_matter else None
        if key not in self._verdicts:
            found = [
                Found(self.names[span.field], span.start, span.end, value)
                for span, value in zip(spans, values, strict=True)
            ]
            self._verdicts[key] = self._judge_values(key[0], found)
        verdict = self._verdicts[key]
        cost = verdict.cost + price + sum(violation.weight for violation in violations)
        return verdict._replace(cost=cost, violations=(*verdict.violations, *violations))

    def look(self, span):
        """The allowed values of a span, and the implied conditions that it violates by itself."""
        if span not in self._looks:
            field, text = self.fields[span.field], self.text(span)
            words, rules = self.words[span.start : span.end], self.rules
            found = possible_values(text, field.type)
            faults = [
                (not found, "reads"),
                (field.max_words and len(words) > field.max_words, "max_words"),
                (field.pattern and not re.fullmatch(field.pattern, text), "pattern"),
                (field.starts and not re.search(field.starts, words[0]), "starts"),
                (field.ends and not re.search(field.ends, words[-1]), "ends"),
                (field.lexicon and not is_listed(text, field.lexicon), "in"),
            ]
            violations = [self._violation(field, fault) for there, fault in faults if there]
            for word, rule in product(words, rules.words):
                meant = re.search(rule.match, word) if rule.match else is_listed(word, rule.lexicon)
                if meant and field.name not in rule.only:
                    violations.append(self._violation(field, "words", rule.weight))
            at = rules.boundaries
            if at and span.start and not re.search(at.after, self.words[span.start - 1]):
                violations.append(self._violation(field, "boundary", at.weight))
            self._looks[span] = found if field.ambiguity < inf else found[:1], violations
        return self._looks[span]

    def _violation(self, field, condition, own=None):
        """A violated condition of a field; ``own`` is the weight of what it comes from."""
        name = f"{field.name}:{condition}"
        has_name = own is None and name in self.rules.defaults.weights
        weight = self.weight_of(name) if own is None else own
        return Violation(name, weight, name if has_name else "every span")

    def _resolve(self):
        """For each rule: itself, weight, price if vacuous, check and condition, reads."""
        defaults = self.rules.defaults
        self._rules = []
        for rule in self.rules.rules:
            made = (strict(rule.check), rule.reads) if callable(rule.check) else None
            asked = [made or hand_made(rule.check, rule.each)]
            asked += [] if rule.when is None else [hand_made(rule.when, rule.each)]
            reads = tuple(sorted({name for _, names in asked for name in names}))
            weight = defaults.weight if rule.weight is None else rule.weight
            price = rule.unchecked
            if price is None:
                price = defaults.unchecked if rule.each is None else UNCHECKED_ROW
            tolerance = Fraction(defaults.tolerance if rule.tolerance is None else rule.tolerance)
            self._rules.append((rule, weight, price, asked, reads, tolerance))
        reads = {name for _, _, _, _, names, _ in self._rules for name in names}
        self._placed = {name for name in self.names if any(is_place(r, name) for r in reads)}
        self._places_matter = bool(self._placed or self.rules.rows or self.rules.orders)
        self._given = {}
        for name, type_ in self.rules.given.items():
            value = given_value(self.document, name, type_)
            self._given |= {name: [value], f"count_{name}": [int(value is not None)]}

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

    def _judge_values(self, by_field, found):
        violations, holding, seen, cost = [], [], [], 0.0
        options = dict(self._given)  # by name: the values that rules may use
        for field, values in zip(self.fields, by_field, strict=True):
            name = field.name
            readable = tuple(value for value in values if value is not None)
            if field.presence == "required" and not readable:
                required = f"{name}:required"
                violations.append(Violation(required, self.weight_of(required), required))
            if name in self.kept and not readable:
                violations.append(Violation(f"{name}:kept", inf, f"{name}:kept"))
            if not field.many and field.repeat == "agree" and len(set(readable)) > 1:
                violations.append(self._violation(field, "agrees"))
            seen.append(readable if field.many else readable[:1])
            options[f"count_{name}"] = [len(values)]
            if field.many:
                options[name] = [values if values and None not in values else None]
            elif not values:
                options[name] = [plain(field.default)]
            else:
                options[name] = (readable if field.repeat == "any" else readable[:1]) or [None]
        options |= self._options_of_places(self.names, found)
        rows = {None: [options], **self._options_of_rows(options, found)}
        for rule, weight, unchecked, asked, reads, tolerance in self._rules:
            for each in rows[rule.each]:
                given = [each[name] if name != "t" else [tolerance] for name in reads]
                state, price = _ask(rule, asked, reads, given, unchecked)
                if state is False:
                    violations.append(Violation(rule.id, weight, rule.id))
                elif state:
                    holding.append(rule.id)
                cost += price
        for order in self.rules.orders:
            late = late_spans(order, found)
            violations += [Violation(order.id, order.weight, order.id) for _ in late]
            if not late and len({each.name for each in found} & set(order.fields)) > 1:
                holding.append(order.id)
        cost += sum(violation.weight for violation in violations)
        return Verdict(cost, tuple(violations), tuple(holding), tuple(seen))

    def _options_of_places(self, names, found, before=""):
        """Places of fields among some spans, by parameter, as in ``start_previous_amount``."""
        return {
            f"{what}_{before}{name}": [where]
            for name in self._placed.intersection(names)
            for what, where in place_of(self.document, name, found).items()
        }

    def _options_of_rows(self, page, found):
        """By kind of rows, what rules of each row may use: the row, the one before, the page.

        The page gets the values of all rows, as ``rows_line``.
        """
        rows = {kind: rows_of(self.document, kind, found) for kind in self.rules.rows}
        for kind, each in rows.items():
            page[f"rows_{kind.name}"] = [[_values_of_row(kind, row) for row in each]]
        of_row = self._options_of_row
        return {
            kind.name: [
                page | of_row(kind, row) | of_row(kind, last, "previous_")
                for last, row in zip([[], *each], each, strict=False)
            ]
            for kind, each in rows.items()
        }

    def _options_of_row(self, kind, row, before=""):
        places = self._options_of_places(kind.fields, row, before)
        for name in kind.fields:
            places[f"{before}{name}"] = [first_value(name, row)]
            places[f"count_{before}{name}"] = [sum(each.name == name for each in row)]
        return places


def is_place(parameter, name):
    """Whether a parameter of a check is about the place of this field."""
    what, _, whose = parameter.partition("_")
    return what in ("first", "last", *PLACES) and whose.removeprefix("previous_") == name


def is_listed(text, lexicon):
    return " ".join(text.split()).casefold() in lexicon.texts


def _values_of_row(kind, row):
    """The values and counts of the fields of a row."""
    counts = {f"count_{name}": sum(each.name == name for each in row) for name in kind.fields}
    return counts | {name: first_value(name, row) for name in kind.fields}


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
