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
    held_by,
    late_spans,
    place_of,
    rows_of,
    words_of_rows,
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
    seen: tuple[tuple, ...]  # by field: all values of a list, the first of any other field; class
    prior: float = 0.0  # the log-probability of the document's class

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
    """All labellings with one reading: the log-probabilities of the best, and of all together."""

    log_prob: float
    mass: float
    verdict: Verdict

    @property
    def worth(self):
        return self.log_prob - self.verdict.cost + self.verdict.prior


def plain(value):
    """A value of lawful as a value of the oracle, which has numbers as fractions."""
    return Fraction(value) if isinstance(value, int | Decimal) else value


class Oracle:
    """A document with scores and rules, and all true statements about it."""

    def __init__(self, document, scores, rules):
        self.document, self.rules, self.scheme = document, rules, rules.scheme
        self.words = document.words
        self.misreads = document.misreads or ((),) * len(document)
        self.fields, self.weight = rules.fields, rules.defaults.weight
        self.types = tuple(field.label for field in self.fields)
        self.names = tuple(field.name for field in self.fields)
        self._looks, self._verdicts = {}, {}
        self._log_probs = dict(zip(scores.labels, scores.log_probs.T, strict=True))
        self._resolve()
        self.choose(self.choices[0][0])

        labels = tuple(sorted(scores.labels))
        rows, starts, groups = legal_labellings(self.scheme, labels, len(document), self.types)
        by_word = np.array([self._log_probs[label] for label in labels]).T  # (words, labels)
        log_probs = by_word[np.arange(len(document)), rows].sum(axis=1)
        self.best_legal = float(log_probs.max(initial=-inf))
        self.kept, self.kept_places = frozenset(), []
        if self.best_legal > -inf:
            scheme = self.rules.scheme_for(scores.labels)
            best, _ = next(lawful.paths(scores.costs, scheme, kind="costs"))
            self._keep([scores.labels[number] for number in best])
        self.pairs = []
        if len(rows):
            best = np.maximum.reduceat(log_probs, starts).tolist()
            mass = np.logaddexp.reduceat(log_probs, starts).tolist()
            for spans, *of_labellings in zip(groups, best, mass, strict=True):
                if of_labellings[0] > -inf:
                    self.pairs.extend(self._read(self.assigned(spans), *of_labellings))

        self.worths, self.masses = {}, {}  # by the values seen
        for pair in self.pairs:
            if pair.worth > -inf:
                self._count(pair)
        self.best = max(self.worths.values(), default=-inf)

    def _count(self, pair):
        """Adds a reading that violates nothing hard to the worths and masses of what is seen."""
        seen = pair.verdict.seen
        self.worths[seen] = max(self.worths.get(seen, -inf), pair.worth)
        mass = pair.mass + pair.verdict.prior - pair.verdict.cost
        self.masses[seen] = np.logaddexp(self.masses.get(seen, -inf), mass)

    @property
    def fallback(self):
        """The log-probability of the answer if everything violates what is hard."""
        return self.best_legal

    def is_fallback(self, labels, verdict):
        """Whether the answer is what comes if everything violates what is hard, or time is up."""
        del verdict
        return abs(self.log_prob(labels) - self.prior - self.fallback) < 1e-8

    @property
    def choices(self):
        """The classes of the document and their log-probabilities; no class, if it has none."""
        scores = (self.document.classes or {}).get("kind") if self.rules.classes else None
        return [(name, p) for name, p in scores.items() if p > -inf] if scores else [(None, 0.0)]

    def choose(self, kind):
        """Judges and weighs everything under the assumption that the document has this class."""
        self.kind, self.prior = next(each for each in self.choices if each[0] == kind)
        if self.rules.classes:
            self._given |= {"kind": [kind], "count_kind": [int(kind is not None)]}

    def best_without(self, seen):
        """The highest worth of a reading with other values than these."""
        return max((w for values, w in self.worths.items() if values not in seen), default=-inf)

    def probability(self, field, values):
        """The probability that a field has these values."""
        top = max(self.masses.values())
        masses = {seen: exp(mass - top) for seen, mass in self.masses.items()}
        there = sum(mass for seen, mass in masses.items() if seen[field] == values)
        return there / sum(masses.values())

    def can_hold(self, demands, without=None):
        """Whether some reading meets all of these hard conditions, ``without`` a pin."""
        del without  # there is none
        return any(not (pair.verdict.broken & set(demands)) for pair in self.pairs)

    def demands(self):
        """The ids of all hard conditions."""
        rules = {rule.id for rule, weight, *_ in self._rules if weight == inf}
        orders = {order.id for order in self.rules.orders if order.weight == inf}
        required = {f"{f.name}:required" for f in self.fields if f.presence == "required"}
        own = {name for name in self.rules.defaults.weights if not name.endswith(":required")}
        required |= {f"{name}:required" for kind in self.rules.rows for name in kind.required}
        implied = {name for name in required | own if self.weight_of(name) == inf}
        kept = {f"{name}:kept" for name in (*self.kept, *(name for name, *_ in self.kept_places))}
        of_spans = [rule.weight for rule in (*self.rules.words, self.rules.boundaries) if rule]
        shared = {"every span"} if inf in (self.weight, *of_spans) else set()
        return rules | orders | kept | implied | shared

    def weight_of(self, name):
        """The weight of an implied condition: its own, or the file's, of a boundary up to 5."""
        most = 5 if name.endswith(":boundary") and self.weight < inf else inf
        return self.rules.defaults.weights.get(name, min(self.weight, most))

    def spans_of(self, labels):
        return self.assigned(spans_of(labels, self.scheme, self.types))

    def assigned(self, spans):
        """Spans with the fields that they belong to, where fields share a label."""
        return tuple(span._replace(field=self.field_of(span)) for span in spans)

    def field_of(self, span):
        """The first field of the span's label whose own conditions it meets, or else the last."""
        sharing = [i for i, type_ in enumerate(self.types) if type_ == self.types[span.field]]
        return self.first_that_fits([span._replace(field=i) for i in sharing]).field

    def first_that_fits(self, spans):
        own = ("reads", "max_words", "pattern", "starts", "ends", "in", "where")
        return next(
            (s for s in spans if not {v.id.partition(":")[2] for v in self.look(s)[1]} & {*own}),
            spans[-1],
        )

    def is_legal(self, labels):
        return is_legal(labels, self.scheme)

    def log_prob(self, labels):
        """The log-probability of these labels, with that of the class."""
        return self.prior + float(
            sum(self._log_probs[label][at] for at, label in enumerate(labels))
        )

    def text(self, span):
        return " ".join(self.words[span.start : span.end])

    def readable(self, span):
        """By possible value of a span: its price. Misreads are values of one other word each."""
        field, words = self.fields[span.field], self.words
        printed = possible_values(self.text(span), field.type)
        prices = {value: field.ambiguity * (i > 0) if i else 0.0 for i, value in enumerate(printed)}
        others = []
        for at in range(span.start, span.end):
            for text, price in self.misreads[at]:
                self.words = (*words[:at], text, *words[at + 1 :])
                others.append((price, self.text(span)))
        self.words = words
        for price, text in sorted(others, key=lambda other: other[0]):
            if len(prices) >= 8:  # so many values has a text at most, the cheapest ones
                break
            first = possible_values(text, field.type)[:1]
            if printed and 0 < field.misreads >= price and first and first[0] not in prices:
                prices[first[0]] = max(1.0, price)
        return prices

    def judge(self, spans, values):
        """The verdict on these spans with these values; ``None`` for a text without a value."""
        by_field, violations, price = [[] for _ in self.fields], [], 0.0
        for span, value in zip(spans, values, strict=True):
            allowed, faults = self.look(span)
            by_field[span.field].append(value)
            violations += faults
            if allowed and value != allowed[0]:
                price += self.readable(span)[value]
        key = self.kind, tuple(map(tuple, by_field)), spans if self._places_matter else None
        if key not in self._verdicts:
            self._verdicts[key] = self._judge_values(key[1], self._found_in(spans, values))
        verdict = self._verdicts[key]
        cost = verdict.cost + price + sum(violation.weight for violation in violations)
        return verdict._replace(cost=cost, violations=(*verdict.violations, *violations))

    def _found_in(self, spans, values):
        return [
            Found(self.names[span.field], span.start, span.end, value)
            for span, value in zip(spans, values, strict=True)
        ]

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
                (field.where and not is_where(span, field.where), "where"),
            ]
            violations = [self._violation(field, fault) for there, fault in faults if there]
            for word, rule in product(words, rules.words):
                meant = re.search(rule.match, word) if rule.match else is_listed(word, rule.lexicon)
                if meant and field.name not in rule.only:
                    violations.append(self._violation(field, "words", rule.weight))
            at = rules.boundaries
            if at and span.start and not re.search(at.after, self.words[span.start - 1]):
                violations.append(self._violation(field, "boundary", at.weight))
            allowed = tuple(value for value, price in self.readable(span).items() if price < inf)
            self._looks[span] = allowed, violations
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

    def _keep(self, labels):
        """Keeps what has a value in this labelling: fields, and fields of rows in these rows."""
        spans = self.spans_of(labels)
        there = {span.field for span in spans if self.look(span)[0]}
        self.kept = frozenset(self.names[i] for i in there if self.fields[i].presence == "keep")
        found = self._found_in(spans, [next(iter(self.look(span)[0]), None) for span in spans])
        optional = {f.name for f in self.fields if f.presence == "free"}
        self.kept_places = [
            (name, *words)
            for kind in self.rules.rows
            for row, words in zip(
                rows_of(self.document, kind, found, self.rules.rows),
                words_of_rows(self.document, kind, found, self.rules.rows),
                strict=True,
            )
            for name in {e.name for e in row if e.value is not None and e.name in kind.fields}
            - optional
        ]

    def _read(self, spans, log_prob, mass):
        """All readings of a group of labellings with the same spans."""
        for kind, _ in self.choices:
            self.choose(kind)
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
        for name, start, end in self.kept_places:
            own = [e for e in found if e.name == name and e.value is not None]
            if not any(start <= each.start < end for each in own):
                violations.append(Violation(f"{name}:kept", inf, f"{name}:kept"))
        for kind in self.rules.rows:
            rows_here = rows_of(self.document, kind, found, self.rules.rows)
            for row, name in product(rows_here, kind.required):
                if first_value(name, row) is None:
                    required = f"{name}:required"
                    violations.append(Violation(required, self.weight_of(required), required))
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
        seen += [self.kind] if self.rules.classes else []
        return Verdict(cost, tuple(violations), tuple(holding), tuple(seen), self.prior)

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
        kinds = self.rules.rows
        rows = {kind: rows_of(self.document, kind, found, kinds) for kind in kinds}
        for kind, each in rows.items():
            page[f"rows_{kind.name}"] = [[_values_of_row(kind, row) for row in each]]
        of_row = self._options_of_row
        return {
            kind.name: [
                page
                | self._options_of_section(kind, row, rows)
                | of_row(kind, row)
                | of_row(kind, last, "previous_")
                for last, row in zip([[], *each], each, strict=False)
            ]
            for kind, each in rows.items()
        }

    def _options_of_section(self, kind, section, rows):
        """What rules of a section may use: lists of values, and the rows that begin in it."""
        options = self._options_of_places(held_by(kind, self.rules.rows), section)
        for name in held_by(kind, self.rules.rows):
            values = tuple(each.value for each in section if each.name == name)
            options[name] = [values if values and None not in values else None]
            options[f"count_{name}"] = [len(values)]
        for inner, each in rows.items():
            if {*inner.fields} <= {*held_by(kind, self.rules.rows)}:
                own = [row for row in each if row[0] in section]
                options[f"rows_{inner.name}"] = [[_values_of_row(inner, row) for row in own]]
        return options

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


def is_where(span, where):
    """Whether a span begins at one of the words up to a number, as in ``start <= 2``."""
    return span.start <= int(where.removeprefix("start <= "))


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
