"""The language of rules: a small part of Python's expressions, parsed with ``ast`` and checked.

    total == subtotal + tax + service
    abs(tax - 0.1 * subtotal) <= 1
    not present(due) or due >= date

Nothing of the user's text is ever executed by Python: the syntax tree is walked once, every node
that is not listed here is refused with its column, and what remains becomes a tree of our own
closures. There are no attributes, subscripts, lambdas, comprehensions, f-strings or keywords, and
no names but fields and the functions below.

Types are checked when a rule is read: numbers (exact decimals), dates, texts, truth values, and
lists of them for fields with ``many``. A value that is missing makes what needs it unknown
(``None``), and ``and``, ``or``, ``not`` treat unknown as Kleene does: ``present(x) and x > 3`` is
false when ``x`` is missing, ``x > 3`` alone is unknown.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import (
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    localcontext,
)
from difflib import get_close_matches
from fractions import Fraction
from io import StringIO
from typing import Any, TypeAlias

from lawful.errors import RulesError
from lawful.values import read

EXACT = Context(prec=60, traps=[DivisionByZero, Inexact, InvalidOperation, Overflow])
"""Decimals that are never rounded; what does not come out even is calculated in fractions."""

Number: TypeAlias = Decimal | Fraction

MOST_CHARACTERS = 2_000
MOST_NODES = 500
DEEPEST = 40

Environment: TypeAlias = Mapping[str, Any]
"""By field: its value, ``None`` where it is missing; for a list field, a tuple of values. And by
``COUNT`` + field, how often it occurs."""

COUNT = "#"

Evaluate: TypeAlias = Callable[[Environment], Any]


@dataclass(frozen=True, slots=True)
class Node:
    """A checked expression: its type, what it evaluates to, and the text it came from."""

    type: str  # number, date, text, bool; with "s" for a list of them
    evaluate: Evaluate
    text: str
    constant: bool = False
    exact: bool = False  # a count or a number of days: no till rounds those


@dataclass(frozen=True, slots=True)
class Expression:
    """A rule's condition, ready to be evaluated; ``reads`` are the fields it mentions."""

    source: str
    reads: frozenset[str]
    root: Node
    tree: ast.expr
    nodes: Mapping[int, tuple[ast.expr, Node]]  # by ``id`` of every part of the tree that has one

    def evaluate(self, environment: Environment) -> bool | None:
        """Whether it holds; ``None`` when a missing value leaves it open."""
        with localcontext(EXACT):
            result: bool | None = self.root.evaluate(environment)
        return result

    def node(self, part: ast.expr) -> Node | None:
        """A part of the tree, checked; ``None`` for what is none by itself, such as a list."""
        known = self.nodes.get(id(part))
        return None if known is None else known[1]


def parse(source: str, fields: Mapping[str, tuple[str, bool]], tolerance: Decimal) -> Expression:
    """The expression in ``source``, over ``fields`` given as name -> (kind, is a list).

    ``tolerance`` is how far two numbers may lie apart and still be equal. Raises ``RulesError``
    with the column for whatever cannot be understood.
    """
    if not isinstance(source, str) or not source.strip():
        raise RulesError(f"the expression is {source!r}, expected a condition such as 'a == b + c'")
    if len(source) > MOST_CHARACTERS:
        raise RulesError(f"an expression of {len(source)} characters, at most {MOST_CHARACTERS}")
    text = " ".join(source.split())
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        column = getattr(error, "offset", None) or 1
        reason = getattr(error, "msg", None) or "cannot be parsed"
        hint = "; write == to compare" if re.search(r"[^=!<>]=[^=]", text) else ""
        raise RulesError(f"{reason} in {text!r} (column {column}){hint}") from None
    if any(token.type == tokenize.COMMENT for token in _tokens(text)):
        raise RulesError(f"a comment is not part of an expression: {text!r}")
    compiler = Compiler(text, fields, tolerance)
    compiler.check_size(tree)
    root = compiler.compile(tree)
    if root.type != "bool":
        raise RulesError(f"{text!r} is a {root.type}, expected a condition such as a comparison")
    return Expression(text, frozenset(compiler.reads), root, tree, compiler.compiled)


