"""Whether the parts of a rule file fit together; an error says which do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from lawful.base.errors import RulesError, did_you_mean, shown
from lawful.rules.definitions import (
    Condition,
    Field,
    Weight,
)
from lawful.rules.judging.rows import RowKind
from lawful.rules.span_rules import Boundaries, Order, WordRule


def check_fields(fields: tuple[Field, ...]) -> None:
    """No two fields have one name, or one label with nothing that tells them apart."""
    names, labels = set[str](), dict[str, Field]()
    for f in fields:
        if f.name in names:
            raise RulesError(f"field {f.name!r} is defined twice", field=f.name)
        if f.label in labels and not labels[f.label].is_told_from(f):
            other = labels[f.label].name
            raise RulesError(
                f"field {f.name!r} has label {f.label!r}, as field {other!r} has; if that is "
                f"meant, give {other!r} a pattern or a place (where) that tells them apart",
                field=f.name,
            )
        names.add(f.name)
        labels[f.label] = f


def check_span_rules(
    words: tuple[WordRule, ...],
    boundaries: Boundaries | None,
    orders: tuple[Order, ...],
    fields: tuple[Field, ...],
) -> None:
    """Rules about spans are of the right kind, and name fields that are there."""
    for rule in words:
        if not isinstance(rule, WordRule):
            raise RulesError(f"{shown(rule)} is no rule of words: expected a WordRule")
        _check_known(rule.only, fields, "words: only")
    if not isinstance(boundaries, Boundaries | None):
        raise RulesError(f"boundaries is {shown(boundaries)}, expected Boundaries")
    for order in orders:
        if not isinstance(order, Order):
            raise RulesError(f"{shown(order)} is no order of fields: expected an Order")
        _check_known(order.fields, fields, "order")


def _check_known(names: Iterable[str], fields: Iterable[Field], where: str) -> None:
    """Raises a ``RulesError`` if one of the names is not that of a field."""
    known = [f.name for f in fields]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise RulesError(
                f"{where}: unknown field {shown(name)}; {hint}fields: {', '.join(known)}"
            )


def check_rows(rows: tuple[RowKind, ...], fields: Iterable[Field]) -> None:
    """No two kinds of rows have one name or share a field."""
    known = {f.name: f for f in fields}
    names, taken = set[str](), dict[str, str]()
    for kind in rows:
        if not isinstance(kind, RowKind):
            raise RulesError(f"{shown(kind)} is no kind of rows: expected a RowKind")
        if kind.name in names or kind.name in known:
            raise RulesError(f"rows {kind.name!r}: the name is defined twice")
        names.add(kind.name)
        _check_known(kind.fields, known.values(), f"rows {kind.name!r}")
        for name in kind.fields:
            if known[name].default is not None:
                raise RulesError(f"rows {kind.name!r}: field {name!r} has a default")
            if name in taken:
                raise RulesError(
                    f"field {name!r} is in rows {taken[name]!r} and {kind.name!r}, expected one"
                )
            taken[name] = kind.name
    for kind in rows:
        _check_sections(kind, {each.name: each for each in rows})


def _check_sections(kind: RowKind, kinds: Mapping[str, RowKind]) -> None:
    """A kind of sections is of another kind, and not of itself in the end."""
    inner, passed = kind, {kind.name}
    while inner.of is not None:
        if inner.of not in kinds:
            others = [name for name in kinds if name != inner.name]
            raise RulesError(
                f"rows {inner.name!r}: of is {shown(inner.of)}, expected another kind of rows; "
                f"{did_you_mean(str(inner.of), others)}kinds: {', '.join(others) or 'none'}"
            )
        inner = kinds[inner.of]
        if inner.name in passed:
            raise RulesError(f"rows {kind.name!r}: its sections hold themselves (of)")
        passed.add(inner.name)


def check_weights(weights: Mapping[str, Weight], fields: Iterable[str]) -> None:
    """Weights are of conditions of these fields."""
    conditions = [each for each in get_args(Condition) if each not in ("kept", "pinned")]
    known = {f"{name}:{condition}" for name in fields for condition in conditions}
    for name in weights:
        if name in known:
            continue
        hint = did_you_mean(name, known)
        if name.endswith(":kept"):
            hint = "that a field is kept is hard; "
        raise RulesError(
            f"weights: unknown condition {shown(name)}; {hint}expected a field and one of "
            f"{', '.join(conditions)}, as in {min(known, default='total:reads')!r}"
        )


def needed(needs: Iterable[str], names: Sequence[str], rows: Sequence[RowKind]) -> tuple[str, ...]:
    """The fields that are needed, each once; a kind of rows stands for its fields."""
    known = {name: (name,) for name in names} | {kind.name: kind.fields for kind in rows}
    found: dict[str, None] = {}
    for name in needs:
        if not isinstance(name, str) or name not in known:
            raise RulesError(
                f"needs: no field {shown(name)}; {did_you_mean(str(name), known)}"
                f"fields: {', '.join(known) or 'none'}"
            )
        found |= dict.fromkeys(known[name])
    return tuple(found)
