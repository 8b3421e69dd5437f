"""A model's scores for every word and label, checked once.

``Scores`` are log-probabilities tied to label names. The core wants costs, which ``as_costs`` makes
of anything a user may have. A cost is ``-log p``: lower is better and ``inf`` forbids a label.
Other modules rely on what is checked here: two dimensions, at least one label, float64, C order, no
NaN, no cost of ``-inf``, and nothing so large that a sum of costs could overflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from lawful.chain import Chain
from lawful.errors import ScoresError
from lawful.labels import LARGEST_COST, check_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Costs: TypeAlias = NDArray[np.float64]  # (words, labels)

ScoreKind: TypeAlias = Literal["probs", "log_probs", "emissions", "costs"]
"""How to read a matrix of scores.

``probs`` and ``log_probs`` are normalised: each row, as probabilities, sums to one. ``emissions``
(higher is better, such as a CRF emits) and ``costs`` (lower is better) are any real numbers, used
as they are. A label is forbidden by ``0``, ``-inf``, ``-inf`` and ``inf`` respectively; a row
that forbids every label is allowed, and leaves nothing to enumerate.
"""

TOLERANCE = 1e-3
"""Allowed distance of a row's sum from one; ten times as much for half-precision input."""

Pooling: TypeAlias = Literal["mean", "first", "product"]
"""A word's scores from those of its pieces: the mean of their log-probabilities, the first piece's
distribution, or the product of their probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Log-probabilities of every word's labels, tied to label names.

    Made by one of the class methods, which check; read-only from then on. Every row is a
    distribution, or forbids every label. With a ``chain``, a labelling is as probable as the CRF
    says: its rows' and its transitions' scores together, over those of all labellings.
    """

    log_probs: NDArray[np.float64]  # (words, labels)
    labels: tuple[str, ...]
    chain: Chain | None = None

    @classmethod
    def from_probs(cls, probs: ArrayLike, labels: Iterable[str]) -> Scores:
        """From probabilities, each row summing to one."""
        return cls._checked(_as_log_scores(probs, "probs"), labels)

    @classmethod
    def from_log_probs(cls, log_probs: ArrayLike, labels: Iterable[str]) -> Scores:
        """From log-probabilities, each row's exponentials summing to one."""
        return cls._checked(_as_log_scores(log_probs, "log_probs"), labels)

    @classmethod
    def from_logits(
        cls, logits: ArrayLike, labels: Iterable[str], *, temperature: float = 1.0
    ) -> Scores:
        """From a model's raw outputs: divided by ``temperature``, then normalised by row."""
        check_temperature(temperature)
        scores = _as_log_scores(logits, "emissions")
        return cls._checked(log_softmax(np.divide(scores, temperature, out=scores)), labels)

    @classmethod
    def _checked(cls, log_probs: NDArray[np.float64], labels: Iterable[str]) -> Scores:
        names = check_names(labels)
        if len(names) != log_probs.shape[1]:
            raise ScoresError(
                f"{len(names)} labels, but the scores have {log_probs.shape[1]} columns"
            )
        log_probs.flags.writeable = False
        return cls(log_probs, names)

    def __len__(self) -> int:
        return len(self.log_probs)

    @property
    def costs(self) -> Costs:
        """``-log p``, for the core: a fresh array.

        With a chain, the first word also pays for the total of all labellings, so that a path's
        costs and its transitions' add up to the path's own ``-log p``.
        """
        costs = np.negative(self.log_probs)
        if self.chain is not None:
            total = self.log_total
            costs[:1] = costs[:1] + total if total > -np.inf else np.inf
        return costs

    def with_temperature(self, temperature: float) -> Scores:
        """The same scores, flatter (above one) or sharper; the order of labels stays."""
        check_temperature(temperature)
        scores = Scores._checked(log_softmax(self.log_probs / temperature), self.labels)
        if self.chain is None:
            return scores
        start, between, end = (part / temperature for part in self.chain)
        return scores.with_chain(start=start, between=between, end=end)

    def with_chain(
        self, *, start: ArrayLike | None = None, between: ArrayLike, end: ArrayLike | None = None
    ) -> Scores:
        """The same scores with a CRF's for transitions, which ``paths`` then adds up."""
        chain = Chain.checked(len(self.labels), start=start, between=between, end=end)
        return replace(self, chain=chain)

    @property
    def log_total(self) -> float:
        """The logarithm of what all labellings score together: zero where there is no chain."""
        if self.chain is None or not len(self):
            return 0.0
        return self.chain.log_total(self.log_probs)

    def marginals(self) -> Scores:
        """Without a chain: for every word, how probable its labels are over all labellings."""
        if self.chain is None or not len(self):
            return replace(self, chain=None)
        return Scores._checked(log_softmax(self.chain.log_marginals(self.log_probs)), self.labels)

    def to_words(self, joins: Sequence[bool], how: Pooling = "mean") -> Scores:
        """From word pieces to words: ``joins[i]`` says that piece ``i`` belongs to the word before.

        A word that is ``B-x`` is a ``B-x`` piece and then ``I-x`` pieces, so that is where its
        evidence is taken from; a label without such a partner speaks for all pieces.
        """
        if self.chain is not None:
            raise ScoresError("scores with a chain cannot be pooled: it is over these words")
        if how not in get_args(Pooling):
            raise ScoresError(f"unknown pooling {how!r}; poolings: {', '.join(get_args(Pooling))}")
        if len(joins) != len(self):
            raise ScoresError(f"{len(joins)} marks of joins for {len(self)} pieces")
        starts = np.flatnonzero(~np.asarray(joins, dtype=np.bool_))
        if len(self) and (not starts.size or starts[0] != 0):
            raise ScoresError("piece 0 joins the word before it, but there is none")
        if how == "first" or not len(self):
            return Scores._checked(self.log_probs[starts].copy(), self.labels)
        index = {name: i for i, name in enumerate(self.labels)}
        inside = [
            index.get("I" + name[1:], i) if name[:2] in ("B-", "B") else i
            for i, name in enumerate(self.labels)
        ]
        if any(name[:2] in ("E-", "S-", "L-", "U-") for name in self.labels):
            raise ScoresError(f"pooling {how!r} knows B- and I- only; take how='first'")
        pieces = self.log_probs[:, inside]
        pieces[starts] = self.log_probs[starts]
        pooled = np.add.reduceat(pieces, starts, axis=0)
        # Pieces that rule out all labels between them have contradicted each other, not the page.
        clash = np.isinf(pooled).all(axis=1)
        if clash.any():
            pooled[clash] = np.add.reduceat(np.maximum(pieces, _FLOOR), starts, axis=0)[clash]
        if how == "mean":
            pooled /= np.diff(np.append(starts, len(self)))[:, None]
        return Scores._checked(log_softmax(pooled), self.labels)


