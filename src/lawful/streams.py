"""The streams: label assignments and legal label paths, the most probable first."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from lawful import _core
from lawful._core import Stream
from lawful.errors import InputError, SchemeError
from lawful.labels import Scheme
from lawful.scores import Kind, as_costs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def assignments(scores: ArrayLike, *, kind: Kind = "probs", memory: int | None = None) -> Stream:
    """All label assignments of independent words, by falling probability, each once.

    ``scores`` is words x labels; rows may have different lengths. Labels of probability zero
    never appear. Nothing is searched before it is asked for, the first ``k`` cost O(words x
    labels + k log k), and a candidate takes some 40 bytes whatever the number of words. With
    ``memory``, the stream stops with a ``MemoryBudgetError`` rather than hold more bytes.
    """
    return _core.assignments(as_costs(scores, kind, ragged=True), _bytes(memory))


def paths(
    scores: ArrayLike, scheme: Scheme, *, kind: Kind = "probs", memory: int | None = None
) -> Stream:
    """All label sequences that ``scheme`` allows, by falling probability, each once.

    The first one is the Viterbi path. ``log_prob`` is the sum of the words' log-probabilities
    and of the scheme's transition scores, where it has any; it is not renormalised over the
    legal paths. Memory and laziness are as in ``assignments``.
    """
    if not isinstance(scheme, Scheme):
        raise SchemeError(
            f"scheme is {scheme!r}, expected a Scheme such as Scheme.named('BIO', labels)"
        )
    costs = as_costs(scores, kind)
    if costs.shape[1] != len(scheme):
        raise SchemeError(
            f"the scheme has {len(scheme)} labels, the scores have {costs.shape[1]} columns"
        )
    return _core.paths(costs, scheme.transitions, _bytes(memory))


def _bytes(memory: int | None) -> int | None:
    if memory is None:
        return None
    if isinstance(memory, bool) or not hasattr(memory, "__index__"):
        raise InputError(f"memory is {memory!r}, expected a whole number of bytes or None")
    if not 0 <= (size := index(memory)) < 2**63:
        raise InputError(f"memory is {memory}, expected a number of bytes from 0 to 2^63")
    return size
