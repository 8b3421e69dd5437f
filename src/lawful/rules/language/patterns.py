"""Regular expressions of rules: Python's language, and a time limit for the matches of a document.

Python's ``re`` cannot be interrupted, and ``(a|aa)+$`` takes it years on sixty letters. So Python's
parser reads a pattern, which is then written for the engine of ``regex``, which has a timeout. The
two disagree on letters, blanks, word boundaries and the case of i, so these are spelt out. What
``regex`` has in addition, such as ``{e<=1}``, means what it means to Python.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from re import _compiler, _parser  # type: ignore[attr-defined]
from time import thread_time
from typing import Any, ParamSpec, TypeVar

from lawful.base.cache import Cache
from lawful.base.errors import RuleFailure, RulesError, shown

P = ParamSpec("P")
R = TypeVar("R")

MAX_CHARACTERS = 10_000
"""Length of the longest pattern."""

DEEPEST = 50
"""Levels of nested groups and repeats of a pattern."""

MAX_PARTS = 100_000
"""Parts of a pattern with its repeats written out: ``a{1000}`` has 1,000, as compiled."""

SECONDS = 1.0
"""Time limit of one match, and of all slow matches of one document together."""

QUICK = 100e-6
"""Seconds of processor time up to which a match is not slow: it does not count."""

_BRIEF = 0.005
"""Seconds for which a match may keep other threads from running; then it starts again beside them.

Letting them run at every match would make a document with many matches wait for them as often."""

_TOO_DEEP = f"nested more than {DEEPEST} levels deep"

_WORD = r"\p{L}\p{nt=Decimal}\p{nt=Digit}\p{nt=Numeric}_"
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_WORD": _WORD,
    "CATEGORY_SPACE": r"\p{bc=WS}\p{bc=B}\p{bc=S}\p{Zs}",
}
_ASCII_CATEGORIES = {
    "CATEGORY_DIGIT": "0-9",
    "CATEGORY_WORD": "a-zA-Z0-9_",
    "CATEGORY_SPACE": r"\ \t\n\r\f\v",
}
_SOMETHING = r"(?!\A\Z)" if sys.version_info < (3, 14) else ""  # where \B began to match nothing
_REPEATS = {"MAX_REPEAT": "", "MIN_REPEAT": "?", "POSSESSIVE_REPEAT": "+"}
_ALL_I = "iIİı"  # one letter to re.IGNORECASE


class _Allowance:
    """The time that the slow matches of a document have left."""

    def __init__(self) -> None:
        self.left = SECONDS

    def spend(self, seconds: float) -> None:
        if seconds > QUICK:
            self.left -= seconds


_allowance: ContextVar[_Allowance | None] = ContextVar("_allowance", default=None)


def one_document(function: Callable[P, R]) -> Callable[P, R]:
    """All slow matches in a call have ``SECONDS`` together, as they are about one document."""

    @wraps(function)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        if _allowance.get() is not None:
            return function(*args, **kwargs)
        token = _allowance.set(_Allowance())
        try:
            return function(*args, **kwargs)
        finally:
            _allowance.reset(token)

    return within


class Pattern:
    """A regular expression; a match that takes more than ``SECONDS`` is a ``RuleFailure``.

    Inside of ``one_document``, all slow matches together must not take more.
    """

    def __init__(self, source: str) -> None:
        import regex

        self.source = source
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of sets that Python may have some day
            parsed = _parser.parse(source)
            _compiler.compile(parsed)  # refuses what the parser alone does not; keeps nothing
        written = _written(parsed, parsed.state.flags)
        if (size := _size(parsed)) > MAX_PARTS:
            raise ValueError(f"its repeats have {size:,} parts, expected at most {MAX_PARTS:,}")
        self._compiled = regex.compile(written, cache_pattern=False)
        regex.purge()  # it notes every source, however it is called, and forgets none by itself

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        return sys.getsizeof(self._compiled) + sys.getsizeof(self._compiled.pattern)

    def matches(self, text: str) -> bool:
        """Whether it matches the whole text."""
        return self._run(self._compiled.fullmatch, text)

    def occurs_in(self, text: str) -> bool:
        """Whether it matches a part of the text."""
        return self._run(self._compiled.search, text)

    def _run(self, match: Any, text: str) -> bool:
        allowance = _allowance.get() or _Allowance()
        before = allowance.left
        if before <= 0:
            raise self._failure(_in_total(), text)
        began = thread_time()
        try:
            return _found(match, text, before)
        except TimeoutError:
            allowance.left = 0.0
            alone = before == SECONDS
            raise self._failure(
                f"more than {SECONDS:g} s" if alone else _in_total(), text
            ) from None
        except MemoryError:
            raise self._failure("too much memory", text) from None
        finally:
            allowance.spend(thread_time() - began)

    def _failure(self, reason: str, text: str) -> RuleFailure:
        return RuleFailure(f"pattern {shown(self.source)} takes {reason} on {shown(text)}")


def _found(match: Any, text: str, seconds: float) -> bool:
    """Whether it matches; raises a ``TimeoutError`` after so many seconds."""
    try:
        return match(text, timeout=min(_BRIEF, seconds), concurrent=False) is not None
    except TimeoutError:
        return match(text, timeout=seconds, concurrent=True) is not None


def _in_total() -> str:
    return f"more than {SECONDS:g} s, together with slow matches before,"


MAX_BYTES = 2**25
"""Bytes of compiled patterns that are kept: one that is needed again is compiled once."""

_PATTERNS: Cache[str, Pattern] = Cache(MAX_BYTES)


def compiled(source: str) -> Pattern:
    """The pattern; raises ``RulesError`` with the reason if it cannot be compiled."""
    found = _PATTERNS.get(source)
    if found is None:
        found = _compile(source)
        _PATTERNS.keep(source, found, found.size)
    return found


def _compile(source: str) -> Pattern:
    if len(source) > MAX_CHARACTERS:
        raise RulesError(
            f"a pattern has {len(source):,} characters, expected at most {MAX_CHARACTERS:,}"
        )
    try:
        return Pattern(source)
    except RecursionError:
        reason = _TOO_DEEP
    except (re.error, OverflowError, ValueError) as error:
        reason = str(error)
    raise RulesError(f"bad pattern {shown(source)}: {reason}")


def check_pattern(value: Any, where: str) -> None:
    """The value is a regular expression, or not given."""
    if value is None:
        return
    if not isinstance(value, str):
        raise RulesError(f"{where} is {shown(value)}, expected a text")
    try:
        compiled(value)
    except RulesError as error:
        raise RulesError(f"{where}: {error}") from None


def _written(parts: Any, flags: int, level: int = 0) -> str:
    """Parsed parts in the syntax of ``regex``."""
    if level > DEEPEST:
        raise ValueError(_TOO_DEEP)
    return "".join(_part(str(operation), value, flags, level + 1) for operation, value in parts)


def _size(parts: Any) -> int:
    """The number of parts, each as often as it must be repeated."""
    return sum(
        1 + (max(1, value[0]) if str(operation) in _REPEATS else 1) * sum(map(_size, _inner(value)))
        for operation, value in parts
    )


def _inner(value: Any) -> Iterator[Any]:
    """The patterns inside a part."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _inner(each)


