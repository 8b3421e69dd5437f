"""What ``lawful.ground`` returns: the values of an object, and where each is printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from lawful.candidates.grounding.leaves import Path
from lawful.documents.document import Box


@dataclass(frozen=True, slots=True)
class Grounded:
    """A value of an object, and the words that it is printed on; none if it is not printed.

    ``path`` leads to the value: ``("items", 0, "price")``. ``probability`` is that of these words,
    or that the value is not printed; then ``nearest`` is the text of the page that is most like it,
    if any is. ``box`` is around the words of ``page``, that of the first one.
    """

    path: Path
    value: Any
    words: tuple[int, ...]
    text: str | None
    box: Box | None
    page: int | None
    probability: float
    nearest: str | None = None

    @property
    def printed(self) -> bool:
        """Whether the value is printed."""
        return bool(self.words)

    @property
    def span(self) -> tuple[int, int] | None:
        """The words from the first to the last, half-open; other columns may be between them."""
        return (min(self.words), max(self.words) + 1) if self.words else None

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold; dates and decimals as texts."""
        is_plain = not isinstance(self.value, date | Decimal)
        return {
            "path": list(self.path),
            "value": self.value if is_plain else str(self.value),
            "words": list(self.words),
            "text": self.text,
            "box": None if self.box is None else list(self.box),
            "page": self.page,
            "probability": round(self.probability, 4),
            "nearest": self.nearest,
        }


@dataclass(frozen=True, slots=True)
class Grounding:
    """Where the values of an object are printed, in the order of the object.

    ``optimal`` is whether the places together are proven to be the best ones; it is false if the
    search was cut short.
    """

    values: tuple[Grounded, ...]
    optimal: bool

    @property
    def not_printed(self) -> tuple[Grounded, ...]:
        """The values that are not printed."""
        return tuple(each for each in self.values if not each.printed)

    def __getitem__(self, path: str | Path) -> Grounded:
        """The value that a name, or a path, leads to."""
        wanted = (path,) if isinstance(path, str) else tuple(path)
        for each in self.values:
            if each.path == wanted:
                return each
        raise KeyError(path)

    def __iter__(self) -> Iterator[Grounded]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)
