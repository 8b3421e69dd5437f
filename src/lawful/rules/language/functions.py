"""The functions of the rule language.

One class per function: ``parse`` checks its arguments, ``evaluate`` and ``emit`` are its two back
ends. To add a function, write a class here and list it in ``FUNCTIONS``. A function of one field
that is no list is tabulated and needs no ``emit``; without ``emit``, a rule that uses it on several
fields is judged in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from lawful._core import Op
from lawful.base.errors import RulesError
from lawful.rules.compiled.program import Assembler, NeedsPython
from lawful.rules.language.arithmetic import absolute, rounded, total
from lawful.rules.language.check_digits import CHECK_DIGITS, why_not
from lawful.rules.language.hints import point_hint
from lawful.rules.language.nodes import COUNT, PLACE, ROWS, Environment, Node, plain
from lawful.rules.language.operands import FieldName
from lawful.rules.language.patterns import Pattern, compiled
from lawful.values import format_value, read
from lawful.values.money import decimals_of

if TYPE_CHECKING:
    from lawful.rules.language.expression import Parser

LONGEST_LIST = 8
"""Messages write longer lists as "sum of 12 values"."""

MAX_DECIMALS = 12
"""The most decimals that ``round`` takes."""


@dataclass(frozen=True, eq=False)
class Call(Node):
    """A function of other nodes."""

    arguments: tuple[Node, ...]

    @property
    def name(self) -> str:
        """The function's name."""
        return self.text.partition("(")[0]

    def emit(self, program: Assembler) -> int:
        raise NeedsPython(f"{self.name} of more than one field")


class Count(Call):
    """The number of spans of a field, readable or not; a default does not count."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Count:
        """Takes one field."""
        return cls(parser.text_of(node), "number", (_one_field(parser, node),))

    @property
    def counts(self) -> bool:
        return True

    @property
    def exact(self) -> bool:
        return True

    def evaluate(self, environment: Environment) -> Any:
        return Decimal(environment[COUNT + self.arguments[0].text])

    def emit(self, program: Assembler) -> int:
        program.add_count(self.arguments[0].text)
        return 0


class Present(Count):
    """Whether a field has a span, readable or not."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Present:
        """Takes one field."""
        return cls(parser.text_of(node), "condition", (_one_field(parser, node),))

    def evaluate(self, environment: Environment) -> bool:
        return bool(environment[COUNT + self.arguments[0].text] > 0)

    def emit(self, program: Assembler) -> int:
        program.add_presence(self.arguments[0].text)
        return 0


