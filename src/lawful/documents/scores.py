"""A model's scores for every word and label, checked once.

``Scores`` are log-probabilities with label names. The core takes costs, which ``as_costs`` makes
from scores of any kind. A cost is ``-log p``: lower is better and ``inf`` forbids a label. Other
modules rely on the checks here: two dimensions, at least one label, float64, C order, no NaN, no
cost of ``-inf``, and no cost so large that a sum could overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from lawful.base.errors import ScoresError, shown
from lawful.documents.chain import LARGEST_COST, Chain
from lawful.documents.label_names import check_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Costs: TypeAlias = NDArray[np.float64]  # (words, labels)

ScoreKind: TypeAlias = Literal["probs", "log_probs", "emissions", "costs"]
"""Kinds of scores in a matrix.

``probs`` and ``log_probs`` are normalised: each row, as probabilities, sums to one. ``emissions``
(higher is better, as in a CRF) and ``costs`` (lower is better) are any real numbers, not
normalised. A label is forbidden by ``0``, ``-inf``, ``-inf`` and ``inf`` respectively. A row may
forbid every label; then there are no candidates.
"""

TOLERANCE = 1e-3
"""Largest difference of a row's sum from one; ten times as large for half-precision input."""

Pooling: TypeAlias = Literal["mean", "first", "product"]
"""Ways to pool word pieces into words: the mean of the pieces' log-probabilities, the first piece's
distribution, or the product of the pieces' probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Log-probabilities of every word's labels, with label names; read-only.

    Checked when made. Every row is a distribution, or forbids every label.
    With a ``chain``, the probability of a labelling is the CRF's: the scores of its labels and
    transitions, normalised over all labellings.
    """

    log_probs: NDArray[np.float64]  # (words, labels)
    labels: tuple[str, ...]
    chain: Chain | None = None

    unit: ClassVar = ("row of scores", "rows of scores")

    def __post_init__(self) -> None:
        checked = Scores.from_log_probs(self.log_probs, self.labels)
        if self.chain is not None:
            start, between, end = self.chain
            checked = checked.with_chain(start=start, between=between, end=end)
        for name in ("log_probs", "labels", "chain"):
            object.__setattr__(self, name, getattr(checked, name))

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
        """From a model's logits: divided by ``temperature``, then normalised by row."""
        check_temperature(temperature)
        scores = _as_log_scores(logits, "emissions")
        return cls._checked(log_softmax(np.divide(scores, temperature, out=scores)), labels)

    @classmethod
    def split(
        cls, scores: NDArray[Any], kind: ScoreKind, labels: Iterable[str], ends: Sequence[int]
    ) -> list[Scores]:
        """The scores of several documents, one after another in one matrix, checked together.

        ``ends`` has the row after the last one of each document. Documents share the matrix, if it
        is of log-probabilities in 64 bits that nobody can write to, and else a copy of it. Raises a
        ``ScoresError`` if the scores of any document are wrong.
        """
        log_probs = _as_log_scores(scores, kind, share=not scores.flags.writeable)
        if kind == "emissions":
            log_probs = log_softmax(log_probs)
        whole = cls._checked(log_probs, labels)
        parts = zip((0, *ends), ends, strict=False)
        return [cls._of_checked(log_probs[start:end], whole.labels) for start, end in parts]

    @classmethod
    def _checked(cls, log_probs: NDArray[np.float64], labels: Iterable[str]) -> Scores:
        names = check_names(labels)
        if len(names) != log_probs.shape[1]:
            raise ScoresError(
                f"{len(names)} label{'s' * (len(names) != 1)}, but the scores have "
                f"{log_probs.shape[1]} columns"
            )
        return cls._of_checked(log_probs, names)

    @classmethod
    def _of_checked(
        cls, log_probs: NDArray[np.float64], labels: tuple[str, ...], chain: Chain | None = None
    ) -> Scores:
        """Without checking once more."""
        log_probs.flags.writeable = False
        scores = object.__new__(cls)
        object.__setattr__(scores, "log_probs", log_probs)
        object.__setattr__(scores, "labels", labels)
        object.__setattr__(scores, "chain", chain)
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.log_probs, self.labels, self.chain)

    def __len__(self) -> int:
        return len(self.log_probs)

    @property
    def costs(self) -> Costs:
        """``-log p`` in a new array, for the core.

        With a chain, the first row includes the log of the CRF's normaliser, so that the costs of a
        path and of its transitions add up to the path's ``-log p``.
        """
        costs = np.negative(self.log_probs)
        if self.chain is not None:
            total = self.log_total
            costs[:1] = costs[:1] + total if total > -np.inf else np.inf
        return costs

    def with_temperature(self, temperature: float) -> Scores:
        """The same scores, flatter (above 1) or sharper (below 1); the ranking of labels stays."""
        check_temperature(temperature)
        scores = Scores._checked(log_softmax(self.log_probs / temperature), self.labels)
        if self.chain is None:
            return scores
        start, between, end = (part / temperature for part in self.chain)
        return scores.with_chain(start=start, between=between, end=end)

    def with_chain(
        self, *, start: ArrayLike | None = None, between: ArrayLike, end: ArrayLike | None = None
    ) -> Scores:
        """The same scores with a CRF's transition scores, for ``paths``."""
        chain = Chain.checked(len(self.labels), start=start, between=between, end=end)
        return Scores._of_checked(self.log_probs, self.labels, chain)

    @property
    def log_total(self) -> float:
        """The log of the CRF's normaliser; zero without a chain."""
        if self.chain is None or not len(self):
            return 0.0
        return self.chain.log_total(self.log_probs)

    def marginals(self) -> Scores:
        """Scores without a chain: the marginal distribution of every word's labels."""
        if self.chain is None or not len(self):
            return Scores._of_checked(self.log_probs, self.labels)
        return Scores._checked(log_softmax(self.chain.log_marginals(self.log_probs)), self.labels)

    def to_words(self, joins: Sequence[bool], how: Pooling = "mean") -> Scores:
        """Scores of words from those of word pieces; ``joins[i]``: piece ``i`` continues a word.

        A word labelled ``B-x`` has one ``B-x`` piece and then ``I-x`` pieces, so its score for
        ``B-x`` is pooled from these; any other label is pooled from itself.
        """
        if self.chain is not None:
            raise ScoresError("scores with a chain cannot be pooled: its transitions are of pieces")
        if how not in get_args(Pooling):
            raise ScoresError(
                f"unknown pooling {shown(how)}; poolings: {', '.join(get_args(Pooling))}"
            )
        if len(joins) != len(self):
            raise ScoresError(f"joins has length {len(joins)}, expected {len(self)}: one per piece")
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
            raise ScoresError(f"pooling {shown(how)} knows only B- and I-; use how='first'")
        pieces = self.log_probs[:, inside]
        pieces[starts] = self.log_probs[starts]
        pooled = np.add.reduceat(pieces, starts, axis=0)
        # Pieces that together forbid every label contradict each other: none is forbidden then.
        clash = np.isinf(pooled).all(axis=1)
        if clash.any():
            pooled[clash] = np.add.reduceat(np.maximum(pieces, _FLOOR), starts, axis=0)[clash]
        if how == "mean":
            pooled /= np.diff(np.append(starts, len(self)))[:, None]
        return Scores._checked(log_softmax(pooled), self.labels)


