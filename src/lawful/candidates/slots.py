"""Slots: places for values, and what samples say about each of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import exp, fsum, inf, log
from typing import Any, Final, NamedTuple, TypeAlias

from lawful.candidates.align_lists import align
from lawful.candidates.same import same
from lawful.candidates.samples import Path, Sample
from lawful.values import read


class Slot(NamedTuple):
    """One place for a value: the log-probabilities of its texts, and of missing.

    A value can be missing only if some sources left it out: ``absent_in`` are their numbers.
    ``item`` is its number in a list, or that of its row in a list of objects, to which the path
    ``rows`` leads. ``log_out`` is the log-probability that there is no such row; all others are
    those in the row. ``log_other`` is that of a value that nobody has named, beside all others.
    """

    path: Path
    log_probs: Mapping[str, float]
    log_missing: float
    absent_in: frozenset[int]
    item: int | None = None
    rows: Path | None = None
    log_out: float = -inf
    log_other: float = -inf


class Silence:
    """What stands for an answer if there is none: the source says nothing, or has no such row."""


SILENT: Final = Silence()
NO_ROW: Final = Silence()

Answer: TypeAlias = str | Silence | None


class Question(NamedTuple):
    """What each sample says about one value: a text, that it is missing, or nothing."""

    path: Path
    answers: Sequence[Answer]
    item: int | None = None
    rows: Path | None = None


def questions(samples: Sequence[Sample], votes: Sequence[float]) -> Iterator[Question]:
    """All values that some sample has: those outside of lists, then list by list, row by row."""
    for path in dict.fromkeys(path for sample in samples for path in sample.texts):
        answers = [SILENT if s.silent(path) else s.texts.get(path) for s in samples]
        yield Question(path, answers)
    for path in dict.fromkeys(path for sample in samples for path in sample.lists):
        columns = align([sample.lists.get(path, []) for sample in samples], votes)
        ends = [len(columns) if s.nulls is None else _last(columns, i)
                for i, s in enumerate(samples)]  # fmt: skip
        for number, column in enumerate(columns):
            silent = [number >= end for end in ends]
            for name in dict.fromkeys(name for row in column if row for name in row):
                answers = [
                    row[name] if row is not None and name in row
                    else SILENT if quiet else NO_ROW if row is None else None
                    for row, quiet in zip(column, silent, strict=True)
                ]  # fmt: skip
                yield Question((*path, *name), answers, number, path if name else None)


def _last(columns: Sequence[Sequence[Any]], sample: int) -> int:
    """The column of the last item of a sample, which may lack values if it was cut off."""
    return max((i for i, column in enumerate(columns) if column[sample] is not None), default=0)


def meanings(texts: Iterable[str]) -> Callable[[str], Hashable]:
    """What each of these texts says. One with several values says what another says, if it can."""
    known = {text: same(text) for text in texts}
    sure = {key for key in known.values() if not isinstance(key, str)}
    for text, key in known.items():
        if isinstance(key, str) and sure:
            values = (*read(text, "money"), *read(text, "date"))
            known[text] = next((v for v in values if v in sure), key) if len(values) > 1 else key
    return known.__getitem__


def counted(
    questions: Iterable[Question], votes: Sequence[float], smoothing: float
) -> Iterator[Slot]:
    """The slots of samples with votes; a sample without a row has left all its values out."""
    for asked in questions:
        answers = [None if answer is NO_ROW else answer for answer in asked.answers]
        said = [(a, vote) for a, vote in zip(answers, votes, strict=True)
                if vote > 0 and not isinstance(a, Silence)]  # fmt: skip
        of = meanings(a for a, _ in said if a is not None)
        by_meaning: dict[Hashable, float] = {}
        by_text: dict[str, float] = {}
        for answer, vote in said:
            key = None if answer is None else of(answer)
            by_meaning[key] = by_meaning.get(key, 0.0) + vote
            if answer is not None:
                by_text[answer] = by_text.get(answer, 0.0) + vote
        whole = log(fsum(by_meaning.values()) + smoothing * len(by_meaning))
        log_probs = {key: log(vote + smoothing) - whole for key, vote in by_meaning.items()}
        yield Slot(
            asked.path,
            {t: log_probs[of(t)] + log(v / by_meaning[of(t)]) for t, v in by_text.items()},
            log_probs.get(None, -inf),
            frozenset(i for i, a in enumerate(answers) if a is None and votes[i] > 0),
            asked.item,
            asked.rows,
            log_other=-log(1 + exp(whole) / smoothing),
        )