class Decimals(Call):
    """The number of decimals that a number is printed with."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Decimals:
        """Takes one field that is a number."""
        found = _one_field(parser, node)
        if found.many or found.kind != "number":
            raise parser.fail(f"decimals needs one number, found a {_described(found)}", node)
        return cls(parser.text_of(node), "number", (found,))

    @property
    def printed(self) -> frozenset[str]:
        return self.reads

    @property
    def exact(self) -> bool:
        return True

    def evaluate(self, environment: Environment) -> Any:
        value = self.arguments[0].evaluate(environment)
        return None if value is None else Decimal(decimals_of(value))

    def write(self, environment: Environment, *, within: int = 0) -> str:
        del within
        return f"decimals({self.arguments[0].write(environment)})"


class Sum(Call):
    """The sum of a list of numbers; unknown if the list is missing."""

    strict: ClassVar[bool] = True

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Sum:
        """Takes one list of numbers; with ``where``, those of some rows."""
        found = _one_field(parser, node, most=2)
        if not found.many or found.kind != "number":
            raise parser.fail(f"sum needs a list of numbers, found a {_described(found)}", node)
        if len(node.args) == 2:
            return SumOfRows.of(parser, node, found)
        return cls(parser.text_of(node), "number", (found,))

    def evaluate(self, environment: Environment) -> Any:
        values = self.arguments[0].evaluate(environment)
        return total(values) if values else None

    def emit(self, program: Assembler) -> int:
        return program.add_aggregate(self.arguments[0].text, "sum")

    def write(self, environment: Environment, *, within: int = 0) -> str:
        values = self.arguments[0].evaluate(environment)
        if not values:
            return super().write(environment, within=within)
        if len(values) > LONGEST_LIST:
            return f"sum of {len(values)} values"
        text = " + ".join(map(format_value, values))
        return f"({text})" if within > 1 and len(values) > 1 else text


@dataclass(frozen=True, eq=False)
class SumOfRows(Sum):
    """The sum of a field over the rows for which a condition holds: ``sum(x where y)``.

    Unknown if there are no rows, or if a value that it needs is missing in some row.
    """

    rows: str = ""
    strict: ClassVar[bool] = False

    @classmethod
    def of(cls, parser: Parser, node: ast.Call, found: FieldName) -> SumOfRows:
        """Checks the field and the condition."""
        kind = next((k for k, fields in parser.kinds.items() if found.text in fields), None)
        if kind is None:
            raise parser.fail(f"where needs a field of rows, and {found.text} is none", node)
        condition = parser.within_rows(found.text).condition(node.args[1], "where")
        text = f"sum({parser.text_of(node.args[0])} where {condition.text})"
        return cls(text, "number", (found, condition), kind)

    def evaluate(self, environment: Environment) -> Any:
        field, condition = self.arguments
        rows = environment[ROWS + self.rows]
        values = []
        for row in rows:
            chosen = condition.evaluate({**environment, **row})
            if chosen is None or (chosen and row[field.text] is None):
                return None
            if chosen:
                values.append(row[field.text])
        return total(tuple(values)) if rows else None

    def missing(self, environment: Environment) -> Iterator[str]:
        field, condition = self.arguments
        rows = environment[ROWS + self.rows]
        if not rows:
            yield field.text
        for row in rows:
            seen = {**environment, **row}
            yield from condition.missing(seen)
            if condition.evaluate(seen) and row[field.text] is None:
                yield field.text

    def emit(self, program: Assembler) -> int:
        return program.add_sum_of_rows(self.rows, self.arguments[0].text, self.arguments[1])

    def write(self, environment: Environment, *, within: int = 0) -> str:
        return Node.write(self, environment, within=within)


class Extreme(Call):
    """The least or the greatest of a list, or of several values of one kind."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Extreme:
        """Takes one list, or any number of values."""
        name = _name_of(node)
        if len(node.args) == 1:
            found = _one_field(parser, node)
            if not found.many or found.kind not in ("number", "date"):
                message = f"{name} needs a list of numbers or dates, found a {_described(found)}"
                raise parser.fail(message, node)
            return cls(parser.text_of(node), found.kind, (found,))
        if not node.args:
            raise parser.fail(f"{name} needs at least one argument", node)
        parts = tuple(map(parser.node, node.args))
        if len({part.kind for part in parts}) > 1 or parts[0].kind not in ("number", "date"):
            raise parser.fail(f"{name} needs numbers or dates, all of one kind", node)
        return cls(parser.text_of(node), parts[0].kind, parts)

    @property
    def exact(self) -> bool:
        return all(part.exact for part in self.arguments)

    def evaluate(self, environment: Environment) -> Any:
        values = [part.evaluate(environment) for part in self.arguments]
        if len(values) == 1:
            values = values[0] or [None]  # one list; None if it is missing
        pick: Callable[[Any], Any] = min if self.name == "min" else max
        return None if None in values else pick(values)

    def emit(self, program: Assembler) -> int:
        least = self.name == "min"
        if len(self.arguments) == 1:
            return program.add_aggregate(self.arguments[0].text, "least" if least else "greatest")
        return program.aligned(*self.arguments, fold=Op.least if least else Op.greatest)

    def write(self, environment: Environment, *, within: int = 0) -> str:
        if len(self.arguments) == 1:
            return super().write(environment, within=within)
        return f"{self.name}({', '.join(part.write(environment) for part in self.arguments)})"


