"""Alignment of lists: which item of one sample stands for which item of another.

Items are aligned by what they say, in any order. Each list joins those before it column by column:
items that say the same everywhere come first, then those that agree most, where a rare text, such
as a number of an invoice, counts for more than one that many items have. Items between two aligned
ones that nothing is like are aligned in order, and the rest gets columns of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.candidates.same import same

Item: TypeAlias = Mapping[tuple[str, ...], str]
"""The texts of an item, by path; a plain value has the empty path."""

Said: TypeAlias = frozenset[tuple[tuple[str, ...], Hashable]]
"""What an item says, by path; see ``same``."""

Pair: TypeAlias = tuple[int | None, int | None]

ALIKE = 0.3
"""Items that share this part of what they say, by its worth, are aligned wherever they stand."""

IN_PLACE = 0.1
"""The part that is enough between two aligned items; none is needed if nothing else is there."""

FAR = 1e-3
"""The part that items at opposite ends of their lists lack, so that equals keep their order."""

MAX_ITEMS = 5_000


class _Column:
    """The items of a column, one per list or ``None``, and the votes for what they say."""

    def __init__(self, lists: int) -> None:
        self.items: list[Item | None] = [None] * lists
        self.votes = Counter[tuple[tuple[str, ...], Hashable]]()
        self.total = 0.0

    def add(self, number: int, item: Item, said: Said, votes: float) -> None:
        self.items[number] = item
        self.total += votes
        for each in said:
            self.votes[each] += votes  # type: ignore[assignment]  # votes may be parts of one

    @property
    def said(self) -> Said:
        """What most votes say, by path."""
        best: dict[tuple[str, ...], tuple[float, Hashable]] = {}
        for (path, text), votes in self.votes.items():
            if votes > best.get(path, (0.0, None))[0]:
                best[path] = votes, text
        return frozenset((path, text) for path, (_, text) in best.items())


def align(lists: Sequence[Sequence[Item]], votes: Sequence[float]) -> list[list[Item | None]]:
    """Columns of items, each with one item per list, or ``None`` where a list has none.

    Lists with more votes, and of these the longer ones, come first; columns are in their order.
    """
    if (longest := max(map(len, lists), default=0)) > MAX_ITEMS:
        raise InputError(f"a list has {longest:,} items, over {MAX_ITEMS:,}")
    columns: list[_Column] = []
    for number in sorted(range(len(lists)), key=lambda i: (-votes[i], -len(lists[i]), i)):
        said = [frozenset((path, same(t)) for path, t in item.items()) for item in lists[number]]
        joined: list[_Column] = []
        for at, item in _merged(_pairs(columns, said), len(columns)):
            column = _Column(len(lists)) if at is None else columns[at]
            if item is not None:
                column.add(number, lists[number][item], said[item], votes[number])
            joined.append(column)
        columns = joined
    return [column.items for column in columns]


def _merged(pairs: Mapping[int, int | None], columns: int) -> list[Pair]:
    """All columns in order, with their items; each item without one follows that before it."""
    by_column = {column: item for item, column in pairs.items() if column is not None}
    after: defaultdict[int, list[int]] = defaultdict(list)
    last = -1
    for item, column in pairs.items():
        if column is None:
            after[last].append(item)
        else:
            last = column
    found: list[Pair] = [(None, item) for item in after[-1]]
    for column in range(columns):
        found.append((column, by_column.get(column)))
        found += [(None, item) for item in after[column]]
    return found


def _pairs(columns: Sequence[_Column], items: Sequence[Said]) -> dict[int, int | None]:
    """By item, its column or none."""
    found: dict[int, int | None] = dict.fromkeys(range(len(items)))
    if not columns:
        return found
    said = [column.said for column in columns]
    equal: defaultdict[Said, list[int]] = defaultdict(list)
    for column in reversed(range(len(columns))):
        equal[said[column]].append(column)
    for item, each in enumerate(items):
        if equal.get(each):
            found[item] = equal[each].pop()
    taken = set(found.values())
    left = [column for column in range(len(columns)) if column not in taken]
    rest = [item for item, column in found.items() if column is None]
    if left and rest:
        alike = _likeness(columns, said, items, left, rest)
        _take_most_alike(found, alike, left, rest, len(columns), len(items))
        _fill(found, alike, left, rest, len(columns))
    return found


def _likeness(
    columns: Sequence[_Column],
    said: Sequence[Said],
    items: Sequence[Said],
    left: Sequence[int],
    rest: Sequence[int],
) -> NDArray[np.float32]:
    """By column left and item of the rest, the part of what either says that both say."""
    often = [Counter(each for one in all_ for each in one) for all_ in (said, items)]
    size = max(len(columns), len(items))

    def worth(each: tuple[tuple[str, ...], Hashable]) -> float:
        return log(1 + size / max(1, often[0][each], often[1][each]))

    where: defaultdict[tuple[tuple[str, ...], Hashable], list[int]] = defaultdict(list)
    for j, item in enumerate(rest):
        for each in items[item]:
            where[each].append(j)
    both: NDArray[np.float32] = np.zeros((len(left), len(rest)), np.float32)
    own = np.zeros(len(left), np.float32)
    for i, column in enumerate(left):
        for each, votes in columns[column].votes.items():
            share = votes / columns[column].total * worth(each)
            own[i] += share
            if each in where:
                both[i, where[each]] += share
    theirs = np.array([sum(map(worth, items[item])) for item in rest], np.float32)
    most = np.maximum(own[:, None], theirs[None, :])
    both /= np.maximum(most, 1e-9)
    return both


def _take_most_alike(
    found: dict[int, int | None],
    alike: NDArray[np.float32],
    left: Sequence[int],
    rest: Sequence[int],
    columns: int,
    items: int,
) -> None:
    """Aligns those of the rest that are more alike to each other than to all others, in turn."""
    far = np.abs(np.array(left)[:, None] / columns - np.array(rest)[None, :] / items)
    worth = np.where(alike >= ALIKE, alike - FAR * far.astype(np.float32), -1)
    open_ = np.ones(len(left), bool)
    while worth.size:
        to = worth.argmax(axis=1)
        best = worth[np.arange(len(left)), to]
        back = worth.argmax(axis=0)
        pairs = np.flatnonzero((best > 0) & (back[to] == np.arange(len(left))) & open_)
        if not len(pairs):
            return
        for i in pairs.tolist():
            found[rest[to[i]]] = left[i]
        open_[pairs] = False
        worth[pairs, :] = -1
        worth[:, to[pairs]] = -1


def _fill(
    found: dict[int, int | None],
    alike: NDArray[np.float32],
    left: Sequence[int],
    rest: Sequence[int],
    columns: int,
) -> None:
    """Aligns what is left between two items that are aligned to columns in order."""
    of_column = {column: i for i, column in enumerate(left)}
    of_item = {item: j for j, item in enumerate(rest)}
    taken = {column for column in found.values() if column is not None}
    ordered = list(found.items())
    start, before = 0, -1
    for at, (_, column) in enumerate([*ordered, (len(ordered), columns)]):
        if column is None:
            continue
        gap = [item for item, _ in ordered[start:at]]
        between = [c for c in range(before + 1, column) if c not in taken]
        if gap and between:
            sure = len(gap) == len(between)
            part = alike[np.ix_([of_column[c] for c in between], [of_item[i] for i in gap])]
            for i, j in _in_order(part + FAR if sure else np.where(part < IN_PLACE, 0, part)):
                found[gap[j]] = between[i]
        start, before = at + 1, max(before, column)


def _in_order(alike: NDArray[np.float32]) -> Iterable[tuple[int, int]]:
    """The pairs in order that are alike most, together."""
    rows, columns = alike.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i, j] = max(best[i + 1, j], best[i, j + 1], best[i + 1, j + 1] + alike[i, j])
    i = j = 0
    while i < rows and j < columns:
        if alike[i, j] > 0 and best[i, j] == best[i + 1, j + 1] + alike[i, j]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i, j] == best[i + 1, j]:
            i += 1
        else:
            j += 1
