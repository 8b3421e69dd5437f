"""Definitions of fields and rules.

A field names the spans of one label type and gives them a value type. A rule relates fields. Both
take what they leave open from the ``RuleDefaults`` of their rule file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from keyword import iskeyword
from math import inf
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from lawful.base.errors import RulesError, shown
from lawful.rules.judging.places import parse_where
from lawful.rules.language.nodes import Kind
from lawful.rules.language.patterns import check_pattern
from lawful.rules.lexicons import Lexicon
from lawful.rules.number_checks import (
    NUMBER_RANGE,
    as_ambiguity,
    as_decimal,
    as_price,
    as_tolerance,
    as_weight,
    as_weights,
    check_choice,
    check_max_words,
    check_writable,
    in_range,
)
from lawful.values import read, type_named

Presence: TypeAlias = Literal["keep", "free", "required"]
"""``keep``: a field that the best legal labelling has must be present. ``required``: the field must
be present. ``free``: it may be missing, and rules that need it are then vacuous (the paper)."""

Repeat: TypeAlias = Literal["agree", "first", "any"]
"""If a field that is no list occurs again: its values must ``agree``, only the ``first`` counts
(the paper), or a rule holds if it holds for ``any`` of them."""

Weight: TypeAlias = float
"""Nats of the model's evidence that a rule may overrule; ``inf`` is hard."""

Condition: TypeAlias = Literal[
    "reads", "max_words", "pattern", "starts", "ends", "in", "where", "words", "boundary",
    "required", "agrees", "kept", "pinned",
]  # fmt: skip
"""The conditions that a field implies. ``kept`` and ``pinned`` are hard, the others have
weights."""

LEGAL = "legal"
"""Name, among reasons and in a clash, of what the labelling scheme demands."""

SPANS = "every span"
"""Name, in a clash, of what fields demand of their spans: readable, well-formed, in agreement.
Demands with a weight of their own have names of their own, as in ``total:agrees``."""

ENGLISH = "en"
"""The language of messages, unless a rule has them in others."""

DEFAULT_WEIGHT = 10.0
BOUNDARY_WEIGHT = 5.0
"""The most that a boundary weighs by default: real texts often begin a field elsewhere."""

DEFAULT_UNCHECKED = 0.5
"""Half a nat: that a rule can be checked, and holds, is some evidence that its fields are right."""

DEFAULT_MISREADS = 6.0
"""Nats up to which a recogniser's second thoughts count."""

DEFAULT_TOLERANCE = Decimal("0.005")
"""Half a cent: amounts that print alike are equal, amounts that differ by a cent are not."""


@dataclass(frozen=True, slots=True)
class RuleDefaults:
    """Settings for fields and rules that have none of their own.

    ``ambiguity`` is the price in nats of choosing a value that is not the most plausible one
    (``3.350`` as 3.35 and not 3350); if infinite, it never happens. ``unchecked`` is the price in
    nats of a rule that is vacuous because a value is missing. ``misreads`` are the nats up to which
    a number or a date may be what OCR nearly read (``Document.misreads``). ``weights`` are those of
    conditions that fields imply, by name: ``{"total:agrees": 6}``.

    The paper's semantics is ``RuleDefaults(**PAPER)``.
    """

    presence: Presence = "keep"
    repeat: Repeat = "agree"
    weight: Weight = DEFAULT_WEIGHT
    tolerance: Decimal = DEFAULT_TOLERANCE
    max_words: int | None = None
    ambiguity: float = inf
    unchecked: float = DEFAULT_UNCHECKED
    misreads: float = DEFAULT_MISREADS
    weights: Mapping[str, Weight] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_choice(self.presence, Presence, "presence")
        check_choice(self.repeat, Repeat, "repeat")
        object.__setattr__(self, "weight", as_weight(self.weight))
        object.__setattr__(self, "tolerance", as_tolerance(self.tolerance))
        check_max_words(self.max_words)
        object.__setattr__(self, "ambiguity", as_ambiguity(self.ambiguity))
        object.__setattr__(self, "unchecked", as_price(self.unchecked, "unchecked"))
        object.__setattr__(self, "misreads", as_price(self.misreads, "misreads"))
        object.__setattr__(self, "weights", as_weights(self.weights))


PAPER: Mapping[str, Any] = MappingProxyType(
    {"presence": "free", "repeat": "first", "weight": inf, "unchecked": 0.0}
)
"""The paper's semantics, for ``with_defaults``: rules are hard, and missing fields cost nothing."""


