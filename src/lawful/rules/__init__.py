"""Rules: conditions that a user knows to hold for documents, and the judge that checks them."""

from lawful.rules.checks import Check
from lawful.rules.definitions import PAPER, Field, Rule, RuleDefaults, Rules, rule
from lawful.rules.judge import FieldValue, Judge
from lawful.rules.rows import RowKind

__all__ = [
    "PAPER", "Check", "Field", "FieldValue", "Judge", "RowKind", "Rule", "RuleDefaults", "Rules",
    "rule",
]  # fmt: skip
