"""The paper's rules for its data sets, as rule files to use or to copy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

RULES: Mapping[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml") for name in ("cord", "wildreceipt", "docile")
}
"""By the name of the data set, which is its reader's too."""
