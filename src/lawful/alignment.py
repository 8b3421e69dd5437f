"""Alignment of lists: which item of one sample stands for which item of another.

Items keep their order, so that two lists are aligned like two sequences. Each list joins those
before it column by column: an item comes where most votes agree with its texts, and gets a column
of its own where that agrees more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from lawful.errors import InputError

Item: TypeAlias = Mapping[tuple[str, ...], str]
"""The texts of an item, by path; a plain value has the empty path."""

SAME_PLACE = 0.1
"""Worth of an item in a column with whose items it agrees in nothing; 1 if it agrees in all. A row
that was read wrong altogether is still the same row."""

MOST_ITEMS = 1_000


class _Column:
    """The items of a column, one per list or ``None``, and the votes of their texts."""

    def __init__(self, lists: int) -> None:
        self.items: list[Item | None] = [None] * lists
        self.votes = Counter[tuple[tuple[str, ...], str]]()
        self.total = 0.0

    def add(self, number: int, item: Item, votes: float) -> None:
        self.items[number] = item
        self.total += votes
        for text in item.items():
            self.votes[text] += votes  # type: ignore[assignment]  # votes may be parts of one

    def agreement(self, item: Item) -> float:
        """The votes for the item's texts, on average over its texts."""
        votes = sum(self.votes[text] for text in item.items()) / max(1, len(item))
        return SAME_PLACE * self.total + (1 - SAME_PLACE) * votes


def align(lists: Sequence[Sequence[Item]], votes: Sequence[float]) -> list[list[Item | None]]:
    """Columns of items, each with one item per list, or ``None`` where a list has none.

    Lists with more votes, and of these the longer ones, come first.
    """
    if (longest := max(map(len, lists), default=0)) > MOST_ITEMS:
        raise InputError(f"a list has {longest:,} items, over {MOST_ITEMS:,}")
    columns: list[_Column] = []
    for number in sorted(range(len(lists)), key=lambda i: (-votes[i], -len(lists[i]), i)):
        places = _places([[c.agreement(item) for item in lists[number]] for c in columns])
        joined: list[_Column] = []
        for column, at in places or [(None, j) for j in range(len(lists[number]))]:
            here = _Column(len(lists)) if column is None else columns[column]
            if at is not None:
                here.add(number, lists[number][at], votes[number])
            joined.append(here)
        columns = joined
    return [column.items for column in columns]


def _places(agree: list[list[float]]) -> list[tuple[int | None, int | None]]:
    """The alignment of columns with items that agrees most: pairs, or one without the other."""
    columns, items = len(agree), len(agree[0]) if agree else 0
    best = np.zeros((columns + 1, items + 1))
    for i in range(columns - 1, -1, -1):
        for j in range(items - 1, -1, -1):
            best[i, j] = max(best[i + 1, j], best[i, j + 1], best[i + 1, j + 1] + agree[i][j])
    found: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < columns or j < items:
        both = i < columns and j < items
        if both and best[i, j] == best[i + 1, j + 1] + agree[i][j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif i < columns and (j == items or best[i, j] == best[i + 1, j]):
            found.append((i, None))
            i += 1
        else:
            found.append((None, j))
            j += 1
    return found