def _unpickled(
    log_probs: NDArray[np.float64], labels: tuple[str, ...], chain: Chain | None
) -> Scores:
    """Scores from a pickle, which names this function once, and a method for each of them."""
    return Scores._of_checked(log_probs, labels, chain)


_FLOOR = float(np.log(1e-12))


def log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities along the last axis; all ``-inf`` if every label is forbidden."""
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.log(np.exp(scores - shift).sum(axis=-1, keepdims=True))
        return np.asarray(np.where(np.isfinite(total), scores - shift - total, -np.inf))


def check_temperature(temperature: float) -> None:
    """Raises a ``ScoresError`` unless this is a number from 1e-6 to 1e6."""
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise ScoresError(f"temperature is {shown(temperature)}, expected a number")
    if not 1e-6 <= temperature <= 1e6:
        raise ScoresError(
            f"temperature is {shown(temperature)}, expected a number from 1e-6 to 1e6"
        )


def as_costs(scores: ArrayLike, kind: ScoreKind, *, ragged: bool = False) -> Costs:
    """The scores as a new cost matrix; raises a ``ScoresError`` that names the row and the value.

    With ``ragged``, rows of different lengths are padded with forbidden labels.
    """
    log_scores = _as_log_scores(scores, kind, ragged=ragged)
    return np.negative(log_scores, out=log_scores)


def _as_log_scores(
    scores: ArrayLike, kind: ScoreKind, *, ragged: bool = False, share: bool = False
) -> NDArray[np.float64]:
    """The scores as a matrix of logarithms: higher is better, ``-inf`` forbids.

    It is a new one, unless ``share`` allows to take log-probabilities as they are.
    """
    if kind not in (kinds := get_args(ScoreKind)):
        raise ScoresError(f"unknown kind of scores {shown(kind)}; kinds: {', '.join(kinds)}")
    matrix = _as_matrix(scores, kind, ragged, share=share and kind == "log_probs")
    tolerance = TOLERANCE * (10 if getattr(scores, "dtype", None) == np.float16 else 1)
    if kind == "probs":
        _check_probs(matrix, tolerance)
        with np.errstate(divide="ignore"):
            return np.log(matrix, out=matrix)
    if kind == "costs":
        np.negative(matrix, out=matrix)
    _check_log_scores(matrix, kind)
    if kind == "log_probs" and not _nearly_sum_to_one(matrix, tolerance):
        with np.errstate(over="ignore"):
            sums = np.exp(matrix).sum(axis=1)
        _check_sums(sums, kind, tolerance, lambda: np.asarray(np.isinf(matrix).all(axis=1)))
    return matrix


def _as_matrix(
    scores: ArrayLike, kind: str, ragged: bool, *, share: bool = False
) -> NDArray[np.float64]:
    if isinstance(scores, np.ndarray) and hasattr(scores, "mask"):
        raise ScoresError(f"{kind} is a masked array: fill or forbid the masked entries")
    try:
        matrix = np.asarray(scores)
    except ValueError:  # NumPy raises it for rows of different lengths
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
        if share:
            doubles = np.require(matrix, np.float64, ("C", "A"))
        else:
            doubles = np.array(matrix, dtype=np.float64, order="C")
    if matrix.dtype.itemsize > doubles.dtype.itemsize:
        lost = (np.isinf(doubles) & ~np.isinf(matrix)) | ((doubles == 0) & (matrix != 0))
        if lost.any():
            _raise_first(lost, matrix, kind, "a number that fits into 64 bits")
    return doubles


def _pad(scores: Any, kind: str, ragged: bool) -> NDArray[Any]:
    """Rows of different lengths as one matrix, padded with forbidden labels."""
    try:
        rows = [np.asarray(row) for row in scores] if isinstance(scores, Sequence) else []
    except ValueError:  # rows that are nested further
        rows = []
    if not rows or any(row.ndim != 1 or row.dtype.kind not in "fiub" for row in rows):
        raise ScoresError(f"{kind} is not a matrix: expected words x labels of real numbers")
    longest = max(row.size for row in rows)
    if not ragged:
        short = next(i for i, row in enumerate(rows) if row.size != longest)
        raise ScoresError(
            f"row {short} of {kind} has {rows[short].size} label{'s' * (rows[short].size != 1)}, "
            f"expected {longest} as in other rows"
        )
    forbidden = {"probs": 0.0, "costs": np.inf}.get(kind, -np.inf)
    matrix = np.full((len(rows), longest), forbidden)
    for padded, row in zip(matrix, rows, strict=True):
        padded[: row.size] = row
    return matrix


def _check_probs(probs: NDArray[np.float64], tolerance: float) -> None:
    # Comparisons with NaN are false, so this also catches NaN; the sums catch inf.
    if probs.size and not probs.min() >= 0:
        _raise_first(~(probs >= 0), probs, "probs", "a probability between 0 and 1")
    with np.errstate(over="ignore"):
        sums = probs.sum(axis=1)
    if np.isinf(sums).any():
        _raise_first(probs > 1 + tolerance, probs, "probs", "a probability between 0 and 1")
    _check_sums(sums, "probs", tolerance, lambda: sums == 0)


def _nearly_sum_to_one(log_probs: NDArray[np.float64], tolerance: float) -> bool:
    """Whether all rows certainly do: 32 bits are a quarter of the work, and say so of most."""
    with np.errstate(over="ignore", under="ignore"):
        probs = np.exp(log_probs.astype(np.float32))
        sums = np.einsum("ij->i", probs)  # short rows: a third of the time of sum(axis=1)
    return bool((np.abs(sums - 1) <= tolerance / 2).all())


def _check_sums(
    sums: NDArray[np.float64],
    kind: str,
    tolerance: float,
    forbidden: Callable[[], NDArray[np.bool_]],
) -> None:
    """``forbidden`` says which rows forbid every label, which they may."""
    if np.all(np.abs(sums - 1) <= tolerance):
        return
    wrong = (np.abs(sums - 1) > tolerance) & ~forbidden()
    if wrong.any():
        row = int(wrong.argmax())
        what = kind if kind == "probs" else f"exp({kind})"
        raise ScoresError(
            f"row {row} of {what} sums to {sums[row]:.6g}, expected 1 (within {tolerance:g})"
        )


def _check_log_scores(scores: NDArray[np.float64], kind: str) -> None:
    # NaN compares as false, so the usual case is decided by the extremes.
    if not scores.size or (scores.min() >= -LARGEST_COST and scores.max() <= LARGEST_COST):
        return
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
