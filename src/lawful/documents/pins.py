"""Pins: a person's word about a document, which every labelling must agree with.

{"words": [3, 5], "field": "total"}     words 3 and 4 are one span of the field, and no more
{"words": [3, 5], "field": null}        they are outside all spans
{"words": [3, 5], "not": "total"}       neither of them is in a span of the field
{"field": "total", "value": "53.280"}   every span of the field has this value
{"field": "tip", "value": null}         the field is absent
{"words": [3, 5], "text": "Rp 53.280"}  they read like this
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from math import isfinite
from typing import Any, Literal, TypeAlias

from lawful.base.errors import InputError, shown

Kind: TypeAlias = Literal["is", "nothing", "not", "value", "absent", "text"]
"""What a pin says, in the order of the list above."""

PREFIX = "pin: "
"""The beginning of all names of pins."""


@dataclass(frozen=True, slots=True)
class PinKind:
    """A kind of pin: how it is written, and what it allows."""

    form: str  # in JSON
    word: str  # what it says about one word, or about a field
    words: str = ""  # what it says about several words; empty if it is about none
    has_field: bool = True
    subject: Literal["labels", "value", "text"] = "labels"
    """Whether it says which labels words may have, which value a field has, or what words read."""
    refuses: Literal["none", "own", "others", "all"] = "none"
    """From spans of which fields its words are kept out: its own, all others, or all."""
    by_word: bool = False  # whether it says the same about each of its words alone

    @property
    def is_span(self) -> bool:
        """Whether its words are one span of its field: in it, and in no other."""
        return self.refuses == "others"


KINDS: Mapping[Kind, PinKind] = {
    "is": PinKind('{"words", "field"}', "is {field}", "are {field}", refuses="others"),
    "nothing": PinKind(
        '{"words", "field"}', "is nothing", "are nothing", has_field=False, refuses="all",
        by_word=True,
    ),
    "not": PinKind(
        '{"words", "not"}', "is not {field}", "are not {field}", refuses="own", by_word=True
    ),
    "value": PinKind('{"field", "value"}', "is {value}", subject="value"),
    "absent": PinKind('{"field", "value"}', "is absent", refuses="own"),
    "text": PinKind(
        '{"words", "text"}', "reads {value}", "read {value}", has_field=False, subject="text"
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pin:
    """A person's word about a document; ``Pin.of`` makes it from its form in JSON.

    ``words`` are half-open: ``(3, 5)`` are the words 3 and 4. ``value`` is the value of the field,
    as a text or a number, or the text of the words.
    """

    kind: Kind
    words: tuple[int, int] | None = None
    field: str | None = None
    value: str | float | Decimal | date | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {shown(self.kind)}, expected one of {', '.join(KINDS)}")
        if KINDS[self.kind].words:
            object.__setattr__(self, "words", _as_words(self.words))
        elif self.words is not None:
            raise InputError(f"words is {shown(self.words)}, expected none for a field's value")
        if KINDS[self.kind].has_field and not (isinstance(self.field, str) and self.field):
            raise InputError(f"field is {shown(self.field)}, expected the name of a field")
        if self.subject == "value" and not _is_value(self.value):
            raise InputError(f"value is {shown(self.value)}, expected a text, a number or none")
        if self.subject == "text" and not isinstance(self.value, str):
            raise InputError(f"text is {shown(self.value)}, expected a string")

    @classmethod
    def of(cls, given: Pin | Mapping[str, Any]) -> Pin:
        """The pin in this form; raises an ``InputError`` for any other form."""
        if isinstance(given, Pin):
            return given
        if isinstance(given, Mapping):
            words, field = given.get("words"), given.get("field")
            keys = set(given)
            if keys == {"words", "field"}:
                return cls("nothing" if field is None else "is", words, field)
            if keys == {"words", "not"}:
                return cls("not", words, given["not"])
            if keys == {"field", "value"}:
                value = given["value"]
                return cls("absent" if value is None else "value", None, field, value)
            if keys == {"words", "text"}:
                return cls("text", words, None, given["text"])
        forms = ", ".join(dict.fromkeys(kind.form for kind in KINDS.values()))
        raise InputError(f"found {shown(given)}, expected one of {forms}")

    @property
    def subject(self) -> Literal["labels", "value", "text"]:
        """What it is about: the labels of words, the value of a field, or the texts of words."""
        return KINDS[self.kind].subject

    @property
    def is_span(self) -> bool:
        """Whether its words are exactly one span of its field."""
        return KINDS[self.kind].is_span

    def refuses(self, field: str) -> bool:
        """Whether it keeps its words, or all, out of spans of this field."""
        return KINDS[self.kind].refuses in ("all", "own" if self.field == field else "others")

    def to_dict(self) -> dict[str, Any]:
        """The pin as plain values, for JSON lines."""
        words = {} if self.words is None else {"words": list(self.words)}
        if self.subject == "text":
            return {**words, "text": self.value}
        if self.kind == "not":
            return {**words, "not": self.field}
        value = self.value.isoformat() if isinstance(self.value, date) else self.value
        return {**words, "field": self.field, **({} if words else {"value": value})}

    @property
    def id(self) -> str:
        """What it says, as ``because`` and ``clash`` name it."""
        kind = KINDS[self.kind]
        value = self.value if isinstance(self.value, Decimal | date) else shown(self.value)
        said = {"field": self.field, "value": value}
        if self.words is None:
            return f"{PREFIX}{self.field} {kind.word.format(**said)}"
        start, end = self.words
        if end == start + 1:
            return f"{PREFIX}word {start} {kind.word.format(**said)}"
        return f"{PREFIX}words {start}:{end} {kind.words.format(**said)}"

    @property
    def said(self) -> str:
        """What it says, for messages that call it a pin."""
        return self.id.removeprefix(PREFIX)

    def about(self, start: int, end: int) -> Pin:
        """The same pin about other words."""
        return replace(self, words=(start, end))


def as_pins(given: Any) -> tuple[Pin, ...]:
    """A list of pins, each once; raises an ``InputError`` that has the number of a wrong one."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"pins is {shown(given)}, expected a list")
    pins: dict[Pin, None] = {}
    for i, each in enumerate(given):
        try:
            pins[Pin.of(each)] = None
        except InputError as error:
            raise InputError(f"pin {i}: {error}") from None
    return tuple(pins)


def _as_words(given: Any) -> tuple[int, int]:
    bounds = tuple(given) if isinstance(given, list | tuple) else ()
    whole = all(hasattr(each, "__index__") and not isinstance(each, bool) for each in bounds)
    if len(bounds) != 2 or not whole or not 0 <= bounds[0] < bounds[1]:
        raise InputError(
            f"words is {shown(given)}, expected [start, end]: the first word, and the one after "
            "the last"
        )
    return int(bounds[0]), int(bounds[1])


def _is_value(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    number = isinstance(value, int | float | Decimal) and isfinite(value)
    return number or isinstance(value, str | date)
