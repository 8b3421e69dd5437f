"""Texts of documents, labels and rules on a terminal: control characters are shown escaped."""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console
from rich.text import Text

# All of C0 and C1 but tab and newline; marks and overrides of direction; separators of lines and
# paragraphs; and lone surrogates, which no terminal can be sent.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def escaped(text: str) -> str:
    r"""The text with control characters as Python writes them: ``\x1b``, ``\u202e``."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Terminal(Console):
    """A console on which no text can move the cursor, change colours, or reverse other text."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Every string that is printed, also in tables, becomes a ``Text`` here."""
        return super().render_str(escaped(text), **options)
