"""Given values: what is known about a document besides its words, such as an order's total."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from lawful.base.errors import DocumentError, RulesError, shown
from lawful.documents.document import Document
from lawful.rules.language.nodes import COUNT
from lawful.rules.number_checks import NUMBER_RANGE, as_decimal, check_new_name, in_range
from lawful.values import read, type_named


def check_given(given: Any, taken: Collection[str]) -> dict[str, str]:
    """The types of given values by name; no name may be ``taken`` by something else."""
    if not isinstance(given, Mapping):
        raise RulesError(f"given is {shown(given)}, expected names and types of values")
    for name, type_ in given.items():
        check_new_name(name, taken, "given")
        try:
            type_named(type_)
        except RulesError as error:
            raise RulesError(f"given: {name}: {error}") from None
    return dict(given)


def given_values(document: Document, types: Mapping[str, str]) -> dict[str, Any]:
    """The most plausible value of each, ``None`` if the document has none; and their counts.

    Raises a ``DocumentError`` for a text that its type cannot read.
    """
    found: dict[str, Any] = {}
    for name, type_ in types.items():
        given = (document.given or {}).get(name)
        where = f"document {shown(document.id)}: given {name}"
        found[name] = None if given is None else value_of(given, type_, where)
        found[COUNT + name] = int(given is not None)
    return found


def value_of(given: Any, type_: str, where: str) -> Any:
    """The most plausible value of a text, or a number as it is.

    Raises a ``DocumentError`` that begins with ``where`` if it is no value of this type.
    """
    where = f"{where} is {shown(given)}"
    values: tuple[Any, ...] = ()
    if isinstance(given, str | date) or type_named(type_).kind != "number":
        values = read(str(given), type_)
    else:
        number = as_decimal(given)  # 1.234 as a number is never 1234
        if not in_range(number):
            raise DocumentError(f"{where}, expected {NUMBER_RANGE}")
        if type_ != "integer" or number == number.to_integral_value():
            values = (number,)
    if not values:
        raise DocumentError(f"{where}, which is no {type_}")
    return values[0]
