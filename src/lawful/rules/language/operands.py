"""What expressions are made of: constants, fields and currencies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from lawful.rules.language.nodes import Environment, Node

if TYPE_CHECKING:
    from lawful.rules.language.expression import Parser


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """A number, a text or a truth value."""

    value: Decimal | str | bool
    strict: ClassVar[bool] = True

    @classmethod
    def parse(cls, parser: Parser, node: ast.Constant) -> Constant:
        """Checks the constant."""
        value = node.value
        text = parser.text_of(node)
        if isinstance(value, bool):
            return cls(text, "condition", value)
        if isinstance(value, str):
            return cls(text, "text", value)
        if not isinstance(value, int | float):
            name = type(value).__name__
            raise parser.fail(f"constants of type {name} are not part of the rule language", node)
        if not isfinite(value):
            raise parser.fail(f"{value} is not a finite number", node)
        if isinstance(value, int) or value == 0:  # a number too small for a float is 0
            return cls(text, "number", Decimal(value))
        return cls(parser.written(node), "number", Decimal(parser.written(node)))

    @property
    def exact(self) -> bool:
        return True

    def evaluate(self, environment: Environment) -> Any:
        del environment
        return self.value

    def write(self, environment: Environment, *, within: int = 0) -> str:
        del environment, within
        return str(self.value)


@dataclass(frozen=True, eq=False)
class FieldName(Node):
    """The value of a field; a tuple of values for a list."""

    many: bool = False

    @classmethod
    def parse(cls, parser: Parser, node: ast.Name | ast.Attribute) -> FieldName:
        """Checks that the field is known and has one value."""
        found = parser.field(node)
        if found.many:
            name = parser.text_of(node)
            raise parser.fail(f"{name} is a list: use sum({name}), count({name}), min or max", node)
        return found

    @classmethod
    def parse_dotted(cls, parser: Parser, node: ast.Attribute) -> Node:
        """A field of rows, or the currency of a field."""
        of_field = isinstance(node.value, ast.Name | ast.Attribute)
        if node.attr == "currency" and of_field and not parser.knows(node):
            return Currency.parse(parser, node)
        return cls.parse(parser, node)

    @property
    def reads(self) -> frozenset[str]:
        return frozenset({self.text})

    def evaluate(self, environment: Environment) -> Any:
        return environment[self.text]

    def missing(self, environment: Environment) -> Iterator[str]:
        value = environment[self.text]
        if value is None or (isinstance(value, tuple) and not value):
            yield self.text

    def names(self) -> Iterator[str]:
        yield self.text


@dataclass(frozen=True, eq=False)
class Currency(Node):
    """The code of the currency that is printed next to an amount; unknown if there is none."""

    field: FieldName

    @classmethod
    def parse(cls, parser: Parser, node: ast.Attribute) -> Currency:
        """Takes a field of type money."""
        assert isinstance(node.value, ast.Name | ast.Attribute)  # noqa: S101 - by the caller
        found = FieldName.parse(parser, node.value)
        if found.text not in parser.amounts:
            raise parser.fail(f"{found.text} is not of type money and has no currency", node)
        return cls(parser.text_of(node), "text", found)

    @property
    def printed(self) -> frozenset[str]:
        return self.reads

    def evaluate(self, environment: Environment) -> str | None:
        return getattr(self.field.evaluate(environment), "currency", None)
