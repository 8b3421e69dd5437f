"""Jobs that outlive their requests: files that wait to be extracted, and answers, in SQLite.

Processes share the database. A job belongs to the process that has claimed it for as long as it
says so every few seconds; after that, as after a crash or a restart, another one takes it. A job
whose process has died twice has failed. What is removed is overwritten on the disk.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_urlsafe
from time import time
from typing import NamedTuple

import msgspec

from lawful.base.errors import InputError
from lawful.server.messages import Job, JobStatus
from lawful.server.problems import HttpProblem, busy
from lawful.server.uploads import Upload

MAX_JOBS = 1000
"""Jobs in the database; finished ones give way to new ones, the oldest first."""

MAX_BYTES = 2**30
"""Bytes of all files that wait, and of all answers."""

KEEP_SECONDS = 24 * 3600.0
"""Time for which an answer is kept."""

STALE_SECONDS = 10.0
"""Time without a word of its process after which a job is taken by another one."""

MAX_TRIES = 2
_OURS = 0x4C61776A  # "Lawj", which tells this database from others

_TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, created REAL, status TEXT, beat REAL DEFAULT 0, tries INT DEFAULT 0,
    query TEXT, name TEXT, kind TEXT, content BLOB,
    page INT DEFAULT 0, pages INT, answer BLOB, size INT
)"""
_CLAIM = """
UPDATE jobs SET status = 'running', beat = ?1, tries = tries + 1 WHERE id = (
    SELECT id FROM jobs WHERE status = 'queued' OR (status = 'running' AND beat < ?1 - ?2)
    ORDER BY created LIMIT 1
) RETURNING id, query, content, name, kind, tries"""

_FORGET_OLD = "DELETE FROM jobs WHERE status IN ('done', 'failed') AND beat < ?"
_FORGET_OLDEST = """
DELETE FROM jobs WHERE id = (
    SELECT id FROM jobs WHERE status IN ('done', 'failed') ORDER BY beat LIMIT 1
)"""


class Claimed(NamedTuple):
    """A job to do: the options of its request, and the file."""

    id: str
    query: str
    upload: Upload


class Jobs:
    """The jobs of a database, which is made if it is not there; usable from any thread."""

    def __init__(self, path: Path) -> None:
        """Raises an ``InputError`` if the file cannot be used, or is another database."""
        self._lock = threading.Lock()
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # it has texts of documents
            self._database = sqlite3.connect(
                path, 10, isolation_level=None, check_same_thread=False
            )
            [[found]] = self._database.execute("PRAGMA application_id")
            [[tables]] = self._database.execute("SELECT count(*) FROM sqlite_master")
            if tables and found != _OURS:
                raise InputError(f"--jobs {path} is another database: choose another name")
            self._database.execute(f"PRAGMA application_id = {_OURS}")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA secure_delete = ON")
            self._database.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"--jobs {path} cannot be used: {error}") from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The database, of which no other process writes anything meanwhile."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def add(self, query: str, upload: Upload) -> str:
        """The id of a new job; raises 503 if too much waits already."""
        with self._writing() as database:
            self._make_room(database, len(upload.content))
            name = token_urlsafe(16)
            database.execute(
                "INSERT INTO jobs (id, created, status, query, name, kind, content, size) "
                "VALUES (?, ?, 'queued', ?, ?, ?, ?, ?)",
                (name, time(), query, upload.name, upload.media_type, upload.content,
                 len(upload.content)),
            )  # fmt: skip
        return name

    @staticmethod
    def _make_room(database: sqlite3.Connection, size: int) -> None:
        database.execute(_FORGET_OLD, (time() - KEEP_SECONDS,))
        while True:
            [(count, held)] = database.execute("SELECT count(*), total(size) FROM jobs")
            if count < MAX_JOBS and held + size <= MAX_BYTES:
                return
            if not database.execute(_FORGET_OLDEST).rowcount:
                said = f"{count} jobs wait already, which is the maximum; ask again"
                raise busy(said, seconds=60)

    def find(self, name: str) -> Job:
        """A job and how far it is; raises 404 if there is none of this id."""
        with self._lock:
            found = self._database.execute(
                "SELECT created, status, page, pages, answer FROM jobs WHERE id = ?", (name,)
            ).fetchone()
        if found is None:
            raise HttpProblem(404, "there is no job of this id; it may have been removed")
        created, status, page, pages, answer = found
        job = Job(name, status, datetime.fromtimestamp(created, UTC).isoformat(), page)
        if pages is not None:
            job.pages = pages
        if status == "done":
            job.answer = msgspec.Raw(answer)
        elif status == "failed":
            job.problem = msgspec.Raw(answer)
        return job

    def remove(self, name: str) -> None:
        """Cancels a job, or forgets a finished one; raises 404 if there is none of this id."""
        with self._writing() as database:
            if not database.execute("DELETE FROM jobs WHERE id = ?", (name,)).rowcount:
                raise HttpProblem(404, "there is no job of this id; it may have been removed")

    def claim(self) -> Claimed | None:
        """The job that has waited longest, which is then this process's."""
        while True:
            with self._writing() as database:
                found = database.execute(_CLAIM, (time(), STALE_SECONDS)).fetchone()
            if found is None:
                return None
            name, query, content, file, kind, tries = found
            if tries <= MAX_TRIES:
                return Claimed(name, query, Upload(content, file, kind))
            problem = HttpProblem(500, "the service ended while it worked on this file, twice")
            self.finish(name, "failed", msgspec.json.encode(problem.to_dict()))

    def beat(self, name: str, page: int, pages: int | None) -> bool:
        """Says that a job goes on, and how far it is; false if it was cancelled."""
        with self._writing() as database:
            found = database.execute(
                "UPDATE jobs SET beat = ?, page = ?, pages = ? WHERE id = ? AND status = 'running'",
                (time(), page, pages, name),
            )
            return found.rowcount > 0

    def finish(self, name: str, status: JobStatus, answer: bytes) -> None:
        """Keeps the answer or the problem of a job, and its file no longer."""
        with self._writing() as database:
            database.execute(
                "UPDATE jobs SET status = ?, beat = ?, answer = ?, content = NULL, size = ?, "
                "page = coalesce(pages, page) WHERE id = ?",
                (status, time(), answer, len(answer), name),
            )

    def release(self, name: str) -> None:
        """Leaves a job to others: this process ends in good order."""
        with self._writing() as database:
            database.execute(
                "UPDATE jobs SET status = 'queued', tries = tries - 1 "
                "WHERE id = ? AND status = 'running'",
                (name,),
            )

    def close(self) -> None:
        """Closes the database."""
        with self._lock:
            self._database.close()
