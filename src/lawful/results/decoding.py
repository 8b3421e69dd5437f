"""The result of decoding a document: labels, fields, checks, corrections, confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, exp, floor, inf
from numbers import Real
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from lawful.base.clock import seconds_left
from lawful.base.errors import InputError, shown
from lawful.documents.pins import Pin
from lawful.results.known import Known
from lawful.results.objects import object_of
from lawful.results.promise import is_promised
from lawful.results.rows import rows_of
from lawful.results.span_corrections import SpanCorrection, in_words
from lawful.rules.definitions import LEGAL
from lawful.rules.judging.checks import Check, RuleCounts
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.judging.rows import Sections
from lawful.values import format_value

Status: TypeAlias = Literal["satisfied", "unchecked", "relaxed", "infeasible", "exhausted"]
"""``satisfied``: at least one rule is satisfied and none is violated. ``unchecked``: all rules are
vacuous, so only the model supports the answer. ``relaxed``: the best trade-off violates a weighted
rule. ``infeasible``: no labelling satisfies the hard rules; this is proven. ``exhausted``: a limit
of the budget ended the search, and the answer is the best one so far."""

Limit: TypeAlias = Literal[
    "candidates", "seconds", "mass", "max_cost", "memory", "combinations", "rounding"
]
"""The limit that ended a search. ``combinations``: repeated fields (``repeat: any``) or ambiguous
texts had more combinations of values than are tried. ``rounding``: all labellings cost so much that
rounded sums do not tell them apart."""


STOPPED: Mapping[Limit, str] = {
    "candidates": "out of candidates",
    "seconds": "out of time",
    "mass": "enough probability seen",
    "max_cost": "nothing proven within max_cost",
    "memory": "out of memory",
    "combinations": "too many combinations of values",
    "rounding": "costs too large to compare",
}
"""The limits in words."""


MIN_SECONDS = 1e-9
"""A limit of time that is spent: a budget has no limit of 0."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a decoder; the first that is reached ends the search.

    ``candidates`` defaults to the decoder's own limit; ``inf`` is no limit. ``seconds`` bounds the
    whole call: the search, the checks and the explanations. ``mass`` is the share of the model's
    probability to cover. ``max_cost`` is how many nats of log-probability rules may cost:
    labellings below the best legal one by more than that are not considered.
    """

    candidates: float | None = None
    seconds: float | None = None
    mass: float | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        self._check(
            "candidates",
            "a whole number above 0, inf",
            lambda v: v >= 1 and v in (inf, int(min(v, 2**62))),
        )
        self._check("seconds", "a number above 0", lambda v: v > 0)
        self._check("mass", "a share above 0 and at most 1", lambda v: 0 < v <= 1)
        self._check("max_cost", "0 or more nats", lambda v: v >= 0)

    def _check(self, name: str, expected: str, fits: Callable[[float], bool]) -> None:
        value = getattr(self, name)
        if value is None:
            return
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not fits(value):
            raise InputError(f"budget: {name} is {shown(value)}, expected {expected} or None")

    def ending(self, deadline: float) -> Budget:
        """The same budget with the seconds that are left until a moment by ``perf_counter``.

        A moment that has passed leaves a limit that is spent at once, never none.
        """
        seconds = seconds_left(deadline)
        return self if seconds is None else replace(self, seconds=max(MIN_SECONDS, seconds))

    def deadline(self, began: float) -> float:
        """The moment at which a call that began at this one must end; ``inf`` without a limit."""
        return inf if self.seconds is None else began + self.seconds

    def filled(self, default: Budget) -> Budget:
        """The same budget, with the default's candidates if none are given."""
        return self if self.candidates is not None else _filled(self, default.candidates)


@lru_cache(maxsize=64)
def _filled(budget: Budget, candidates: float | None) -> Budget:
    return replace(budget, candidates=candidates)


@dataclass(frozen=True, slots=True)
class Correction:
    """A word whose label is not the model's first choice, with the price and the reasons.

    ``because`` lists the rules that become violated if the word, or it and the changed words around
    it, get their old labels back; ``legal`` is the labelling scheme. ``None`` if the time was up
    before the reasons were found.
    """

    word: int
    old: str
    new: str
    price: float  # in nats
    because: tuple[str, ...] | None

    def __reduce__(self) -> tuple[Any, ...]:
        return Correction, _PARTS_OF_CORRECTIONS(self)

    @property
    def why(self) -> str:
        """The reasons in words; empty if no rule is responsible."""
        return in_words(self.because)


_PARTS_OF_CORRECTIONS = attrgetter(*Correction.__match_args__)


