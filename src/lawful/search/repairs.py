"""Labellings next to a known one that leave rules without a value, so that they do not apply.

To judge such a labelling takes far less time than to search for one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from math import inf

import numpy as np
from numpy.typing import NDArray

from lawful.rules.judging.reading import Occurrence, Reading, Spans
from lawful.rules.parsed_rule import ParsedRule
from lawful.search.problem import Labels, Problem


class Repairs:
    """Makes legal labellings of a document from others."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._judge = problem.judge
        self._fields = problem.judge.rules.fields
        scheme = problem.scheme
        self._outside = np.array([scheme.type_of(i) is None for i in range(len(scheme))])

    def repair(
        self,
        labels: Labels,
        reading: Reading,
        broken: Iterable[ParsedRule],
        *,
        optional: Container[str],
        unreadable: bool,
    ) -> Labels | None:
        """A labelling without values that broken rules read; none if there is none at hand.

        It has no spans of an ``optional`` field; or with ``unreadable``, it has a span that cannot
        be read, of a list or instead of a default. Without, spans that violate a condition are left
        out.
        """
        dropped, spoiled = set[int](), set[int]()
        for rule in broken:
            read = [i for i, f in enumerate(self._fields) if f.name in rule.names]
            if dropped.intersection(read) or spoiled.intersection(read):
                continue
            drop = [i for i in read if reading[i] and self._fields[i].name in optional]
            drop = [i for i in drop if self._fields[i].default is None]
            spoil = [i for i in read if unreadable and self._can_be_spoiled(i, reading[i])]
            if not drop and not spoil:
                return None
            (dropped if drop else spoiled).add((drop or spoil)[0])
        leave_out = [
            spans if i in dropped else () if unreadable else self._faulty(i, spans)
            for i, spans in enumerate(reading)
        ]
        spans_left_out = [span for spans in leave_out for span in spans]
        if not spans_left_out and not spoiled:
            return None
        changed = self._without(labels, spans_left_out)
        for field in spoiled:
            if changed is not None:
                changed = self._with_an_unreadable_span(changed, field)
        return None if changed is None or np.array_equal(changed, labels) else changed

    def read(self, labels: Labels, like: Reading) -> Reading:
        """The reading of a labelling, with the values that another reading has for its spans."""
        found = self._judge.read(labels)
        if not any(span.choice for spans in like for span in spans):
            return found
        chosen = [{(s.start, s.end): s for s in spans} for spans in like]
        return tuple(
            tuple(known.get((span.start, span.end), span) for span in spans)
            for spans, known in zip(found, chosen, strict=True)
        )

    def _can_be_spoiled(self, field: int, spans: Spans) -> bool:
        """Whether one more span that cannot be read leaves a field without a value."""
        f = self._fields[field]
        return f.many if spans else f.default is not None

    def _faulty(self, field: int, spans: Spans) -> list[Occurrence]:
        """The spans that violate a condition by themselves, or disagree with the first value."""
        judge, f = self._judge, self._fields[field]
        faulty = [span for span in spans if judge.faults(field, span.start, span.end) > 0]
        if f.many or f.repeat != "agree":
            return faulty
        values = {span: judge.values(field, span.start, span.end) for span in spans}
        read = {span: values[span][span.choice] for span in spans if values[span]}
        first = next((read[span] for span in read if span not in faulty), None)
        return faulty + [span for span in read if span not in faulty and read[span] != first]

    def _without(self, labels: Labels, spans: list[Occurrence]) -> Labels | None:
        """The labelling with the words of these spans outside all spans."""
        if not self._outside.any():
            return None
        words = np.array([at for span in spans for at in range(span.start, span.end)], np.intp)
        costs = np.where(self._outside, self._problem.costs[words], inf)
        changed = labels.copy()
        changed[words] = costs.argmin(axis=1)
        return self._if_legal(changed)

    def _with_an_unreadable_span(self, labels: Labels, field: int) -> Labels | None:
        """The labelling with one more word as a span of a field, whose type cannot read it."""
        of_field = self._problem.scheme.labels_of((self._fields[field].label,))
        free = np.flatnonzero(self._outside[labels])
        for label in np.flatnonzero(self._alone(of_field)):
            possible = np.isfinite(self._problem.costs[free, label])
            for word in free[possible].tolist():
                if not self._judge.values(field, word, word + 1):
                    changed = labels.copy()
                    changed[word] = label
                    return self._if_legal(changed)
        return None

    def _alone(self, some: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of some labels, those that a word between words outside all spans may have."""
        _, between, _ = self._problem.scheme.allowed
        outside = self._outside
        alone: NDArray[np.bool_] = between[outside].any(axis=0) & between[:, outside].any(axis=1)
        return some & alone

    def _if_legal(self, labels: Labels) -> Labels | None:
        problem = self._problem
        legal = bool(problem.scheme.allow(labels[None])[0])
        return labels if legal and problem.log_prob(labels) > -inf else None
