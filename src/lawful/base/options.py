"""Options that are described where their settings are: a dataclass of them is a group."""

from __future__ import annotations

from dataclasses import field
from typing import Any

OPTION = "option"
"""The key of a field's metadata that has the names and the description of its option."""


def option(default: Any, *names: str, **how: Any) -> Any:
    """A field of a group: its default, and its option, with the keywords of ``typer.Option``."""
    return field(default=default, metadata={OPTION: (names, how)})


def switch(*names: str, **how: Any) -> Any:
    """A field that is false unless its option, which takes no value, is given."""
    return option(False, *names, metavar="", **how)
