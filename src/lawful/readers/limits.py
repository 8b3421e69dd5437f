"""What a file from a stranger may cost: bytes, pages, words, pixels, seconds, memory."""

from __future__ import annotations

from dataclasses import dataclass, fields

from lawful.base.errors import InputError, shown


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one file; a file beyond one of them cannot be read, and the others go on."""

    bytes: int = 256 * 2**20
    pages: int = 300
    words: int = 300_000
    pixels: int = 64_000_000  # of an image, and of a rendered page
    seconds: float = 120.0
    memory: int = 4 * 2**30  # in bytes, of the process that reads it

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InputError(
                    f"the limit of {each.name} is {shown(value)}, expected more than 0"
                )

    def check(self, name: str, found: float, what: str) -> None:
        """Raises an ``InputError`` if ``found`` is above the limit of that name."""
        most = getattr(self, name)
        if found > most:
            raise InputError(f"{what} has {found:,} {name}, more than the limit of {most:,}")
