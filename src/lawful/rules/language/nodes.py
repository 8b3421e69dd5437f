"""The base class of the nodes of an expression's typed tree.

A node is checked when it is parsed, and has two back ends: ``evaluate`` calculates its value in
Python, ``emit`` writes it as instructions of a native program. ``write`` and ``facts`` put it into
words. The nodes themselves are in ``operators`` and ``functions``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from lawful.rules.compiled.program import NeedsPython
from lawful.values import format_value

if TYPE_CHECKING:
    from lawful.rules.compiled.program import Assembler

Kind: TypeAlias = Literal["number", "date", "text", "condition"]
"""Kinds of values, which decide the operators: arithmetic, order in time, equality, logic."""

Environment: TypeAlias = Mapping[str, Any]
"""Values by field name: ``None`` if missing, a tuple for a list. The key ``COUNT`` + name has the
number of spans of the field, ``PLACE`` + name its place, if a rule asks for it, and ``ROWS`` + kind
the values of each row of that kind."""

COUNT, PLACE, ROWS = "#", "^", "@"


@dataclass(frozen=True, eq=False)
class Node(ABC):
    """A checked part of an expression: the text it came from and the kind of its value."""

    text: str
    kind: Kind
    strict: ClassVar[bool] = False
    """Whether it is unknown if a part of it is, whatever the other parts are."""

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The nodes that this one is calculated from: those that it has."""
        parts = [getattr(self, each.name) for each in fields(self)]
        lists = (part if isinstance(part, tuple) else (part,) for part in parts)
        return tuple(node for nodes in lists for node in nodes if isinstance(node, Node))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The fields that it mentions."""
        return frozenset().union(*(child.reads for child in self.children))

    @cached_property
    def counts(self) -> bool:
        """Whether it depends on a field's spans, their number or place, and not only its value."""
        return any(child.counts for child in self.children)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The fields whose spans it depends on, and not only their values."""
        among = frozenset[str]().union(*(child.counted for child in self.children))
        return among or (self.reads if self.counts else among)

    @cached_property
    def printed(self) -> frozenset[str]:
        """The fields of which it sees how the value is printed."""
        return frozenset().union(*(child.printed for child in self.children))

    @cached_property
    def placed(self) -> frozenset[str]:
        """The fields whose places it depends on."""
        return frozenset().union(*(child.placed for child in self.children))

    @property
    def exact(self) -> bool:
        """Whether it needs no tolerance: its value is a count, a number of days, or a constant."""
        return False

    @abstractmethod
    def evaluate(self, environment: Environment) -> Any:
        """Its value; ``None`` if it is unknown because a value is missing."""

    def emit(self, program: Assembler) -> int:
        """Adds instructions that leave its value on the stack; returns the value's decimals.

        Called only for nodes of several fields, lists, or counts: others are constants or lookups.
        Raises ``NeedsPython`` if the node cannot be compiled.
        """
        raise NeedsPython(f"{self.text}: not arithmetic, comparison or logic")

    def check_tabulates(self) -> None:
        """Raises ``NeedsPython`` for quotients that may have more decimals than a table holds."""
        for child in self.children:
            child.check_tabulates()

    def write(self, environment: Environment, *, within: int = 0) -> str:
        """Its value in words, in parentheses if an operator of precedence ``within`` needs them."""
        text = plain(self.evaluate(environment))
        return f"({text})" if text.startswith("-") and within else text

    def facts(self, environment: Environment) -> Iterator[str]:
        """The facts that make a condition true, in words."""
        names = dict.fromkeys(self.names())
        yield ", ".join(f"{name} is {plain(environment[name])}" for name in names) or self.text

    def names(self) -> Iterator[str]:
        """The fields that it mentions, in the order of the text."""
        for child in self.children:
            yield from child.names()

    @cached_property
    def needs(self) -> tuple[Node, ...]:
        """The parts of which none may be unknown, as deep as nodes are strict."""
        return tuple(n for c in self.children for n in c.needs) if self.strict else (self,)

    def missing(self, environment: Environment) -> Iterator[str]:
        """The fields whose missing values make it unknown; none if it is known."""
        if self.strict or self.evaluate(environment) is None:
            for part in self.needs if self.strict else self.children:
                yield from part.missing(environment)

    def objections(self, environment: Environment) -> Iterator[str]:
        """Why a condition is false, in words: the values that it depends on."""
        said = []
        for name in dict.fromkeys(self.names()):
            value = environment[name]
            there = value is None and environment.get(COUNT + name)
            said.append(f"{name} is {'unreadable' if there else plain(value) or 'missing'}")
        if said:
            yield ", ".join(said)


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
