"""Which pages of a file are read: ``1-3,last``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lawful.base.errors import InputError, shown

_PART = re.compile(r"(?:([1-9][0-9]{0,6})(?:(-)([1-9][0-9]{0,6}|last)?)?|last)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Selection:
    """Pages by number, from 1: pages, ranges of them (``3-5``, ``7-``), and ``last``."""

    text: str

    def __post_init__(self) -> None:
        self._ranges(1)

    def pages(self, count: int) -> list[int]:
        """The selected pages of a file, numbered from 0, in the order of the file.

        Pages that the file does not have are left out; raises an ``InputError`` if none is left.
        """
        found = {
            number - 1
            for first, last in self._ranges(count)
            for number in range(first, min(last, count) + 1)
        }
        if not found:
            pages = "1 page" if count == 1 else f"{count:,} pages"
            raise InputError(f"it has {pages}, and none of the pages {self.text}")
        return sorted(found)

    def _ranges(self, count: int) -> list[tuple[int, int]]:
        """The first and the last page of each part, for a file of so many pages."""
        ranges = []
        for part in self.text.split(","):
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise InputError(
                    f"pages are {shown(self.text)}, expected numbers, ranges or last, such as "
                    "1-3,last or 5-"
                )
            number, dash, end = found.groups()
            first = count if number is None else int(number)
            open_ = dash is not None and (end is None or end.lower() == "last")
            last = count if open_ else first if end is None else int(end)
            if not open_ and last < first:
                raise InputError(f"pages {part.strip()} are in the wrong order")
            ranges.append((first, last))
        return ranges
