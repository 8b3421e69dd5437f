"""The table of unreadable spans."""

from __future__ import annotations

import numpy as np
import pytest

from lawful.rules import unreadable
from lawful.rules.unreadable import UnreadableSpans

FIELDS = ["money", "date", "money"]


def spans(*rows):
    return (np.array(column, np.uint32) for column in zip(*rows, strict=True))


def test_each_text_is_asked_for_once_per_type():
    asked = []

    def is_readable(field, start, end):
        asked.append((FIELDS[field], start, end))
        return start % 2 == 0

    table = UnreadableSpans(5, FIELDS)
    rows = [(0, 0, 1), (2, 0, 1), (1, 0, 1), (2, 1, 5), (0, 1, 5), (1, 1, 5)]
    expected = [False, False, False, True, True, True]
    assert table.find(*spans(*rows), is_readable).tolist() == expected
    assert sorted(asked) == sorted({(FIELDS[field], start, end) for field, start, end in rows})
    assert table.find(*spans(*rows), None).tolist() == expected  # known by now


def test_nothing_is_remembered_of_a_document_that_is_too_long(monkeypatch):
    monkeypatch.setattr(unreadable, "MOST_BYTES", 100)
    table = UnreadableSpans(5, FIELDS)
    assert table.find(*spans((0, 0, 1), (1, 1, 2)), None).tolist() == [False, False]


def test_a_failure_while_asking_leaves_what_is_known():
    table = UnreadableSpans(3, FIELDS)
    table.find(*spans((0, 0, 1)), lambda *_: False)

    def fail(*span):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        table.find(*spans((0, 0, 1), (0, 1, 2)), fail)
    assert table.find(*spans((2, 0, 1)), fail).tolist() == [True]
