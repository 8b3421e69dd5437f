"""The labels that pins leave to the words of a document.

What a pin says about words is nearly always said by the labels that each word may have: of the
words of a pinned span, the first has a label that begins a span, and so on; and the words next to
it have no label that continues it. Only in IOB1, where ``I`` begins a span or continues one, a
pinned span needs one more condition: its first word does not continue the word before.
"""

from __future__ import annotations

from math import isinf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.documents.labels import Scheme
from lawful.documents.pins import Pin
from lawful.rules.judging.pinned import Pinned
from lawful.rules.rule_set import Rules

Allowed: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[np.integer[Any]]


class _Mask(NamedTuple):
    """The labels that a pin allows, (words, labels), from a word on."""

    pin: Pin
    start: int
    allowed: Allowed

    def breaks(self, labels: Labels) -> bool:
        here = labels[self.start : self.start + len(self.allowed)]
        return not self.allowed[np.arange(len(here)), here].all()


class PinLabels:
    """The labels that the pins of one document allow, under a scheme."""

    def __init__(self, pinned: Pinned, rules: Rules, scheme: Scheme, words: int) -> None:
        self._scheme = scheme
        self._types = {f.name: f.label for f in rules.fields}
        self._shared = {
            rules.fields[i].name for sharing in rules.shared_labels.values() for i in sharing
        }
        self._continues = _continues(scheme)
        self._masks = [self._mask(pin, words) for pin in pinned.about_labels()]
        self.allowed: Allowed = np.ones((words, len(scheme)), np.bool_)  # by all pins together
        for _, start, allowed in self._masks:
            self.allowed[start : start + len(allowed)] &= allowed
        self._refuse_shared(pinned, rules)
        self._starts = [
            pin.words[0]
            for pin, *_ in self._masks
            if pin.is_span and pin.words is not None and pin.words[0] > 0
        ]

    def _refuse_shared(self, pinned: Pinned, rules: Rules) -> None:
        """Refuses a label that fields share to words that are in a span of none of them."""
        for sharing in rules.shared_labels.values():
            refused = np.ones(len(self.allowed), np.bool_)
            for i in sharing:
                here = np.zeros_like(refused)
                for pin in pinned.about_labels():
                    if pin.field == (name := rules.fields[i].name) and pin.refuses(name):
                        here[slice(*(pin.words or (None,)))] = True
                refused &= here
            of_label = self._scheme.labels_of((rules.fields[sharing[0]].label,))
            self.allowed[np.ix_(refused, of_label)] = False

    @property
    def about_shared(self) -> bool:
        """Whether a pin is about a field that shares its label, so that labels do not tell all."""
        return any(pin.field in self._shared for pin, *_ in self._masks)

    def _mask(self, pin: Pin, words: int) -> _Mask:
        start, end = pin.words or (0, words)
        if pin.is_span:
            return self._mask_of_span(pin, start, end, words)
        types = (self._types[pin.field],) if pin.field is not None else self._scheme.types
        if pin.field in self._shared:
            types = ()  # spans with this label may be of another field, which the judge decides
        allowed = ~self._scheme.labels_of(types)
        return _Mask(pin, start, np.tile(allowed, (end - start, 1)))

    def _mask_of_span(self, pin: Pin, start: int, end: int, words: int) -> _Mask:
        """The labels of exactly this span, and of the words next to it, which are not in it."""
        scheme = self._scheme
        first, between, last = scheme.allowed
        of_field = scheme.labels_of((self._types[pin.field or ""],))
        apart = between & ~self._continues  # one may follow the other, in another span
        begins = of_field & (first if start == 0 else apart.any(axis=0))
        ends = of_field & (last if end == words else apart.any(axis=1))
        forward = [begins]
        for _ in range(start + 1, end):
            forward.append(of_field & self._continues[forward[-1]].any(axis=0))
        backward = [ends]
        for _ in range(start + 1, end):
            backward.append(of_field & self._continues[:, backward[-1]].any(axis=1))
        inside = np.array(forward) & np.array(backward[::-1])
        rows = [*inside]
        if start > 0:
            rows.insert(0, apart[:, inside[0]].any(axis=1))
        if end < words:
            rows.append(apart[inside[-1]].any(axis=0))
        return _Mask(pin, max(0, start - 1), np.array(rows))

    def broken(self, labels: Labels, *, unlike: Labels) -> tuple[str, ...]:
        """The ids of pins that a labelling breaks by the label of a word, ``unlike`` another."""
        return tuple(
            mask.pin.id for mask in self._masks if mask.breaks(labels) and not mask.breaks(unlike)
        )

    @property
    def cuts(self) -> list[int]:
        """The words that may continue the word before as far as their labels go, but must not."""
        return [
            word
            for word in self._starts
            if self._continues[np.ix_(self.allowed[word - 1], self.allowed[word])].any()
        ]

    def best(self, costs: NDArray[np.float64]) -> NDArray[np.intp] | None:
        """The cheapest legal labelling that keeps all cuts, by Viterbi's algorithm.

        ``costs`` are of the labels that pins allow; those of all others are infinite.
        """
        start, between, end = self._scheme.transition_costs
        cut = np.where(self._continues, np.inf, between)
        cuts = set(self.cuts)
        reached = start + costs[0]
        origins = []
        for word in range(1, len(costs)):
            through = reached[:, None] + (cut if word in cuts else between)
            origins.append(through.argmin(axis=0))
            reached = through.min(axis=0) + costs[word]
        reached = reached + end
        label = int(reached.argmin())
        if isinf(reached[label]):
            return None
        labels = [label]
        for origin in reversed(origins):
            labels.append(int(origin[labels[-1]]))
        return np.array(labels[::-1], np.intp)


def _continues(scheme: Scheme) -> Allowed:
    """Whether a label (second axis) continues the span of the label before it (first axis)."""
    opens, closes = (marks.astype(np.bool_) for marks in scheme.marks)
    types = [scheme.type_of(label) for label in range(len(scheme))]
    same = np.array([[one is not None and one == other for other in types] for one in types])
    _, between, _ = scheme.allowed
    return np.asarray(between & same & ~closes[:, None] & ~opens[None, :])