@dataclass(frozen=True, slots=True)
class ClassValue:
    """The class of a document, and the model's first choice of it, with the price and the reasons.

    ``because`` lists the rules that become violated if the document is of the model's first choice;
    ``None`` if the time was up before the reasons were found.
    """

    value: str
    first: str
    price: float = 0.0  # in nats; 0 if it is the first choice
    because: tuple[str, ...] | None = ()

    @property
    def why(self) -> str:
        """The reasons in words; empty if no rule is responsible."""
        return in_words(self.because)


@dataclass(frozen=True, slots=True)
class Move:
    """A word that has another label than before: without pins, or in another decoding."""

    word: int
    old: str
    new: str
    pinned: bool  # whether a pin is about this word; if not, it moved because others did


class Confidence(NamedTuple):
    """Bounds on the probability that a field's value is right, under the model and the weights.

    Every labelling weighs e to its worth. ``high - low`` is usually below 0.005; it is larger if
    rules are Python functions, if many doubtful items add up to a total, or if time ran out.
    """

    low: float
    high: float

    def __str__(self) -> str:
        """In whole percent, with bounds rounded outwards."""
        low, high = floor(100 * self.low + 1e-6), ceil(100 * self.high - 1e-6)
        if low >= 99:
            return "at least 99 % sure"
        if high - low <= 1:
            return f"{round(50 * (self.low + self.high))} % sure"
        return f"at least {low} % sure" if high == 100 else f"{low} to {high} % sure"


CLASHES = {
    True: "these cannot hold together",
    False: "these, or some of these, cannot hold together",
}
"""The words before a ``clash``, by ``clash_minimal``."""


