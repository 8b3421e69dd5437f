"""The text of rule files as plain values: YAML, TOML or JSON, with the places of all entries."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from lawful.base.errors import RulesError, shown

Where: TypeAlias = tuple[str | int, ...]


class Place(NamedTuple):
    """Where an entry begins in a file: its line, and the column of a text that is on one line."""

    line: int
    column: int | None = None


Lines: TypeAlias = Mapping[Where, Place]

MAX_NODES = 20_000
COMMAS = "inside {…} a comma ends a value: quote the expression, or write 0.01 for 0,01"

_TOO_MANY = f"more than {MAX_NODES:,} entries"


def said_place(message: str) -> tuple[int | None, int | None]:
    """The line and the column that a parser's message names."""
    line, column = (re.search(rf"\b{what} (\d+)", message) for what in ("line", "column"))
    return line and int(line[1]), column and int(column[1])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise RulesError(f"{shown(key)} is defined twice")
        found[key] = value
    return found


def read_yaml(text: str) -> tuple[Any, Lines]:
    """YAML as plain values, and the line of each; a key that is defined twice is an error.

    Plain words have the meaning of YAML 1.2's core schema: of ``no``, ``on``, ``12:30`` and
    ``2024-12-31``, all are texts.
    """
    import yaml

    lines: dict[Where, Place] = {}

    class Loader(yaml.SafeLoader):
        nodes = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            self.nodes += 1
            if self.nodes > 2 * MAX_NODES:  # keys and values
                raise RulesError(_TOO_MANY)
            return super().compose_node(parent, index)

    Loader.yaml_implicit_resolvers = {}
    for tag, (pattern, first, _) in _SCALARS.items():
        Loader.add_implicit_resolver(f"{_CORE}{tag}", pattern, first)

    def build(node: yaml.Node, where: Where) -> Any:
        lines[where] = _place(node)
        if len(lines) > MAX_NODES:  # nested aliases grow exponentially
            raise RulesError(_TOO_MANY)
        if isinstance(node, yaml.SequenceNode):
            return [build(child, (*where, i)) for i, child in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            return _scalar(node)
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = _scalar(key_node)
            if not isinstance(key, str):
                hint = f"; {COMMAS}" if node.flow_style and value_node.value == "" else ""
                raise RulesError(f"line {line}: {key_node.value} is no name{hint}")
            if key in result:
                raise RulesError(f"line {line}: {shown(key)} is defined twice")
            result[key] = build(value_node, (*where, key))
            value = lines[(*where, key)]
            lines[(*where, key)] = Place(line, value.column if value.line == line else None)
        return result

    try:
        node = Loader(text).get_single_node()
        return (None if node is None else build(node, ())), lines
    except yaml.MarkedYAMLError as error:
        mark, opened = error.problem_mark, error.context_mark
        problem = error.problem or ""
        if mark and opened and opened.line < mark.line and problem.startswith("expected ',' or"):
            bracket = problem.removeprefix("expected ',' or ")[:3]
            raise RulesError(
                f"line {opened.line + 1}, column {opened.column + 1}: this bracket is open until "
                f"line {mark.line + 1}, which goes on without {bracket}: {problem}"
            ) from None
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        hint = f"; {COMMAS}" if "expected ',' or '}'" in problem else ""
        raise RulesError(f"{where}{problem}{hint}") from None
    except yaml.YAMLError as error:
        raise RulesError(str(error).splitlines()[0]) from None


def _place(node: Any) -> Place:
    """Where a node of YAML begins, without its quotation mark."""
    start, end = node.start_mark, node.end_mark
    is_text = isinstance(node.value, str) and node.style in (None, "'", '"')
    column = start.column + 1 + bool(node.style) if is_text and start.line == end.line else None
    return Place(start.line + 1, column)


_CORE = "tag:yaml.org,2002:"
_SCALARS: Mapping[str, tuple[re.Pattern[str], list[str] | None, Callable[[str], Any]]] = {
    "null": (re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""], lambda text: None),
    "bool": (
        re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
        list("tTfF"),
        lambda text: text.lower() == "true",
    ),
    "int": (
        re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"),
        list("-+0123456789"),
        lambda text: int(text, 0) if text[:2] in ("0o", "0x") else int(text),
    ),
    "float": (
        re.compile(
            r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
        ),
        list("-+.0123456789"),
        lambda text: float(re.sub(r"\.(?=[iInN])", "", text)),
    ),
    "str": (re.compile(r"(?!)"), None, str),
}
"""The scalars of YAML 1.2's core schema: their form, their first characters and their values."""


def _scalar(node: Any) -> Any:
    """The value of a YAML node that is neither a list nor a mapping."""
    line = node.start_mark.line + 1
    pattern, _, value_of = _SCALARS.get(node.tag.removeprefix(_CORE), (None, None, str))
    if pattern is None or not isinstance(node.value, str):
        raise RulesError(f"line {line}: {node.tag} is not part of rule files")
    if value_of is not str and not pattern.match(node.value):
        raise RulesError(f"line {line}: {node.value!r} is no {node.tag.removeprefix(_CORE)}")
    try:
        return value_of(node.value)
    except ValueError as error:  # an integer of thousands of digits
        raise RulesError(f"line {line}: {error}") from None


Reader: TypeAlias = Callable[[str], tuple[Any, Lines]]
READERS: Mapping[str, Reader] = {
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".toml": lambda text: (tomllib.loads(text), {}),
    ".json": lambda text: (json.loads(text, object_pairs_hook=_unique), {}),
}
"""By ending, what reads the text of a file; raises a ``ValueError`` for one that it cannot."""
