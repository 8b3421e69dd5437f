"""Rules: what a user knows about the documents, and the judge that checks it."""

from lawful.rules.judge import Check, FieldValue, Judge
from lawful.rules.model import Defaults, Field, Rule, Rules, rule

__all__ = ["Check", "Defaults", "Field", "FieldValue", "Judge", "Rule", "Rules", "rule"]
