"""Jobs: answered later, bounded, cancelled, and taken up again after any end of the service."""

from __future__ import annotations

import signal
import sqlite3
import time

import msgspec
import pytest

import lawful.server.jobs as jobs_module
from lab.receipts import draw_receipt
from lawful import InputError
from lawful.server import messages
from lawful.server.jobs import Jobs
from lawful.server.problems import HttpProblem
from lawful.server.uploads import Upload
from tests.server.services import LONG, serving

FILE = Upload(b"%PDF", "x.pdf", "application/pdf")


@pytest.fixture
def jobs(tmp_path):
    found = Jobs(tmp_path / "jobs.db")
    yield found
    found.close()


def test_jobs_are_done_in_order_and_forget_their_files(jobs, tmp_path):
    first, second = jobs.add("id=1", FILE), jobs.add("id=2", FILE)
    assert first != second
    assert jobs.claim() == (first, "id=1", FILE)
    assert jobs.claim().id == second
    assert jobs.claim() is None
    assert jobs.beat(first, 3, 7)
    assert (jobs.find(first).status, jobs.find(first).page, jobs.find(first).pages) == (
        "running", 3, 7,
    )  # fmt: skip
    jobs.finish(first, "done", b'{"a":1}')
    assert bytes(jobs.find(first).answer) == b'{"a":1}'
    jobs.finish(second, "failed", b"{}")
    assert not jobs.beat(first, 4, 7)
    database = sqlite3.connect(tmp_path / "jobs.db")
    assert list(database.execute("SELECT content, size FROM jobs")) == [(None, 7), (None, 2)]
    database.close()
    assert (tmp_path / "jobs.db").stat().st_mode & 0o077 == 0


def test_cancelled_jobs_are_gone(jobs):
    name = jobs.add("", FILE)
    jobs.claim()
    jobs.remove(name)
    assert not jobs.beat(name, 1, 1)
    jobs.finish(name, "done", b"{}")  # of a process that does not know yet
    for ask in (jobs.find, jobs.remove):
        with pytest.raises(HttpProblem, match="no job of this id"):
            ask(name)


def test_a_job_of_a_process_that_died_is_taken_twice_at_most(jobs, monkeypatch, tmp_path):
    monkeypatch.setattr(jobs_module, "STALE_SECONDS", 0.0)
    name = jobs.add("", FILE)
    jobs.claim()
    jobs.release(name)  # in good order, which does not count
    for other in (jobs, Jobs(tmp_path / "jobs.db")):
        assert other.claim().id == name
    assert jobs.claim() is None
    assert jobs.find(name).status == "failed"
    assert "twice" in msgspec.json.decode(jobs.find(name).problem)["detail"]
    jobs.release(name)
    assert jobs.find(name).status == "failed"


def test_the_database_is_bounded(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "MAX_JOBS", 3)
    names = [jobs.add("", FILE) for _ in range(3)]
    with pytest.raises(HttpProblem, match="3 jobs wait already"):
        jobs.add("", FILE)
    jobs.claim()
    jobs.finish(names[0], "done", b"{}")
    new = jobs.add("", FILE)
    with pytest.raises(HttpProblem, match="no job"):
        jobs.find(names[0])
    monkeypatch.setattr(jobs_module, "MAX_BYTES", 12)
    for each in (names[1], names[2]):
        jobs.remove(each)
    with pytest.raises(HttpProblem, match="wait already"):
        jobs.add("", FILE._replace(content=b"123456789"))
    monkeypatch.setattr(jobs_module, "KEEP_SECONDS", 0.0)
    jobs.finish(new, "done", b"{}")
    jobs.add("", FILE)
    with pytest.raises(HttpProblem, match="no job"):
        jobs.find(new)


def test_other_databases_are_left_alone(tmp_path):
    other = sqlite3.connect(tmp_path / "review.db")
    other.execute("CREATE TABLE jobs (id)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="another database"):
        Jobs(tmp_path / "review.db")
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(InputError, match="cannot be used"):
        Jobs(tmp_path / "text")


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("onnxruntime")
    draw_receipt(0, tmp_path / "receipt.pdf")
    return (tmp_path / "receipt.pdf").read_bytes()


def begin(service, content, **options):
    return service.client.post(
        "/v1/extract",
        files={"file": ("x.pdf", content)},
        params=options,
        headers={"Prefer": "respond-async"},
    )


def wait_for(service, place, *statuses):
    until = time.monotonic() + LONG
    while (found := service.client.get(place).json())["status"] not in statuses:
        assert time.monotonic() < until, found
        time.sleep(0.1)
    msgspec.json.decode(msgspec.json.encode(found), type=messages.Job)
    return found


def wait_until(happened):
    until = time.monotonic() + LONG
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.1)


