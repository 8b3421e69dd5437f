"""Labels of words from true values: which of the words that carry a value are the field.

All spans that carry a value are candidates. An exact search chooses among them: chosen spans do not
overlap, every field whose value is printed has one, and the rules hold, as far as they can. Without
a model, all candidates are equally probable, and what more than one choice explains stays open.
With a model's scores, of words or of spans, the most probable choice is taken where it is better by
a margin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp, inf
from typing import Any, Literal, TypeAlias

import numpy as np

from lawful.candidates.grounding.ground import ground
from lawful.candidates.grounding.leaves import Path
from lawful.candidates.grounding.matches import Occurrences, Span, is_apart, possible_values
from lawful.candidates.grounding.results import Grounded
from lawful.decoders import decode
from lawful.documents.document import Document
from lawful.documents.labels import bio_spans
from lawful.documents.records import UNKNOWN, Labelled, Scored
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.learn.align.implied_values import Run, Tied, find_tied
from lawful.learn.align.reading import Truth
from lawful.results.decoding import Budget
from lawful.rules.definitions import Field, Rule
from lawful.rules.rule_set import Rules

State: TypeAlias = Literal["labelled", "ambiguous", "not found"]

PRESENT = 1000.0
"""Nats that a printed value weighs: more than all else, but two fields may share a span."""

LARGEST = 15.0
"""Log-odds of a span, at most; so no model forbids a candidate."""

NO_SPAN = -7.0
"""Log-odds of a span that a model of spans has not: such models leave out improbable ones."""

MAX_TOGETHER = 8
"""Spans of the fields of a rule about places, of which any number may be chosen."""

MAX_READINGS = 2**14
"""Partial readings of a search; what is not proven within them stays open."""

MARGIN = 2.0
"""Nats by which a choice must be better than any other, if a model has scored the words."""


SURE = 0.5
"""Probability of a place of a row's value, above which it is taken."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A document with the labels that its true values give to words.

    The label of a word is ``?`` if it is open: the word carries a value, but it may be another word
    that is the field. ``states`` says what became of each field that has a value.
    """

    labelled: Labelled
    states: Mapping[str, State]
    tied: frozenset[str] = frozenset()  # fields without a known value, labelled through a rule


def align(
    document: Document,
    truth: Truth,
    rules: Rules,
    scores: Scores | SpanScores | None = None,
    *,
    margin: float = MARGIN,
) -> Aligned:
    """The document with labels for the words that carry true values.

    Without ``scores``, only what is certain is labelled: by the values, or by the rules.
    """
    return _Page(document, truth, rules, scores).align(margin)


def with_implied(document: Document, truth: Truth, rules: Rules) -> Truth:
    """The true values, and those that follow from them by the rules."""
    implied = _Page(document, truth, rules, None).tied.values
    values = {name: (value,) for name, value in implied.items()}
    return replace(truth, values={**truth.values, **values})


def align_scored(
    scored: Iterable[Scored], truths: Mapping[str, Truth], rules: Rules, *, margin: float = MARGIN
) -> list[Aligned]:
    """Documents with labels, chosen by a model's scores; those without truth are left out."""
    return [
        align(each.document, truths[each.document.id], rules, each.scores, margin=margin)
        for each in scored
        if each.document.id in truths
    ]


LogOdds: TypeAlias = Callable[[Span, Field], float]
"""How much more probable a span is the field than no field."""


def _log_odds(scores: Scores | SpanScores) -> LogOdds:
    if isinstance(scores, Scores):
        return partial(_odds_of_words, scores.marginals())
    odds = zip(scores.spans, scores.log_odds.tolist(), strict=True)
    known = {((span.start, span.end), span.type): value for span, value in odds}
    return partial(_odds_of_spans, known, frozenset(scores.types))


