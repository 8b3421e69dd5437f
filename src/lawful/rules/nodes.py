"""The typed tree of an expression: what every node can do.

A node is checked when it is parsed, and has two back ends: ``evaluate`` calculates its value in
Python, ``emit`` writes it as instructions of a native program. ``write`` and ``facts`` put it into
words. The nodes themselves are in ``operators`` and ``functions``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lawful.rules.program import NeedsPython
from lawful.values import format_value

if TYPE_CHECKING:
    from lawful.rules.program import Assembler

Kind: TypeAlias = Literal["number", "date", "text", "condition"]
"""What can be done with a value: calculate, compare by time, compare for equality, combine."""

Environment: TypeAlias = Mapping[str, Any]
"""By field: its value, ``None`` where it is missing; for a list field, a tuple of values. And by
``COUNT`` + field, how often it occurs."""

COUNT = "#"


@dataclass(frozen=True, eq=False)
class Node(ABC):
    """A checked part of an expression: the text it came from and the kind of its value."""

    text: str
    kind: Kind

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes that this one is calculated from."""
        return ()

    @cached_property
    def reads(self) -> frozenset[str]:
        """The fields it mentions."""
        return frozenset().union(*(child.reads for child in self.children))

    @cached_property
    def counts(self) -> bool:
        """Whether it depends on how often a field occurs, and not only on the field's value."""
        return any(child.counts for child in self.children)

    @property
    def exact(self) -> bool:
        """Whether no tolerance applies: its value is a count, a number of days, or a constant."""
        return False

    @abstractmethod
    def evaluate(self, environment: Environment) -> Any:
        """Its value; ``None`` where a missing value leaves it unknown."""

    def emit(self, program: Assembler) -> int:
        """Adds instructions that leave its value on the stack; returns the decimals it has.

        Called only for a node of several fields, of a list, or of how often a field occurs: all
        else is a constant or a lookup. Raises ``NeedsPython`` where there is no such program.
        """
        raise NeedsPython(f"{self.text}: not arithmetic, comparison or logic")

    def check_tabulates(self) -> None:
        """Raises ``NeedsPython`` for quotients, which mostly have more decimals than fit."""
        for child in self.children:
            child.check_tabulates()

    def write(self, environment: Environment, *, within: int = 0) -> str:
        """Its value in words; in parentheses where it stands in what binds more tightly."""
        text = plain(self.evaluate(environment))
        return f"({text})" if text.startswith("-") and within else text

    def facts(self, environment: Environment) -> Iterator[str]:
        """What makes a condition true, one fact after another."""
        names = dict.fromkeys(self.names())
        yield ", ".join(f"{name} is {plain(environment[name])}" for name in names) or self.text

    def names(self) -> Iterator[str]:
        """The fields it mentions, in reading order."""
        for child in self.children:
            yield from child.names()


def plain(value: Any) -> str:
    """A value as messages show it."""
    if value is None:
        return "missing"
    if isinstance(value, tuple):
        return ", ".join(map(format_value, value))
    return format_value(value)


def described(node: Node) -> str:
    """A node as error messages show it: its kind and its text."""
    return f"{node.kind} ({node.text})"