def tree_of(text: str) -> ast.expr:
    """Python's syntax tree of an expression."""
    # Texts are raw: what users write in quotes is a regular expression or plain words.
    return ast.parse(text.replace("\\", "\\\\"), mode="eval").body


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of an expression that ``ast`` has accepted."""
    return tokenize.generate_tokens(StringIO(text).readline)


class Compiler:
    """One walk over the tree: checks and compiles at the same time."""

    def __init__(
        self, text: str, fields: Mapping[str, tuple[str, bool]], tolerance: Decimal
    ) -> None:
        self.text = text
        self.fields = fields
        self.tolerance = tolerance
        self.reads: set[str] = set()
        self.compiled: dict[int, tuple[ast.expr, Node]] = {}

    def fail(self, message: str, node: ast.AST) -> RulesError:
        column = getattr(node, "col_offset", 0) + 1
        return RulesError(f"{message} in {self.text!r} (column {column})")

    def check_size(self, tree: ast.expr) -> None:
        level: list[ast.AST] = [tree]
        count = 0
        for _ in range(DEEPEST):
            count += len(level)
            level = [child for node in level for child in ast.iter_child_nodes(node)]
            if not level:
                break
        if level or count > MOST_NODES:
            raise RulesError(
                f"the expression is too deep or too long (over {DEEPEST} levels or {MOST_NODES} "
                f"parts): {self.text[:60]!r}…"
            )

    def compile(self, node: ast.expr) -> Node:
        """Checks and compiles a part, once: its parents ask for it several times."""
        known = self.compiled.get(id(node))
        if known is None:
            known = self.compiled[id(node)] = node, self._compile(node)
        return known[1]

    def _compile(self, node: ast.expr) -> Node:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.fail(f"{_describe(node)} is not part of the rule language", node)
        type_, evaluate = method(node)
        text = ast.unparse(node).replace("\\\\", "\\")
        return Node(type_, evaluate, text, isinstance(node, ast.Constant), self.is_exact(node))

    def is_exact(self, node: ast.expr) -> bool:
        """Whether its value is whole by nature, so that no tolerance applies to it."""
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            dates = isinstance(node.op, ast.Sub) and all(map(self.is_date, sides))
            return dates or all(map(self.is_exact, sides))
        if isinstance(node, ast.UnaryOp):
            return self.is_exact(node.operand)
        if isinstance(node, ast.IfExp):
            return self.is_exact(node.body) and self.is_exact(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            keeps = node.func.id in ("abs", "min", "max", "round")
            return node.func.id == "count" or (keeps and all(map(self.is_exact, node.args)))
        return isinstance(node, ast.Constant)

    def is_date(self, node: ast.expr) -> bool:
        return self.compile(node).type == "date"

    def number(self, node: ast.expr, where: str) -> Evaluate:
        compiled = self.compile(node)
        if compiled.type != "number":
            raise self.fail(f"{where} needs a number, found a {_kind(compiled)}", node)
        return compiled.evaluate

    # What an expression may be made of, one method a node of Python's grammar.

    def _constant(self, node: ast.Constant) -> tuple[str, Evaluate]:
        value = node.value
        if isinstance(value, bool):
            return "bool", lambda _: value
        if isinstance(value, int | float):
            number = Decimal(repr(value))  # the digits as written, not the nearest binary
            if not number.is_finite():
                raise self.fail(f"{value} is no number to calculate with", node)
            return "number", lambda _: number
        if isinstance(value, str):
            return "text", lambda _: value
        raise self.fail(f"a constant of type {type(value).__name__} is not part of the rules", node)

    def _name(self, node: ast.Name) -> tuple[str, Evaluate]:
        type_, evaluate = self.field(node)
        if type_.endswith("s"):
            raise self.fail(
                f"{node.id} is a list: use sum({node.id}), count({node.id}), min or max", node
            )
        return type_, evaluate

    def field(self, node: ast.Name) -> tuple[str, Evaluate]:
        name = node.id
        if name not in self.fields:
            close = get_close_matches(name, [*self.fields, *FUNCTIONS], 1)
            hint = f"did you mean {close[0]}? " if close else ""
            fields = ", ".join(sorted(self.fields))
            raise RulesError(
                f"{self.fail(f'unknown field {name!r}', node)}; {hint}fields: {fields}"
            )
        self.reads.add(name)
        kind, many = self.fields[name]
        return kind + "s" * many, lambda environment: environment[name]

    def _unaryop(self, node: ast.UnaryOp) -> tuple[str, Evaluate]:
        if isinstance(node.op, ast.Not):
            operand = self.truth(node.operand, "not")
            return "bool", lambda e: None if (value := operand(e)) is None else not value
        operand = self.number(node.operand, "a sign")
        if isinstance(node.op, ast.USub):
            return "number", lambda e: None if (value := operand(e)) is None else _negative(value)
        if isinstance(node.op, ast.UAdd):
            return "number", operand
        raise self.fail("~ is not part of the rule language", node)

    def truth(self, node: ast.expr, where: str) -> Evaluate:
        compiled = self.compile(node)
        if compiled.type != "bool":
            raise self.fail(f"{where} needs a condition, found a {_kind(compiled)}", node)
        return compiled.evaluate

    def _boolop(self, node: ast.BoolOp) -> tuple[str, Evaluate]:
        decisive = isinstance(node.op, ast.Or)
        parts = [self.truth(value, "or" if decisive else "and") for value in node.values]

        def evaluate(environment: Environment) -> bool | None:
            unknown = False
            for part in parts:
                value: bool | None = part(environment)
                if value is decisive:
                    return decisive
                unknown |= value is None
            return None if unknown else not decisive

        return "bool", evaluate

    def _binop(self, node: ast.BinOp) -> tuple[str, Evaluate]:
        left, right = self.compile(node.left), self.compile(node.right)
        sign = OPERATORS.get(type(node.op))
        if sign is None:
            raise self.fail(f"{_describe(node.op)} is not part of the rule language", node)
        result = _ARITHMETIC.get((left.type, sign, right.type))
        if result is None:
            raise self.fail(f"cannot calculate {_kind(left)} {sign} {_kind(right)}", node)
        a, b, operation = left.evaluate, right.evaluate, _OPERATIONS[left.type, sign, right.type]

        def evaluate(environment: Environment) -> Any:
            x, y = a(environment), b(environment)
            if x is None or y is None:
                return None
            try:
                return operation(x, y)
            except (DecimalException, ZeroDivisionError, OverflowError):
                return None  # such as a division by zero: nothing was said about the document

        return result, evaluate

    def _compare(self, node: ast.Compare) -> tuple[str, Evaluate]:
        operands = [node.left, *node.comparators]
        links = [
            self.comparison(left, op, right, node)
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False)
        ]
        if len(links) == 1:
            return "bool", links[0]

        def evaluate(environment: Environment) -> bool | None:
            values = [link(environment) for link in links]
            return False if False in values else None if None in values else True

        return "bool", evaluate

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, node: ast.AST) -> Evaluate:
        if isinstance(op, ast.In | ast.NotIn):
            return self.membership(left, right, negated=isinstance(op, ast.NotIn))
        sign = COMPARISONS.get(type(op))
        if sign is None:
            raise self.fail("'is' is not part of the rule language; write ==", node)
        a, b = self.compile(left), self.compile(right)
        if a.type != b.type:
            hint = "; write date('2024-12-31')" if {a.type, b.type} == {"date", "text"} else ""
            raise self.fail(f"cannot compare {_kind(a)} with {_kind(b)}{hint}", node)
        if a.type in ("text", "bool") and sign not in ("==", "!="):
            raise self.fail(f"cannot compare {_kind(a)} with {sign}; only == and !=", node)
        slack: Any = self.tolerance if a.type == "number" and not (a.exact and b.exact) else None
        compare = _COMPARE[sign]
        x, y = a.evaluate, b.evaluate

        def evaluate(environment: Environment) -> bool | None:
            one, other = x(environment), y(environment)
            return None if one is None or other is None else compare(one, other, slack)

        return evaluate

    def membership(self, left: ast.expr, right: ast.expr, *, negated: bool) -> Evaluate:
        value = self.compile(left)
        if not isinstance(right, ast.Tuple | ast.List | ast.Set) or value.type != "text":
            raise self.fail("'in' needs a text and a list of texts, as in x in ('a', 'b')", right)
        options = {
            item.value
            for item in right.elts
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        }
        if len(options) != len(right.elts):
            raise self.fail("the list after 'in' may hold only texts, each once", right)

        def evaluate(environment: Environment) -> bool | None:
            text = value.evaluate(environment)
            return None if text is None else (text in options) != negated

        return evaluate

    def _ifexp(self, node: ast.IfExp) -> tuple[str, Evaluate]:
        test = self.truth(node.test, "if")
        then, other = self.compile(node.body), self.compile(node.orelse)
        if then.type != other.type:
            raise self.fail(f"one side is a {_kind(then)}, the other a {_kind(other)}", node)

        def evaluate(environment: Environment) -> Any:
            holds = test(environment)
            return None if holds is None else (then if holds else other).evaluate(environment)

        return then.type, evaluate

    def _call(self, node: ast.Call) -> tuple[str, Evaluate]:
        if not isinstance(node.func, ast.Name):
            raise self.fail("only functions by name can be called", node)
        function = FUNCTIONS.get(node.func.id)
        if function is None:
            close = get_close_matches(node.func.id, FUNCTIONS, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            unknown = self.fail(f"unknown function {node.func.id!r}", node)
            raise RulesError(f"{unknown}; {hint}functions: {', '.join(sorted(FUNCTIONS))}")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.fail(f"{node.func.id} takes plain arguments only", node)
        return function(self, node)

    # Functions: each gets the call and returns its type and how to evaluate it.

    def one_field(self, node: ast.Call) -> tuple[str, Evaluate]:
        name = node.func.id  # type: ignore[attr-defined]
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
            raise self.fail(f"{name} takes one field, as in {name}(items)", node)
        return self.field(node.args[0])

    def call_present(self, node: ast.Call) -> tuple[str, Evaluate]:
        count = self.occurrences(node)
        return "bool", lambda e: count(e) > 0

    def call_count(self, node: ast.Call) -> tuple[str, Evaluate]:
        count = self.occurrences(node)
        return "number", lambda e: Decimal(count(e))

    def occurrences(self, node: ast.Call) -> Callable[[Environment], int]:
        """How often a field stands on the page, readable or not; a default does not count."""
        self.one_field(node)
        key = COUNT + node.args[0].id  # type: ignore[attr-defined]
        return lambda environment: environment[key]

    def call_sum(self, node: ast.Call) -> tuple[str, Evaluate]:
        type_, evaluate = self.one_field(node)
        if type_ != "numbers":
            raise self.fail(f"sum needs a list of numbers, found a {type_}", node)
        return "number", lambda e: _sum(values) if (values := evaluate(e)) else None

    def call_extreme(self, node: ast.Call) -> tuple[str, Evaluate]:
        name = node.func.id  # type: ignore[attr-defined]
        pick: Callable[[Any], Any] = min if name == "min" else max
        if len(node.args) == 1:
            type_, evaluate = self.one_field(node)
            if type_ not in ("numbers", "dates"):
                raise self.fail(f"{name} needs a list of numbers or dates, found a {type_}", node)
            return type_[:-1], lambda e: pick(values) if (values := evaluate(e)) else None
        if not node.args:
            raise self.fail(f"{name} needs at least one argument", node)
        compiled = [self.compile(argument) for argument in node.args]
        if len({part.type for part in compiled}) > 1 or compiled[0].type not in ("number", "date"):
            raise self.fail(f"{name} needs numbers or dates, all of one kind", node)

        def evaluate_all(environment: Environment) -> Any:
            values = [part.evaluate(environment) for part in compiled]
            return None if None in values else pick(values)

        return compiled[0].type, evaluate_all

    def call_abs(self, node: ast.Call) -> tuple[str, Evaluate]:
        if len(node.args) != 1:
            raise self.fail("abs takes one number", node)
        operand = self.number(node.args[0], "abs")
        return "number", lambda e: None if (value := operand(e)) is None else _absolute(value)

    def call_round(self, node: ast.Call) -> tuple[str, Evaluate]:
        places = node.args[1] if len(node.args) == 2 else ast.Constant(0)
        if len(node.args) not in (1, 2) or not isinstance(places, ast.Constant):
            raise self.fail("round takes a number and, if wanted, how many decimals", node)
        if not isinstance(places.value, int) or not 0 <= places.value <= 12:
            raise self.fail("round takes 0 to 12 decimals", node)
        operand = self.number(node.args[0], "round")
        decimals = places.value
        return (
            "number",
            lambda e: None if (value := operand(e)) is None else _rounded(value, decimals),
        )

    def call_matches(self, node: ast.Call) -> tuple[str, Evaluate]:
        if len(node.args) != 2 or not isinstance(node.args[1], ast.Constant):
            raise self.fail("matches takes a text and a regular expression in quotes", node)
        value, pattern = self.compile(node.args[0]), node.args[1].value
        if value.type != "text" or not isinstance(pattern, str):
            raise self.fail("matches takes a text and a regular expression in quotes", node)
        try:
            search = re.compile(pattern).search
        except (re.error, RecursionError, OverflowError) as error:
            raise self.fail(f"bad regular expression {pattern!r}: {error}", node) from None

        def evaluate(environment: Environment) -> bool | None:
            text = value.evaluate(environment)
            return None if text is None else search(str(text)) is not None

        return "bool", evaluate

    def call_date(self, node: ast.Call) -> tuple[str, Evaluate]:
        text = node.args[0] if len(node.args) == 1 else None
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            raise self.fail("date takes a day in quotes, as in date('2024-12-31')", node)
        readings = read(text.value, "date")
        if len(readings) != 1:
            raise self.fail(f"{text.value!r} is not one day; write it as '2024-12-31'", node)
        return "date", lambda _: readings[0]

    def call_iban(self, node: ast.Call) -> tuple[str, Evaluate]:
        value = self.compile(node.args[0]) if len(node.args) == 1 else None
        if value is None or value.type != "text":
            raise self.fail("iban takes one text", node)

        def evaluate(environment: Environment) -> bool | None:
            text = value.evaluate(environment)
            return None if text is None else is_iban(str(text))

        return "bool", evaluate


FUNCTIONS: Mapping[str, Callable[[Compiler, ast.Call], tuple[str, Evaluate]]] = {
    "abs": Compiler.call_abs,
    "count": Compiler.call_count,
    "date": Compiler.call_date,
    "iban": Compiler.call_iban,
    "matches": Compiler.call_matches,
    "max": Compiler.call_extreme,
    "min": Compiler.call_extreme,
    "present": Compiler.call_present,
    "round": Compiler.call_round,
    "sum": Compiler.call_sum,
}


def is_iban(text: str) -> bool:
    """Whether the text has the form and the check digits of an IBAN (ISO 13616)."""
    compact = re.sub(r"\s", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", compact):
        return False
    digits = "".join(str(int(c, 36)) for c in compact[4:] + compact[:4])
    return int(digits) % 97 == 1


OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: Mapping[tuple[str, str, str], str] = {
    ("number", "+", "number"): "number",
    ("number", "-", "number"): "number",
    ("number", "*", "number"): "number",
    ("number", "/", "number"): "number",
    ("date", "-", "date"): "number",  # in days
    ("date", "+", "number"): "date",
    ("date", "-", "number"): "date",
}


def _shift(day: date, days: Number) -> date:
    return day + timedelta(days=int(days))


def _exactly(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operation in decimals, or in fractions where decimals would have to be rounded."""

    def calculate(a: Number, b: Number) -> Number:
        try:
            result: Number = operation(a, b)
        except (Inexact, TypeError):  # decimals and fractions do not mix by themselves
            result = operation(Fraction(a), Fraction(b))
        return result

    return calculate


