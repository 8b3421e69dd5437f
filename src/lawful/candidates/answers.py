"""What a language model answered, read as JSON as far as it goes.

Strict JSON is read as it is. What models make of it is read, too: text around it, a code fence,
comments, commas too many or too few, single quotes, names without quotes, Python's constants, and
an answer that was cut off, which gives all values that are complete. Time is linear in the length.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from typing import Any

from lawful.base.errors import shown

MAX_CHARACTERS = 2_000_000
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """The value of an answer, or the ``problem`` because of which there is none.

    ``cut`` says that the answer ended before its JSON did: what is not there was not reached, which
    is not the same as missing. ``notes`` says what else was not strict JSON, and what was left out.
    """

    value: Any
    problem: str | None = None
    cut: bool = False
    notes: tuple[str, ...] = ()


def read_answer(text: Any) -> Answer:
    """The JSON value in an answer: the longest object or array of it.

    ``None`` and an exception stand for a call that failed, and have a problem, as a refusal has. An
    object that is no text is returned as it is.
    """
    match text:
        case None:
            return Answer(None, "no answer")
        case BaseException():
            return Answer(None, f"{type(text).__name__}: {text}")
        case bytes() | bytearray():
            text = text.decode("utf-8", errors="replace")
        case str():
            pass
        case _:
            return Answer(text)
    if len(text) > MAX_CHARACTERS:
        found = f"{len(text):,} characters, over {MAX_CHARACTERS:,}"
        return Answer(None, f"the answer has {found}")
    return _longest(text)


def _longest(text: str) -> Answer:
    start = _answer_begins(text)
    best, length, count, problem, tried = None, 0, 0, None, False
    while (opening := _OPENING.search(text, start)) is not None:
        reader = _Reader(text, opening.start())
        try:
            value = reader.value(0) if tried else reader.strict()
        except _NotJsonError as error:
            problem = problem or str(error)
            start = max(reader.at, opening.end())
            continue
        finally:
            tried = tried or reader.lenient
        start = reader.at
        count += 1
        if start - opening.start() > length:
            length = start - opening.start()
            best = Answer(value, cut=reader.cut, notes=tuple(reader.notes))
    if best is None:
        about = problem or ("no object of JSON" if text.strip() else "an empty answer")
        return Answer(None, f"{about}: {shown(text.strip())}" if text.strip() else about)
    more = (f"the longest of {count} values of JSON",) if count > 1 else ()
    return replace(best, notes=(*best.notes, *more))


def _answer_begins(text: str) -> int:
    """What a model thinks aloud is no answer; a text of strict JSON may have the same mark."""
    end, at = text.rfind("</think>"), 0
    for opening in islice(_OPENING.finditer(text, 0, max(end, 0)), 20):
        if opening.start() < at:
            continue
        with suppress(ValueError, RecursionError):
            _, at = _STRICT.raw_decode(text, opening.start())
            if at > end:
                return opening.start()
    return end + 1


class _NotJsonError(Exception):
    """What was taken for JSON is something else."""


def _float(text: str) -> float | str:
    return number if isfinite(number := float(text)) else text


_STRICT = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_float=_float)
_OPENING = re.compile(r"""\{(?=\s*(?:["'}\w/#]|\Z))|\[""")
_BLANK = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))+", re.DOTALL)
# A quotation mark ends a text only where JSON goes on; so 5" in a text is part of it.
_GOES_ON = r"(?=[ \t]*(?:[,:}\]\r\n]|//|/\*|#|```|\Z))"
_TEXTS = {
    mark: re.compile(rf"{mark}((?:[^\\{mark}]|\\.|{mark}(?!{_GOES_ON}))*){mark}", re.DOTALL)
    for mark in "\"'"
}
_NAME = re.compile(r"[^\W\d][\w.$-]*")
_BARE = re.compile(r"(?:(?!//|/\*|\s#)[^,{}\[\]\n\"])+")
_WITH_COMMAS = re.compile(r"[+-]?\d+(?:,\d+)+(?:\.\d+)?(?=\s*(?:[,}\]]|//|#|/\*))")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MAX_DIGITS = 400
_CONSTANTS = {
    "null": None, "none": None, "undefined": None, "true": True, "false": False,
    "nan": None, "infinity": None, "-infinity": None,
}  # fmt: skip
_NOTHING: Any = object()  # where a value was expected, and the text ends


class _Reader:
    """Reads one value, and knows where it is."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.cut, self.lenient = text, at, False, False
        self.notes: dict[str, None] = {}

    def strict(self) -> Any:
        """The value as strict JSON, or else as far as it goes."""
        try:
            value, self.at = _STRICT.raw_decode(self.text, self.at)
        except (ValueError, RecursionError):
            self.lenient = True
            return self.value(0)
        return value

    def value(self, depth: int) -> Any:
        """The value that comes next; ``_NOTHING`` if the text ends in it."""
        if depth > DEEPEST:
            raise _NotJsonError(f"JSON nested more than {DEEPEST} deep")
        match self.next():
            case "":
                return _NOTHING
            case "{":
                return self.object(depth)
            case "[":
                return self.array(depth)
            case '"' | "'" as mark:
                return self.quoted(mark)
        return self.bare()

    def next(self) -> str:
        """The next character that is no blank and no comment; none at the end of the text."""
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
            if not blank[0].isspace():
                self.notes["comments"] = None
        if self.text.startswith("```", self.at):
            return self.end()
        return self.text[self.at : self.at + 1] or self.end()

    def end(self) -> str:
        """The text ends although its JSON does not."""
        self.cut = True
        return ""

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while (char := self.next()) not in ("", "}"):
            if char == ",":
                self.at += 1
                continue
            if char == "]":
                break  # the end of an array around it
            name = self.name(char)
            if name is _NOTHING or self.next() != ":":
                if not found and not self.cut:
                    raise _NotJsonError
                self.cut = True
                break
            self.at += 1
            value = self.of_name(depth + 1)
            if value is not _NOTHING:
                found[name] = value
            if self.cut:
                break
            if self.next() == ":":
                self.at += 1
                self.value(depth + 1)
                self.notes["a value without a name, left out"] = None
        self.close("}")
        return found

    def of_name(self, depth: int) -> Any:
        """The value of a name: none before a comma, and of a number, its commas are part."""
        if self.next() in ("}", ","):
            return None
        if number := _WITH_COMMAS.match(self.text, self.at):
            self.at = number.end()
            self.notes["texts without quotes"] = None
            return number[0]
        return self.value(depth)

    def array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while (char := self.next()) not in ("", "]"):
            if char == ",":
                self.at += 1
                continue
            if char == "}":
                break  # the end of an object around it
            if self.text.startswith("...", self.at):
                self.at += 3
                self.notes["values left out: ..."] = None
                continue
            value = self.value(depth + 1)
            if value is not _NOTHING:
                found.append(value)
            if self.cut:
                break
        self.close("]")
        return found

    def close(self, mark: str) -> None:
        if not self.cut and self.text[self.at : self.at + 1] == mark:
            self.at += 1
        elif not self.cut:
            self.notes[f"a missing {mark}"] = None

    def name(self, char: str) -> Any:
        if char in "\"'":
            return self.quoted(char)
        name = _NAME.match(self.text, self.at)
        if name is None:
            return _NOTHING
        self.at = name.end()
        self.notes["names without quotes"] = None
        return name[0]

    def quoted(self, mark: str) -> Any:
        found = _TEXTS[mark].match(self.text, self.at)
        if found is None:
            self.at = len(self.text)
            self.end()
            return _NOTHING
        self.at = found.end()
        return _unescaped(found[1])

    def bare(self) -> Any:
        """A number or a constant, or else a text without quotes."""
        found = _BARE.match(self.text, self.at)
        if found is None:
            raise _NotJsonError
        self.at = found.end()
        if self.at == len(self.text):  # maybe the first digits of a number
            self.end()
            return _NOTHING
        text = found[0].strip()
        if text.lower() in _CONSTANTS:
            return _CONSTANTS[text.lower()]
        if _NUMBER.fullmatch(text) and len(text) < _MAX_DIGITS:
            return int(text) if text.lstrip("+-").isdigit() else _float(text)
        self.notes["texts without quotes"] = None
        return text


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unescaped(inside: str) -> str:
    """The text of an escaped one."""
    if "\\" not in inside:
        return inside
    found: str
    try:
        found = json.loads(f'"{inside}"', strict=False)
    except ValueError:  # an escape that JSON does not have, or a quotation mark inside
        found = _ESCAPE.sub(lambda e: _ESCAPED.get(e[1], _character(e[1])), inside)
    return found


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 5 else escape
