"""The exceptions of lawful.

The tree, with the built-in class that each one also is:

    LawfulError
    ├── InputError (ValueError)           an argument is not what was expected
    │   ├── DocumentError                 … a document
    │   ├── ScoresError                   … a matrix of scores
    │   ├── SchemeError                   … a labelling scheme
    │   └── RulesError                    … a rule, a field or a file of them
    ├── RuleFailure                       a rule's own code failed, or its pattern is too slow
    ├── MissingExtraError (ImportError)   an optional dependency is not installed
    ├── LimitError (OverflowError)        more than the core can number
    ├── MemoryBudgetError (MemoryError)   a stream may not grow any further
    └── TimeBudgetError (TimeoutError)    the time for a search is up; decoders catch it
"""

from __future__ import annotations

from collections.abc import Iterable


class LawfulError(Exception):
    """The base class of all exceptions of lawful."""


class InputError(LawfulError, ValueError):
    """An argument that cannot be used; nothing was done."""


class DocumentError(InputError):
    """A document that cannot be used; the message names the document and the word."""


class ScoresError(InputError):
    """A matrix of scores that cannot be used; the message names the row and the value."""


class SchemeError(InputError):
    """A labelling scheme, label name or table of transitions that cannot be used."""


class RulesError(InputError):
    """A rule, field or rule file that cannot be used; the message says where.

    ``rule`` is the index of the rule that is wrong, if one is; ``field`` the name of the field;
    ``line`` and ``column`` are its place in the file, from 1, if they are known.
    """

    def __init__(
        self,
        message: str,
        *,
        rule: int | None = None,
        field: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.field = field
        self.line = line
        self.column = column


class RulesWarning(UserWarning):
    """A rule that can be used, but is probably not meant as it is written."""


class RuleFailure(LawfulError):  # noqa: N818 - the rule failed, not the user
    """A rule's own Python code raised an exception, or its pattern took too long on a text.

    The message names the document, and the rule or the field.
    """


class MissingExtraError(LawfulError, ImportError):
    """An optional dependency is needed and not installed; the message names the extra."""


class LimitError(LawfulError, OverflowError):
    """More words, labels or candidates than 32-bit indices can number."""


class MemoryBudgetError(LawfulError, MemoryError):
    """A stream reached its memory budget and stopped; candidates that it yielded stay valid."""


class TimeBudgetError(LawfulError, TimeoutError):
    """The time for a search is up. Decoders catch it and return the best answer so far."""


LONGEST_SHOWN = 200
"""Characters of a value in a message; longer ones are cut off."""


def shown(value: object) -> str:
    """A value as a message shows it: its ``repr``, cut off if long, or its type if it has none."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, an int of too many digits, or a class of the user's
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A hint for a message about an unknown name, or nothing if no known one is like it."""
    from difflib import get_close_matches

    known = list(known)
    close = get_close_matches(str(name), known, 1) or get_close_matches(str(name).lower(), known, 1)
    close = close or [each for each in known if _abbreviates(str(name), each)]
    return f"did you mean {close[0]!r}? " if close else ""


def _abbreviates(short: str, long: str) -> bool:
    """Whether three letters or more, as in ``qty``, stand for a longer name, ``quantity``."""
    letters = iter(long)
    return len(short) >= 3 and short[0] == long[:1] and all(each in letters for each in short)