@dataclass(frozen=True, slots=True, repr=False)
class Decoding:
    """The answer for one document; ``optimal`` says whether it is proven to be the best.

    The best labelling has the highest ``worth``, ``log_prob - penalty``; no labelling is worth more
    than ``bound``. If the rules are infeasible, ``clash`` lists hard rules that cannot hold
    together; if ``clash_minimal``, none of them can be left out. ``chosen`` is the reason why
    ``auto`` chose this decoder. ``classes`` says what the document is, if rules name classes, and
    ``log_prob`` includes their log-probability.

    ``alternatives``, if requested, are the next best decodings, each with other field values than
    those before it, or another class; their ``optimal`` and ``bound`` refer to such decodings.
    ``margin`` is how much more the decoding is worth than any of these: a lower bound if
    ``stopped_by`` is set, infinite if it is proven that there are none, ``None`` if the decoding is
    not proven or alternatives were not requested. ``confidence`` is, by class and by field, the
    probability that its value is right.

    ``pins`` are a person's word, which the decoding agrees with unless it is infeasible or
    exhausted. ``moved`` are the words whose labels differ from the decoding without pins, or from
    the one that ``decode`` was given as ``before``; ``None`` if there was no time to compare.

    ``trust`` is the probability that all needed values are right, by a model that was applied
    (``lawful.learn.trust``) and goes by ``doubts``. ``passes`` is whether no person needs to look
    at the document, by what the model promises, and ``passes_because`` why; without a promise, none
    passes. Decodings of one ``setting`` were made in the same way.
    ``known`` compares fields with values that the document says are true (``Document.values``).
    """

    id: str
    decoder: str
    status: Status
    optimal: bool
    labels: tuple[str, ...]
    fields: dict[str, list[FieldValue]]
    log_prob: float
    penalty: float  # weights of violated rules, prices of vacuous rules and less plausible values
    bound: float
    checks: tuple[Check, ...]
    corrections: tuple[Correction, ...]
    tried: int
    mass: float  # probability of the candidates tried
    seconds: float
    stopped_by: Limit | None = None
    words: tuple[str, ...] = ()
    clash: tuple[str, ...] = ()
    clash_minimal: bool = False
    alternatives: tuple[Decoding, ...] = ()
    margin: float | None = None
    confidence: dict[str, Confidence] = field(default_factory=dict)
    chosen: str = ""
    row_kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # their fields, by name
    shared: frozenset[str] = frozenset()  # fields that rows have from rows before them
    sections: Mapping[str, Sections] = field(default_factory=dict)  # by kind of sections
    classes: Mapping[str, ClassValue] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    moved: tuple[Move, ...] | None = ()
    span_corrections: tuple[SpanCorrection, ...] = ()  # instead, if the model scores spans
    trust: float | None = None
    passes: bool | None = None
    passes_because: str | None = None
    doubts: Mapping[str, float] = field(default_factory=dict)
    setting: str | None = None
    known: tuple[Known, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Decoding, _PARTS_OF_DECODINGS(self)

    def rows(self, kind: str) -> list[dict[str, FieldValue]]:
        """The rows of a kind, in order: by field, its first readable value in the row.

        A row without a value of a shared field has that of the nearest row before it that has one,
        or else of the first one after it.
        """
        if kind not in self.row_kinds:
            known = ", ".join(self.row_kinds) or "none"
            raise InputError(f"no rows {shown(kind)}; kinds of rows: {known}")
        return rows_of(self.fields, self.row_kinds[kind], self.sections.get(kind), self.shared)

    def values(self, name: str) -> tuple[Any, ...]:
        """The values of a field, in order."""
        return tuple(found.value for found in self.fields.get(name, ()))

    @property
    def worth(self) -> float:
        """The quantity that decoders maximise: ``log_prob - penalty``."""
        return self.log_prob - self.penalty

    @property
    def violations(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.state == "violated")

    @property
    def changed(self) -> int:
        """The number of words, spans and classes that are not the model's first choice.

        Words that only the labelling scheme changed, as from ``I-`` to ``B-``, do not count.
        """
        classes = sum(found.value != found.first for found in self.classes.values())
        words = sum(change.because != (LEGAL,) for change in self.corrections)
        return words + len(self.span_corrections) + classes

    @property
    def repairs(self) -> dict[str, list[FieldValue]]:
        """By field, the values that are read otherwise than OCR read their text."""
        read = {
            name: [value for value in values if value.read_as is not None]
            for name, values in self.fields.items()
        }
        return {name: values for name, values in read.items() if values}

    @property
    def repaired(self) -> int:
        """The number of such values."""
        return sum(map(len, self.repairs.values()))

    @property
    def rule_checks(self) -> tuple[Check, ...]:
        """The checks of rules, without those that fields imply."""
        return tuple(check for check in self.checks if not check.implied)

    @property
    def counts(self) -> RuleCounts:
        """How many rules were checked and hold, and on how many rows."""
        return RuleCounts.of(self.checks)

    @property
    def rules(self) -> int:
        """The number of rules; one with many rows counts once."""
        return self.counts.rules

    @property
    def checked(self) -> int:
        """The number of rules that are not vacuous; a rule with many rows counts once."""
        return self.counts.checked

    @property
    def in_review(self) -> str:
        """Whether the document passes, in words."""
        passes = "passes" if self.passes else "for review"
        return passes if is_promised(self.passes_because) else "no promise"

    def to_model(self, model: Any) -> Any:
        """The values of the fields as an object of a Pydantic model, or as a dictionary.

        ``model`` is the model or JSON Schema that the rules are from (``Rules.from_pydantic``,
        ``Rules.from_json_schema``). Values are decimals, dates and texts; one that cannot be read
        is its text. A value of a list that is in no row is a row of its own, after all others.
        Missing values are left out, so that the defaults of the model apply; if it has none,
        Pydantic raises its ``ValidationError``.
        """
        return object_of(self.fields, model)

    def to_dict(self, *, ranked: bool = False) -> dict[str, Any]:
        """The decoding as plain values, for JSON lines; the most useful keys come first.

        Infinite penalties are ``"hard"``. With ``ranked``, the keys about alternatives are present
        even if there are no alternatives.
        """
        from lawful.results.wire import line_of, plain_values

        found: dict[str, Any] = plain_values(line_of(self, ranked=ranked))
        return found

    def __str__(self) -> str:
        proven = self.optimal or self.status == "infeasible"
        proof = "optimal" if self.optimal else "proven" if proven else "not proven optimal"
        unit = "partial reading" if self.decoder == "exact" else "candidate"
        stopped = f", {STOPPED[self.stopped_by]}" if self.stopped_by else ""
        if self.optimal and self.stopped_by:  # the answer is proven; the alternatives are not
            stopped = f"; the search for alternatives: {STOPPED[self.stopped_by]}"
        lines = [
            f"{self.id}: {self.status} ({self.counts}, {proof}, "
            f"p = {exp(self.log_prob):.2g}, {self.tried} {unit}{'s' * (self.tried != 1)} "
            f"in {self.seconds * 1000:.1f} ms{stopped})"
        ]
        if self.trust is not None:
            lines.append(f"  trust {floor(1000 * self.trust) / 10:.1f} %, {self.in_review}")
        if self.clash:
            lines.append(f"  {CLASHES[self.clash_minimal]}: {'; '.join(self.clash)}")
        width = max(map(len, (*self.classes, *self.fields)), default=0)
        for name, found in self.classes.items():
            sure = f"  ({self.confidence[name]})" if name in self.confidence else ""
            lines.append(f"  {name:<{width}}  {found.value}{sure}")
        for name, values in self.fields.items():
            for value in values:
                read = "?" if value.value is None else format_value(value.value)
                shown = value.text if read == value.text else f"{value.text}  = {read}"
                if value.read_as is not None:
                    shown = f"{value.text}  read as {value.read_as}  = {read}"
                elif value.choice:
                    shown = f"{value.text}  = {read}, possible value {value.choice + 1}"
                sure = f"  ({self.confidence[name]})" if name in self.confidence else ""
                lines.append(f"  {name:<{width}}  {shown}{sure}")
        for check in self.checks:
            lines.append(f"  {check}")
        for name, found in self.classes.items():
            if found.value != found.first:
                why = f", {found.why}" if found.why else ""
                change = f"{found.first} -> {found.value}"
                lines.append(f"  {name}: {change} ({found.price:.2f} nats{why})")
        for c in self.corrections:
            word = f" {self.words[c.word]!r}" if self.words else ""
            why = f", {c.why}" if c.why else ""
            lines.append(f"  word {c.word}{word}: {c.old} -> {c.new} ({c.price:.2f} nats{why})")
        for pin in self.pins:
            lines.append(f"  {pin.id}")
        for move in self.moved or ():
            word = f" {self.words[move.word]!r}" if self.words else ""
            lines.append(f"  moved word {move.word}{word}: {move.old} -> {move.new}")
        for moved in self.span_corrections:
            why = f", {moved.why}" if moved.why else ""
            lines.append(f"  {moved.text(self.words)} ({moved.price:.2f} nats{why})")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Status, probability, values and violated checks, in a few lines; ``str`` has it all."""
        proof = ", optimal" if self.optimal else ""
        head = f"<Decoding {self.id!r}: {self.status}{proof}, log_prob={self.log_prob:.4g}"
        values = [
            *(f"  {name} = {found.value}" for name, found in self.classes.items()),
            *(
                f"  {name} = {_shortened([_shown(value) for value in found])}"
                for name, found in self.fields.items()
            ),
        ]
        violated = (f"  {check}" for check in self.violations)
        lines = [head, *_first(values, _MAX_FIELDS, "fields")]
        lines += _first(violated, _MAX_VIOLATIONS, "violated checks")
        return "\n".join(line[:_WIDEST] for line in lines) + ">"

    def _repr_html_(self) -> str:
        from lawful.report.page import notebook_card

        return notebook_card(self)


_MAX_FIELDS, _MAX_VIOLATIONS, _MAX_VALUES, _WIDEST = 8, 3, 5, 100
"""Limits of ``repr``: fields, violated checks, values per field, characters per line."""


def _first(lines: Iterable[str], most: int, what: str) -> list[str]:
    """The first lines, and the number of those left out."""
    found = list(lines)
    if len(found) <= most:
        return found
    return [*found[:most], f"  … and {len(found) - most} more {what}"]


def _shown(value: FieldValue) -> str:
    return f"{value.text!r} (unreadable)" if value.value is None else format_value(value.value)


def _shortened(values: list[str]) -> str:
    more = len(values) - _MAX_VALUES
    return "; ".join(values[:_MAX_VALUES]) + (f"; … and {more} more" if more > 0 else "")


_PARTS_OF_DECODINGS = attrgetter(*Decoding.__match_args__)


def moves(before: Decoding, after: Decoding, pins: Iterable[Pin]) -> tuple[Move, ...]:
    """The words whose labels differ between two decodings, the second with these pins."""
    pinned = {word for pin in pins if pin.words for word in range(*pin.words)}
    labels = zip(before.labels, after.labels, strict=True)
    return tuple(
        Move(word, old, new, word in pinned) for word, (old, new) in enumerate(labels) if old != new
    )


def differences(
    best: Decoding, other: Decoding, single: Container[str] = ()
) -> Iterator[tuple[str, str, str]]:
    """Yields (name, old, new) for each field whose values differ, without the values in common.

    Classes that differ come first. Of fields in ``single``, only the first readable value counts. A
    field that one decoding lacks is ``missing`` there; one side of a list is empty if it has
    nothing that the other lacks.
    """
    for name, class_ in best.classes.items():
        if class_.value != other.classes[name].value:
            yield name, class_.value, other.classes[name].value
    for name in dict.fromkeys((*best.fields, *other.fields)):
        values = []
        for decoding in (best, other):
            found = [value for value in decoding.values(name) if value is not None]
            values.append(found[:1] if name in single else found)
        if values[0] == values[1]:
            continue
        only = [Counter(values[0]) - Counter(values[1]), Counter(values[1]) - Counter(values[0])]
        if all(values) and any(only):
            values = [list(rest.elements()) for rest in only]
            gone, new = (" ".join(map(format_value, some)) for some in values)
        else:  # missing in one, or the same values in another order
            gone, new = (" ".join(map(format_value, some)) or "missing" for some in values)
        yield name, gone, new


def describe_difference(name: str, gone: str, new: str) -> str:
    """A difference as text: ``total 7.00 -> 9.00``, or the values that a list gained or lost."""
    if gone and new:
        return f"{name} {gone} -> {new}"
    return f"{name} with {new}" if new else f"{name} without {gone}"
