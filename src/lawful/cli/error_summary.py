"""Messages about bad lines: each kind is printed once, with the numbers of the other lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from lawful.base.errors import InputError
from lawful.cli.counts import BAD
from lawful.cli.options import BadLines
from lawful.cli.output import plural
from lawful.cli.terminal import warn
from lawful.documents.records import FailedDocument

Item = TypeVar("Item")

MAX_KINDS = 20
"""Kinds of messages that are printed; lines with others are counted."""

MAX_RANGES = 10
"""Ranges of line numbers that are printed for each kind."""

_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|[0-9]+(\.[0-9]+)?""")


@dataclass(slots=True)
class _Repeats:
    """The lines with a message of the same kind as that of the first line."""

    first: int
    name: Callable[[int], str]
    count: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if self.ranges and line == self.ranges[-1][1] + 1:
            self.ranges[-1] = (self.ranges[-1][0], line)
        elif len(self.ranges) <= MAX_RANGES:
            self.ranges.append((line, line))

    def __str__(self) -> str:
        ranges = self.ranges[:MAX_RANGES]
        more = ", …" * (len(self.ranges) > MAX_RANGES)
        if self.name(self.first) == f"line {self.first}":
            what, parts = "more line", [f"{a}" if a == b else f"{a}-{b}" for a, b in ranges]
        else:
            what = "more input"
            parts = [
                self.name(a) if a == b else f"{self.name(a)} to {self.name(b)}" for a, b in ranges
            ]
        return (
            f"{plural(self.count, what)} with the same problem as {self.name(self.first)}: "
            f"{', '.join(parts)}{more}"
        )


class Complaints:
    """Counts bad lines and prints each kind of message once; leaving the context prints the rest.

    If ``bad_lines`` is ``fail``, the first bad line is an ``InputError``.
    """

    def __init__(
        self,
        bad_lines: BadLines,
        counts: Counter[str],
        name: Callable[[int], str] = "line {}".format,
    ) -> None:
        """``name`` is what messages call a line."""
        self._fail = bad_lines == "fail"
        self._name = name
        self._counts = counts
        self._kinds: dict[str, _Repeats] = {}
        self._others = 0

    def __enter__(self) -> Complaints:
        return self

    def __exit__(self, *_: object) -> None:
        for repeats in self._kinds.values():
            if repeats.count:
                warn(str(repeats))
        if self._others:
            warn(f"{plural(self._others, 'more bad line')} with other problems")

    def add(self, bad: FailedDocument) -> None:
        """Counts a bad line, and prints its message if it is the first of its kind."""
        message = f"{self._name(bad.line)}: {bad.message}"
        if self._fail:
            raise InputError(message)
        self._counts[BAD] += 1
        kind = _QUOTED.sub("…", bad.message)
        if kind in self._kinds:
            self._kinds[kind].add(bad.line)
        elif len(self._kinds) < MAX_KINDS:
            self._kinds[kind] = _Repeats(bad.line, self._name)
            warn(message)
        else:
            self._others += 1

    def without_bad(self, results: Iterable[Item | FailedDocument]) -> Iterator[Item]:
        """The results without bad lines."""
        for result in results:
            if isinstance(result, FailedDocument):
                self.add(result)
            else:
                yield result
