"""The streams: assignments and legal paths, most probable first, and readings, best first."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from lawful import _core
from lawful._core import Stream
from lawful.base.errors import InputError, SchemeError, shown
from lawful.documents.labels import Scheme
from lawful.documents.scores import ScoreKind, Scores, as_costs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lawful.documents.document import Document
    from lawful.rules.rule_set import Rules
    from lawful.search.reading_stream import ReadingStream


def assignments(
    scores: Scores | ArrayLike, *, kind: ScoreKind = "probs", memory: int | None = None
) -> Stream:
    """All label assignments of independent words, by falling probability, each once.

    ``scores`` is a ``Scores``, or a matrix (words x labels) of the given ``kind``, whose rows may
    have different lengths. Labels of probability zero never appear. The stream is lazy: the first
    ``k`` assignments take O(words x labels + k log k) time, and some 40 bytes each, however many
    words there are. With ``memory``, the stream raises a ``MemoryBudgetError`` rather than hold
    more bytes.
    """
    if isinstance(scores, Scores):
        if scores.chain is not None:
            raise InputError("the scores have a chain, so words depend on each other: use paths")
        return _core.assignments(scores.costs, _bytes(memory))
    return _core.assignments(as_costs(scores, kind, ragged=True), _bytes(memory))


def paths(
    scores: Scores | ArrayLike,
    scheme: Scheme | str,
    *,
    kind: ScoreKind = "probs",
    memory: int | None = None,
) -> Stream:
    """All legal label sequences under ``scheme``, by falling probability, each once.

    The first one is the Viterbi path. For a ``Scores``, the scheme may be a name such as ``"BIO"``,
    and ``log_prob`` is the CRF's if it has a chain. For a matrix, ``log_prob`` is the sum of the
    words' log-probabilities and of the scheme's transition scores, if any. It is never renormalised
    over the legal paths. Memory and laziness are as in ``assignments``.
    """
    if isinstance(scores, Scores) and isinstance(scheme, str):
        scheme = Scheme.named(scheme, scores.labels)
    if not isinstance(scheme, Scheme):
        raise SchemeError(
            f"scheme is {shown(scheme)}, expected a Scheme such as Scheme.named('BIO', labels)"
        )
    costs = scores.costs if isinstance(scores, Scores) else as_costs(scores, kind)
    if costs.shape[1] != len(scheme):
        raise SchemeError(
            f"the scheme has {len(scheme)} labels, the scores have {costs.shape[1]} columns"
        )
    if isinstance(scores, Scores):
        if scheme.is_named and scheme.labels != scores.labels:
            raise SchemeError(
                "the scheme and the scores differ in their labels or the order of them"
            )
        if scores.chain is not None:
            scheme = scheme.with_scores(**scores.chain._asdict())
    return _core.paths(costs, scheme.transitions, _bytes(memory))


def readings(document: Document, scores: Scores, rules: Rules) -> ReadingStream:
    """The readings of a document by falling worth, each with its best labelling.

    Labels of no field do not count: the words between the spans of fields have the best legal
    labels. A span that violates a hard condition of its field never appears, one that violates a
    weighted condition pays for it. An ambiguous text appears with each of its possible values, at
    the price that ``ambiguity`` sets.
    """
    # Imported here: the other streams need neither rules nor decoders.
    from lawful.search.problem import Problem
    from lawful.search.reading_stream import ReadingStream

    return ReadingStream(Problem(document, scores, rules, keep=False))


def _bytes(memory: int | None) -> int | None:
    if memory is None:
        return None
    if isinstance(memory, bool) or not hasattr(memory, "__index__"):
        raise InputError(f"memory is {shown(memory)}, expected a whole number of bytes or None")
    if not 0 <= (size := index(memory)) < 2**63:
        raise InputError(f"memory is {shown(memory)}, expected a number of bytes from 0 to 2^63")
    return size
