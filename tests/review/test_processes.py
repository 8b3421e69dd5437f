"""Reviews in real processes: kills, restarts, several reviewers, full and damaged disks."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

import pytest

pytest.importorskip("starlette")

from lawful.review.store import Store
from tests.fixtures import pdfs
from tests.helpers import DOCUMENTS, RULES, demo_lines, run
from tests.review.process import reviewing


@pytest.fixture
def db(tmp_path):
    return tmp_path / "review.db"


def rows(db):
    with closing(Store(db)) as store:
        return list(store.rows())


def test_what_was_acknowledged_outlives_a_kill(db):
    """Three reviewers pin as fast as they can; the server is killed in the middle, twice."""
    acknowledged = {}
    for round_ in range(2):
        with reviewing(DOCUMENTS, db) as server:
            begun = threading.Event()

            def work(reviewer, server=server, begun=begun):
                n = reviewer
                with suppress(URLError, HTTPException, OSError):  # killed
                    while True:
                        found = server.ask(f"/api/documents/{n}")[1]
                        said = {"words": [0, 1 + n % 3], "field": None}
                        pins = [said] if said not in found["pins"] else []
                        status, found = server.pin(n, found["seq"], pins, reviewer=f"r{reviewer}")
                        assert status == 200, found
                        acknowledged[found["seq"]] = (found["id"], pins, f"r{reviewer}")
                        n = (n + 3) % 48
                        begun.set()

            with ThreadPoolExecutor(3) as pool:
                futures = [pool.submit(work, reviewer) for reviewer in range(3)]
                assert begun.wait(120)
                time.sleep(1.5 + round_)
                server.kill()
                for future in futures:
                    future.result()
        stored = {row.seq: (row.document, row.pins, row.reviewer) for row in rows(db)}
        assert acknowledged.items() <= stored.items()
        assert sorted(stored) == list(range(1, len(stored) + 1))
    assert len(acknowledged) > 5


def test_undo_goes_on_after_a_restart(db):
    first, second = {"words": [0, 1], "field": None}, {"words": [1, 2], "field": None}
    with reviewing(DOCUMENTS, db) as server:
        server.pin(7, 0, [first])
        server.pin(7, 1, [first, second])
        server.kill()
    with reviewing(DOCUMENTS, db) as server:
        found = server.ask("/api/documents/7")[1]
        assert (found["pins"], found["undo"], found["stale"]) == ([first, second], True, None)
        for pins in ([first], []):
            _, found = server.ask("/api/documents/7/undo", {"base": found["seq"]})
            assert found["pins"] == pins
        assert not found["undo"]
    with reviewing(DOCUMENTS, db) as server:
        found = server.ask("/api/documents/7/redo", {"base": found["seq"]})[1]
        assert (found["pins"], found["redo"]) == ([first], True)


def test_of_two_processes_one_wins_and_the_other_is_told(db):
    with reviewing(DOCUMENTS, db) as one, reviewing(DOCUMENTS, db) as other:
        for turn in range(5):
            base = one.ask("/api/documents/2")[1]["seq"]
            pins = [{"words": [turn, turn + 1], "field": None}]
            with ThreadPoolExecutor(2) as pool:
                asked = [
                    pool.submit(server.pin, 2, base, pins, reviewer=name)
                    for server, name in ((one, "ada"), (other, "bob"))
                ]
                (a, first), (b, second) = (each.result() for each in asked)
            assert sorted((a, b)) == [200, 409]
            lost = first if a == 409 else second
            assert lost["document"]["reviewer"] == ("bob" if a == 409 else "ada")
        other.ask("/api/documents/5/verdict", {"base": 0, "verdict": "skipped"}, reviewer="bob")
        entry = next(e for e in one.ask("/api/queue")[1]["documents"] if e["n"] == 5)
        assert (entry["verdict"], entry["reviewer"]) == ("skipped", "bob")
    assert len(rows(db)) == 6


def test_a_full_disk_loses_nothing_and_is_said(db, tmp_path):
    """The file may not grow beyond a limit, as on a full disk."""
    documents, limit = tmp_path / "documents.jsonl", 2**17
    documents.write_text(demo_lines(9))

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with reviewing(documents, db, preexec_fn=small) as server:
        stored, status = 0, 200
        while status == 200 and stored < 500:
            found = server.ask("/api/documents/7")[1]
            pins = [{"words": [stored % 9, stored % 9 + 1], "text": "x" * 5000}]
            status, found = server.pin(7, found["seq"], pins)
            stored += status == 200
        assert status == 507, found
        assert "nothing was stored" in found["detail"]
        assert server.ask("/api/documents/7")[1]["seq"] == stored
        assert server.ask("/api/documents/8")[0] == 200
    assert len(rows(db)) == stored


@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own that can be made read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    unmount = ["umount", "-l", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield folder
    subprocess.run(unmount, check=True)


def test_a_disk_that_becomes_read_only_is_said(small_disk):
    db = small_disk / "review.db"
    remount = ["mount", "-o", "remount,ro", small_disk]
    Store(db).close()
    subprocess.run(remount, check=True)
    found = run("review", DOCUMENTS, "--rules", RULES, "--db", db, "--no-browser")
    assert found.returncode == 2
    assert f"cannot use {db} for reviews" in found.stderr


def test_a_full_disk_is_said_and_goes_on_once_there_is_room(small_disk):
    db = small_disk / "review.db"
    with reviewing(DOCUMENTS, db) as server:
        assert server.pin(0, 0, [])[0] == 200
        with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(512))
        said = [{"words": [0, 1], "text": "x" * 90_000}]
        status, found = server.pin(0, 1, said)
        assert (status, found["status"]) == (507, 507)
        assert server.ask("/api/documents/0")[1]["seq"] == 1
        (small_disk / "filler").unlink()
        assert server.pin(0, 1, said)[0] == 200
    assert [row.pins for row in rows(db)] == [[], said]


@pytest.mark.parametrize(
    "content",
    [b"hello" * 1000, b"SQLite format 3\0" + b"\xff" * 4080, "other", "damaged"],
    ids=["text", "half", "other", "damaged"],
)
def test_a_file_of_something_else_is_refused_and_left_alone(db, content):
    if content == "other":
        with closing(sqlite3.connect(db)) as made:
            made.execute("CREATE TABLE notes (text)")
    elif content == "damaged":
        with closing(Store(db)):
            pass
        data = bytearray(db.read_bytes())
        data[4096:] = bytes(len(data) - 4096)
        db.write_bytes(data)
    else:
        db.write_bytes(content)
    before = db.read_bytes()
    found = run("review", DOCUMENTS, "--rules", RULES, "--db", db, "--no-browser")
    assert found.returncode == 2, found.stderr
    assert f"cannot use {db} for reviews" in found.stderr
    assert "Traceback" not in found.stderr
    if content != "damaged":
        assert db.read_bytes() == before


def test_what_is_refused_makes_no_file_of_reviews(db):
    for wrong in (["nothing.jsonl"], [DOCUMENTS, "--images-from", "nowhere"]):
        found = run("review", *wrong, "--rules", RULES, "--db", db, "--no-browser")
        assert found.returncode == 2
        assert "cannot read" in found.stderr
    nothing = run("review", "-", "--rules", RULES, "--db", db, "--no-browser", stdin="")
    assert nothing.returncode == 2
    assert "nothing to review in -: no documents" in nothing.stderr
    assert not db.exists()


def test_a_file_that_was_removed_takes_no_more_reviews(db):
    with reviewing(DOCUMENTS, db) as server:
        assert server.pin(0, 0, [])[0] == 200
        db.unlink()
        status, found = server.pin(0, 1, [])
        assert status == 500
        assert "nothing was stored" in found["detail"]


def test_reviews_of_other_documents_do_no_harm(db, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(demo_lines(3, seed=5))  # the same ids, other words
    with reviewing(DOCUMENTS, db) as server:
        server.pin(0, 0, [{"words": [0, 1], "field": "total"}])
    with reviewing(other, db) as server:
        found = server.ask("/api/documents/0")[1]
        assert (found["seq"], found["pins"], found["stale"]["what"]) == (0, [], "document")
        assert found["stale"]["pins"] == [{"words": [0, 1], "field": "total"}]
        assert server.pin(0, 0, [])[0] == 200
    with reviewing(DOCUMENTS, db) as server:
        found = server.ask("/api/documents/0")[1]
        assert (found["stale"], len(found["pins"])) == (None, 1)


def test_an_interrupt_ends_it_and_its_workers(db, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(demo_lines(60))
    with reviewing(many, db) as server:
        children = _children(server.process.pid)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    _await_end(children)


@pytest.mark.parametrize("wait", [0, 3])
def test_ctrl_c_in_a_terminal_is_quiet(db, tmp_path, wait):
    """A terminal sends it to all processes, also to those that draw pages or just begin."""
    (tmp_path / "scans").mkdir()
    for number in range(3):
        (tmp_path / "scans" / f"{number}.pdf").write_bytes(pdfs.text_pdf(["Total 1.00"]))
    options = ["--images-from", tmp_path / "scans"]
    with reviewing(DOCUMENTS, db, *options, start_new_session=True) as server:
        for _ in range(100):
            if len(_children(server.process.pid)) > 2:
                break
            time.sleep(0.05)
        children = _children(server.process.pid)
        assert len(children) > 2
        time.sleep(wait)
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(60) == 0
        said = server.process.stderr.read()
    assert said.splitlines() == [f"ended; reviews are in {db}"]
    _await_end(children)


def _await_end(children):
    for _ in range(100):
        if not any(map(_lives, children)):
            break
        time.sleep(0.1)
    assert not any(map(_lives, children))


def _children(pid):
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, listed.read_text().split())
    return found


def _lives(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
