"""Numbers by their shape: ``1.234,56`` is read as ``0p000c00``, which is one piece."""

from __future__ import annotations

import re

SEPARATORS = {".": "p", ",": "c", "/": "s", "-": "h", ":": "t"}

_LETTERS = {letter: mark for mark, letter in SEPARATORS.items()}
_BETWEEN = re.compile(f"(?<=0)[{''.join(_LETTERS)}](?=0)")


def original(shape: str) -> str:
    """A word of this shape as it may be printed."""
    return _BETWEEN.sub(lambda found: _LETTERS[found[0]], shape)
