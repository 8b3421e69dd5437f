"""Candidates: what each field of a document may be, from samples, guesses or APIs, without words.

A *slot* is one place for a value: a field, a position of a list, or a field of one row. Its
candidates exclude each other, and missing is one of them if a source left the value out. All that
is kept of a slot are the log-probabilities of its candidates, and who left it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, inf, log
from numbers import Real
from typing import Any

from lawful.base.errors import InputError, shown
from lawful.candidates.samples import Path, Sample, listed_alike, read_samples, text_of
from lawful.candidates.slots import Slot, counted, questions
from lawful.candidates.sources import Reliability, Voices, weighed
from lawful.documents.document import Document
from lawful.rules.rule_set import Rules

SMOOTHING = 0.5
"""Votes that each candidate of a slot has besides those of the samples."""

MAX_SLOTS = 100_000
TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What each field of a document may be, with probabilities; for ``lawful.choose``.

    ``fields`` has log-probabilities of texts by field: ``{"total": {"53.28": -0.2}}``. A list of
    such mappings is a list of values, one of mappings from fields is a list of rows. The rest of
    the probability, if it is more than ``TOLERANCE``, is that the value is missing; or it is that
    of the text ``""``. Then probabilities must sum to one. ``given`` and ``classes`` are those of a
    ``Document``. ``failed`` says of which samples nothing could be read, and why.
    """

    slots: tuple[Slot, ...]
    id: str = "candidates"
    given: Mapping[str, str | float | None] | None = None
    classes: Mapping[str, Mapping[str, float]] | None = None
    line: int | None = field(default=None, repr=False)
    failed: tuple[str, ...] = ()

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

    def _set(self, slots: tuple[Slot, ...], *rest: Any, failed: tuple[str, ...] = ()) -> None:
        if len(slots) > MAX_SLOTS:
            raise InputError(f"the candidates are for {len(slots):,} values, over {MAX_SLOTS:,}")
        names = ("slots", "failed", "id", "given", "classes", "line")
        for name, value in zip(names, (slots, failed, *rest), strict=True):
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
        """From sampled objects: mappings as in JSON, Pydantic objects, or answers as texts.

        Texts are read as by ``read_answer``. A sample of which nothing can be read, or that is
        ``None`` or an exception because its call failed, is one of ``failed`` and has no vote. What
        an answer that was cut off did not reach is not missing: there it has no vote.

        Every sample has one vote. With ``log_probs``, samples are a list of guesses instead: votes
        are in proportion to their probabilities, and equal objects count once. Lists of objects are
        rows; rows and items of lists are aligned between samples, in order. A text that ``v`` of
        ``n`` votes have, in a slot of ``k`` candidates, has the probability ``(v + smoothing) / (n
        + smoothing * k)``; other texts are impossible. Missing is a candidate if some sample left
        the value out, or the whole row.
        """
        given_samples = _listed(objects, "objects")
        known = None if log_probs is None else _listed(log_probs, "log_probs")
        if known is not None and len(known) != len(given_samples):
            raise InputError(
                f"{len(known)} log_probs for {len(given_samples)} samples, expected one each"
            )
        kept, failed = read_samples(given_samples, "sample")
        flat = listed_alike(list(kept.values()))
        if not flat:
            raise InputError(f"no sample can be read: {failed[0]}" if failed else
                             "there are no samples, expected at least one")  # fmt: skip
        number = isinstance(smoothing, Real) and not isinstance(smoothing, bool)
        if not number or not 1e-6 <= smoothing <= 1e6:
            raise InputError(
                f"smoothing is {shown(smoothing)}, expected a number from 0.000001 to 1,000,000"
            )
        votes = _votes(flat, None if known is None else [known[i] for i in kept])
        candidates = object.__new__(cls)
        slots = tuple(counted(questions(flat, votes), votes, float(smoothing)))
        candidates._set(slots, id, given, classes, line, failed=failed)
        return candidates

    @classmethod
    def of_parts(cls, parts: Sequence[Candidates]) -> Candidates:
        """The candidates of a document from those of its parts, in order.

        Lists go on from part to part. Of a single value, the slots of all parts exclude each other.
        """
        if len(parts) == 1:
            return parts[0]
        before: Counter[Path] = Counter()
        slots: list[Slot] = []
        for part in parts:
            ends = dict(before)
            for slot in part.slots:
                if slot.item is not None:
                    of = slot.rows or slot.path
                    item = slot.item + before[of]
                    ends[of] = max(ends.get(of, 0), item + 1)
                    slots.append(slot._replace(item=item))
                else:
                    slots.append(slot)
            before.update({of: end - before[of] for of, end in ends.items()})
        whole, first = object.__new__(cls), parts[0]
        failed = tuple(why for part in parts for why in part.failed)
        whole._set(tuple(slots), first.id, first.given, first.classes, first.line, failed=failed)
        return whole

    @classmethod
    def from_sources(
        cls,
        sources: Mapping[str, Any],
        reliability: Reliability | None = None,
        *,
        document: Document | None = None,
        rules: Rules | None = None,
        id: str = "candidates",  # noqa: A002 - as in Document
        given: Mapping[str, str | float | None] | None = None,
        classes: Mapping[str, Mapping[str, float]] | None = None,
        line: int | None = None,
    ) -> Candidates:
        """From what several systems say, by name: objects, texts, or lists of samples.

        With the page as ``document``, and ``rules``, a source may also be a model's ``Scores`` or
        ``SpanScores`` of its words, for fields of one value.

        A source is right with the probability ``reliability``, of the source or of each of its
        fields: ``{"gpt": 0.95, "ocr": {"total": 0.8, "*": 0.6}}``; see ``learn_reliability``. Not
        given, it is found from how often each of at least three sources agrees with the others.
        Texts that say the same, in any notation, are one candidate. Rows are aligned by what they
        say, in any order, and a row is there or not as a whole. Missing counts in a field of rows
        as far as its source has the field elsewhere.
        """
        if not isinstance(sources, Mapping) or not sources:
            raise InputError(f"sources is {shown(sources)}, expected what each says, by name")
        voices = Voices.of_sources(sources, document, rules)
        if not voices.samples and not voices.spread:
            raise InputError(f"no source can be read: {voices.failed[0]}")
        candidates = object.__new__(cls)
        slots = tuple(weighed(voices, reliability))
        candidates._set(slots, id, given, classes, line, failed=voices.failed)
        return candidates

    def with_slots(self, slots: Iterable[Slot]) -> Candidates:
        """The same candidates with other slots."""
        found = object.__new__(Candidates)
        found._set(tuple(slots), self.id, self.given, self.classes, self.line, failed=self.failed)
        return found

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
            yield Slot((name,), *_checked(given, name))
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
                    yield Slot(path, *_checked(inner, f"{where}.{field_name}"), i, (name,))
            else:
                yield Slot((name,), *_checked(each, where), i)


