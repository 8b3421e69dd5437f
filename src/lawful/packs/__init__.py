"""Rule packs: rule files for common documents, used by name like the rules of data sets.

``docs/packs.md`` says what each one demands, and how many real documents satisfy it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["PACKS"]

PACKS: Mapping[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml")
    for name in ("receipt", "invoice", "bank-statement", "ad-order")
}
"""Rule files by the name of the document that they are about."""
