"""Candidates from the JSON that document services return: fields with texts and confidences.

Each function returns what ``lawful.Candidates`` takes, with the service's names of fields, which
rules may use as labels: ``total: {label: TOTAL, type: money}``. A confidence is taken as the
probability of the text, and the rest as that of a missing value. A text without a confidence has
``UNKNOWN``. Several texts of one field are a list; for a field of one value, they exclude each
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, log
from numbers import Real
from typing import Any, TypeAlias

from lawful.base.errors import InputError, shown
from lawful.candidates.samples import text_of

Slot: TypeAlias = dict[str, float]  # log-probabilities of texts
Fields: TypeAlias = dict[str, Any]

UNKNOWN = 0.9
"""Probability of a text without a confidence."""


def textract(response: Mapping[str, Any]) -> Fields:
    """From Amazon Textract's ``AnalyzeExpense``: summary fields, and line items as rows.

    Fields are named by their types, such as ``TOTAL`` and ``VENDOR_NAME``; rows are ``LineItems``,
    with ``ITEM``, ``PRICE`` and others. The probability is that of the type times that of the text.
    """
    (document,) = _only(response, "ExpenseDocuments", "Textract's AnalyzeExpense")
    groups = _list(document, "LineItemGroups")
    rows = [_list(item, "LineItemExpenseFields") for g in groups for item in _list(g, "LineItems")]
    return {
        **_collected(_expense(f) for f in _list(document, "SummaryFields")),
        **({"LineItems": [_row(map(_expense, row)) for row in rows]} if rows else {}),
    }


def _expense(found: Any) -> tuple[str, Slot]:
    type_, value = (_object(found, name) for name in ("Type", "ValueDetection"))
    p = _confidence(type_, "Confidence", 100) * _confidence(value, "Confidence", 100)
    return str(type_.get("Text", "")), _slot(value.get("Text"), p)


def azure(response: Mapping[str, Any]) -> Fields:
    """From Azure Document Intelligence's ``prebuilt-invoice`` and its like.

    Fields are named as there, such as ``InvoiceTotal``; arrays of objects are rows (``Items``).
    Numbers, amounts and dates are taken from the typed value, all else from ``content``.
    """
    result = response.get("analyzeResult", response) if isinstance(response, Mapping) else response
    (document,) = _only(result, "documents", "Azure Document Intelligence")
    found: Fields = {}
    for name, field in _object(document, "fields").items():
        if not isinstance(field, Mapping) or field.get("valueArray") is None:
            found[name] = _azure_slot(field)
            continue
        items = _list(field, "valueArray")
        if any(isinstance(item, Mapping) and "valueObject" in item for item in items):
            rows = (_object(item, "valueObject") for item in items)
            found[name] = [_row((n, _azure_slot(inner)) for n, inner in r.items()) for r in rows]
        else:
            found[name] = [_azure_slot(item) for item in items]
    return found


def _azure_slot(found: Any) -> Slot:
    if not isinstance(found, Mapping):
        return {}
    value = found.get("content")
    for key in ("valueNumber", "valueInteger", "valueDate"):
        value = found.get(key, value)
    amount = found.get("valueCurrency")
    if isinstance(amount, Mapping) and amount.get("amount") is not None:
        value = amount["amount"]
    if value is None:
        value = found.get("valueString")
    return _slot(value, _confidence(found, "confidence"))


def document_ai(response: Mapping[str, Any]) -> Fields:
    """From the entities of a Google Document AI document.

    Fields are named by the types of entities, such as ``total_amount``. Entities with properties
    are rows, whose fields are named by the last part of their types: ``line_item/amount`` is
    ``amount``. Texts are normalised ones where there are any.
    """
    document = response.get("document", response) if isinstance(response, Mapping) else response
    rows: dict[str, list[dict[str, Slot]]] = {}
    single = []
    for entity in _list(document, "entities", "Google Document AI"):
        if not isinstance(entity, Mapping):
            raise InputError(f"an entity is {shown(entity)}, expected an object")
        name = str(entity.get("type", ""))
        if parts := _list(entity, "properties"):
            rows.setdefault(name, []).append(_row(map(_entity, parts)))
        else:
            single.append(_entity(entity))
    return {**_collected(single), **rows}


def _entity(entity: Any) -> tuple[str, Slot]:
    if not isinstance(entity, Mapping):
        raise InputError(f"an entity is {shown(entity)}, expected an object")
    normal = entity.get("normalizedValue")
    text = normal.get("text") if isinstance(normal, Mapping) else None
    name = str(entity.get("type", "")).rpartition("/")[2]
    return name, _slot(text or entity.get("mentionText"), _confidence(entity, "confidence"))


READERS: Mapping[str, Callable[[Mapping[str, Any]], Fields]] = {
    "textract": textract,
    "azure": azure,
    "document_ai": document_ai,
}
"""The services by the key that a line of JSON has their response under."""


def _slot(value: Any, p: float) -> Slot:
    text = text_of(value, "the text of a field")
    return {} if text is None or p == 0 else {text: log(p)}


def _confidence(found: Mapping[str, Any], name: str, whole: int = 1) -> float:
    given = found.get(name)
    if given is None:
        return UNKNOWN
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= float(given) <= whole:
        raise InputError(f"a confidence is {shown(given)}, expected a number from 0 to {whole}")
    return float(given) / whole


def _collected(found: Iterable[tuple[str, Slot]]) -> Fields:
    """By name, its candidates, or a list of these if there are several."""
    by_name: dict[str, list[Slot]] = {}
    for name, slot in found:
        if name:
            by_name.setdefault(name, []).append(slot)
    return {name: slots[0] if len(slots) == 1 else slots for name, slots in by_name.items()}


def _row(found: Iterable[tuple[str, Slot]]) -> dict[str, Slot]:
    """The fields of a row; of several texts of one field, the most probable counts."""
    row: dict[str, Slot] = {}
    for name, slot in found:
        best = max(row.get(name, {}).values(), default=-inf)
        if name and max(slot.values(), default=-inf) > best:
            row[name] = slot
    return row


def _list(found: Any, name: str, what: str = "") -> list[Any]:
    values = found.get(name, None if what else []) if isinstance(found, Mapping) else None
    if not isinstance(values, list):
        of = f" of {what}" if what else ""
        raise InputError(f"{name}{of} is {shown(values)}, expected a list")
    return values


def _object(found: Any, name: str) -> Mapping[str, Any]:
    value = found.get(name, {}) if isinstance(found, Mapping) else None
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is {shown(value)}, expected an object")
    return value


def _only(found: Any, name: str, what: str) -> list[Any]:
    values = _list(found, name, what)
    if len(values) != 1:
        raise InputError(
            f"{name} of {what} has {len(values)} documents, expected one: pass them one by one"
        )
    return values