def _checked(
    given: Mapping[Any, Any], where: str
) -> tuple[dict[str, float], float, frozenset[int]]:
    """Log-probabilities of texts and of missing, which sum to one, and who left the value out."""
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
    if missing is None:
        missing = 1 - total if 1 - total > TOLERANCE else 0.0
    whole = log(total + missing)
    log_missing = log(missing) - whole if missing > 0 else -inf
    absent_in = frozenset({0} if missing > 0 else ())
    return {text: log_prob - whole for text, log_prob in found.items()}, log_missing, absent_in


def _log_add(one: float | None, other: float) -> float:
    if one is None:
        return other
    low, high = sorted((one, other))
    return high + log(1 + exp(low - high))


def _votes(samples: Sequence[Sample], log_probs: Iterable[float] | None) -> list[float]:
    """The votes of each sample; together as many as there are samples."""
    if log_probs is None:
        return [1.0] * len(samples)
    given = list(log_probs)
    for i, p in enumerate(given):
        if isinstance(p, bool) or not isinstance(p, Real) or not -1e300 < float(p) < 1e300:
            raise InputError(f"log_probs[{i}] is {shown(p)}, expected a log-probability")
    first = {sample.key: i for i, sample in reversed(list(enumerate(samples)))}
    kept = set(first.values())
    top = max(given[i] for i in kept)
    weights = [exp(p - top) if i in kept else 0.0 for i, p in enumerate(given)]
    return [len(samples) * weight / fsum(weights) for weight in weights]