_FLOOR = float(np.log(1e-12))


def log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities along the last axis; all ``-inf`` where everything is forbidden."""
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.log(np.exp(scores - shift).sum(axis=-1, keepdims=True))
        return np.asarray(np.where(np.isfinite(total), scores - shift - total, -np.inf))


def check_temperature(temperature: float) -> None:
    """A number above zero, or a ``ScoresError``."""
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise ScoresError(f"temperature is {temperature!r}, expected a number")
    if not 1e-6 <= temperature <= 1e6:
        raise ScoresError(f"temperature is {temperature}, expected a number from 1e-6 to 1e6")


def as_costs(scores: ArrayLike, kind: ScoreKind, *, ragged: bool = False) -> Costs:
    """The scores as a fresh cost matrix, or a ``ScoresError`` that names the row and the value.

    With ``ragged``, rows of different lengths are padded with forbidden labels.
    """
    log_scores = _as_log_scores(scores, kind, ragged=ragged)
    return np.negative(log_scores, out=log_scores)


def _as_log_scores(
    scores: ArrayLike, kind: ScoreKind, *, ragged: bool = False
) -> NDArray[np.float64]:
    """The scores as a fresh matrix of logarithms: higher is better, ``-inf`` forbids."""
    if kind not in (kinds := get_args(ScoreKind)):
        raise ScoresError(f"unknown kind of scores {kind!r}; kinds: {', '.join(kinds)}")
    matrix = _as_matrix(scores, kind, ragged)
    tolerance = TOLERANCE * (10 if getattr(scores, "dtype", None) == np.float16 else 1)
    if kind == "probs":
        _check_probs(matrix, tolerance)
        with np.errstate(divide="ignore"):
            return np.log(matrix, out=matrix)
    if kind == "costs":
        np.negative(matrix, out=matrix)
    _check_log_scores(matrix, kind)
    if kind == "log_probs":
        with np.errstate(over="ignore"):
            sums = np.exp(matrix).sum(axis=1)
        _check_sums(sums, kind, tolerance, forbidden=np.asarray(np.isinf(matrix).all(axis=1)))
    return matrix


def _as_matrix(scores: ArrayLike, kind: str, ragged: bool) -> NDArray[np.float64]:
    if isinstance(scores, np.ndarray) and hasattr(scores, "mask"):
        raise ScoresError(f"{kind} is a masked array: fill what is masked, or forbid it")
    try:
        matrix = np.asarray(scores)
    except ValueError:  # NumPy's word for rows of different lengths
        matrix = _pad(scores, kind, ragged)
    if matrix.ndim != 2:
        raise ScoresError(
            f"{kind} has {matrix.ndim} dimension{'s' * (matrix.ndim != 1)} (shape {matrix.shape}), "
            "expected 2: words x labels"
        )
    if matrix.shape[1] == 0:
        raise ScoresError(f"{kind} has shape {matrix.shape}: zero labels, expected at least one")
    if matrix.dtype.kind not in "fiub":
        raise ScoresError(f"{kind} holds {matrix.dtype}, expected real numbers")
    with np.errstate(over="ignore", under="ignore"):
        doubles = np.array(matrix, dtype=np.float64, order="C")
    if matrix.dtype.itemsize > doubles.dtype.itemsize:
        lost = (np.isinf(doubles) & ~np.isinf(matrix)) | ((doubles == 0) & (matrix != 0))
        if lost.any():
            _raise_first(lost, matrix, kind, "a number that fits into 64 bits")
    return doubles


def _pad(scores: Any, kind: str, ragged: bool) -> NDArray[Any]:
    """Rows of different lengths as one matrix, the missing labels forbidden."""
    rows = [np.asarray(row) for row in scores] if isinstance(scores, Sequence) else []
    if not rows or any(row.ndim != 1 or row.dtype.kind not in "fiub" for row in rows):
        raise ScoresError(f"{kind} is not a matrix: expected words x labels of real numbers")
    longest = max(row.size for row in rows)
    if not ragged:
        short = next(i for i, row in enumerate(rows) if row.size != longest)
        raise ScoresError(
            f"row {short} of {kind} has {rows[short].size} labels, expected {longest} as in others"
        )
    forbidden = {"probs": 0.0, "costs": np.inf}.get(kind, -np.inf)
    matrix = np.full((len(rows), longest), forbidden)
    for padded, row in zip(matrix, rows, strict=True):
        padded[: row.size] = row
    return matrix


def _check_probs(probs: NDArray[np.float64], tolerance: float) -> None:
    # Comparisons with NaN are false, so this also asks for NaN; a sum catches inf.
    if probs.size and not probs.min() >= 0:
        _raise_first(~(probs >= 0), probs, "probs", "a probability between 0 and 1")
    with np.errstate(over="ignore"):
        sums = probs.sum(axis=1)
    if np.isinf(sums).any():
        _raise_first(probs > 1 + tolerance, probs, "probs", "a probability between 0 and 1")
    _check_sums(sums, "probs", tolerance, forbidden=sums == 0)


def _check_sums(
    sums: NDArray[np.float64], kind: str, tolerance: float, forbidden: NDArray[np.bool_]
) -> None:
    if np.all(np.abs(sums - 1) <= tolerance):
        return
    wrong = (np.abs(sums - 1) > tolerance) & ~forbidden  # a row may forbid every label
    if wrong.any():
        row = int(wrong.argmax())
        what = kind if kind == "probs" else f"exp({kind})"
        raise ScoresError(
            f"row {row} of {what} sums to {sums[row]:.6g}, expected 1 (within {tolerance:g})"
        )


def _check_log_scores(scores: NDArray[np.float64], kind: str) -> None:
    # One pass decides the usual case: |x| is at most LARGEST_COST, or x is -inf.
    fine = (np.abs(scores) <= LARGEST_COST) | (scores == -np.inf)
    if not fine.all():
        forbids = "inf" if kind == "costs" else "-inf"
        values = -scores if kind == "costs" else scores
        expected = f"a number of size up to {LARGEST_COST:g}, or {forbids} to forbid the label"
        _raise_first(~fine, values, kind, expected)


def _raise_first(
    wrong: NDArray[np.bool_], values: NDArray[np.floating[Any]], kind: str, expected: str
) -> None:
    row, label = np.unravel_index(int(wrong.argmax()), wrong.shape)
    raise ScoresError(
        f"row {row}, label {label} of {kind} is {values[row, label]}, expected {expected}"
    )
