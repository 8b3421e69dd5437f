"""What rules changed in the best spans of a model that scores spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lawful.documents.labels import Span


@dataclass(frozen=True, slots=True)
class SpanCorrection:
    """A span that is not as in the model's own best spans: added, removed, or in another's place.

    ``old`` is ``None`` for a span that was added, ``new`` for one that was removed. ``because``
    lists the rules that become violated if the old spans in these words come back; ``None`` if the
    time was up before the reasons were found. All prices together are what the rules cost.
    """

    old: Span | None
    new: Span | None
    price: float  # in nats: log-odds of the old span minus those of the new one
    because: tuple[str, ...] | None

    @property
    def why(self) -> str:
        """The reasons in words; empty if no rule is responsible."""
        return in_words(self.because)

    def text(self, words: Sequence[str]) -> str:
        """The change in words: ``total '5.28' -> total '53.28'``."""
        return " -> ".join(
            "nothing" if span is None else f"{span.type} {' '.join(words[span.start : span.end])!r}"
            for span in (self.old, self.new)
        )


def in_words(because: tuple[str, ...] | None) -> str:
    """The reasons of a correction as text; empty if no rule is responsible."""
    if because is None:
        return "no time to find out why"
    return f"because of {', '.join(because)}" if because else ""
