"""The number of partial readings that searches take: a bound that stops working is seen here."""

from __future__ import annotations

import pytest

from lawful.search import reading_search
from tests.search.partial_readings import count, expected, is_close, partial_readings

SHOWN_BY = {
    "equations": ("20 amounts, three equations", 0),
    "detours": ("30 items, wrong subtotal", 1),
    "projections": ("twelve counts", 0),
    "admission": ("20 amounts, three equations, hard", 3),
    "cases": ("20 amounts, three equations, hard", 0),
}
"""Kinds of bounds, and a page whose number is another one without them."""


def test_searches_take_as_many_partial_readings_as_before():
    before, now = expected(), count()
    changed = [
        f"{kind}, page {page}: {before.get((kind, page))} -> {readings}"
        for (kind, page), readings in now.items()
        if not is_close(readings, before.get((kind, page), -1))
    ]
    command = "python -m tests.search.partial_readings --write"
    assert not changed, f"if this is as it should be: {command}\n" + "\n".join(changed)
    assert before.keys() == now.keys()


@pytest.mark.parametrize("without", SHOWN_BY)
def test_a_bound_that_does_nothing_is_seen(without, monkeypatch):
    monkeypatch.setattr(reading_search, "WITHOUT", (without,))
    kind, page = SHOWN_BY[without]
    assert not is_close(partial_readings(kind, page), expected()[kind, page])
