"""Rules: conditions that a user knows to hold for documents, and the judge that checks them."""

from lawful.rules.definitions import PAPER, Field, Rule, RuleDefaults, rule
from lawful.rules.judging.rows import RowKind
from lawful.rules.lexicons import Lexicon
from lawful.rules.rule_set import Rules
from lawful.rules.span_rules import Boundaries, Order, WordRule

__all__ = [
    "PAPER", "Boundaries", "Field", "Lexicon", "Order", "RowKind", "Rule", "RuleDefaults", "Rules",
    "WordRule", "rule",
]  # fmt: skip
