"""Known values beside the answer: what an e-invoice's XML says about its fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from lawful.documents.document import Document
from lawful.rules.definitions import Field
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.rule_set import Rules
from lawful.values import format_value, read, type_named


class Known(NamedTuple):
    """A field whose values are known, and whether those that were found are the same."""

    field: str
    known: tuple[str, ...]
    found: tuple[str, ...]
    right: bool


def compare_known(
    document: Document, fields: Mapping[str, Sequence[FieldValue]], rules: Rules
) -> tuple[Known, ...]:
    """The fields whose label has known values (``Document.values``), compared by value.

    A list is right if it has the same values as often; another field if all its occurrences have
    the known value. Zeros that are not found are left out: many documents do not print them.
    """
    if not document.values:
        return ()
    compared = []
    for each in rules.fields:
        texts = document.values.get(each.label)
        if not texts:
            continue
        known = [_known_value(each, text) for text in texts]
        found = [_comparable(each, value.value) for value in fields.get(each.name, ())]
        if not found and all(value == 0 for value in known):
            continue
        right = Counter(known) == Counter(found) if each.many else set(known) == set(found)
        compared.append(
            Known(each.name, tuple(map(_shown, known)), tuple(map(_shown, found)), right)
        )
    return tuple(compared)


def _known_value(field: Field, text: str) -> Any:
    if type_named(field.type).kind != "number":
        return next(iter(read(text, field.type)), text)
    try:
        return _comparable(field, Decimal(text))  # a point is a decimal point
    except InvalidOperation:
        return text


def _comparable(field: Field, value: Any) -> Any:
    """The value; a rate as a percentage, whether it was printed as 19, 19 % or 0.19."""
    if isinstance(value, Decimal):
        value = Decimal(value)  # without its printed form
        if field.label.endswith("rate") and -1 < value < 1:
            return value * 100
    return value


def _shown(value: Any) -> str:
    return "?" if value is None else format_value(value)