_difference = _exactly(lambda a, b: a - b)

_OPERATIONS: Mapping[tuple[str, str, str], Callable[[Any, Any], Any]] = {
    ("number", "+", "number"): _exactly(lambda a, b: a + b),
    ("number", "-", "number"): _difference,
    ("number", "*", "number"): _exactly(lambda a, b: a * b),
    ("number", "/", "number"): _exactly(lambda a, b: a / b),
    ("date", "-", "date"): lambda a, b: Decimal((a - b).days),
    ("date", "+", "number"): _shift,
    ("date", "-", "number"): lambda a, b: _shift(a, -b),
}

# With a tolerance, equal means close, and the other comparisons follow from that.
_COMPARE: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "==": lambda a, b, slack: a == b if slack is None else _absolute(_difference(a, b)) <= slack,
    "!=": lambda a, b, slack: a != b if slack is None else not _COMPARE["=="](a, b, slack),
    "<": lambda a, b, slack: a < b if slack is None else _difference(b, a) > slack,
    "<=": lambda a, b, slack: a <= b if slack is None else _difference(a, b) <= slack,
    ">": lambda a, b, slack: a > b if slack is None else _difference(a, b) > slack,
    ">=": lambda a, b, slack: a >= b if slack is None else _difference(b, a) <= slack,
}


