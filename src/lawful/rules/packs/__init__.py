"""Rule packs: rule files for common documents, used by name; and the documents of the demo.

``docs/packs.md`` says what each one demands, and how many real documents satisfy it.
"""

from __future__ import annotations

from pathlib import Path

from lawful.base.errors import RulesError
from lawful.rules.rule_set import Rules

__all__ = ["DEMO", "PACKS", "rules_named"]

PACKS: dict[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml")
    for name in ("receipt", "invoice", "bank-statement", "broker-note", "ad-order")
}
"""Rule files by the name of the document that they are about."""

DEMO = Path(__file__).with_name("demo")
"""The folder of ``lawful demo``: generated receipts with scores, three of them as files, rules."""


def rules_named(name: str) -> Rules:
    """The rules of a pack, or of a file."""
    path = PACKS.get(name, Path(name))
    if not path.exists():
        raise RulesError(f"no rule file {name!r}; rules by name: {', '.join(PACKS)}")
    return Rules.load(path)