def _part(operation: str, value: Any, flags: int, level: int) -> str:  # noqa: PLR0911 - a case each
    match operation, value:
        case "LITERAL" | "NOT_LITERAL", _:
            return _set([("LITERAL", value)], flags, negated=operation == "NOT_LITERAL")
        case "IN", _:
            negated = str(value[0][0]) == "NEGATE"
            return _set(value[negated:], flags, negated=negated)
        case "ANY", _:
            return "(?s:.)" if flags & re.DOTALL else r"[^\n]"
        case "AT", _:
            return _place(str(value), flags)
        case "BRANCH", (_, branches):
            return f"(?:{'|'.join(_written(branch, flags, level) for branch in branches)})"
        case "SUBPATTERN", (group, added, removed, inner):
            return f"({'' if group else '?:'}{_written(inner, (flags | added) & ~removed, level)})"
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT", (least, most, inner):
            limit = "" if most is _parser.MAXREPEAT else most
            return f"(?:{_written(inner, flags, level)}){{{least},{limit}}}{_REPEATS[operation]}"
        case "ATOMIC_GROUP", _:
            return f"(?>{_written(value, flags, level)})"
        case "ASSERT" | "ASSERT_NOT", (direction, inner):
            sign = ("<" if direction < 0 else "") + ("=" if operation == "ASSERT" else "!")
            return f"(?{sign}{_written(inner, flags, level)})"
        case "GROUPREF", _:
            if flags & re.IGNORECASE:
                raise ValueError("a back reference under (?i) is not supported")
            return f"\\g<{value}>"
        case "GROUPREF_EXISTS", (group, then, otherwise):
            other = "" if otherwise is None else f"|{_written(otherwise, flags, level)}"
            return f"(?({group}){_written(then, flags, level)}{other})"
        case "FAILURE", _:
            return "(?!)"
    raise ValueError(f"{operation} is not supported")


def _set(members: Any, flags: int, *, negated: bool) -> str:
    """One character that is, or is not, among the members of a set."""
    inside, outside = "", []
    for operation, value in members:
        if str(operation) == "CATEGORY":
            name = str(value).replace("_NOT_", "_")
            if name == str(value):
                inside += _category(name, flags)
            else:
                outside.append(f"[^{_category(name, flags)}]")
        else:
            least, most = (value, value) if str(operation) == "LITERAL" else value
            inside += f"{_escaped(least)}-{_escaped(most)}"
            if flags & re.IGNORECASE:
                inside += _other_cases(least, most, flags)
    if outside:
        one_of = "|".join([*([f"[{inside}]"] if inside else []), *outside])
        found = f"(?!{one_of})(?s:.)" if negated else f"(?:{one_of})"
    else:
        found = f"[{'^' * negated}{inside}]"
    return f"(?i:{found})" if flags & re.IGNORECASE and not flags & re.ASCII else found


def _other_cases(least: int, most: int, flags: int) -> str:
    """The other cases of the letters of a range that ``regex`` would not find itself."""
    if flags & re.ASCII:
        letters = map(chr, range(least, min(most, 127) + 1))
        return "".join(letter.swapcase() for letter in letters if letter.isalpha())
    return _ALL_I if any(least <= ord(letter) <= most for letter in _ALL_I) else ""


def _escaped(character: int) -> str:
    return f"\\U{character:08x}"


def _category(name: str, flags: int) -> str:
    return (_ASCII_CATEGORIES if flags & re.ASCII else _CATEGORIES)[name]


def _place(name: str, flags: int) -> str:
    """A place between characters, such as the end of the text."""
    word = f"[{_category('CATEGORY_WORD', flags)}]"
    many_lines = bool(flags & re.MULTILINE)
    return {
        "AT_BEGINNING": r"(?<![^\n])" if many_lines else r"\A",
        "AT_BEGINNING_STRING": r"\A",
        "AT_BOUNDARY": f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
        "AT_NON_BOUNDARY": f"{_SOMETHING}(?:(?<={word})(?={word})|(?<!{word})(?!{word}))",
        "AT_END": r"(?![^\n])" if many_lines else r"(?=\n?\Z)",
        "AT_END_STRING": r"\Z",
    }[name]
