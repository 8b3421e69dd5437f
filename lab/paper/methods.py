"""The methods of the paper's table, and lawful's decoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

import lab.decoders  # noqa: F401 - adds the paper's to DECODERS
from lab.paper.baselines import lazyk
from lawful.base.errors import InputError, MissingExtraError
from lawful.decoders import DECODERS, Decoder
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import Chunk, walk

Order: TypeAlias = Literal["assignments", "paths", "readings", "partial readings"]
"""The candidates of a method, which it tries by falling probability or worth."""


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Assignments enumerated in Python, and judged as by the decoder ``lazyk``.

    Enumerated by the paper's pseudo-code (``published``), or by the authors' package lazy-k.
    """

    name: str
    exact: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**13)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        chunks = self._chunks(np.exp(problem.evidence))
        return walk(self.name, problem, chunks, budget, legal=False, complete=lambda: True)

    def _chunks(self, probs: np.ndarray) -> Iterator[Chunk]:
        for labels, log_prob in self._all(probs):
            yield np.array([labels]), np.array([log_prob])

    def _all(self, probs: np.ndarray) -> Iterator[tuple[Any, float]]:
        if self.name == "published":
            yield from lazyk(probs.tolist())
            return
        try:
            from lazyk import lazyk as peer
        except ImportError:
            raise MissingExtraError(
                "the method lazy-k needs the package lazy-k: install the 'lab' extra"
            ) from None
        words = np.arange(len(probs))
        for labels in peer(probs):
            yield labels, float(np.log(probs[words, labels]).sum())


@dataclass(frozen=True, slots=True)
class Method:
    """A way to decode, and its budgets of candidates.

    ``masses``: it is also measured with budgets of probability mass. ``slow``: it takes seconds per
    page. ``needs``: an optional module.
    """

    name: str
    decoder: Decoder
    order: Order
    budgets: tuple[int, ...]
    masses: bool = False
    slow: bool = False
    needs: str | None = None

    @property
    def is_here(self) -> bool:
        """Whether the module that it needs is installed."""
        return self.needs is None or find_spec(self.needs) is not None


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple(2**exponent for exponent in range(first, last + 1))


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("argmax", DECODERS["argmax"], "assignments", (1,)),
        Method("beam", DECODERS["beam"], "assignments", _powers(1, 5)),
        Method("best_first", DECODERS["best_first"], "assignments", _powers(4, 8)),
        Method("lazy_ilp", DECODERS["lazy_ilp"], "paths", _powers(0, 4), slow=True, needs="pulp"),
        Method(
            "lazyk",
            DECODERS["lazyk"],
            "assignments",
            tuple(2**e for e in (5, 6, 7, 9, 11, 13, 15, 16)),
            masses=True,
        ),
        Method("published", Enumerated("published"), "assignments", _powers(5, 9)),
        Method("lazy-k", Enumerated("lazy-k"), "assignments", (2**5, 2**9, 2**13), needs="lazyk"),
        # The first five are the candidates of lazy_ilp, on all pages.
        Method("paths", DECODERS["paths"], "paths", (*_powers(0, 5), 2**9, 2**13), masses=True),
        Method("readings", DECODERS["readings"], "readings", (2**5, 2**9, 2**13)),
        Method("exact", DECODERS["exact"], "partial readings", (2**9, 2**13, 2**17)),
        Method("auto", DECODERS["auto"], "partial readings", (2**17,)),
    )
}
"""Methods by name. The paper's methods have the paper's budgets."""

MASS_CANDIDATES = 2**16
"""Maximum number of candidates with a budget of probability mass, which may never be reached."""


def methods_named(names: Iterable[str]) -> list[Method]:
    """The methods of these names."""
    chosen = []
    for name in names:
        if name not in METHODS:
            raise InputError(f"unknown method {name!r}; methods: {', '.join(METHODS)}")
        chosen.append(METHODS[name])
    return chosen
