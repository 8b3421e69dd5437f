"""Rules: fields and rules that belong together, checked against each other.

Everything that a rule file says is here, with nothing left open: fields and rules have taken what
they lack from the defaults, and expressions are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from functools import cached_property
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, get_args

from lawful.cache import Cache
from lawful.errors import RulesError, did_you_mean, shown
from lawful.labels import SCHEMES, Scheme
from lawful.rules.classes import check_classes
from lawful.rules.definitions import (
    BOUNDARY_WEIGHT,
    Condition,
    Field,
    Rule,
    RuleDefaults,
    Weight,
    as_rule,
)
from lawful.rules.expression import Expression, parse
from lawful.rules.given import check_given
from lawful.rules.lexicons import Lexicon
from lawful.rules.nodes import Kind
from lawful.rules.rows import PREVIOUS, RowKind
from lawful.rules.span_rules import Boundaries, Order, WordRule
from lawful.values import type_named

MOST_BYTES = 2**26
"""Bytes of schemes that a set of rules keeps: one per list of labels."""

MOST_FIELDS = 10_000

_OF_FIELDS = ("presence", "repeat", "max_words", "ambiguity")


@dataclass(frozen=True, slots=True)
class ParsedRule:
    """A rule with everything filled in and its expressions parsed."""

    id: str
    weight: Weight
    message: str | None
    reads: tuple[str, ...]
    names: frozenset[str]  # all fields whose values it may need; no constants
    expression: Expression | None  # none: a function
    function: Callable[..., Any] | None
    when: Expression | None
    tolerance: Decimal
    unchecked: float
    places: frozenset[str] = frozenset()  # the fields whose places it depends on
    each: RowKind | None = None  # the rows on which it is judged, one by one


class ValueKey(NamedTuple):
    """What the possible values of a text depend on."""

    type: str
    printed: bool  # whether rules see how a value is printed


@dataclass(frozen=True, eq=False)
class Rules:
    """Fields and rules that belong together, checked against each other when made.

    ``words``, ``boundaries`` and ``orders`` are rules about spans, whatever their values are;
    ``given`` has the types of values that documents bring, by name; ``classes`` has, by name in
    rules, the name of the scores in documents. ``Rules.load`` reads all of it from a file. Fields
    are checked against a model's labels when scores come in: there, an unknown label is an error.
    """

    fields: tuple[Field, ...]
    rules: tuple[Rule, ...] = ()
    scheme: str = "BIO"
    defaults: RuleDefaults = field(default_factory=RuleDefaults)
    rows: tuple[RowKind, ...] = ()
    words: tuple[WordRule, ...] = ()
    boundaries: Boundaries | None = None
    given: Mapping[str, str] = field(default_factory=dict)  # the types of values by name
    classes: Mapping[str, str] = field(default_factory=dict)  # the names of scores by name
    orders: tuple[Order, ...] = ()

    def __init__(
        self,
        fields: Iterable[Field],
        rules: Iterable[Rule | str | Callable[..., Any]] = (),
        *,
        scheme: str = "BIO",
        defaults: RuleDefaults | None = None,
        rows: Iterable[RowKind] = (),
        words: Iterable[WordRule] = (),
        boundaries: Boundaries | None = None,
        given: Mapping[str, str] | None = None,
        classes: Mapping[str, str] | None = None,
        orders: Iterable[Order] = (),
    ) -> None:
        defaults = RuleDefaults() if defaults is None else defaults
        if not isinstance(scheme, str) or scheme.upper() not in SCHEMES:
            raise RulesError(f"unknown scheme {shown(scheme)}; schemes: {', '.join(SCHEMES)}")
        lists = {"fields": fields, "rules": rules, "rows": rows, "words": words, "orders": orders}
        for name, values in lists.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise RulesError(f"{name} is {shown(values)}, expected a list")
        fields = tuple(islice(fields, MOST_FIELDS + 1))
        if len(fields) > MOST_FIELDS:
            raise RulesError(f"over {MOST_FIELDS:,} fields")
        for f in fields:
            if not isinstance(f, Field):
                raise RulesError(f"{shown(f)} is no field: expected a Field")
        rows = tuple(rows)
        _check_rows(rows, fields)
        in_rows = {name for kind in rows for name in kind.fields}
        object.__setattr__(self, "rows", rows)
        object.__setattr__(
            self, "fields", tuple(self._fill(f, defaults, many=f.name in in_rows) for f in fields)
        )
        object.__setattr__(self, "rules", tuple(map(as_rule, rules)))
        words, orders = tuple(words), tuple(orders)
        _check_span_rules(words, boundaries, orders, self.fields)
        object.__setattr__(self, "orders", tuple(_weighed(o, defaults.weight) for o in orders))
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "boundaries", boundaries)
        object.__setattr__(self, "scheme", scheme.upper())
        object.__setattr__(self, "defaults", defaults)
        object.__setattr__(self, "_schemes", Cache(MOST_BYTES))
        _check_fields(self.fields)
        names = [f.name for f in self.fields]
        _check_weights(defaults.weights, names)
        taken = (*names, *(kind.name for kind in rows), PREVIOUS)
        object.__setattr__(self, "given", check_given({} if given is None else given, taken))
        object.__setattr__(
            self,
            "classes",
            check_classes({} if classes is None else classes, {*taken, *self.given}),
        )
        object.__setattr__(self, "parsed", tuple(self._parse()))

    parsed: tuple[ParsedRule, ...] = field(init=False, repr=False)
    _schemes: Cache[tuple[str, ...], Scheme] = field(init=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        made = (f.name for f in dataclass_fields(self) if f.init)
        return _rebuild, ({name: getattr(self, name) for name in made},)

    def __repr__(self) -> str:
        fields, rules = (f.name for f in self.fields), (str(rule.id) for rule in self.rules)
        return f"<Rules over {', '.join(fields) or 'no fields'}: {'; '.join(rules) or 'none'}>"

    def _repr_html_(self) -> str:
        from lawful.report.notebook import rules_html

        return rules_html(self)

    @staticmethod
    def _fill(f: Field, defaults: RuleDefaults, *, many: bool) -> Field:
        return replace(
            f,
            many=f.many or many,  # a field of rows is a list for rules about the document
            presence=f.presence or defaults.presence,
            repeat=f.repeat or defaults.repeat,
            max_words=f.max_words or defaults.max_words,
            ambiguity=defaults.ambiguity if f.ambiguity is None else f.ambiguity,
        )

    def _parse(self) -> Iterable[ParsedRule]:
        seen: dict[str, int] = {}
        for number, rule in enumerate(self.rules):
            identity = rule.id or ""
            first = seen.setdefault(identity, number)
            if first != number:
                raise RulesError(
                    f"rules {first + 1} and {number + 1} have one id, {identity!r}; "
                    "give one of them another id",
                    rule=number,
                )
            try:
                yield self._parse_rule(rule)
            except RulesError as error:
                raise RulesError(f"rule {identity!r}: {error}", rule=number) from None
        for order in self.orders:
            if order.id in seen:
                raise RulesError(f"order: the id {order.id!r} is used twice")
            seen[order.id or ""] = -1

    def _parse_rule(self, rule: Rule) -> ParsedRule:
        each = self._kind_of_rows(rule.each)
        known = self._scope(each)
        tolerance = self.defaults.tolerance if rule.tolerance is None else rule.tolerance
        dotted = {f"{kind.name}.{name}": name for kind in self.rows for name in kind.fields}
        money = {f.name for f in self.fields if f.type == "money"}
        amounts = money | {f"{PREVIOUS}.{name}" for name in money}
        when = None if rule.when is None else parse(rule.when, known, tolerance, dotted, amounts)
        expression = None
        function = None
        reads: tuple[str, ...] = rule.reads
        if isinstance(rule.check, str):
            expression = parse(rule.check, known, tolerance, dotted, amounts)
            reads = tuple(sorted(expression.reads | (when.reads if when else frozenset())))
        else:
            function = rule.check
            if each is not None:
                raise RulesError("a Python function cannot be judged on each row")
            for name in reads:
                if name not in known:
                    raise RulesError(
                        f"reads unknown field {name!r}; fields: {', '.join(sorted(known))}"
                    )
        if rule.message is not None:
            _check_message(rule.message, known)
        parts = [part.root for part in (expression, when) if part is not None]
        places = frozenset(name for part in parts for name in part.placed)
        if given := min(places & self.given.keys(), default=None):
            raise RulesError(f"{given} is given, so it has no place in the document")
        if known_class := min(places & self.classes.keys(), default=None):
            raise RulesError(f"{known_class} is a class, so it has no place in the document")
        return ParsedRule(
            id=rule.id or "",
            weight=self.defaults.weight if rule.weight is None else rule.weight,
            message=rule.message,
            reads=reads,
            names=frozenset(map(_field_of, (*reads, *(when.reads if when else ()))))
            - self.constants.keys(),
            expression=expression,
            function=function,
            when=when,
            tolerance=tolerance,
            unchecked=self._unchecked(rule),
            places=frozenset(map(_field_of, places)),
            each=each,
        )

    def _unchecked(self, rule: Rule) -> float:
        if rule.unchecked is not None:
            return rule.unchecked
        # Many rows lack a value because the page does not print it.
        return self.defaults.unchecked if rule.each is None else 0.0

    def _kind_of_rows(self, name: str | None) -> RowKind | None:
        if name is None:
            return None
        for kind in self.rows:
            if kind.name == name:
                return kind
        known = ", ".join(kind.name for kind in self.rows) or "none"
        raise RulesError(f"each is {shown(name)}, expected a kind of rows: {known}")

    def _scope(self, each: RowKind | None) -> dict[str, tuple[Kind, bool]]:
        """The names that a rule may use; in a rule of rows, their fields have one value."""
        own = () if each is None else each.fields
        names: dict[str, tuple[Kind, bool]] = {
            f.name: (f.kind, f.many and f.name not in own) for f in self.fields
        }
        names |= {name: (type_named(type_).kind, False) for name, type_ in self.constants.items()}
        return names | {f"{PREVIOUS}.{name}": names[name] for name in own}

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """From a ``.yaml``, ``.toml`` or ``.json`` file; errors name the file and the YAML line."""
        from lawful.rules.files import load_rules

        return load_rules(Path(path))

    @classmethod
    def from_json_schema(
        cls,
        schema: Mapping[str, Any],
        rules: Iterable[Rule | str | Callable[..., Any]] = (),
        **more: Any,
    ) -> Rules:
        """Fields and rows from the properties of a JSON Schema; ``more`` is as for ``Rules``.

        Numbers are amounts, strings of the format ``date`` dates, arrays lists, and arrays of
        objects rows, named like the array. A field is named by its property, or by all names that
        lead to it, joined by ``_``, if another one has the same name.
        """
        from lawful.rules.schemas import fields_and_rows, schema_of

        fields, rows = fields_and_rows(schema_of(schema))
        return cls(fields, rules, **{"rows": rows, **more})

    @classmethod
    def from_pydantic(
        cls, model: Any, rules: Iterable[Rule | str | Callable[..., Any]] = (), **more: Any
    ) -> Rules:
        """As ``from_json_schema``, from the schema of a Pydantic model.

        ``lawful.as_object`` makes an object of the model from a decoding.
        """
        return cls.from_json_schema(model, rules, **more)

    @property
    def lexicons(self) -> tuple[Lexicon, ...]:
        """The lexicons of fields and words."""
        found = [f.lexicon for f in self.fields] + [rule.lexicon for rule in self.words]
        return tuple(lexicon for lexicon in found if lexicon is not None)

    def with_rules(self, *more: Rule | str | Callable[..., Any]) -> Rules:
        """The same fields, scheme, defaults and rules, and more rules after these."""
        return replace(self, rules=(*self.rules, *map(as_rule, more)))

    def with_defaults(self, **changes: Any) -> Rules:
        """The same fields and rules with other settings, which replace their own ones as well."""
        known = {f.name for f in dataclass_fields(RuleDefaults)}
        if unknown := set(changes) - known:
            names = ", ".join(sorted(known))
            raise RulesError(f"unknown default {min(unknown)!r}; defaults: {names}")
        if "weight" in changes:
            changes = {"weights": {}, **changes}
        of_fields = {k: changes[k] for k in _OF_FIELDS if k in changes}
        of_rules = {k: changes[k] for k in ("weight", "tolerance", "unchecked") if k in changes}
        of_spans: dict[str, Any] = {"weight": None} if "weight" in changes else {}
        return replace(
            self,
            fields=tuple(replace(f, **of_fields) for f in self.fields),
            rules=tuple(replace(r, **of_rules) for r in self.rules),
            defaults=replace(self.defaults, **changes),
            words=tuple(replace(r, **of_spans) for r in self.words),
            orders=tuple(replace(o, **of_spans) for o in self.orders),
            boundaries=self.boundaries and replace(self.boundaries, **of_spans),
        )

    @cached_property
    def field_of_label(self) -> dict[str, int]:
        """By label, the index of the first field that has it."""
        return {f.label: i for i, f in reversed(list(enumerate(self.fields)))}

    @cached_property
    def shared_labels(self) -> dict[int, tuple[int, ...]]:
        """The fields that share a label, in order, by the first of them."""
        by_label: dict[str, list[int]] = {}
        for i, f in enumerate(self.fields):
            by_label.setdefault(f.label, []).append(i)
        return {each[0]: tuple(each) for each in by_label.values() if len(each) > 1}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(f.name for f in self.fields)

    @cached_property
    def field_index(self) -> dict[str, int]:
        """By name, the index of a field."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def in_rows(self) -> frozenset[str]:
        """The fields of rows."""
        return frozenset(name for kind in self.rows for name in kind.fields)

    @cached_property
    def placed(self) -> tuple[str, ...]:
        """The fields whose places rules see."""
        return tuple(sorted({name for rule in self.parsed for name in rule.places}))

    @cached_property
    def value_keys(self) -> tuple[ValueKey, ...]:
        """By field, its type, and whether rules see how its value is printed."""
        return tuple(ValueKey(f.type, f.name in self.printed) for f in self.fields)

    @cached_property
    def of_texts(self) -> tuple[bool, ...]:
        """By field, whether its values may be texts."""
        return tuple(f.kind == "text" for f in self.fields)

    @cached_property
    def only_if_unreadable(self) -> tuple[Weight | None, ...]:
        """By field, what an unreadable span costs, if its spans have no other faults."""
        return tuple(map(self._only_if_unreadable, self.fields))

    def _only_if_unreadable(self, f: Field) -> Weight | None:
        own = (f.max_words, f.pattern, f.starts, f.ends, f.lexicon, f.where)
        if self.words or any(each is not None for each in (*own, self.boundaries)):
            return None
        return self.weight_of(f, "reads")

    @property
    def constants(self) -> dict[str, str]:
        """The types of values that no label changes: those given, and the document's classes."""
        return {**self.given, **dict.fromkeys(self.classes, "text")}

    @cached_property
    def printed(self) -> frozenset[str]:
        """The fields of which rules see how the value is printed: its currency, its decimals."""
        both = (e for rule in self.parsed for e in (rule.expression, rule.when) if e is not None)
        return frozenset(_field_of(name) for e in both for name in e.root.printed)

    def weight_of(self, f: Field, condition: Condition, own: Weight | None = None) -> Weight:
        """The weight of a condition that a field implies.

        ``own`` is the weight of the entry of ``words`` or ``boundaries`` behind it, if it has one.
        """
        if condition == "kept":
            return inf
        if own is not None:
            return own
        default = self.boundary_weight if condition == "boundary" else self.defaults.weight
        return self.defaults.weights.get(f"{f.name}:{condition}", default)

    @property
    def boundary_weight(self) -> Weight:
        """The weight of boundaries that have none of their own."""
        weight = self.defaults.weight
        return weight if weight == inf else min(weight, BOUNDARY_WEIGHT)

    def scheme_for(self, labels: tuple[str, ...]) -> Scheme:
        """The scheme over a model's labels; checked and cached per list of labels."""
        scheme = self._schemes.get(labels)
        if scheme is None:
            scheme = Scheme.named(self.scheme, labels)
            self.check_types(scheme.types)
            for f in self.fields:
                if f.label in scheme.types and f.label not in scheme.reachable_types:
                    raise RulesError(
                        f"field {f.name!r} has label {f.label!r}, but none of the model's labels "
                        f"can begin a span of it under {self.scheme}"
                    )
            self._schemes.keep(labels, scheme, scheme.size)
        return scheme

    def check_types(self, types: tuple[str, ...]) -> None:
        """Raises a ``RulesError`` for a field whose label is not among a model's types."""
        for f in self.fields:
            if f.label not in types and not f.optional:
                hint = did_you_mean(f.label, types)
                raise RulesError(
                    f"field {f.name!r} has label {f.label!r}, which the model does not know; "
                    f"{hint}its labels: {', '.join(types)}; a field that a model may "
                    "lack says optional: true"
                )


def _rebuild(parts: dict[str, Any]) -> Rules:
    return Rules(**parts)


def _weighed(order: Order, weight: Weight) -> Order:
    """The order with a weight: its own, or this one."""
    return order if order.weight is not None else replace(order, weight=weight)


def _check_fields(fields: tuple[Field, ...]) -> None:
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


def _check_span_rules(
    words: tuple[WordRule, ...],
    boundaries: Boundaries | None,
    orders: tuple[Order, ...],
    fields: tuple[Field, ...],
) -> None:
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


def _check_rows(rows: tuple[RowKind, ...], fields: Iterable[Field]) -> None:
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


def _check_weights(weights: Mapping[str, Weight], fields: Iterable[str]) -> None:
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


def _field_of(name: str) -> str:
    """The field of a name in an expression: that of the row before is the same field."""
    return name.removeprefix(f"{PREVIOUS}.")


def _check_message(message: str, known: Mapping[str, Any]) -> None:
    for name in re.findall(r"\{([^{}]*)\}", message):
        if name not in known:
            raise RulesError(
                f"message names unknown field {name!r}; fields: {', '.join(sorted(known))}"
            )
