"""Reviews in SQLite: rows that are only ever added.

The state of a document is its last row. Undo and redo are further rows, so they survive restarts
and nothing that anybody did is lost. Every row is committed with ``synchronous = FULL``: people
click, so an ``fsync`` per row is affordable, and a row that was acknowledged outlives the process
and, if the disk keeps its word, the power. Several processes may use one file: whoever adds a row
names the last one that they have seen, and is refused if it is no longer the last.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lawful.base.errors import InputError, LawfulError
from lawful.io.jsonl import encode
from lawful.review.rows import Key, Outcome, Row, State

APPLICATION = 0x6C617766
"""What SQLite's ``application_id`` is in a file of reviews: ``lawf``."""

SCHEMA = 1
BUSY = 10.0  # seconds to wait while another process writes

_TABLE = """
CREATE TABLE review (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    document TEXT NOT NULL,
    document_hash TEXT NOT NULL,
    rules_hash TEXT NOT NULL,
    version TEXT NOT NULL,
    action TEXT NOT NULL,
    verdict TEXT,
    pins TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    note TEXT NOT NULL,
    seconds REAL
);
CREATE INDEX review_of_document ON review (document, document_hash, seq);
CREATE TRIGGER review_stays BEFORE UPDATE ON review
BEGIN SELECT RAISE(ABORT, 'rows of reviews are only added'); END;
CREATE TRIGGER review_is_kept BEFORE DELETE ON review
BEGIN SELECT RAISE(ABORT, 'rows of reviews are only added'); END;
"""

T = TypeVar("T")


class StoreError(LawfulError):
    """The file of reviews cannot be read or written now; nothing was stored."""


class FullStoreError(StoreError):
    """There is no room for another row, or the file may not be written."""


class BusyStoreError(StoreError):
    """Another process has been writing for too long."""


class Conflict(LawfulError):  # noqa: N818 - nobody made an error
    """Somebody else has changed the document since it was read; nothing was stored."""


_COLUMNS = tuple(Row.__struct_fields__)
_JSON = ("pins", "before", "after")