class Abs(Call):
    """A number without its sign."""

    strict: ClassVar[bool] = True

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Abs:
        """Takes one number."""
        if len(node.args) != 1:
            raise parser.fail("abs takes one number", node)
        return cls(parser.text_of(node), "number", (parser.number(node.args[0], "abs"),))

    @property
    def exact(self) -> bool:
        return self.arguments[0].exact

    def evaluate(self, environment: Environment) -> Any:
        value = self.arguments[0].evaluate(environment)
        return None if value is None else absolute(value)

    def emit(self, program: Assembler) -> int:
        decimals = program.emit(self.arguments[0])
        program.add(Op.abs)
        return decimals

    def write(self, environment: Environment, *, within: int = 0) -> str:
        del within
        return f"abs({self.arguments[0].write(environment)})"


@dataclass(frozen=True, eq=False)
class Round(Call):
    """A number rounded to some decimals; halves go away from zero, as on a bill."""

    places: int | None = None

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Round:
        """Takes a number and a constant."""
        given = node.args[1] if len(node.args) == 2 else None
        if len(node.args) not in (1, 2) or not isinstance(given, ast.Constant | None):
            wrong = parser.fail("round takes a number and, optionally, how many decimals", node)
            raise RulesError(f"{wrong}{point_hint(parser.text)}")
        places = None if given is None else given.value
        if places is not None and not (isinstance(places, int) and 0 <= places <= MAX_DECIMALS):
            wrong = parser.fail(f"round takes 0 to {MAX_DECIMALS} decimals", node)
            raise RulesError(f"{wrong}{point_hint(parser.text)}")
        operand = parser.number(node.args[0], "round")
        return cls(parser.text_of(node), "number", (operand,), places)

    @property
    def exact(self) -> bool:
        return self.arguments[0].exact

    def evaluate(self, environment: Environment) -> Any:
        value = self.arguments[0].evaluate(environment)
        return None if value is None else rounded(value, self.places or 0)

    def emit(self, program: Assembler) -> int:
        decimals = program.emit(self.arguments[0])
        places = self.places or 0
        if decimals > places:
            program.add(Op.round, 0, program.constant(10 ** (decimals - places)))
        return decimals

    def write(self, environment: Environment, *, within: int = 0) -> str:
        del within
        places = "" if self.places is None else f", {self.places}"
        return f"round({self.arguments[0].write(environment)}{places})"


@dataclass(frozen=True, eq=False)
class Matches(Call):
    """Whether a regular expression is found in a text."""

    pattern: Pattern

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Matches:
        """Takes a text and a constant."""
        wrong = parser.fail("matches takes a text and a regular expression in quotes", node)
        if len(node.args) != 2 or not isinstance(node.args[1], ast.Constant):
            raise wrong
        value, pattern = parser.node(node.args[0]), node.args[1].value
        if value.kind != "text" or not isinstance(pattern, str):
            raise wrong
        try:
            return cls(parser.text_of(node), "condition", (value,), compiled(pattern))
        except RulesError as error:
            raise parser.fail(str(error), node) from None

    def evaluate(self, environment: Environment) -> bool | None:
        text = self.arguments[0].evaluate(environment)
        return None if text is None else self.pattern.occurs_in(str(text))


@dataclass(frozen=True, eq=False)
class Date(Call):
    """A constant day: ``date('2024-12-31')``."""

    day: date

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Date:
        """Takes a constant that can be read as one day."""
        text = node.args[0] if len(node.args) == 1 else None
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            raise parser.fail("date takes a day in quotes, as in date('2024-12-31')", node)
        days = read(text.value, "date")
        if len(days) != 1 or not isinstance(days[0], date):
            raise parser.fail(f"{text.value!r} is not one day; write it as '2024-12-31'", node)
        return cls(parser.text_of(node), "date", (), days[0])

    def evaluate(self, environment: Environment) -> date:
        del environment
        return self.day


