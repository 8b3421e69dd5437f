"""Rules that are legal and probably not meant: a percentage that is taken for a fraction."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal

from lawful.rules.judging.rows import PREVIOUS
from lawful.rules.language.comparisons import Comparison, Membership
from lawful.rules.language.nodes import Node
from lawful.rules.language.operands import Constant, FieldName
from lawful.rules.language.operators import Arithmetic


def doubts_about(condition: Node, percents: Collection[str]) -> Iterator[str]:
    """What is probably not meant by a condition; ``percents`` are the fields of this type."""
    for node in _comparisons(condition):
        yield from _fraction(node, percents)
        yield from _factor(node, percents)


def _comparisons(node: Node) -> Iterator[Comparison]:
    if isinstance(node, Comparison):
        yield node
    parts = node.equals if isinstance(node, Membership) else node.children
    for part in parts:
        yield from _comparisons(part)


def _fraction(node: Comparison, percents: Collection[str]) -> Iterator[str]:
    """The doubt about a percentage that is compared with a number between 0 and 1."""
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if not _is_percent(side, percents) or not isinstance(other, Constant):
            continue
        value = other.value
        if not isinstance(value, Decimal):
            continue
        if 0 < value < 1:
            percent = f"{100 * value:f}".rstrip("0").rstrip(".")
            yield (
                f"{side.text} is a percent: {percent} % is {percent} and not {other.text}; write "
                f"{percent}, unless {other.text} % is meant"
            )


def _factor(node: Comparison, percents: Collection[str]) -> Iterator[str]:
    """The doubt about a percentage that an amount is multiplied by, where nothing is of a 100."""
    parts = [*_parts(node)]
    if any(isinstance(part, Constant) and part.text in ("100", "0.01") for part in parts):
        return
    for part in parts:
        if isinstance(part, Arithmetic) and part.sign == "*":
            for side in (part.left, part.right):
                if _is_percent(side, percents):
                    yield (
                        f"{side.text} is a percent: 19 % is 19 and not 0.19; write "
                        f"{part.text} / 100"
                    )


def _parts(node: Node) -> Iterator[Node]:
    yield node
    for part in node.children:
        yield from _parts(part)


def _is_percent(node: Node, percents: Collection[str]) -> bool:
    return isinstance(node, FieldName) and node.text.removeprefix(f"{PREVIOUS}.") in percents