class Store:
    """The reviews of one file. Safe to use from several threads, and beside other processes."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it; raises an ``InputError`` if it is no file of reviews."""
        self.path = path.absolute()
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(
                path, timeout=BUSY, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise InputError(f"cannot use {path} for reviews: {error}") from None
        try:
            self._check()
            self._prepare()
            self._file = _identity(path)
        except (sqlite3.Error, OSError) as error:
            self._db.close()
            raise InputError(f"cannot use {path} for reviews: {error}") from None
        self._states: dict[Key, State] = {}
        self._ids: dict[str, dict[str, int]] = {}  # by id, the hashes that have rows
        self._last = 0

    def _check(self) -> bool:
        """Whether the file is new; raises an error, before anything is written, if not ours."""
        db = self._db
        db.execute("PRAGMA trusted_schema = OFF")
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (schema,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables and not application:
            return True
        if application != APPLICATION:
            raise sqlite3.DatabaseError("it is a database of something else")
        if schema != SCHEMA:
            raise sqlite3.DatabaseError(
                f"it was written by another version of lawful (schema {schema}, not {SCHEMA})"
            )
        return False

    def _prepare(self) -> None:
        db = self._db
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")  # two processes may open a new file at once
        try:
            if self._check():
                for statement in _statements(_TABLE):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {SCHEMA}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(f"it is damaged: {found}")

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._db.close()

    def add(self, row: Row, base: int) -> Row:
        """Adds a row to its document, whose last one is ``base``, and returns it with its number.

        Raises a ``Conflict`` if another row is the last, and a ``StoreError`` if it cannot be
        written. When this returns, the row is on the disk.
        """
        values = {name: getattr(row, name) for name in _COLUMNS[1:]}
        values |= {name: encode(values[name]).decode() for name in _JSON}
        names = ", ".join(values)
        places = ", ".join(f":{name}" for name in values)
        with self._lock, _errors(self.path):
            if _identity(self.path) != self._file:
                raise StoreError(f"nothing was stored: {self.path} was removed or replaced")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                if self._last_of(row.document, row.document_hash) != base:
                    raise Conflict(f"document {row.document!r} was changed by somebody else")
                added = self._db.execute(
                    f"INSERT INTO review ({names}) VALUES ({places})",  # noqa: S608 - own names
                    values,
                )
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        return msgspec.structs.replace(row, seq=int(added.lastrowid or 0))

    def _last_of(self, document: str, document_hash: str) -> int:
        found = self._db.execute(
            "SELECT max(seq) FROM review WHERE document = ? AND document_hash = ?",
            (document, document_hash),
        ).fetchone()
        return found[0] or 0

    def rows_of(self, document: str, document_hash: str) -> list[Row]:
        """All rows of a document, in the order in which they were added."""
        where = "WHERE document = ? AND document_hash = ?"
        return list(self._rows(where, (document, document_hash)))

    def last_of_others(self, document: str, hashes: set[str]) -> Row | None:
        """The last row of a document of this id with another hash than any of these."""
        others = [
            (max_seq, hash_)
            for hash_, max_seq in self._hashes(document).items()
            if hash_ not in hashes
        ]
        if not others:
            return None
        return next(iter(self._rows("WHERE seq = ?", (max(others)[0],))), None)

    def _hashes(self, document: str) -> dict[str, int]:
        self.states()
        return self._ids.get(document, {})

    def rows(self) -> Iterator[Row]:
        """All rows of all documents, in the order in which they were added."""
        return iter(self._rows("", ()))

    def _rows(self, where: str, values: tuple[Any, ...]) -> list[Row]:
        columns = ", ".join(_COLUMNS)
        query = f"SELECT {columns} FROM review {where} ORDER BY seq"  # noqa: S608 - own names
        with self._lock, _errors(self.path):
            found = self._db.execute(query, values).fetchall()
        return [_row(each) for each in found]

    def states(self) -> dict[Key, State]:
        """The state of every document that has a row; reads only the rows that are new."""
        with self._lock, _errors(self.path):
            new = self._db.execute(
                "SELECT seq, reviewer, rules_hash, verdict, pins, after, document, document_hash "
                "FROM review WHERE seq > ? ORDER BY seq",
                (self._last,),
            )
            for seq, reviewer, rules, verdict, pins, after, document, hash_ in new:
                outcome = _parsed(after, _OUTCOME)
                self._states[document, hash_] = State(
                    seq,
                    reviewer,
                    rules,
                    verdict,
                    len(_parsed(pins, _PINS)),
                    None if outcome is None else outcome.status,
                    outcome is not None and outcome.optimal,
                    [] if outcome is None else outcome.violated,
                    0 if outcome is None else outcome.unchecked,
                    {} if outcome is None else outcome.fields,
                )
                self._ids.setdefault(document, {})[hash_] = seq
                self._last = seq
            return dict(self._states)

    @property
    def last(self) -> int:
        """The number of the last row that ``states`` has seen."""
        return self._last


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one that has taken its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_PINS = msgspec.json.Decoder(list[dict[str, Any]])
_OUTCOME = msgspec.json.Decoder(Outcome | None)


def _row(values: tuple[Any, ...]) -> Row:
    fields = dict(zip(_COLUMNS, values, strict=True))
    fields["pins"] = _parsed(fields["pins"], _PINS)
    fields["before"], fields["after"] = (_parsed(fields[n], _OUTCOME) for n in ("before", "after"))
    return Row(**fields)


def _parsed(text: str, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(text)
    except msgspec.DecodeError as error:
        raise StoreError(f"a row of reviews is damaged: {error}") from None


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would end the transaction."""
    statement = ""
    for line in script.strip().splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into those that say what happened to the row."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind: Callable[[str], StoreError] = StoreError
        if code in _FULL:
            kind = FullStoreError
        elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            kind = BusyStoreError
        raise kind(f"nothing was stored in {path}: {error}") from None
