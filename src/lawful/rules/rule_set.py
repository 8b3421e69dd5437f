"""Rules: fields and rules that belong together, checked against each other.

Everything that a rule file says is here, with nothing left open: fields and rules have taken what
they lack from the defaults, and expressions are parsed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, get_args

from lawful.base.cache import Cache
from lawful.base.errors import RulesError, RulesWarning, did_you_mean, shown
from lawful.documents.label_names import SCHEMES
from lawful.documents.labels import Scheme
from lawful.documents.pins import PREFIX
from lawful.rules.classes import check_classes
from lawful.rules.consistency import (
    check_fields,
    check_rows,
    check_span_rules,
    check_weights,
    needed,
)
from lawful.rules.definitions import (
    BOUNDARY_WEIGHT,
    LEGAL,
    SPANS,
    Condition,
    Field,
    Rule,
    RuleDefaults,
    Weight,
    as_rule,
)
from lawful.rules.doubts import doubts_about
from lawful.rules.given_values import check_given
from lawful.rules.judging.rows import PREVIOUS, RowKind
from lawful.rules.lexicons import Lexicon
from lawful.rules.parsed_rule import ParsedRule, RuleParser, field_of
from lawful.rules.span_rules import Boundaries, Order, WordRule

MAX_BYTES = 2**26
"""Bytes of schemes that all rules keep together: one per list of labels."""

_SCHEMES: Cache[tuple[str, tuple[str, ...], tuple[tuple[str, bool], ...]], Scheme] = Cache(
    MAX_BYTES
)

MAX_FIELDS = 10_000

_OF_FIELDS = ("presence", "repeat", "max_words", "ambiguity", "misreads")


LARGE = 1e6
"""A weight above all that users give, to compare labellings that violate something hard."""


class ValueKey(NamedTuple):
    """What the possible values of a text depend on."""

    type: str
    printed: bool  # whether rules see how a value is printed
    misreads: float  # nats up to which a text may be misread


@dataclass(frozen=True, eq=False)
class Rules:
    """Fields and rules that belong together, checked against each other when made.

    ``words``, ``boundaries`` and ``orders`` are rules about spans, whatever their values are;
    ``given`` has the types of values that documents bring, by name; ``classes`` has, by name in
    rules, the name of the scores in documents. ``Rules.load`` reads all of it from a file. Fields
    are checked against a model's labels when scores come in: there, an unknown label is an error.
    ``needs`` are the fields that decide whether a document passes; those of a kind of rows by its
    name.
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
    needs: tuple[str, ...] = ()

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
        needs: Iterable[str] = (),
    ) -> None:
        defaults = RuleDefaults() if defaults is None else defaults
        if not isinstance(scheme, str) or scheme.upper() not in SCHEMES:
            raise RulesError(f"unknown scheme {shown(scheme)}; schemes: {', '.join(SCHEMES)}")
        lists = {"fields": fields, "rules": rules, "rows": rows, "words": words, "orders": orders}
        lists["needs"] = needs
        for name, values in lists.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise RulesError(f"{name} is {shown(values)}, expected a list")
        fields = tuple(islice(fields, MAX_FIELDS + 1))
        if len(fields) > MAX_FIELDS:
            raise RulesError(f"over {MAX_FIELDS:,} fields")
        for f in fields:
            if not isinstance(f, Field):
                raise RulesError(f"{shown(f)} is no field: expected a Field")
        rows = tuple(rows)
        check_rows(rows, fields)
        in_rows = {name for kind in rows for name in kind.fields}
        object.__setattr__(self, "rows", rows)
        object.__setattr__(
            self, "fields", tuple(self._fill(f, defaults, many=f.name in in_rows) for f in fields)
        )
        object.__setattr__(self, "rules", tuple(map(as_rule, rules)))
        words, orders = tuple(words), tuple(orders)
        check_span_rules(words, boundaries, orders, self.fields)
        object.__setattr__(self, "orders", tuple(_weighed(o, defaults.weight) for o in orders))
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "boundaries", boundaries)
        object.__setattr__(self, "scheme", scheme.upper())
        object.__setattr__(self, "defaults", defaults)
        check_fields(self.fields)
        names = [f.name for f in self.fields]
        check_weights(defaults.weights, names)
        object.__setattr__(self, "needs", needed(needs, names, rows))
        taken = (*names, *(kind.name for kind in rows), PREVIOUS)
        object.__setattr__(self, "given", check_given({} if given is None else given, taken))
        object.__setattr__(
            self,
            "classes",
            check_classes({} if classes is None else classes, {*taken, *self.given}),
        )
        object.__setattr__(self, "parsed", tuple(self._parse()))

    parsed: tuple[ParsedRule, ...] = field(init=False, repr=False)

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
            misreads=(f.kind != "text") * defaults.misreads if f.misreads is None else f.misreads,
        )

    def _parse(self) -> Iterable[ParsedRule]:
        parser = RuleParser(self.fields, self.rows, self.defaults, self.given, self.classes)
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
            if self._is_reserved(identity):
                raise RulesError(
                    f"rule {number + 1} has the id {identity!r}, which is the name of a condition "
                    "that is not a rule; give it another id",
                    rule=number,
                )
            try:
                yield parser.parse(rule)
            except RulesError as error:
                raise RulesError(f"rule {identity!r}: {error}", rule=number) from None
        for order in self.orders:
            if order.id in seen:
                raise RulesError(f"order: the id {order.id!r} is used twice")
            seen[order.id or ""] = -1

    def _is_reserved(self, id_: str) -> bool:
        """Whether results call something else by this name: a pin, or a condition of a field."""
        name, _, condition = id_.rpartition(":")
        of_field = condition in get_args(Condition) and any(f.name == name for f in self.fields)
        return of_field or id_ in (LEGAL, SPANS) or id_.startswith(PREFIX)

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """From a ``.yaml``, ``.toml`` or ``.json`` file; errors name the file and the YAML line.

        Warns of ``doubts``.
        """
        from lawful.rules.files import load_rules

        rules = load_rules(Path(path))
        for doubt in rules.doubts:
            warnings.warn(f"{path}: {doubt}", RulesWarning, stacklevel=2)
        return rules

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is legal and probably not meant, such as ``rate == 0.19`` for a percent."""
        percents = {f.name for f in self.fields if f.type == "percent"}
        percents |= {name for name, type_ in self.given.items() if type_ == "percent"}
        return tuple(
            f"rule {rule.id!r}: {doubt}"
            for rule in self.parsed
            for part in (rule.when, rule.expression)
            if part is not None
            for doubt in doubts_about(part.root, percents)
        )

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

        ``Decoding.to_model`` makes an object of the model from a decoding.
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
    def softened(self) -> Rules:
        """The same rules with a large weight, ``LARGE``, in place of hard ones."""

        def soft(weight: Weight | None) -> Weight | None:
            return LARGE if weight == inf else weight

        defaults, boundaries = self.defaults, self.boundaries
        weights = {name: LARGE if own == inf else own for name, own in defaults.weights.items()}
        return replace(
            self,
            rules=tuple(replace(rule, weight=soft(rule.weight)) for rule in self.rules),
            defaults=replace(defaults, weight=min(defaults.weight, LARGE), weights=weights),
            orders=tuple(replace(order, weight=soft(order.weight)) for order in self.orders),
            words=tuple(replace(rule, weight=soft(rule.weight)) for rule in self.words),
            boundaries=boundaries and replace(boundaries, weight=soft(boundaries.weight)),
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
    def held(self) -> dict[str, tuple[str, ...]]:
        """By kind of rows, the fields of the kinds that it is of, if it is one of sections."""
        kinds = {kind.name: kind for kind in self.rows}

        def inner(kind: RowKind) -> tuple[str, ...]:
            return () if kind.of is None else (*kinds[kind.of].fields, *inner(kinds[kind.of]))

        return {kind.name: inner(kind) for kind in self.rows}

    @cached_property
    def has_several_values(self) -> bool:
        """Whether rules may choose among the values of a field: ``repeat: any``."""
        return any(f.repeat == "any" for f in self.fields)

    @cached_property
    def placed(self) -> tuple[str, ...]:
        """The fields whose places rules see."""
        return tuple(sorted({name for rule in self.parsed for name in rule.places}))

    @cached_property
    def value_keys(self) -> tuple[ValueKey, ...]:
        """By field, what the values of its texts depend on."""
        return tuple(
            ValueKey(f.type, f.name in self.printed, f.misreads or 0.0) for f in self.fields
        )

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
    def required_in_rows(self) -> frozenset[str]:
        """The fields that every row of their kind should have."""
        return frozenset(name for kind in self.rows for name in kind.required)

    @property
    def constants(self) -> dict[str, str]:
        """The types of values that no label changes: those given, and the document's classes."""
        return {**self.given, **dict.fromkeys(self.classes, "text")}

    @cached_property
    def printed(self) -> frozenset[str]:
        """The fields of which rules see how the value is printed: its currency, its decimals."""
        both = (e for rule in self.parsed for e in (rule.expression, rule.when) if e is not None)
        return frozenset(field_of(name) for e in both for name in e.root.printed)

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
        """The scheme over a model's labels; checked, and cached for all rules with these fields."""
        key = self.scheme, labels, self._labels
        scheme = _SCHEMES.get(key)
        if scheme is None:
            scheme = Scheme.named(self.scheme, labels)
            self.check_types(scheme.types)
            for f in self.fields:
                if f.label in scheme.types and f.label not in scheme.reachable_types:
                    raise RulesError(
                        f"field {f.name!r} has label {f.label!r}, but none of the model's labels "
                        f"can begin a span of it under {self.scheme}"
                    )
            _SCHEMES.keep(key, scheme, scheme.size + 100 * len(self.fields))
        return scheme

    @cached_property
    def _labels(self) -> tuple[tuple[str, bool], ...]:
        """What schemes need to know of the fields: their labels, and whether they may be absent."""
        return tuple((f.label, f.optional) for f in self.fields)

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
