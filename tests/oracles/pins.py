"""All statements of a decoding under pins, by brute force: ``tests.oracles.statements`` with pins.

Pins are dictionaries as in JSON, with tuples of words. What each one says is decided on the labels
and values of every labelling, and two contradict each other if no labelling of any words agrees
with both.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import inf

import numpy as np

from lawful import Pin
from lawful.search.problem import Problem
from tests.oracles.checks_by_hand import possible_values
from tests.oracles.statements import (
    Oracle,
    Violation,
    is_legal,
    legal_labellings,
    plain,
    spans_of,
    split,
)


def name_of(pin):
    """The name of a pin in ``because`` and ``clash``."""
    return Pin.of(pin).id


def overlap(pin, span):
    start, end = pin["words"]
    return start < span.end and span.start < end


def broken_by_labels(pin, labels, scheme, types):
    """Whether a legal labelling breaks what a pin says about words; ``types`` are by field."""
    if "text" in pin or pin.get("value") is not None:
        return False
    found = [split(label, scheme)[1] for label in labels]
    here = found[slice(*pin["words"])] if "words" in pin else found
    if "not" in pin:
        return types[pin["not"]] in here
    if "value" in pin:
        return types[pin["field"]] in here
    if pin["field"] is None:
        return any(type_ is not None for type_ in here)
    type_ = types[pin["field"]]
    places = {(span.start, span.end) for span in spans_of(labels, scheme, (type_,))}
    return tuple(pin["words"]) not in places


def corrected(words, pins):
    """The words with the texts of pins, and those that are joined to the word before."""
    words, joined = list(words), set()
    for pin in pins:
        if "text" in pin:
            start, end = pin["words"]
            parts = pin["text"].split(" ")
            if len(parts) != end - start:
                parts = [pin["text"]] + [""] * (end - start - 1)
                joined |= set(range(start + 1, end))
            words[start:end] = parts
    return tuple(words), joined


def value_of(pin, field):
    """The value that a pin says."""
    if isinstance(pin["value"], str):
        return possible_values(pin["value"], field.type)[0]
    return Fraction(str(pin["value"])) if isinstance(pin["value"], float) else plain(pin["value"])


def contradict(one, other, rules):
    """Whether no labelling of any words agrees with both pins."""
    if "text" in one and "text" in other:
        first, second = one["words"], other["words"]
        return first[0] < second[1] and second[0] < first[1] and one != other
    if "text" in one or "text" in other:
        return False
    fields = {f.name: f for f in rules.fields}
    if one.get("value") is not None and other.get("value") is not None:
        field = fields[one["field"]]
        return one["field"] == other["field"] and value_of(one, field) != value_of(other, field)
    return not _agree_somewhere(*(tuple(sorted(pin.items())) for pin in (one, other)))


@lru_cache(maxsize=5000)
def _agree_somewhere(*items):
    pins = [dict(some) for some in items]
    words = max(pin.get("words", (0, 1))[1] for pin in pins) + 1  # one of which nothing is said
    names = sorted({name for pin in pins for name in (pin.get("field"), pin.get("not")) if name})
    labels = ["O", *(f"{prefix}-{name}" for name in names for prefix in "BI")]
    return any(
        is_legal(row, "BIO") and not any(_broken_anywhere(pin, row) for pin in pins)
        for row in product(labels, repeat=words)
    )


def _broken_anywhere(pin, labels):
    if pin.get("value") is not None:  # words can have any values
        return f"B-{pin['field']}" not in labels
    types = {name: name for name in (pin.get("field"), pin.get("not")) if name}
    return broken_by_labels(pin, labels, "BIO", types)


class PinnedOracle(Oracle):
    """A document with scores, rules and pins, and all true statements about it."""

    def __init__(self, document, scores, rules, pins, kept=None):
        """``kept`` is what may not vanish, if it is not what the best labelling has."""
        self._asked = document, scores, rules
        self.words, self.joined = corrected(document.words, pins)
        said = {at for pin in pins if "text" in pin for at in range(*pin["words"])}
        misreads = enumerate(document.misreads or ((),) * len(document))
        self.misreads = [() if at in said else some for at, some in misreads]
        self.document = document
        self.rules, self.scheme, self.pins = rules, rules.scheme, pins
        self.fields, self.weight = rules.fields, rules.defaults.weight
        self.types = tuple(field.label for field in self.fields)
        self.names = tuple(field.name for field in self.fields)
        self.values = {
            self.names.index(pin["field"]): value_of(
                pin, self.fields[self.names.index(pin["field"])]
            )
            for pin in pins
            if pin.get("value") is not None
        }
        self.kept, self.kept_places = kept or (frozenset(), [])
        self._settled = True  # whether pins decide among the possible values of a text
        self._looks, self._verdicts = {}, {}
        self._log_probs = dict(zip(scores.labels, scores.log_probs.T, strict=True))
        self._resolve()
        self.choose(self.choices[0][0])

        groups = self._found = self._groups(scores.labels, len(document))
        self.legal = max((best for best, _ in groups.values()), default=-inf)
        self.best_legal = max(
            (best for (_, broken), (best, _) in groups.items() if not broken), default=-inf
        )
        if self.best_legal > -inf and kept is None:
            self._keep_under_pins(document, scores)
        self.pairs = [pair for pair, _ in self._all_pairs(groups)]
        self.worths, self.masses = {}, {}
        for pair, broken in self._all_pairs(groups):
            if pair.worth > -inf and not broken:
                self._count(pair)
        self.best = max(self.worths.values(), default=-inf)
        self._settled = False
        self._looks, self._verdicts = {}, {}
        self._readings = list(self._all_pairs(groups))  # of any possible values
        self._settled = True
        self._looks, self._verdicts = {}, {}

    def _groups(self, labels, words):
        """By spans and broken pins, the best log-probability and the mass of such labellings."""
        labels = tuple(sorted(labels))
        rows, _, _ = legal_labellings(self.scheme, labels, words, self.types)
        groups = {}
        for row in rows.tolist():
            names = [labels[i] for i in row]
            log_prob = self.log_prob(names) - self.prior
            if log_prob == -inf:
                continue
            key = self.spans_of(names), self.broken_by(names)
            best, mass = groups.get(key, (-inf, -inf))
            groups[key] = max(best, log_prob), np.logaddexp(mass, log_prob)
        return groups

    def broken_by(self, labels):
        """The names of pins about words that a legal labelling breaks."""
        types, spans = dict(zip(self.names, self.types, strict=True)), self.spans_of(labels)
        found = set()
        for pin in self.pins:
            name = pin.get("field") or pin.get("not")
            if name is None or self.types.count(types[name]) == 1:
                broken = broken_by_labels(pin, labels, self.scheme, types)
            else:  # labels do not tell of which field a span is
                broken = pin.get("value") is None and self._breaks(pin, spans, [None] * len(spans))
            found |= {name_of(pin)} if broken else set()
        return frozenset(found)

    def first_that_fits(self, spans):
        agree = [s for s in spans if not any(self._is_broken_by(pin, s) for pin in self.pins)]
        return super().first_that_fits(
            [s for s in agree if s.field in self.values] or agree or spans
        )

    def _is_broken_by(self, pin, span):
        """Whether a span breaks a pin by itself."""
        if "text" in pin:
            return False
        mine = self.names[span.field] == pin.get("field", pin.get("not"))
        if pin.get("value") is not None:
            possible = self.readable(span)
            return mine and self.values[span.field] not in possible
        if "value" in pin:  # absent
            return mine
        if "not" in pin:
            return mine and overlap(pin, span)
        return overlap(pin, span) and not (mine and (span.start, span.end) == tuple(pin["words"]))

    def _keep_under_pins(self, document, scores):
        """Keeps what the best labelling that agrees has; of several, that of the library."""
        best = Problem(replace(document, pins=self.pins), scores, self.rules).best_legal
        labels = [scores.labels[number] for number in best]
        assert abs(self.log_prob(labels) - self.prior - self.best_legal) < 1e-9, (
            "not the best that agrees"
        )
        assert not self.broken_by(labels), f"{labels} breaks {self.broken_by(labels)}"
        self._keep(labels)

    def _all_pairs(self, groups):
        for (spans, broken), (best, mass) in groups.items():
            for pair in self._read(spans, best, mass):
                yield pair, broken

    def _keep(self, labels):
        super()._keep(labels)
        # What is pinned to its default has this value if it is missing, too.
        default = {i for i, value in self.values.items() if plain(self.fields[i].default) == value}
        self.kept -= {self.names[i] for i in default}

    @property
    def fallback(self):
        return self.best_legal if self.best_legal > -inf else self.legal

    def is_fallback(self, labels, verdict):
        if not self.values or self.best_legal == -inf:
            return super().is_fallback(labels, verdict)
        names = {name_of(pin) for pin in self.pins}
        broken = (verdict.broken & names) | self.broken_by(labels)
        obeyed = any(
            not (pair.verdict.broken & names or by_labels)
            for pair, by_labels in self._all_pairs(self._found)
        )
        return not broken if obeyed else not self.broken_by(labels)

    def text(self, span):
        words = [self.words[span.start]]
        for at in range(span.start + 1, span.end):
            words += [*("" if at in self.joined else " "), self.words[at]]
        return "".join(words)

    def look(self, span):
        if span not in self._looks and span.field in self.values:
            found, faults = super().look(span)
            possible = tuple(self.readable(span))
            if not self._settled:
                found = possible
            elif self.values[span.field] in possible:
                found = (self.values[span.field],)
            self._looks[span] = found, faults
        return super().look(span)

    def judge(self, spans, values):
        verdict = super().judge(spans, values)
        broken = {name_of(pin) for pin in self.pins if self._breaks(pin, spans, values)}
        cost = inf if broken else verdict.cost
        violations = (Violation(name, inf, name) for name in sorted(broken))
        return verdict._replace(cost=cost, violations=(*verdict.violations, *violations))

    def _breaks(self, pin, spans, values):
        """Whether the spans of fields, with these values, break a pin."""
        if "text" in pin:
            return False
        name = pin.get("field", pin.get("not"))
        field = None if name is None else self.names.index(name)
        if "not" in pin or field is None:
            some = [span for span in spans if field in (None, span.field)]
            return any(overlap(pin, span) for span in some)
        if "words" in pin:
            return (field, *pin["words"]) not in spans
        found = [value for span, value in zip(spans, values, strict=True) if span.field == field]
        if pin["value"] is None:
            return bool(found)
        default = plain(self.fields[field].default)
        return any(value != self.values[field] for value in found or [default])

    def weight_of(self, name):
        return inf if name.startswith("pin: ") else super().weight_of(name)

    def demands(self):
        return super().demands() | {name_of(pin) for pin in self.pins if "text" not in pin}

    def can_hold(self, demands, without=None):
        pins = [pin for pin in self.pins if name_of(pin) != without]
        if len(pins) < len(self.pins) and len({*self.types}) < len(self.types):
            # A pin that is left out does not decide among fields that share a label either.
            kept = self.kept, self.kept_places
            return PinnedOracle(*self._asked, pins, kept).can_hold(demands)
        return any(
            not ((pair.verdict.broken | broken) & set(demands)) for pair, broken in self._readings
        )
