"""Hints for people who write rules in the notation of another language, or of a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")


def _as_factor(found: re.Match[str]) -> str:
    return f"{found[1]} % as {Decimal(found[1]) / 100:f}, or as * {found[1]} / 100"


_SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!="}

_HINTS: Mapping[re.Pattern[str], Callable[[re.Match[str]], str]] = {
    re.compile(r"&&?|\b(?:AND|And)\b"): lambda found: f"'and' for {found[0]}",
    re.compile(r"\|\|?|\b(?:OR|Or)\b"): lambda found: f"'or' for {found[0]}",
    re.compile(r"!(?!=)|\b(?:NOT|Not)\b"): lambda found: f"'not' for {found[0]}",
    re.compile(r"<>"): lambda _: "!= for <>",
    re.compile(r"[−–×·÷≤≥≠]"): lambda found: f"{_SIGNS[found[0]]} for {found[0]}",
    re.compile(r"===+"): lambda found: f"== for {found[0]}",
    re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*%"): _as_factor,
    re.compile(r"(?<![=!<>])=(?!=)"): lambda _: "== to compare",
}


class Hint(NamedTuple):
    """What to write instead, to be added to a message, and the column of what it is about."""

    text: str
    column: int | None = None

    def __str__(self) -> str:
        return self.text


def hint_for(text: str) -> Hint:
    """What to write instead in an expression that is not part of the language, or nothing."""
    bare = _QUOTED.sub(lambda found: "_" * len(found[0]), text)
    for pattern, instead in _HINTS.items():
        if found := pattern.search(bare):
            return Hint(f"; write {instead(found)}", found.start() + 1)
    return Hint(point_hint(bare))


def logic_hint(name: str) -> str:
    """A hint for a logical operator that is not in lower case."""
    lower = name.lower()
    return f"write {lower!r} for {name}; " if lower in ("and", "or", "not") else ""


def point_hint(text: str) -> str:
    """A hint for numbers with a decimal comma."""
    found = re.search(r"(?<![\w.])(\d+),(\d+)(?![\w.])", text)
    return f"; write {found[1]}.{found[2]} for {found[0]}" if found else ""
