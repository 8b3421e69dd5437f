"""The table of unreadable spans."""

from __future__ import annotations

import numpy as np
import pytest

from lawful import Document
from lawful.rules.judging import unreadable
from lawful.rules.judging.unreadable import UnreadableSpans, last_ends
from lawful.values import read

FIELDS = ["money", "date", "money"]
SENTENCE = "Total 12.00 EUR 5 Cash 20.00 and a sentence of many words 7"
WORDS = Document("page", ("1",) * 5)


def spans(*rows):
    return (np.array(column, np.uint32) for column in zip(*rows, strict=True))


def test_each_text_is_asked_for_once_per_type():
    asked = []

    def is_readable(field, start, end):
        asked.append((FIELDS[field], start, end))
        return start % 2 == 0

    table = UnreadableSpans(WORDS, FIELDS)
    rows = [(0, 0, 1), (2, 0, 1), (1, 0, 1), (2, 1, 5), (0, 1, 5), (1, 1, 5)]
    expected = [False, False, False, True, True, True]
    assert table.find(*spans(*rows), is_readable).tolist() == expected
    assert sorted(asked) == sorted({(FIELDS[field], start, end) for field, start, end in rows})
    assert table.find(*spans(*rows), None).tolist() == expected  # known by now


def test_nothing_is_remembered_of_a_document_that_is_too_long(monkeypatch):
    monkeypatch.setattr(unreadable, "MAX_BYTES", 100)
    table = UnreadableSpans(WORDS, FIELDS)
    assert table.find(*spans((0, 0, 1), (1, 1, 2)), None).tolist() == [False, False]


def test_a_failure_while_asking_leaves_what_is_known():
    table = UnreadableSpans(WORDS, FIELDS)
    table.find(*spans((0, 0, 1)), lambda *_: False)

    def fail(*span):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        table.find(*spans((0, 0, 1), (0, 1, 2)), fail)
    assert table.find(*spans((2, 0, 1)), fail).tolist() == [True]


def test_a_span_that_contains_what_no_value_contains_is_not_asked_for():
    document = Document("page", tuple(SENTENCE.split()))
    asked = []

    def is_readable(field, start, end):
        asked.append((start, end))
        return bool(read(document.text(start, end), FIELDS[field]))

    table = UnreadableSpans(document, FIELDS)
    words = [(0, i, i + 1) for i in range(len(document))]
    table.find(*spans(*words), is_readable)
    assert asked == [(i, j) for _, i, j in words]  # this takes less time than to look ahead
    every = [(0, i, j) for i in range(len(document)) for j in range(i + 1, len(document) + 1)]
    found = table.find(*spans(*every), is_readable).tolist()
    assert found == [not read(document.text(i, j), "money") for _, i, j in every]
    assert (1, 4) not in asked  # 12.00 EUR 5
    assert (5, len(document)) not in asked
    assert len(asked) < len(every) / 2


def test_the_longest_span_without_a_part_is_found_for_every_start():
    document = Document("page", tuple("abcab"))
    assert last_ends(document, lambda text: "c a" in text) == [3, 3, 3, 5, 5, 5]
    assert last_ends(document, lambda text: True) == [0, 1, 2, 3, 4, 5]
    assert last_ends(document, lambda text: False) == [5] * 6
