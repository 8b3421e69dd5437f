"""Damage that several targets do: to bytes, to texts, and to plain values as JSON has them."""

from __future__ import annotations

import copy
import json
from math import inf, nan

import numpy as np

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


def json_bytes(value, *, ascii_only: bool = True) -> bytes:
    """The value as JSON, with NaN and lone surrogates; nested lists if it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return b"[" * 10**5


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


DTYPES = (
    "f8", "f8", "f4", "f2", "g", "i1", "i4", "u4", "u8", "?", "c16", "O", "U5", "S3", "M8[s]", "m8",
    ">f8", ">u4", [("a", "f8")], "V4",
)  # fmt: skip
SHAPES = ((), (0,), (0, 0), (0, 3), (3, 0), (2**40, 0), (0, 2**40), (1, 1, 1))
SPECIAL = (nan, inf, -inf, 0.0, -0.0, 1e-320, 1e101, -1e101, 1e308, -1e308, 2.0, -1.0, 0.5, 1e-3)
NUMBERS = (0, 1, 2, 3, 7, 255, 2**16, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -1, 10**40)
"""Counts and indices, most of them out of range."""


def bent_array(rng, array):
    """The same array with another entry, type, shape or memory layout."""
    return rng.choice(_BENDS)(rng, np.asarray(array))


def _with_other_type(rng, array):
    dtype = rng.choice(DTYPES)
    try:
        return array.astype(dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return np.zeros(array.shape, dtype)


def _with_odd_entry(rng, array):
    array = np.array(array)
    if array.size and array.dtype.kind in "fiu":
        real = array.dtype.kind == "f"
        odd = np.float64(rng.choice(SPECIAL)) if real else np.uint64(rng.choice(NUMBERS) % 2**64)
        array.reshape(-1)[rng.randrange(array.size)] = odd.astype(array.dtype)
    return array


def _not_aligned(_, array):
    if array.dtype.hasobject or not array.size:
        return array
    return np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1).reshape(array.shape)


_BENDS = (
    _with_other_type,
    _with_odd_entry,
    _with_odd_entry,
    _not_aligned,
    lambda _, array: array.T,
    lambda _, array: array.reshape(-1),
    lambda _, array: array[None],
    lambda _, array: array[..., :-1] if array.ndim else array,
    lambda _, array: array[:-1] if array.ndim else array,
    lambda _, array: array[::-1] if array.ndim else array,
    lambda _, array: np.concatenate([array, array]) if array.ndim else array,
    lambda _, array: np.broadcast_to(array, (3, *array.shape))[1],
    lambda _, array: np.asfortranarray(array),
    lambda _, array: np.ma.masked_array(array),
    lambda rng, array: np.zeros(rng.choice(SHAPES), array.dtype),
)
