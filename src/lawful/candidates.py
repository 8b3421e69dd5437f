"""Candidates: what each field of a document may be, from samples, guesses or APIs, without words.

A *slot* is one place for a value: a field, a position of a list, or a field of one row. Its
candidates exclude each other, and missing is one of them. All that is kept of a slot are the
log-odds of each text against missing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from math import exp, fsum, log
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

from lawful.alignment import align
from lawful.errors import InputError, shown

Path: TypeAlias = tuple[str, ...]
"""The names that lead to a value: ``("total",)``, ``("seller", "name")``, ``("lines", "sum")``."""

Texts: TypeAlias = dict[Path, str]
"""The texts of one object without its lists, by path."""

SMOOTHING = 0.5
"""Votes that each text of a slot, and missing, have besides those of the samples."""

LEAST_MISSING = 1e-4
"""Least probability that a value is missing, if probabilities do not say."""

MOST_DIGITS = 30  # of a number before its decimals
MOST_SLOTS = 10_000
DEEPEST = 8
TOLERANCE = 1e-3


class Slot(NamedTuple):
    """One place for a value: the log-odds of each text against missing.

    ``item`` is its number in a list, or that of its row in a list of objects, to which the path
    ``rows`` leads.
    """

    path: Path
    log_odds: Mapping[str, float]
    item: int | None = None
    rows: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What each field of a document may be, with probabilities; for ``lawful.choose``.

    ``fields`` has log-probabilities of texts by field: ``{"total": {"53.28": -0.2}}``. A list of
    such mappings is a list of values, one of mappings from fields is a list of rows. The rest of
    the probability is that the value is missing, at least ``LEAST_MISSING``; or it is that of the
    text ``""``. Then probabilities must sum to one. ``given`` and ``classes`` are those of a
    ``Document``.
    """

    slots: tuple[Slot, ...]
    id: str = "candidates"
    given: Mapping[str, str | float | None] | None = None
    classes: Mapping[str, Mapping[str, float]] | None = None
    line: int | None = field(default=None, repr=False)

    def __init__(
        self,
        fields: Mapping[str, Any],
        *,
        id: str = "candidates",  # noqa: A002 - as in Document
        given: Mapping[str, str | float | None] | None = None,
        classes: Mapping[str, Mapping[str, float]] | None = None,
        line: int | None = None,
    ) -> None:
        self._set(tuple(_given_slots(fields)), id, given, classes, line)

    def _set(self, slots: tuple[Slot, ...], *rest: Any) -> None:
        if len(slots) > MOST_SLOTS:
            raise InputError(f"the candidates are for {len(slots):,} values, over {MOST_SLOTS:,}")
        names = ("slots", "id", "given", "classes", "line")
        for name, value in zip(names, (slots, *rest), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_samples(
        cls,
        objects: Iterable[Any],
        log_probs: Iterable[float] | None = None,
        *,
        smoothing: float = SMOOTHING,
        id: str = "candidates",  # noqa: A002 - as in Document
        given: Mapping[str, str | float | None] | None = None,
        classes: Mapping[str, Mapping[str, float]] | None = None,
        line: int | None = None,
    ) -> Candidates:
        """From sampled objects: mappings as in JSON, or Pydantic objects.

        Every sample has one vote. With ``log_probs``, samples are a list of guesses instead: votes
        are in proportion to their probabilities, and equal objects count once. Lists of objects are
        rows; rows and items of lists are aligned between samples, in order. A text that ``v`` of
        ``n`` votes have, in a slot of ``k`` texts, has the probability ``(v + smoothing) / (n +
        smoothing * (k + 1))``, and so has missing; other texts are impossible.
        """
        flat = [_Sample.of(i, each) for i, each in enumerate(_listed(objects, "objects"))]
        flat = _listed_alike(flat)
        if not flat:
            raise InputError("there are no samples, expected at least one")
        number = isinstance(smoothing, Real) and not isinstance(smoothing, bool)
        if not number or not 1e-6 <= smoothing <= 1e6:
            raise InputError(
                f"smoothing is {shown(smoothing)}, expected a number from 0.000001 to 1,000,000"
            )
        votes = _votes(flat, log_probs)
        candidates = object.__new__(cls)
        slots = tuple(_sampled_slots(flat, votes, float(smoothing)))
        candidates._set(slots, id, given, classes, line)
        return candidates

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of all slots, each once."""
        return tuple(dict.fromkeys(slot.path for slot in self.slots))


def _listed(values: Any, name: str) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{name} is {shown(values)}, expected a list")
    return list(values)


def _given_slots(fields: Any) -> Iterator[Slot]:
    if not isinstance(fields, Mapping):
        raise InputError(f"candidates is {shown(fields)}, expected fields and their candidates")
    for name, given in fields.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{shown(name)} is no name of a field")
        if isinstance(given, Mapping):
            yield Slot((name,), _log_odds(given, name))
            continue
        if not isinstance(given, list | tuple):
            raise InputError(
                f"candidates of {name} is {shown(given)}, expected texts and their "
                "log-probabilities, or a list of these"
            )
        for i, each in enumerate(given):
            where = f"{name}[{i}]"
            if not isinstance(each, Mapping):
                raise InputError(f"candidates of {where} is {shown(each)}, expected a mapping")
            if each and all(isinstance(inner, Mapping) for inner in each.values()):
                for field_name, inner in each.items():
                    path = (name, str(field_name))
                    yield Slot(path, _log_odds(inner, f"{where}.{field_name}"), i, (name,))
            else:
                yield Slot((name,), _log_odds(each, where), i)


def _log_odds(given: Mapping[Any, Any], where: str) -> dict[str, float]:
    """Log-odds against missing from log-probabilities."""
    missing, found = None, dict[str, float]()
    for value, log_prob in given.items():
        number = isinstance(log_prob, Real) and not isinstance(log_prob, bool)
        # Written so that NaN, for which every comparison is false, is refused too.
        if not number or not log_prob <= TOLERANCE:
            raise InputError(
                f"candidates of {where}: {shown(value)} has {shown(log_prob)}, expected a "
                "log-probability"
            )
        text = text_of(value, where)
        if text is None:
            missing = exp(log_prob)
        elif log_prob > -1e300:
            found[text] = _log_add(found.get(text), float(log_prob))
    total = fsum(map(exp, found.values()))
    if missing is not None and abs(total + missing - 1) > TOLERANCE:
        raise InputError(
            f"candidates of {where}: probabilities sum to {total + missing:.6g}, expected 1 "
            f"(within {TOLERANCE:g})"
        )
    if total > 1 + TOLERANCE:
        raise InputError(f"candidates of {where}: probabilities sum to {total:.6g}, over 1")
    rest = max(LEAST_MISSING, 1 - total if missing is None else missing)
    return {text: log_prob - log(rest) for text, log_prob in found.items()}


def _log_add(one: float | None, other: float) -> float:
    if one is None:
        return other
    low, high = sorted((one, other))
    return high + log(1 + exp(low - high))


def text_of(value: Any, where: str) -> str | None:
    """A value of JSON as text, which its type reads as this value; ``None`` if it is missing."""
    match value:
        case None:
            return None
        case str():
            return value.strip() or None
        case bool():
            return "true" if value else "false"
        case int() | float() if abs(value) < 10**MOST_DIGITS:
            return _number(Decimal(str(value)))
        case Decimal() if value.is_finite() and abs(value.adjusted()) < MOST_DIGITS:
            return _number(value)
        case date():
            return value.isoformat()
    raise InputError(f"{where} is {shown(value)}, expected a text, a number or null")


def _number(value: Decimal) -> str:
    """A number as text. Three decimals would look like thousands, so they become four."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    decimals = len(text.partition(".")[2])
    return f"{text}0" if decimals == 3 else text


@dataclass(frozen=True, slots=True)
class _Sample:
    """An object without its nesting: texts by path, and for each list its items, by path."""

    texts: Texts
    lists: Mapping[Path, list[Texts]]  # an item that is no object has the empty path

    @classmethod
    def of(cls, number: int, given: Any) -> _Sample:
        if hasattr(given, "model_dump"):
            given = given.model_dump()
        where = f"sample {number}"
        if not isinstance(given, Mapping):
            raise InputError(f"{where} is {shown(given)}, expected an object")
        lists: dict[Path, list[Texts]] = {}
        return cls(_flatten(given, (), where, lists), lists)

    @property
    def key(self) -> Hashable:
        """Equal for equal samples."""
        lists = ((p, tuple(map(_frozen, rows))) for p, rows in self.lists.items())
        return _frozen(self.texts), frozenset(lists)


def _listed_alike(samples: Sequence[_Sample]) -> list[_Sample]:
    """The samples; what is a list in some of them is one in all, if need be of one item."""
    paths = dict.fromkeys(path for sample in samples for path in sample.lists)
    found = []
    for sample in samples:
        texts, lists = dict(sample.texts), dict(sample.lists)
        for path in paths:
            inside = [each for each in texts if each[: len(path)] == path]
            if inside:
                item = {each[len(path) :]: texts.pop(each) for each in inside}
                lists[path] = [*lists.get(path, ()), item]
        found.append(_Sample(texts, lists))
    return found


def _frozen(texts: Texts) -> frozenset[tuple[Path, str]]:
    return frozenset(texts.items())


def _flatten(
    given: Mapping[Any, Any], path: Path, where: str, lists: dict[Path, list[Texts]] | None
) -> Texts:
    """The texts below an object, by path; lists go into ``lists``, unless there can be none."""
    found: Texts = {}
    if len(path) > DEEPEST:
        raise InputError(f"{where}: objects are nested more than {DEEPEST} deep")
    for name, value in given.items():
        here, there = (*path, str(name)), f"{where}: {'.'.join((*path, str(name)))}"
        if isinstance(value, Mapping):
            found |= _flatten(value, here, where, lists)
        elif isinstance(value, list | tuple):
            if lists is None:
                raise InputError(f"{there} is a list in a list, which cannot be compared")
            lists[here] = [_item(each, f"{there}[{i}]") for i, each in enumerate(value)]
        elif (text := text_of(value, there)) is not None:
            found[here] = text
    return found


def _item(value: Any, where: str) -> Texts:
    if isinstance(value, Mapping):
        return _flatten(value, (), where, None)
    text = text_of(value, where)
    return {} if text is None else {(): text}


def _votes(samples: Sequence[_Sample], log_probs: Iterable[float] | None) -> list[float]:
    """The votes of each sample; together as many as there are samples."""
    if log_probs is None:
        return [1.0] * len(samples)
    given = _listed(log_probs, "log_probs")
    if len(given) != len(samples):
        raise InputError(f"{len(given)} log_probs for {len(samples)} samples, expected one each")
    for i, p in enumerate(given):
        if isinstance(p, bool) or not isinstance(p, Real) or not -1e300 < float(p) < 1e300:
            raise InputError(f"log_probs[{i}] is {shown(p)}, expected a log-probability")
    first = {sample.key: i for i, sample in reversed(list(enumerate(samples)))}
    kept = set(first.values())
    top = max(given[i] for i in kept)
    weights = [exp(p - top) if i in kept else 0.0 for i, p in enumerate(given)]
    return [len(samples) * weight / fsum(weights) for weight in weights]


def _sampled_slots(
    samples: Sequence[_Sample], votes: Sequence[float], smoothing: float
) -> Iterator[Slot]:
    for path in dict.fromkeys(path for sample in samples for path in sample.texts):
        found = (
            (sample.texts.get(path), vote) for sample, vote in zip(samples, votes, strict=True)
        )
        yield Slot(path, _counted(found, smoothing))
    for path in dict.fromkeys(path for sample in samples for path in sample.lists):
        columns = align([sample.lists.get(path, []) for sample in samples], votes)
        for number, column in enumerate(columns):
            inner = dict.fromkeys(name for row in column if row is not None for name in row)
            for name in inner:
                found = (
                    (None if row is None else row.get(name), vote)
                    for row, vote in zip(column, votes, strict=True)
                )
                yield Slot(
                    (*path, *name), _counted(found, smoothing), number, path if name else None
                )


def _counted(found: Iterable[tuple[str | None, float]], smoothing: float) -> dict[str, float]:
    """The log-odds of texts from their votes, each with some more."""
    votes: dict[str | None, float] = {None: 0.0}
    for text, vote in found:
        votes[text] = votes.get(text, 0.0) + vote
    missing = log(votes[None] + smoothing)
    return {
        text: log(vote + smoothing) - missing
        for text, vote in votes.items()
        if text is not None and vote > 0
    }
