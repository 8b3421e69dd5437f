"""The paper's rules for its data sets, as rule files to use or to copy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lawful.errors import RulesError
from lawful.rules.model import Rules

RULES: Mapping[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml") for name in ("cord", "wildreceipt", "docile")
}
"""By the name of the data set, which is its reader's too."""


def rules_named(name: str) -> Rules:
    """The paper's rules for the data set of that name, or those of a file."""
    path = RULES.get(name, Path(name))
    if not path.exists():
        raise RulesError(f"no rule file {name!r}; rules by name: {', '.join(RULES)}")
    return Rules.load(path)
