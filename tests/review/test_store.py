"""Rows of reviews: only added, in order, each committed before it is acknowledged."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import msgspec
import pytest

from lawful.review.rows import Outcome, Row, UndoHistory
from lawful.review.store import BusyStoreError, Conflict, Store, StoreError

OUTCOME = Outcome("satisfied", True, [], 0, {"total": ["5.00"]}, [("O", 3), ("B-total", 1)])


def row(document="a", hash_="h", action="pins", **values):
    made = Row(
        0, "2026-01-01T00:00:00.000+00:00", "ada", document, hash_, "rules", "1.0", action, None,
        [{"words": [0, 1], "field": None}], OUTCOME, OUTCOME, "", None,
    )  # fmt: skip
    return msgspec.structs.replace(made, **values)


@pytest.fixture
def store(tmp_path):
    with closing(Store(tmp_path / "review.db")) as store:
        yield store


def test_rows_come_back_as_they_were_added(store):
    added = [
        store.add(row(note="ä\0\u2028'\"; DROP TABLE review"), 0),
        store.add(row("'; --", seconds=1.5), 0),
        store.add(row(verdict="accepted", action="verdict", after=None), 1),
    ]
    assert list(store.rows()) == added
    assert [each.seq for each in added] == [1, 2, 3]
    assert store.rows_of("a", "h") == [added[0], added[2]]
    assert store.rows_of("a", "other") == []


def test_only_who_has_seen_the_last_row_may_add_one(store):
    store.add(row(), 0)
    for base in (0, 2, -1):
        with pytest.raises(Conflict):
            store.add(row(), base)
    store.add(row(hash_="other words"), 0)
    assert len(list(store.rows())) == 2


def test_rows_cannot_be_changed_or_deleted(store):
    store.add(row(), 0)
    with closing(sqlite3.connect(store.path)) as other:
        for statement in ("UPDATE review SET note = 'x'", "DELETE FROM review"):
            with pytest.raises(sqlite3.IntegrityError, match="only added"):
                other.execute(statement)


def test_states_follow_other_processes(store):
    with closing(Store(store.path)) as other:
        other.add(row(), 0)
        assert store.states()["a", "h"].pins == 1
        other.add(row(verdict="skipped", pins=[]), 1)
        state = store.states()["a", "h"]
        assert (state.seq, state.verdict, state.pins) == (2, "skipped", 0)
    assert store.last_of_others("a", {"new"}).seq == 2
    assert store.last_of_others("a", {"h"}) is None


def test_a_busy_file_is_said_and_nothing_stored(store, monkeypatch):
    store._db.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyStoreError, match="nothing was stored"):
            store.add(row(), 0)
        other.execute("ROLLBACK")
    assert store.add(row(), 0).seq == 1


def test_a_damaged_row_is_said(store):
    with closing(sqlite3.connect(store.path)) as other:
        other.execute(
            "INSERT INTO review (at, reviewer, document, document_hash, rules_hash, version, "
            "action, pins, before, after, note) "
            "VALUES ('', '', 'a', 'h', '', '', 'pins', '[', '', '', '')"
        )
        other.commit()
    for read in (store.states, lambda: store.rows_of("a", "h")):
        with pytest.raises(StoreError, match="damaged"):
            read()


@pytest.mark.parametrize(
    ("actions", "pins", "undo", "redo"),
    [
        ("", None, False, False),
        ("p", 0, True, False),
        ("pp", 1, True, False),
        ("ppu", 0, True, True),
        ("ppuu", None, False, True),
        ("ppuuu", None, False, True),
        ("ppuur", 0, True, True),
        ("ppurr", 1, True, False),
        ("ppup", 3, True, False),
        ("ppupu", 0, True, True),
        ("puuvr", 3, True, False),
    ],
)
def test_undo_and_redo_walk_along_the_rows(actions, pins, undo, redo):
    names = {"p": "pins", "u": "undo", "r": "redo", "v": "verdict"}
    chain = UndoHistory.of([row(action=names[each], seq=i) for i, each in enumerate(actions)])
    at = chain.steps[chain.at]
    assert (at if at is None else at.seq) == pins
    assert (chain.can_undo, chain.can_redo) == (undo, redo)
