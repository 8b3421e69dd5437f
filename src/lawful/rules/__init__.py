"""Rules: what a user knows about the documents, and the judge that checks it."""

from lawful.rules.checks import Check
from lawful.rules.definitions import PAPER, Field, Rule, RuleDefaults, Rules, rule
from lawful.rules.judge import FieldValue, Judge

__all__ = [
    "PAPER", "Check", "Field", "FieldValue", "Judge", "Rule", "RuleDefaults", "Rules", "rule",
]  # fmt: skip
