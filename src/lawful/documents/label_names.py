"""Names of labels: a prefix and a type, as in ``B-total``; and schemes as tables over prefixes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from typing import NamedTuple

from lawful.base.cache import Cache, size_of_texts
from lawful.base.errors import SchemeError, shown


class Prefixes(NamedTuple):
    """A scheme as a table over prefixes: which come first and last, and which follow which."""

    first: str
    last: str
    follow: Mapping[str, str]  # for any two types
    continue_: Mapping[str, str]  # only if both labels have the same type

    @property
    def known(self) -> str:
        return "".join(self.follow)


_BIO = Prefixes(
    first="OB",
    last="OBI",
    follow={"O": "OB", "B": "OB", "I": "OB"},
    continue_={"B": "I", "I": "I"},
)
# Spans begin with I; B only separates a span from one of the same type right before it.
_IOB1 = Prefixes(
    first="OI",
    last="OBI",
    follow={"O": "OI", "B": "OI", "I": "OI"},
    continue_={"B": "B", "I": "B"},
)
_IO = Prefixes(first="OI", last="OI", follow={"O": "OI", "I": "OI"}, continue_={})
_IOBES = Prefixes(
    first="OBS",
    last="OES",
    follow={"O": "OBS", "B": "", "I": "", "E": "OBS", "S": "OBS"},
    continue_={"B": "IE", "I": "IE"},
)
_BILOU = Prefixes(
    first="OBU",
    last="OLU",
    follow={"O": "OBU", "B": "", "I": "", "L": "OBU", "U": "OBU"},
    continue_={"B": "IL", "I": "IL"},
)

SCHEMES: Mapping[str, Prefixes] = {
    "BIO": _BIO,
    "IOB2": _BIO,
    "IOB1": _IOB1,
    "IO": _IO,
    "IOBES": _IOBES,
    "BIOES": _IOBES,
    "BILOU": _BILOU,
}

OPENS = "BSU"  # always begins a span
CLOSES = "ESLU"  # always ends a span

# A label with a prefix. A letter that no scheme uses is part of the name: X-ray.
_PREFIXED = re.compile(r"([BIOESLU])(?:-(.*))?", re.DOTALL)


_LOOK_LIKE_A_HYPHEN = tuple("-_:|/. \u2010\u2011\u2012\u2013\u2014\u2015\u2212")

MAX_LABELS = 4096
"""Labels of a model: a scheme has tables of all pairs."""

_CHECKED: Cache[tuple[str, ...], None] = Cache(2**20)
"""Lists of labels that are known to be fine: documents of a file share one."""


def check_names(labels: Iterable[str]) -> tuple[str, ...]:
    """Label names as a tuple, checked: at least one, all strings, none empty, none twice."""
    if isinstance(labels, str | bytes | Mapping | Set) or not isinstance(labels, Iterable):
        raise SchemeError(f"labels is {shown(labels)}, expected a list of names, in column order")
    names = tuple(labels)
    with suppress(TypeError):  # something that is no string
        if names in _CHECKED:
            return names
    if not names:
        raise SchemeError("zero labels, expected at least one")
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if not isinstance(name, str) or not name or name != name.strip():
            raise SchemeError(
                f"label {i} is {shown(name)}, expected a name such as 'O' or 'B-total'"
            )
        if name in seen:
            raise SchemeError(f"label {i} is {shown(name)}, the same as label {seen[name]}")
        seen[name] = i
    _CHECKED.keep(names, None, 8 * len(names) + size_of_texts(names))
    return names


def labels_of_pieces(labels: Sequence[str], joins: Sequence[bool]) -> tuple[str, ...]:
    """The labels of word pieces from those of words: ``B-x`` continues as ``I-x``.

    ``joins`` says for every piece whether it continues the word of the piece before.
    """
    pieces: list[str] = []
    following = iter(labels)
    for join in joins:
        if join:
            last = pieces[-1]
            pieces.append(f"I{last[1:]}" if last.startswith("B-") else last)
        else:
            pieces.append(next(following))
    return tuple(pieces)


def parse_label(label: str, scheme: str, known: str) -> tuple[str, str]:
    """A label's prefix and type; the prefix is ``O`` if there is none."""
    match = _PREFIXED.fullmatch(label)
    if match is None:
        # A misspelled prefix would otherwise silently count as O.
        looks = unicodedata.normalize("NFKC", label)
        if looks[0] in known and looks[1:2] in _LOOK_LIKE_A_HYPHEN:
            expected = "O" if looks[0] == "O" else f"{looks[0]}-{looks[2:] or 'name'}"
            raise SchemeError(f"malformed label {label!r}: expected {expected!r}")
        return ("I" if scheme == "IO" else "O"), label
    prefix, type_ = match.groups()
    if prefix not in known:
        raise SchemeError(
            f"label {label!r} has prefix {prefix!r}, which {scheme} does not know; "
            f"its prefixes: {', '.join(known)}"
        )
    if type_ == "" or (prefix == "O" and type_):
        expected = "O" if prefix == "O" else f"{prefix}-name"
        raise SchemeError(f"malformed label {label!r}: expected {expected!r}")
    return prefix, type_ or ""