def _odds_of_words(scores: Scores, span: Span, f: Field) -> float:
    """By a model's scores of words; 0 if it does not know the label."""
    index = {name: i for i, name in enumerate(scores.labels)}
    total = 0.0
    for word in range(*span):
        inside = index.get(f"{'I' if word > span[0] else 'B'}-{f.label}")
        if inside is None:
            return 0.0
        row = np.maximum(scores.log_probs[word], -LARGEST)
        total += float(row[inside] - row[index["O"]])
    return max(min(total, LARGEST), -LARGEST)


def _odds_of_spans(
    odds: Mapping[tuple[Span, str], float], types: frozenset[str], span: Span, f: Field
) -> float:
    """By a model's scores of spans; 0 if it does not know the label."""
    if f.label not in types:
        return 0.0
    return max(min(odds.get((span, f.label), NO_SPAN), LARGEST), -LARGEST)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A value of a field that spans are chosen for: the only one, or one of a list.

    ``count`` is how many spans a value of a list has; any number, but not none, otherwise.
    """

    field: Field
    number: int = 0
    count: int | None = None

    @property
    def name(self) -> str:
        return self.field.name if self.count is None else f"{self.field.name}__{self.number}"


Odds: TypeAlias = dict[tuple[Span, _Slot], float]
"""By candidate, how much more probable it is than that the span is no field."""


class _Page:
    """A document that is being aligned."""

    def __init__(
        self, document: Document, truth: Truth, rules: Rules, scores: Scores | SpanScores | None
    ) -> None:
        self.document, self.truth, self.rules = document, truth, rules
        self.log_odds = None if scores is None else _log_odds(scores)
        self.fields: dict[str, Field] = {f.name: f for f in rules.fields}
        self.occurrences = Occurrences(document)
        self.odds: Odds = {}
        self.states: dict[str, State] = {}
        self.fixed: dict[Span, str] = {}  # spans of rows
        self.open: dict[int, None] = {}  # words that stay open
        self.tied = self._find_tied()

    def align(self, margin: float) -> Aligned:
        self._place_rows()
        self._find_values()
        self._add_tied(margin)
        chosen = self._choose(margin)
        labels = ["O"] * len(self.document)
        for (start, end), name in chosen:
            for word in range(start, end):
                labels[word] = f"{'I' if word > start else 'B'}-{self.fields[name].label}"
        taken = {word for span, _ in chosen for word in range(*span)}
        for word in self.open:
            if word not in taken:
                labels[word] = UNKNOWN
        labelled = {name for _, name in chosen}
        for name, state in self.states.items():
            if state != "not found":
                self.states[name] = "labelled" if name in labelled else "ambiguous"
        tied = {*self.tied.values, *self.tied.runs} & labelled
        return Aligned(Labelled(self.document, tuple(labels)), dict(self.states), frozenset(tied))

    def _place_rows(self) -> None:
        """The values of rows where ``ground`` places them all together, as far as it is sure.

        All values of a row stay open that could as well be those of another printed line.
        """
        objects = {kind: [*map(dict, some)] for kind, some in self.truth.rows.items()}
        rows: dict[Path, list[Grounded]] = {}
        for each in ground(self.document, objects, self.rules) if objects else ():
            rows.setdefault(each.path[:2], []).append(each)
            self.states.setdefault(str(each.path[-1]), "not found")
        taken = {line for row in rows.values() for line in self._lines_of(row)}
        for row in rows.values():
            free = [self._lines_with(each) - taken for each in row if each.printed]
            is_sure = not free or not set.intersection(*free)
            for each in row:
                f, span = self.fields[str(each.path[-1])], each.span
                whole = span is not None and span[1] - span[0] == len(each.words)
                if span and whole and is_sure and each.probability > SURE and self._is_free(span):
                    self.fixed[span] = f.name
                    self.states[f.name] = "labelled"
                else:
                    self._leave_open(self.occurrences.find(each.value, f.type))
        for word in [word for span in self.fixed for word in range(*span)]:
            self.open.pop(word, None)

    def _lines_of(self, row: Sequence[Grounded]) -> set[int]:
        return {self.occurrences.lines[each.words[0]] for each in row if each.words}

    def _lines_with(self, each: Grounded) -> set[int]:
        """The printed lines that have a value of a row."""
        spans = self.occurrences.find(each.value, self.fields[str(each.path[-1])].type)
        return {self.occurrences.lines[start] for start, _ in spans}

    def _leave_open(self, spans: Iterable[Span]) -> None:
        self.open |= {word: None for span in spans for word in range(*span)}

    def _is_free(self, span: Span) -> bool:
        return all(is_apart(span, other) for other in self.fixed)

    def _find_values(self) -> None:
        for name, values in self.truth.values.items():
            f = self.fields[name]
            self.states[name] = "not found"
            for number, (value, times) in enumerate(Counter(values).items()):
                spans = self.occurrences.find(value, f.type)
                self._add(f, number, times, spans)

    def _add(self, f: Field, number: int, times: int, spans: Iterable[Span]) -> None:
        free = list(filter(self._is_free, spans))
        if free:
            self.states[f.name] = "ambiguous"
        slot = _Slot(f, number, min(times, len(free)) if f.many else None)
        self.odds |= {(span, slot): self._log_odds(span, f) for span in free}

    def _log_odds(self, span: Span, f: Field) -> float:
        return 0.0 if self.log_odds is None else self.log_odds(span, f)

    def _find_tied(self) -> Tied:
        """What follows from the true values of single fields."""
        known = {
            name: value
            for name, values in self.truth.values.items()
            if not self.fields[name].many and self.fields[name].kind == "number"
            for value in [self._value(name, values[0])]
            if value is not None
        }
        of_rows = {name for rows in self.truth.rows.values() for row in rows for name in row}
        listed = set(self.truth.values) | of_rows
        return find_tied(self.occurrences, self.rules, known, listed)

    def _add_tied(self, margin: float) -> None:
        """Adds candidates of fields without values that rules tie to those with values."""
        for name, value in self.tied.values.items():
            spans = self.occurrences.find(value, self.fields[name].type)
            self._add(self.fields[name], 0, 1, spans)
        for name, values in self.tied.several.items():
            for value in values:
                self._leave_open(self.occurrences.find(value, self.fields[name].type))
            self.states[name] = "ambiguous"
        for name, runs in self.tied.runs.items():
            self._add_run(name, runs, margin)

    def _add_run(self, name: str, runs: tuple[Run, ...], margin: float) -> None:
        """Labels the run that a list must be: the only one, or the most probable one."""
        runs = tuple(run for run in runs if all(map(self._is_free, run)))
        if not runs:
            return
        self.states[name] = "ambiguous"
        worth = [sum(self._log_odds(span, self.fields[name]) for span in run) for run in runs]
        best, *others = sorted(range(len(runs)), key=worth.__getitem__, reverse=True)
        sure = self.log_odds is not None and others and worth[best] >= worth[others[0]] + margin
        if not others or sure:
            self.fixed |= dict.fromkeys(runs[best], name)
        else:
            for run in runs:
                self._leave_open(run)

    def _value(self, name: str, value: Any) -> Any:
        """The value of a field as a number, if it is printed and has only one."""
        printed = self.occurrences.all_of(self.fields[name].type)
        found = list(possible_values(value, self.fields[name].type))
        there = [each for each in found if each in printed or -each in printed]
        return there[0] if len(there) == 1 else found[0] if len(found) == 1 else None

    def _choose(self, margin: float) -> list[tuple[Span, str]]:
        """The spans that are labelled; words of the other candidates are left open."""
        fixed = list(self.fixed.items())
        odds = {key: value for key, value in self.odds.items() if self._is_free(key[0])}
        if not odds:
            return fixed
        chosen = self._search(odds, margin)
        least = -inf if self.log_odds is None else -margin
        self._leave_open(
            key[0] for key, value in odds.items() if value > least and key not in chosen
        )
        return fixed + [(span, slot.field.name) for span, slot in chosen]

    def _search(self, odds: Odds, margin: float) -> list[tuple[Span, _Slot]]:
        """The best spans, as far as they are better by a margin than the best without them."""
        search = _Search(self.document, self.rules, odds)
        best = search.best()
        chosen = []
        for key in best.chosen:
            if _has_rivals(key, odds):
                # A search that reached its limit may have missed a better choice.
                other = search.best(but=key) if best.optimal else best
                if not other.optimal or best.worth - other.worth < margin:
                    continue
            chosen.append(key)
        return chosen


def _has_rivals(key: tuple[Span, _Slot], odds: Odds) -> bool:
    """Whether words of the span have other candidates, or its value has another span."""
    span, slot = key
    return any(
        other != key and (other[1] == slot or not is_apart(other[0], span)) for other in odds
    )


@dataclass(frozen=True, slots=True)
class _Choice:
    """The best spans, and their worth: log-odds minus the penalty of the rules."""

    chosen: tuple[tuple[Span, _Slot], ...]
    worth: float
    optimal: bool


class _Search:
    """The exact search for the best spans among candidates."""

    def __init__(self, document: Document, rules: Rules, odds: Odds) -> None:
        self._slots = {slot.name: slot for _, slot in odds}
        self._document = replace(document, pins=())
        self._rules = _demanding(rules, odds)
        self._odds = odds

    def best(self, *, but: tuple[Span, _Slot] | None = None) -> _Choice:
        """The best choice, or the best one without this candidate."""
        candidates = [
            (*span, slot.name, 1 / (1 + exp(-value)))
            for (span, slot), value in self._odds.items()
            if (span, slot) != but
        ]
        scores = SpanScores(candidates, len(self._document), tuple(self._slots))
        found = decode(self._document, scores, self._rules, budget=Budget(MAX_READINGS))
        worth = found.worth - scores.log_none
        spans = bio_spans(found.labels)
        chosen = tuple(((start, end), self._slots[name]) for name, start, end in spans)
        return _Choice(chosen, worth, found.optimal)


def _demanding(rules: Rules, odds: Odds) -> Rules:
    """Every value has a span, and the rules about places hold; a label per value.

    Equations say nothing here: the values of all candidates are known. If a rule about places has
    many candidates, its fields have one span each: such rules are judged in Python, for one choice
    after the other, and there are 2^n choices of any number of n spans.
    """
    candidates = Counter(slot for _, slot in odds)
    single = {slot.name for slot in candidates if slot.count is None}
    kept = [
        (rule, parsed)
        for rule, parsed in zip(rules.rules, rules.parsed, strict=True)
        if parsed.places and parsed.names <= single and parsed.each is None
    ]
    spans = {slot.name: count for slot, count in candidates.items()}
    alone = {
        name
        for _, parsed in kept
        if sum(spans[name] for name in parsed.names) > MAX_TOGETHER
        for name in parsed.names
    }
    fields = [
        replace(slot.field, name=slot.name, label=slot.name, presence="required", many=False,
                repeat="any", optional=False, default=None, ambiguity=0.0)
        for slot in candidates
    ]  # fmt: skip
    counted = {slot.name: slot.count for slot in candidates if slot.count is not None}
    counts = [
        Rule(f"count({name}) == {count}", weight=PRESENT)
        for name, count in (counted | dict.fromkeys(sorted(alone), 1)).items()
    ]
    orders = [order for order in rules.orders if set(order.fields) <= single]
    weights = {f"{slot.name}:required": PRESENT for slot in candidates}
    defaults = replace(rules.defaults, weights=weights)
    return Rules(fields, [*(rule for rule, _ in kept), *counts], orders=orders, defaults=defaults)
