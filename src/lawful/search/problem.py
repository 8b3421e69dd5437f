"""One decoding problem: a document, its scores and the rules, checked against each other."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import islice
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.base.errors import InputError
from lawful.documents.document import Document, check_length
from lawful.documents.labels import Scheme, Span
from lawful.documents.pins import Pin
from lawful.documents.scores import Scores
from lawful.documents.span_scores import AnyScores, SpanScores
from lawful.rules.classes import ClassChoice
from lawful.rules.judging.judge import Judge
from lawful.rules.rule_set import Rules
from lawful.search.pin_labels import PinLabels

Labels: TypeAlias = NDArray[np.integer[Any]]  # (words,); all of a problem's own are uint32

ROUNDING = 1e-9
"""Costs that differ by less than this are equal: sums of the same numbers in another order."""

MAX_NATS = 2.0**22
"""Costs above this are rounded to more than ``ROUNDING``, so that nothing is proven by them."""


MAX_COMPARED = 4096
"""Labellings that are compared with pins about fields that share a label."""


class Problem:
    """One document with its scores and rules: everything that a decoder needs.

    A document that may be of several classes is a problem for each of them; this one is about the
    most probable class. See ``of_class``. ``document`` has the texts that pins say. ``costs`` are
    those of the scores, and infinite for labels that pins forbid.
    """

    def __init__(
        self, document: Document, scores: AnyScores, rules: Rules, *, keep: bool = True
    ) -> None:
        """With ``keep``, ``presence: keep`` applies to the fields of the best legal labelling."""
        _check_type("document", document, Document)
        _check_type("scores", scores, Scores, SpanScores)
        _check_type("rules", rules, Rules)
        self.document = document = document.corrected()
        self.scores = scores
        check_length(document, len(scores), *scores.unit)
        if isinstance(scores, SpanScores):
            if document.pins and scores.slots:
                raise InputError(f"document {document.id!r} has pins, but its words are slots")
            rules.check_types(scores.types)
            self.scheme: Scheme = scores.scheme()
        else:
            self.scheme = rules.scheme_for(scores.labels)
            if scores.chain is not None:
                self.scheme = self.scheme.with_scores(**scores.chain._asdict())
        self._own_costs = scores.costs
        self.costs = self._own_costs
        self.chosen = ""  # why ``auto`` chose the decoder, if it did
        self.judge = Judge(document, rules, self.scheme)
        self.pin_labels: PinLabels | None = None
        if (pinned := self.judge.pinned) is not None:
            self.pin_labels = PinLabels(pinned, rules, self.scheme, len(document))
            # The scores keep their meaning: what pins forbid is not renormalised.
            self.costs = np.where(self.pin_labels.allowed, self.costs, np.inf)
        if keep and self.best_legal is not None:
            self.judge.keep(self.best_legal)

    def of_class(self, choice: ClassChoice) -> Problem:
        """The problem under the assumption that the document is of this class."""
        other = copy(self)
        other.judge = self.judge.of_class(choice)
        return other

    @property
    def prior(self) -> float:
        """The log-probability of the document's class; 0 if it has none."""
        return self.judge.choice.log_prob

    @cached_property
    def argmax(self) -> Labels:
        """The model's first choice for every word, legal or not; or its best spans."""
        if isinstance(self.scores, SpanScores):
            best = self.best_without_pins
            assert best is not None  # noqa: S101 - a document without spans is legal
            return best
        return np.asarray(self.evidence.argmax(axis=1), np.uint32)

    @cached_property
    def evidence(self) -> NDArray[np.float64]:
        """Marginal log-probabilities of every word's labels: (words, labels)."""
        if isinstance(self.scores, SpanScores):
            raise InputError("span scores say nothing about single words")
        if self.scores.chain is None:
            return self.scores.log_probs
        return self.scores.marginals().log_probs

    @cached_property
    def best_legal(self) -> Labels | None:
        """The most probable legal labelling that agrees with what pins say about words.

        ``None`` when there is none.
        """
        pins = self.pin_labels
        if pins is not None and pins.about_shared:
            return self._best_agreeing()
        if pins is not None and pins.cuts:
            return pins.best(self.costs)
        return self._best_path(self.costs)

    def _best_agreeing(self) -> Labels | None:
        """The most probable labelling that agrees with pins about fields that share a label.

        If it is not among the first ``MAX_COMPARED``, the most probable one of these.
        """
        first: Labels | None = None
        stream = _core.paths(self.costs, self.scheme.transitions)
        for labels, _ in islice(iter(lambda: stream.take(1), None), MAX_COMPARED):
            if not len(labels):
                return None
            found: Labels = labels[0].astype(np.uint32)
            first = found if first is None else first
            if all(pin.subject == "value" for pin in self.broken_pins(found)):
                return found
        return first

    def broken_pins(self, labels: Labels) -> set[Pin]:
        """The pins that a labelling breaks by the spans of fields and their values."""
        judge, pinned = self.judge, self.judge.pinned
        return set() if pinned is None else pinned.broken(judge.read(labels), judge.values)

    @cached_property
    def best_without_pins(self) -> Labels | None:
        """The most probable legal labelling, whatever pins say."""
        return self.best_legal if self.pin_labels is None else self._best_path(self._own_costs)

    def _best_path(self, costs: NDArray[np.float64]) -> Labels | None:
        labels, _ = _core.paths(costs, self.scheme.transitions).take(1)
        return labels[0].astype(np.uint32) if len(labels) else None

    def log_prob(self, labels: Labels) -> float:
        """The log-probability of a labelling, without that of the class."""
        if labels is self.best_legal:
            return self._best_log_prob
        return self._log_prob(labels)

    @cached_property
    def _best_log_prob(self) -> float:
        return -inf if self.best_legal is None else self._log_prob(self.best_legal)

    def _log_prob(self, labels: Labels) -> float:
        costs = _core.cost_of(self._own_costs, labels)
        if self.scores.chain is None:
            return -costs
        return self.scheme.score(labels) - costs

    def is_sole_reading(self, labels: Labels, log_prob: float) -> bool:
        """Whether all legal labellings above a log-probability have the fields of this one.

        If not, this is not known: only the scores of single words are looked at.
        """
        if isinstance(self.scores, SpanScores) or self.scores.chain is not None:
            return False
        kinds = self.judge.relevant.astype(np.uint32)
        return _core.have_one_kind(self.costs, labels, kinds, ROUNDING - log_prob)

    def log_odds(self, span: Span) -> float:
        """The log-odds of a span, with all its words, if the scores are of spans."""
        if not isinstance(self.scores, SpanScores):
            raise InputError("word scores have no log-odds of spans")
        return self.scores.log_odds_of(span)

    def names(self, labels: Labels) -> tuple[str, ...]:
        """The names of labels; those of spans are in BIO."""
        if isinstance(self.scores, SpanScores):
            found = ["O"] * len(labels)
            for type_, start, end in self.scheme.spans(labels):
                found[start:end] = [f"B-{type_}"] + [f"I-{type_}"] * (end - start - 1)
            return tuple(found)
        return tuple(map(self.scores.labels.__getitem__, labels.tolist()))


def _check_type(name: str, given: Any, *expected: type) -> None:
    if not isinstance(given, expected):
        found, names = type(given).__name__, " or a ".join(type_.__name__ for type_ in expected)
        raise InputError(f"{name} is of type {found}, expected a {names}")
