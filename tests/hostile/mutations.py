"""Damage that several targets do: to bytes, to texts, and to plain values as JSON has them."""

from __future__ import annotations

import copy
from math import inf, nan

MARKS = (
    "\0", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u200b", "\u202e", "\u2066", "\ufeff", "\ufffd",
    "\ud800", "\U0001f600", "e\u0301", "ß", "İ", "ﷺ", "\r\n", "\u2028", "'", '"', "\\", "{", "}",
)  # fmt: skip
"""Characters that programs trip over; a lone surrogate among them."""

ODD = (
    None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308,
    1e-320, nan, inf, -inf, "", " ", "x", "O", "B-total", "0", "nan", "a" * 300, [], [[]], [[[]]],
    [None], [0], ["x"], {}, {"": None}, {"between": []}, *MARKS,
)  # fmt: skip
"""Values that are seldom what was expected."""


def damaged_bytes(rng, data: bytes) -> bytes:
    """The bytes with a few of them changed, removed, repeated or cut off."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(found) + 1)
        to = min(len(found), at + rng.choice((1, 1, 2, 10, 1000)))
        match rng.randrange(6):
            case 0 if at < len(found):
                found[at] = rng.randrange(256)
            case 1:
                del found[at:to]
            case 2:
                found[at:at] = found[at:to]
            case 3:
                del found[at:]
            case 4:
                found[at:at] = rng.choice(
                    (b"\0", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b'"', b"\\u", b"[", b"{", b"}",
                     b"]", b",", b":", b"1e999", b"-", b"NaN", b"\n", b"\xf0\x9f", b"0" * 400)
                )  # fmt: skip
            case 5:
                other = rng.randrange(len(found) + 1)
                found[at:to] = found[other : other + to - at]
    return bytes(found)


def damaged_text(rng, text: str) -> str:
    """The text with a few characters changed, removed or inserted."""
    found = list(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(4):
            case 0:
                del found[at : at + rng.choice((1, 1, 3))]
            case 1:
                found.insert(at, rng.choice(MARKS))
            case 2:
                found.insert(at, chr(rng.choice((rng.randrange(32), rng.randrange(0x3000)))))
            case 3:
                found[at:at] = found[at : at + 3]
    return "".join(found)


def odd_value(rng):
    """A value that is seldom what was expected; sometimes deeply nested."""
    if rng.random() < 0.03:
        value = rng.choice(ODD)
        for _ in range(rng.choice((3, 50, 2000))):
            value = [value] if rng.random() < 0.9 else {"a": value}
        return value
    return copy.copy(rng.choice(ODD))


def damaged_value(rng, value):
    """A copy of nested lists and dictionaries with one part changed, removed, added or repeated."""
    if not isinstance(value, dict | list) or not value:
        return odd_value(rng)
    found = at = copy.copy(value)  # what is nested is copied only where it changes
    while True:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.7:
            at[key] = copy.copy(at[key])
            at = at[key]
            continue
        match rng.randrange(6):
            case 0:
                del at[key]
            case 1 if isinstance(at, list):
                at.insert(key, at[key])
            case 1:
                at[rng.choice(("x", "", "id", "\ud800", str(key) * 2))] = odd_value(rng)
            case 2 if isinstance(at[key], str):
                at[key] = damaged_text(rng, at[key])
            case 3 if isinstance(at, list):
                at[key] = at[rng.randrange(len(at))]
            case _:
                at[key] = odd_value(rng)
        return found
