"""Lexicons: lists of texts, such as the names of states, with which spans or words are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful.base.errors import RulesError, shown

MAX_BYTES = 2**24
"""Bytes of the largest file."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Some texts, compared without regard to case and repeated blanks.

    ``name`` is what messages call it: the name of its file, or its first texts.
    """

    name: str
    texts: frozenset[str] = field(repr=False)  # as ``_plain`` writes them

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and _plain(text) in self.texts

    @classmethod
    def of(cls, source: Any, where: str = "", folder: Path = Path()) -> Lexicon:
        """From a list of texts, or from a file with one text per line; ``where`` begins errors.

        The path of a file is relative to ``folder``.
        """
        if isinstance(source, Lexicon):
            return source
        if isinstance(source, str | Path) and str(source):
            name = str(source)
            texts: Any = _lines(folder / source, where)
        elif isinstance(source, list | tuple) and all(isinstance(text, str) for text in source):
            name = ", ".join(source[:3]) + ", …" * (len(source) > 3)
            texts = source
        else:
            raise RulesError(f"{where}in is {shown(source)}, expected a file or a list of texts")
        found = frozenset(filter(None, map(_plain, texts)))
        if not found:
            raise RulesError(f"{where}in is {shown(source)}, which has no texts")
        return cls(name, found)


def _lines(path: Path, where: str) -> Iterable[str]:
    try:
        if path.exists() and not path.is_file():  # a device may never end
            raise OSError(None, "not a plain file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RulesError(f"{where}in: cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # a name with a null character
        raise RulesError(f"{where}in: cannot read {str(path)!r}: {error}") from None
    if len(content) > MAX_BYTES:
        raise RulesError(f"{where}in: {path} has more than {MAX_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RulesError(f"{where}in: {path}, line {line}: not UTF-8") from None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