@dataclass(frozen=True, slots=True)
class Field:
    """The spans of one label type under a name, with a value type.

    ``label`` is the type without its prefix (``total.total_price``). ``default`` is the value if
    the field is missing. The text of every span must be readable as ``type``, match ``pattern`` as
    a whole, be in the ``lexicon`` (a file, a list of texts), and have at most ``max_words`` words;
    ``starts`` must be found in its first word, ``ends`` in its last one, and it must be in a place
    of which the condition ``where`` holds. Fields may share a label if these conditions tell them
    apart. ``ambiguity`` is the price of choosing a value that is not the most plausible one, and
    ``misreads`` the most that one may cost which OCR nearly read; for texts 0, unless given. An
    ``optional`` field is always missing if the model does not have its label; otherwise, that is an
    error.
    """

    name: str
    label: str
    type: str = "text"
    many: bool = False
    default: Any = None
    presence: Presence | None = None
    repeat: Repeat | None = None
    max_words: int | None = None
    pattern: str | None = None
    ambiguity: float | None = None
    optional: bool = False
    starts: str | None = None
    ends: str | None = None
    lexicon: Lexicon | None = None
    where: str | None = None
    misreads: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise RulesError(
                f"field {shown(self.name)}: expected a name of letters, digits and _, "
                "no digit first"
            )
        if iskeyword(self.name):
            raise RulesError(f"field {self.name!r} has a name that expressions cannot use")
        for key, value in (("many", self.many), ("optional", self.optional)):
            if not isinstance(value, bool):
                raise RulesError(
                    f"field {self.name!r}: {key} is {shown(value)}, expected true or false"
                )
        if not isinstance(self.label, str) or not self.label:
            raise RulesError(
                f"field {self.name!r}: label is {shown(self.label)}, expected a label type"
            )
        check_writable(self.label, f"field {self.name!r}: label")
        type_named(self.type)
        if self.presence is not None:
            check_choice(self.presence, Presence, f"field {self.name!r}: presence")
        if self.repeat is not None:
            check_choice(self.repeat, Repeat, f"field {self.name!r}: repeat")
        if self.optional and self.presence == "required":
            raise RulesError(f"field {self.name!r} is both optional and required", field=self.name)
        check_max_words(self.max_words, f"field {self.name!r}: ")
        where = f"field {self.name!r}: "
        for key in ("pattern", "starts", "ends"):
            check_pattern(getattr(self, key), f"{where}{key}")
        if self.where is not None:
            if not isinstance(self.where, str):
                raise RulesError(f"{where}where is {shown(self.where)}, expected a condition")
            try:
                parse_where(self.where)
            except RulesError as error:
                raise RulesError(f"{where}where: {error}") from None
        if self.lexicon is not None:
            object.__setattr__(self, "lexicon", Lexicon.of(self.lexicon, where))
        if self.ambiguity is not None:
            object.__setattr__(self, "ambiguity", as_ambiguity(self.ambiguity, where))
        if self.misreads is not None:
            object.__setattr__(self, "misreads", as_price(self.misreads, "misreads", where))
        if self.default is not None:
            object.__setattr__(self, "default", self._read_default())

    def _read_default(self) -> Any:
        if self.many:
            raise RulesError(f"field {self.name!r}: a field with many has no default")
        where = f"field {self.name!r}: default is {shown(self.default)}"
        number = isinstance(self.default, Real | Decimal) and not isinstance(self.default, bool)
        if not number and not isinstance(self.default, str | date):
            raise RulesError(f"{where}, expected a text, a number or a date")
        if number and self.kind == "number":
            default = as_decimal(self.default)  # 1.234 in a rule file is never 1234
            if not default.is_finite():
                raise RulesError(f"{where}, expected a number")
            if not in_range(default):
                raise RulesError(f"{where}, expected {NUMBER_RANGE}")
            return default
        try:
            text = str(self.default)
        except ValueError:  # an integer of thousands of digits
            raise RulesError(f"{where}, expected a shorter number") from None
        check_writable(text, f"field {self.name!r}: default")
        values = read(text, self.type)
        if len(values) != 1:
            what = "has several possible values" if values else f"is no {self.type}"
            raise RulesError(f"field {self.name!r}: default {shown(self.default)} {what}")
        return values[0]

    def is_told_from(self, later: Field) -> bool:
        """Whether it leaves spans of its label to a field that is defined later."""
        own = (self.pattern, self.starts, self.ends, self.lexicon, self.where)
        by_type = self.type not in ("text", later.type)
        return by_type or any(condition is not None for condition in own)

    @property
    def kind(self) -> Kind:
        """The kind of its values: number, date or text."""
        return type_named(self.type).kind


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition over fields, which on a reading is satisfied, violated or vacuous.

    ``check`` is an expression, or a Python function of the fields in ``reads``. ``when`` is an
    expression that must hold for the rule to apply. ``message`` replaces the message made from the
    expression, with ``{field}`` for values, and ``{left}`` and ``{right}`` for the sides of a
    comparison; by language (``en``), it may be several. ``unchecked`` is the price in nats if the
    rule is vacuous because a value is missing. ``each`` is a kind of rows: the rule is then judged
    on every row, and has a weight for every row that violates it.
    """

    check: str | Callable[..., Any]
    id: str | None = None
    when: str | None = None
    tolerance: Decimal | None = None
    message: str | Mapping[str, str] | None = field(default=None, hash=False)
    weight: Weight | None = None
    reads: tuple[str, ...] = ()
    unchecked: float | None = None
    each: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.reads, str):
            object.__setattr__(self, "reads", (self.reads,))
        if callable(self.check):
            if self.id is None:
                object.__setattr__(self, "id", getattr(self.check, "__name__", "rule"))
        elif not isinstance(self.check, str):
            raise RulesError(f"check is {shown(self.check)}, expected an expression or a function")
        if self.id is None:
            object.__setattr__(self, "id", " ".join(str(self.check).split()))
        if not isinstance(self.id, str) or not self.id:
            raise RulesError(f"rule id is {shown(self.id)}, expected a name")
        check_writable(self.id, "rule id")
        if self.weight is not None:
            object.__setattr__(self, "weight", as_weight(self.weight, f"rule {self.id!r}: "))
        if self.tolerance is not None:
            object.__setattr__(
                self, "tolerance", as_tolerance(self.tolerance, f"rule {self.id!r}: ")
            )
        if self.unchecked is not None:
            object.__setattr__(
                self, "unchecked", as_price(self.unchecked, "unchecked", f"rule {self.id!r}: ")
            )
        texts = messages_of(self.message)
        for language, text in texts.items() if texts or self.message is None else [("", None)]:
            if not isinstance(text, str) or not isinstance(language, str) or not language:
                raise RulesError(
                    f"rule {self.id!r}: message is {shown(self.message)}, expected a text, or "
                    "texts by language"
                )
            check_writable(text, f"rule {self.id!r}: message")


def messages_of(message: str | Mapping[str, str] | None) -> Mapping[str, str]:
    """The messages of a rule by language, the one that is used elsewhere first."""
    if message is None:
        return {}
    if not isinstance(message, Mapping):
        return {ENGLISH: message}
    return dict(sorted(message.items(), key=lambda item: item[0] != ENGLISH))


def rule(
    *,
    reads: Iterable[str],
    id: str | None = None,  # noqa: A002 - the word that rule files use
    weight: Weight | str | None = None,
    message: str | None = None,
) -> Callable[[Callable[..., Any]], Rule]:
    """Turns a Python function of fields into a rule.

    For example::

        @lawful.rule(reads=("date", "due"))
        def due_after_date(date, due):
            return due >= date

    The function gets the values in this order, a tuple for a field with ``many``, and is not called
    if one of them is missing. It returns whether the rule holds, or ``None`` if it does not apply.
    """
    names = (reads,) if isinstance(reads, str) else tuple(reads)

    def decorate(function: Callable[..., Any]) -> Rule:
        try:
            inspect.signature(function).bind(*names)
        except TypeError as error:
            raise RulesError(f"rule {function!r} cannot take the fields {names}: {error}") from None
        return Rule(
            function,
            id=id,
            weight=None if weight is None else as_weight(weight),
            message=message,
            reads=names,
        )

    return decorate


def as_rule(value: Rule | str | Callable[..., Any]) -> Rule:
    """A rule itself, or one made from its expression."""
    if isinstance(value, Rule):
        return value
    if isinstance(value, str):
        return Rule(value)
    raise RulesError(
        f"{shown(value)} is no rule: expected an expression, a Rule, "
        "or a function made one by @rule"
    )
