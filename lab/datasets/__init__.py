"""Published data sets: one reader each, and the paper's rules for it as a rule file.

Importing this makes both known by name: the readers to ``lawful.readers.labelled.READERS``, the
rules to ``lawful.rules.packs.PACKS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lab.datasets.cord import read_cord
from lab.datasets.docile import read_docile
from lab.datasets.wildreceipt import read_wildreceipt
from lawful.readers.labelled import READERS
from lawful.rules.packs import PACKS

__all__ = ["RULES"]

RULES: Mapping[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml") for name in ("cord", "wildreceipt", "docile")
}
"""Rule files with the paper's rules, by data set."""

READERS |= {"cord": read_cord, "wildreceipt": read_wildreceipt, "docile": read_docile}
PACKS |= RULES
