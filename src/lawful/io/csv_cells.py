"""Lines of CSV tables that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def csv_line(cells: Iterable[object], *, raw: bool = False) -> str:
    """A line of a table, with its end.

    Spreadsheets take a cell that begins with = + - or @ for a formula, which a document could use
    to run commands or to send data. Such a cell gets a ' in front, unless it is a number or the
    line is ``raw``.
    """
    texts = map(str, cells)
    row = io.StringIO()
    # With this line terminator, cells with a lone \r are quoted too.
    writer = csv.writer(row, lineterminator="\r\n")
    writer.writerow(texts if raw else map(_harmless, texts))
    return row.getvalue().removesuffix("\r\n") + "\n"


def _harmless(cell: str) -> str:
    """The cell as spreadsheets show it, not as they compute it."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