# Python's own minus, abs and sum round to the context's digits; these do not.


def _negative(value: Number) -> Number:
    return value.copy_negate() if isinstance(value, Decimal) else -value


def _absolute(value: Number) -> Number:
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def _sum(values: tuple[Decimal, ...]) -> Number:
    try:
        return sum(values, Decimal())
    except Inexact:
        return sum(map(Fraction, values), Fraction())


def _rounded(value: Number, decimals: int) -> Decimal:
    """To so many decimals: half a cent goes up, as on a bill, and not to the even one."""
    unit = Fraction(1, 10**decimals)
    whole = (abs(Fraction(value)) / unit + Fraction(1, 2)).__floor__()
    return Decimal(f"{'-' if value < 0 else ''}{whole}E-{decimals}")


def _kind(node: Node) -> str:
    kind = {"bool": "condition", "numbers": "list of numbers"}.get(node.type, node.type)
    return f"{kind} ({node.text})"


_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Mod: "%",
    ast.Pow: "**",
    ast.FloorDiv: "//",
    ast.MatMult: "@",
    ast.Attribute: ".",
    ast.Subscript: "[ ]",
    ast.Tuple: ",",
}


def _describe(node: ast.AST) -> str:
    return repr(_SIGNS.get(type(node), type(node).__name__))
