"""Reviewed results: lines of an earlier run, and the values that a person says are true.

A decoding of a run with needed fields has its doubts in its line, so that trust can be fitted to
results of any kind, those of language models included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from lawful.base.errors import InputError
from lawful.candidates.grounding.matches import plain_value, possible_values
from lawful.candidates.same import same
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import BAD_TEXT, check_line, read_lines
from lawful.learn.align import Truth
from lawful.learn.promise import Reviewed
from lawful.learn.trust import DOUBTS, bar_to
from lawful.results.wire import ValueData
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules


class ResultLine(msgspec.Struct, frozen=True):
    """The part of a decoding's line that says what was found, and how doubtful it is."""

    id: str
    fields: dict[str, list[ValueData]]
    doubts: dict[str, float] = {}
    setting: str | None = None


class Result(NamedTuple):
    """A reviewed document, and the setting that it was decoded with."""

    reviewed: Reviewed
    setting: str


def read_results(path: str | Path) -> Iterator[ResultLine | FailedDocument]:
    """Every line of a file that a run with needed fields wrote, or a ``FailedDocument``."""
    decoder = msgspec.json.Decoder(ResultLine)
    for number, text in read_lines(path):
        try:
            check_line(text)
            found = decoder.decode(text)
        except BAD_TEXT as error:
            yield FailedDocument(number, str(error))
            continue
        if list(found.doubts) != list(DOUBTS) or found.setting is None:
            why = "the result has no doubts and setting: make it with --needs, as JSON lines"
            yield FailedDocument(number, why, found.id)
            continue
        yield found


def reviewed_result(line: ResultLine, truth: Truth, rules: Rules) -> Result:
    """A result whose needed values are compared with the true ones.

    A needed field without true values is said to be absent: what was found is wrong.
    """
    known = _true_values(truth, rules)
    right = all(
        _is_right(f, line.fields.get(f.name, ()), known.get(f.name, ()))
        for f in rules.fields
        if f.name in rules.needs
    )
    repaired = {n for n, values in line.fields.items() if any(v.read_as for v in values)}
    barred = bar_to(repaired, rules.needs) is not None
    doubts = np.array(list(line.doubts.values()), float)
    assert line.setting is not None  # noqa: S101 - as read_results checks
    return Result(Reviewed(line.id, doubts, right, barred), line.setting)


def check_known(truths: Mapping[str, Truth], rules: Rules) -> None:
    """Raises an ``InputError`` if no document has a true value of some needed field."""
    named = {name for truth in truths.values() for name in _true_values(truth, rules)}
    if missing := [name for name in rules.needs if name not in named]:
        raise InputError(
            f"no document has a true value of {', '.join(missing)}, which the rules need; fields "
            f"with true values: {', '.join(sorted(named)) or 'none'}"
        )


def _true_values(truth: Truth, rules: Rules) -> dict[str, tuple[Any, ...]]:
    found = dict(truth.values)
    for kind in rules.rows:
        for name in kind.fields:
            values = tuple(row[name] for row in truth.rows.get(kind.name, ()) if name in row)
            if values and name not in found:
                found[name] = values
    return found


def _is_right(f: Field, found: Sequence[ValueData], true: Sequence[Any]) -> bool:
    """Whether all values of a list are right, in order; the first readable one of any other."""
    values = [_read(f, value) for value in found]
    if not f.many:
        values = [value for value in values if value is not None][:1]
        if f.default is not None:  # a value that is not printed is the default
            values, true = values or [_form(f.default)], true or (f.default,)
    return len(values) == len(true) and all(
        value in ({same(str(each))} if f.kind == "text" else _forms(f, each))
        for value, each in zip(values, true, strict=True)
    )


def _read(f: Field, found: ValueData) -> Any:
    """What rules saw in a text, in a form to compare; ``None`` if they could not read it."""
    if found.value is None or f.kind == "text":
        return None if found.value is None else same(str(found.value))
    return str(found.value) if f.kind == "date" else plain_value(Decimal(str(found.value)))


def _form(value: Any) -> Any:
    return str(value) if isinstance(value, date) else plain_value(value)


def _forms(f: Field, true: Any) -> set[Any]:
    """What a true value may be, in that form."""
    return set(map(_form, possible_values(true, f.type)))