class CheckDigits(Call):
    """Whether a text has the form and the check digits of a code, such as an IBAN."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> CheckDigits:
        """Takes one text."""
        value = parser.node(node.args[0]) if len(node.args) == 1 else None
        if value is None or value.kind != "text":
            raise parser.fail(f"{_name_of(node)} takes one text", node)
        return cls(parser.text_of(node), "condition", (value,))

    def evaluate(self, environment: Environment) -> bool | None:
        text = self.arguments[0].evaluate(environment)
        return None if text is None else CHECK_DIGITS[self.name](str(text))

    def objections(self, environment: Environment) -> Iterator[str]:
        text = self.arguments[0].evaluate(environment)
        yield f"{self.arguments[0].text} is {plain(text)}: {why_not(self.name, str(text))}"


class PlaceOf(Call):
    """A number that says where a field is: its first readable span."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> PlaceOf:
        """Takes one field that is no list."""
        found = _one_field(parser, node)
        if found.many:
            message = f"{_name_of(node)} needs a field of one value, found a {_described(found)}"
            raise parser.fail(message, node)
        return cls(parser.text_of(node), "number", (found,))

    @property
    def counts(self) -> bool:
        return True

    @property
    def placed(self) -> frozenset[str]:
        return self.reads

    @property
    def exact(self) -> bool:
        return True

    def evaluate(self, environment: Environment) -> Any:
        place = environment[PLACE + self.arguments[0].text]
        return None if place is None else getattr(place, self.name)

    def emit(self, program: Assembler) -> int:
        raise NeedsPython(f"{self.text}: the place of a span")


class Before(PlaceOf):
    """Whether all spans of one field come before all of another; unknown if one is missing."""

    @classmethod
    def parse(cls, parser: Parser, node: ast.Call) -> Before:
        """Takes two fields, which may be lists."""
        if len(node.args) != 2 or not all(
            isinstance(name, ast.Name | ast.Attribute) for name in node.args
        ):
            raise parser.fail("before takes two fields, as in before(items, total)", node)
        one, other = (parser.field(name) for name in node.args)  # type: ignore[arg-type]
        return cls(parser.text_of(node), "condition", (one, other))

    def evaluate(self, environment: Environment) -> bool | None:
        one, other = (environment[PLACE + field.text] for field in self.arguments)
        return None if one is None or other is None else bool(one.last <= other.first)


def _one_field(parser: Parser, node: ast.Call, most: int = 1) -> FieldName:
    """The first argument, which is a field."""
    if not 1 <= len(node.args) <= most or not isinstance(node.args[0], ast.Name | ast.Attribute):
        name = _name_of(node)
        raise parser.fail(f"{name} takes one field, as in {name}(items)", node)
    return parser.field(node.args[0])


def _name_of(node: ast.Call) -> str:
    return node.func.id  # type: ignore[attr-defined, no-any-return]


def _described(found: FieldName) -> str:
    return f"list of {found.kind}s" if found.many else found.kind


FUNCTIONS: Mapping[str, Callable[[Parser, ast.Call], Node]] = {
    "abs": Abs.parse,
    "before": Before.parse,
    "bottom": PlaceOf.parse,
    "count": Count.parse,
    "date": Date.parse,
    "decimals": Decimals.parse,
    "end": PlaceOf.parse,
    "left": PlaceOf.parse,
    "line": PlaceOf.parse,
    "matches": Matches.parse,
    "max": Extreme.parse,
    "min": Extreme.parse,
    "page": PlaceOf.parse,
    "present": Present.parse,
    "right": PlaceOf.parse,
    "round": Round.parse,
    "start": PlaceOf.parse,
    "sum": Sum.parse,
    "top": PlaceOf.parse,
    **dict.fromkeys(CHECK_DIGITS, CheckDigits.parse),
}
"""The functions by name: each checks a call and makes its node."""
