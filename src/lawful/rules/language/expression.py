"""Expressions: the rule language, a small part of Python's, parsed once into a typed tree.

    total == subtotal + tax + service
    abs(tax - 0.1 * subtotal) <= 1
    not present(due) or due >= date

Python never executes the user's text: its syntax tree is walked once, every part that
``operators`` and ``functions`` do not list is refused with its column, and the rest becomes a tree
of nodes. There are no attributes except ``currency``, no subscripts, lambdas, comprehensions,
f-strings or keywords, and no names except fields and functions.

Kinds are checked when a rule is parsed: numbers (exact decimals), dates, texts, conditions, and
lists of values for fields with ``many``. An expression that needs a missing value is unknown
(``None``), and ``and``, ``or``, ``not`` follow Kleene's logic: ``present(x) and x > 3`` is false if
``x`` is missing, ``x > 3`` alone is unknown.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from io import StringIO

from lawful.base.errors import RulesError, did_you_mean, shown
from lawful.rules.language.arithmetic import EXACT
from lawful.rules.language.functions import FUNCTIONS
from lawful.rules.language.hints import hint_for, logic_hint
from lawful.rules.language.nodes import Environment, Kind, Node, described
from lawful.rules.language.operands import FieldName
from lawful.rules.language.operators import SYNTAX

MAX_CHARACTERS = 2_000
MAX_NODES = 500
DEEPEST = 40


_WHERE = re.compile(r"""('[^']*'|"[^"]*")|\bwhere\b""")


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition over fields: its source, and the checked tree."""

    source: str
    root: Node

    @property
    def reads(self) -> frozenset[str]:
        """The fields that it mentions."""
        return self.root.reads

    def evaluate(self, environment: Environment) -> bool | None:
        """Whether it holds; ``None`` if that depends on a missing value."""
        with localcontext(EXACT):
            result: bool | None = self.root.evaluate(environment)
        return result

    def missing(self, environment: Environment) -> frozenset[str]:
        """The fields whose missing values are why that is unknown."""
        with localcontext(EXACT):
            return frozenset(self.root.missing(environment))


def parse(
    source: str,
    fields: Mapping[str, tuple[Kind, bool]],
    tolerance: Decimal,
    dotted: Mapping[str, str] | None = None,
    amounts: Collection[str] = (),
) -> Expression:
    """The expression in ``source``, over ``fields`` given as name -> (kind, is a list).

    ``dotted`` has other names of fields, such as ``line.amount``. Fields in ``amounts`` may have a
    currency. Numbers that differ by at most ``tolerance`` are equal. Raises ``RulesError`` with the
    column of anything that is not part of the language.
    """
    if not isinstance(source, str) or not source.strip():
        raise RulesError(
            f"the expression is {shown(source)}, expected a condition such as 'a == b + c'"
        )
    if len(source) > MAX_CHARACTERS:
        raise RulesError(
            f"the expression has {len(source):,} characters, expected at most {MAX_CHARACTERS:,}"
        )
    text = " ".join(source.split())
    python = _as_python(text)
    tree = _syntax_tree(python, text)
    _check_size(tree, text)
    root = Parser(text, python, fields, tolerance, dotted or {}, amounts).node(tree)
    if root.kind != "condition":
        raise RulesError(f"{text!r} is a {root.kind}, expected a condition such as a comparison")
    return Expression(text, root)


def _as_python(text: str) -> str:
    """An expression in Python's syntax.

    Quoted texts are raw: users write regular expressions or plain words in them. "sum(x where y)"
    becomes a call with two arguments, and columns stay as they are.
    """
    return _WHERE.sub(lambda found: found.group(1) or ",    ", text).replace("\\", "\\\\")


def _syntax_tree(python: str, text: str) -> ast.expr:
    """Python's syntax tree of an expression; ``text`` is how the user wrote it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own, about "1if x" and the like
            tree = ast.parse(python, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        hint = hint_for(text)
        column = hint.column or getattr(error, "offset", None) or 1
        reason = getattr(error, "msg", None) or "cannot be parsed"
        raise RulesError(f"{reason} in {text!r} (column {column}){hint}") from None
    if any(token.type == tokenize.COMMENT for token in _tokens(python)):
        raise RulesError(f"comments are not part of the rule language: {text!r}")
    return tree


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of an expression that ``ast`` has accepted."""
    return tokenize.generate_tokens(StringIO(text).readline)


def _check_size(tree: ast.expr, text: str) -> None:
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(DEEPEST):
        count += len(level)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            break
    if level or count > MAX_NODES:
        raise RulesError(
            f"the expression has more than {DEEPEST} levels or {MAX_NODES} parts: {text[:60]!r}…"
        )


class Parser:
    """Turns Python's syntax tree into nodes; operators and functions parse their parts with it."""

    def __init__(
        self,
        text: str,
        python: str,
        fields: Mapping[str, tuple[Kind, bool]],
        tolerance: Decimal,
        dotted: Mapping[str, str],
        amounts: Collection[str],
    ) -> None:
        self.text = text
        self._python = python
        self.fields = fields
        self.tolerance = tolerance
        self.dotted = dotted
        self.amounts = amounts

    def node(self, part: ast.expr) -> Node:
        """The checked node of a part."""
        if isinstance(part, ast.Call):
            return self._call(part)
        parse_part = SYNTAX.get(type(part))
        if parse_part is None:
            raise self.unknown(part, part)
        return parse_part(self, part)

    def number(self, part: ast.expr, where: str) -> Node:
        """A part that must be a number."""
        node = self.node(part)
        if node.kind != "number":
            raise self.fail(f"{where} needs a number, found a {described(node)}", part)
        return node

    def condition(self, part: ast.expr, where: str) -> Node:
        """A part that must be a condition."""
        node = self.node(part)
        if node.kind != "condition":
            raise self.fail(f"{where} needs a condition, found a {described(node)}", part)
        return node

    def field(self, part: ast.Name | ast.Attribute) -> FieldName:
        """A field, which may be a list."""
        name = self.text_of(part)
        name = self.dotted.get(name, name)
        if name not in self.fields:
            if isinstance(part, ast.Attribute) and not isinstance(part.value, ast.Name):
                raise self.unknown(part, part)
            unknown = self.fail(f"unknown field {name!r}", part)
            hint = logic_hint(name) or did_you_mean(name, [*self.fields, *self.dotted, *FUNCTIONS])
            last = name.rpartition(".")[2]
            if last != name and last in self.fields:
                hint = f"did you mean {last!r}? "
            raise RulesError(f"{unknown}; {hint}fields: {', '.join(sorted(self.fields))}")
        return FieldName(name, *self.fields[name])

    def knows(self, part: ast.Attribute) -> bool:
        """Whether a dotted name is that of a field."""
        name = self.text_of(part)
        return name in self.dotted or name in self.fields

    def within_rows(self, name: str) -> Parser:
        """A parser for conditions on the rows of a field, whose fields have one value there."""
        kind = next((k for k, fields in self.kinds.items() if name in fields), None)
        own = {field: (self.fields[field][0], False) for field in self.kinds.get(kind or "", ())}
        fields = {**self.fields, **own}
        return Parser(self.text, self._python, fields, self.tolerance, self.dotted, self.amounts)

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The fields of each kind of rows."""
        found: dict[str, list[str]] = {}
        for dotted, name in self.dotted.items():
            found.setdefault(dotted.partition(".")[0], []).append(name)
        return found

    def text_of(self, part: ast.AST) -> str:
        """A part as the user would write it."""
        return ast.unparse(part).replace("\\\\", "\\")

    def written(self, number: ast.Constant) -> str:
        """A number as the user wrote it; Python keeps the digits of the nearest float only."""
        return ast.get_source_segment(self._python, number) or repr(number.value)

    def fail(self, message: str, part: ast.AST) -> RulesError:
        """An error about a part, with its column."""
        column = getattr(part, "col_offset", 0) + 1
        return RulesError(f"{message} in {self.text!r} (column {column})")

    def unknown(self, what: ast.AST, part: ast.AST) -> RulesError:
        """An error about syntax that the language does not have."""
        name = _SIGNS.get(type(what), type(what).__name__)
        is_hinted = isinstance(what, ast.Tuple | ast.Mod | ast.BitAnd | ast.BitOr)
        hint = hint_for(self.text) if is_hinted else ""
        return RulesError(f"{self.fail(f'{name!r} is not part of the rule language', part)}{hint}")

    def _call(self, part: ast.Call) -> Node:
        if not isinstance(part.func, ast.Name):
            raise self.fail("only named functions can be called", part)
        name = part.func.id
        parse_call = FUNCTIONS.get(name)
        if parse_call is None:
            unknown = self.fail(f"unknown function {name!r}", part)
            hint = logic_hint(name) or did_you_mean(name, [*FUNCTIONS])
            raise RulesError(f"{unknown}; {hint}functions: {', '.join(sorted(FUNCTIONS))}")
        if part.keywords or any(isinstance(argument, ast.Starred) for argument in part.args):
            instead = hint_for(self.text) if part.keywords else ""
            raise RulesError(f"{self.fail(f'{name} takes plain arguments only', part)}{instead}")
        return parse_call(self, part)


_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Mod: "%",
    ast.Pow: "**",
    ast.FloorDiv: "//",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Attribute: ".",
    ast.Subscript: "[ ]",
    ast.Tuple: ",",
}
