"""The words of generated receipts, from ``words.yaml``; and those that tills print in English."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

WORDS: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
)


def parts(text: str) -> tuple[str, ...]:
    """The parts of a text between bars."""
    return tuple(" ".join(part.split()) for part in text.split("|"))


SURNAMES, PLACES, TRADES, COMPANY, STREETS, TOWNS, FOODS, DISHES, THINGS = (
    parts(WORDS["tills"][name])
    for name in parts("surnames|places|trades|company|streets|towns|foods|dishes|things")
)
BEFORE, AFTER, MODIFIERS, FOOT, TAX_CODES = (
    parts(WORDS["tills"][name]) for name in parts("before|after|modifiers|foot|tax_codes")
)
SLIPS = {name: parts(text) for name, text in WORDS["slips"].items()}
"""What German tills print besides amounts."""
KEYS = {name: parts(text) for name, text in WORDS["tills"]["keys"].items()}
"""The words before values."""
