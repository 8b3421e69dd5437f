"""Messages and tables on a terminal, where control characters of any text are shown escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
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


messages = Terminal(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def results_console(*, stderr: bool = False) -> Console:
    """A console for tables and text, without markup; 120 columns wide if not a terminal."""
    console = Terminal(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe
    return console


def figures(names: Iterable[str], numbers: Iterable[str], more: Iterable[str] = ()) -> Table:
    """A table without lines: columns of names, of numbers, and of what is said about them."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in names:
        table.add_column(name)
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    for text in more:
        table.add_column(text)
    return table


def say(message: str) -> None:
    """Prints a message."""
    messages.print(message, markup=False)


def warn(message: str) -> None:
    """Prints a warning."""
    messages.print(message, style="yellow", markup=False)


def show_error(message: str) -> None:
    """Prints the error that ends the command."""
    messages.print(f"lawful: {message}", style="red", markup=False)


class Interrupted(Exception):  # noqa: N818 - no error
    """Ctrl-C, with a message about the results that are kept."""
