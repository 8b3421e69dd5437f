"""E-invoices as they are extracted: the values of their XML, without any model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from lawful.candidates.stated import Stated
from lawful.documents.document import Document
from lawful.documents.records import Labelled
from lawful.evaluation.en16931 import ARITHMETIC, check_arithmetic
from lawful.evaluation.printed import check_print
from lawful.readers.einvoice import EInvoice
from lawful.readers.reader import FileDocument
from lawful.rules.judging.checks import Check
from lawful.rules.packs import rules_named
from lawful.rules.rule_set import Rules
from lawful.values import type_named

Kinds: TypeAlias = Mapping[str, str]
"""Whether a label is of numbers, dates or texts."""


def stated(document: Document | Labelled, rules: Rules, kind: str | None = None) -> Stated | None:
    """The values of the XML in a document's file; ``None`` if there is none, or for other rules.

    Those are rules with labels that the pack ``invoice`` does not have. ``kind`` is the class
    ``kind`` of the document, if rules name it.
    """
    if not isinstance(document, FileDocument) or (invoice := document.invoice) is None:
        return None
    pack = rules_named("invoice")
    known: Kinds = {f.label: type_named(f.type).kind for f in pack.fields}
    if not {f.label for f in rules.fields} <= known.keys():
        return None
    classes = None if kind is None else {"kind": {kind: 0.0}}
    checks = (*check_arithmetic(invoice), *print_checks(invoice, document, pack))
    values = _typed(invoice.stated, known)
    return Stated.of(values, document, rules, classes, checks, _audited(rules, pack))


def _audited(rules: Rules, pack: Rules) -> frozenset[str]:
    """The rules that are those of the pack on sums: the audit of the XML knows them better.

    It has what the pack's fields lack, such as quantities that a price is for.
    """
    own = {(rule.id, rule.check) for rule in pack.rules if rule.id in ARITHMETIC}
    return frozenset(str(rule.id) for rule in rules.rules if (rule.id, rule.check) in own)


def print_checks(invoice: EInvoice, document: Document, rules: Rules) -> Iterator[Check]:
    """A check per amount that the page contradicts; one for all if there is none."""
    checks = list(check_print(invoice, document, rules))
    broken = [check for check in checks if check.state == "violated"]
    there = sum(check.state == "satisfied" for check in checks)
    if broken:
        yield from broken
    elif there:
        nowhere = len(checks) - there
        said = f"the page prints {there} amounts as the XML has them"
        yield Check("PRINT", "satisfied", said + f", and {nowhere} not at all" * (nowhere > 0))
    else:
        yield Check("PRINT", "vacuous", "not checked: no amount of the XML is printed")


def _typed(values: dict[str, Any], known: Kinds, prefix: str = "") -> dict[str, Any]:
    """The values with numbers as such: XML has decimal points only, which pages need not."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, list):
            found[name] = [_typed(row, known, f"{name}.") for row in value]
        else:
            number = known.get(prefix + name) == "number"
            found[name] = Decimal(value) if number else value
    return found
