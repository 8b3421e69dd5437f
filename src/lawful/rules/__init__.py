"""Rules: what a user knows about the documents, and the judge that checks it."""

from lawful.rules.checks import Check
from lawful.rules.definitions import Defaults, Field, Rule, Rules, rule
from lawful.rules.judge import FieldValue, Judge

__all__ = ["Check", "Defaults", "Field", "FieldValue", "Judge", "Rule", "Rules", "rule"]
