"""A promise about the documents that pass: at most this share of them is wrong."""

from __future__ import annotations

from msgspec import Struct

NO_PROMISE = "no promise"
"""Why a document does not pass that no promise is about."""

BY_OTHERS = "no promise: trust is that of other documents, before lawful trust fit"
"""The same, where trust is by measurements on documents of others."""


def is_promised(why: str | None) -> bool:
    """Whether a promise decides if a document passes, by the reason that is given."""
    return why not in (None, NO_PROMISE, BY_OTHERS)


class Promise(Struct, frozen=True, kw_only=True):
    """At most ``error`` of the documents whose trust reaches ``threshold`` are wrong.

    The promise is kept with the probability ``confidence``, over the reviewed documents that it
    rests on, for new documents of the same kind. Of these ``documents``, which trust was not fitted
    to, ``passed`` reached the threshold and ``wrong`` of them were wrong. ``curve`` has, for rising
    shares of these documents, the most trusted first, the share of wrong ones among them.
    """

    error: float
    confidence: float
    threshold: float
    documents: int
    passed: int
    wrong: int
    curve: list[tuple[float, float]] = []

    def __post_init__(self) -> None:
        if not (0 < self.error < 1 and 0 < self.confidence < 1 and 0 <= self.threshold <= 1):
            raise ValueError("error, confidence and threshold of a promise are shares")
        if not 0 <= self.wrong <= self.passed <= self.documents:
            raise ValueError("a promise rests on no more wrong documents than pass, or there are")

    @property
    def share(self) -> float:
        """The share of documents that passed when the promise was made."""
        return self.passed / self.documents

    def of(self, trust: float) -> tuple[bool, str]:
        """Whether a document of this trust passes, and why."""
        if trust >= self.threshold:
            return True, f"trust of at least {self.threshold:.4g}: {self}"
        return False, f"trust below {self.threshold:.4g}"

    def headline(self, passed: int, documents: int) -> str:
        """How many documents of a run pass, and what is promised of these."""
        verb = "pass" if passed != 1 else "passes"
        return f"{passed:,} of {documents:,} {verb}{f', {self}' * bool(passed)}"

    def __str__(self) -> str:
        return f"at most {share_in_words(self.error)} wrong ({100 * self.confidence:g} % sure)"


def share_in_words(share: float) -> str:
    """A share as a number of so many: 0.01 is "1 in 100"."""
    for whole in (100, 1_000, 10_000, 100_000):
        count = round(share * whole)
        if count and abs(count / whole - share) < 1e-12:
            return f"{count:,} in {whole:,}"
    return f"{100 * share:.4g} in 100"