def tries_of(path):
    database = sqlite3.connect(path)
    found = [tries for (tries,) in database.execute("SELECT tries FROM jobs ORDER BY created")]
    database.close()
    return found


SLOW = """
import os, sys, time
if "lawful.server.reader_process" in sys.orig_argv and os.path.exists({flag!r}):
    from lawful.readers.reader import Reader
    original = Reader._read_pdf
    def read(self, file, name):
        self.progress(3, 7)
        while os.path.exists({flag!r}):
            time.sleep(0.1)
        return original(self, file, name)
    Reader._read_pdf = read
"""
"""Has reading a file wait for as long as another file is there."""


def test_a_job_survives_kills_and_restarts_and_can_be_cancelled(tmp_path, file):
    flag = tmp_path / "slow"
    (tmp_path / "sitecustomize.py").write_text(SLOW.format(flag=str(flag)))
    options = ("--seconds", 30, "--jobs", tmp_path / "jobs.db", "--drain-seconds", 0)
    how = {"rules": ("receipt",), "environment": {"PYTHONPATH": str(tmp_path)}}
    flag.touch()
    with serving(*options, **how, code=-signal.SIGKILL) as found:
        answer = begin(found, file)
        assert answer.status_code == 202, answer.text
        place = answer.headers["Location"]
        wait_until(lambda: found.client.get(place).json().get("pages") == 7)
        found.process.kill()
    with serving(*options, **how) as found:  # takes it once the dead process is silent for long
        wait_until(lambda: tries_of(tmp_path / "jobs.db") == [2])
        assert wait_for(found, place, "running")["page"] == 3
        second = begin(found, file).headers["Location"]
        assert wait_for(found, second, "queued")
        assert found.client.delete(second).status_code == 204
        assert found.client.get(second).status_code == 404
    with serving(*options, **how) as found:
        third = begin(found, b"no PDF").headers["Location"]
        wait_for(found, place, "running")
        flag.unlink()
        done = wait_for(found, place, "done", "failed")
        assert done["answer"]["id"] == "x.pdf"
        assert done["page"] == done["pages"]
        failed = wait_for(found, third, "failed")
        assert failed["problem"]["detail"] == "the PDF is damaged, or no PDF"
        plain = found.client.post("/v1/extract", files={"file": ("x.pdf", file)}).json()
        assert done["answer"] | {"seconds": 0} == plain | {"seconds": 0}
        flag.touch()
        running = begin(found, file).headers["Location"]
        wait_for(found, running, "running", "done")
        text = found.client.get("/metrics").text
        assert 'lawful_documents_total{path="/v1/jobs",status="error"} 1.0' in text
        assert 'path="/v1/jobs/{id}"' in text


def test_without_a_database_or_a_file_there_are_no_jobs(tmp_path, file):
    with serving("--seconds", 30, rules=("receipt",)) as found:
        assert begin(found, file).status_code == 501
        assert found.client.get("/v1/jobs/x").status_code == 501
    with serving("--jobs", tmp_path / "j.db", rules=("receipt",)) as found:
        headers = {"Prefer": "respond-async"}
        answer = found.client.post("/v1/extract", json={"id": "a"}, headers=headers)
        assert answer.status_code == 415
        assert begin(found, file, rules="other").status_code == 404
        wrong = found.client.post("/v1/extract", files={"file": ("x.exe", b"MZ")}, headers=headers)
        assert wrong.status_code == 415


def test_pages_explain_the_service_without_a_token_and_run_nothing(tmp_path):
    with serving(environment={"LAWFUL_TOKEN": "0123456789abcdef"}) as found:
        text = found.client.get("/").text
        assert "curl -H 'Authorization: Bearer TOKEN' -F file=@invoice.pdf" in text
        assert "receipt" not in text
        for path in ("/", "/docs"):
            page = found.client.get(path, headers={"Accept": "text/html"})
            assert page.headers["content-security-policy"].startswith("default-src 'none'")
            assert "<script" not in page.text
            assert "://" not in page.text.replace(found.url, "")
        headers = {"Authorization": "Bearer 0123456789abcdef"}
        api = found.client.get("/openapi.json", headers=headers)
        for path, methods in api.json()["paths"].items():
            for method in methods:
                assert f"{method.upper()} {path}<" in page.text or method == "head"
        for name in api.json()["components"]["schemas"]:
            assert f'id="{name}"' in page.text
