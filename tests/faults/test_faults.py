"""Faults of the machine during real runs: kills, a full disk, closed pipes, folders not writable.

``make faults`` runs them; they take minutes. The rule is always the same: a clear message, nothing
that was finished is lost, and the run resumes to the output of an unbroken one.
"""

from __future__ import annotations

import gzip
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import ROOT, RULES, demo_lines, timeless

COUNT = 1_200
LAWFUL = [sys.executable, "-m", "lawful"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    path.write_text(demo_lines(COUNT, words=(24, 40), noise=0.3))
    return path


@pytest.fixture(scope="module")
def unbroken(pages):
    out = pages.with_name("unbroken.jsonl")
    found = decode(pages, out)
    assert found.returncode == 1, found.stderr
    return found.stderr, timeless(out.read_text())


def command(pages, out, *more):
    return [*LAWFUL, "decode", str(pages), "-r", RULES, "-o", str(out), *map(str, more)]


def decode(pages, out, *more, **how):
    return subprocess.run(
        command(pages, out, *more), cwd=ROOT, capture_output=True, text=True, timeout=300,
        check=False, **how,
    )  # fmt: skip


def start(pages, out, *more, **how):
    return subprocess.Popen(
        command(pages, out, *more), cwd=ROOT, stderr=subprocess.PIPE, text=True,
        start_new_session=True, **how,
    )  # fmt: skip


def wait_for_results(process, out, size=2_000):
    journal = out.with_name(f"{out.name}.journal")
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < size):
        time.sleep(0.005)


def assert_whole(found, out, unbroken):
    """The run has ended as the unbroken one did, and left nothing but its output."""
    said, lines = unbroken
    assert found.returncode == 1, found.stderr
    assert found.stderr.splitlines()[-1] == said.splitlines()[-1]
    assert timeless(out.read_text()) == lines
    assert not list(out.parent.glob("*.partial")) + list(out.parent.glob("*.journal"))
    assert not list(out.parent.glob(".*.tmp"))


@pytest.mark.parametrize("workers", [1, 2])
def test_fifty_kills_at_random_moments_change_nothing(tmp_path, pages, unbroken, workers):
    out = tmp_path / "out.jsonl"
    rng = np.random.default_rng(workers)
    kills = 0
    while kills < 50:
        process = start(pages, out, "--resume", "--workers", workers)
        # Some die before they have begun, most after some results.
        if rng.random() < 0.9:
            before = len(rest(out))
            while process.poll() is None and len(rest(out)) <= before:
                time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.03))
        if process.poll() is not None:  # it was faster: begin again
            _, stderr = process.communicate()
            done = subprocess.CompletedProcess(process.args, process.returncode, "", stderr)
            assert_whole(done, out, unbroken)
            out.unlink()
            continue
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
    assert_whole(decode(pages, out, "--resume"), out, unbroken)


def rest(out):
    journal = out.with_name(f"{out.name}.journal")
    return journal.read_bytes() if journal.exists() else b""


def test_dying_workers_cost_the_documents_they_held(tmp_path, pages):
    out = tmp_path / "out.jsonl"
    process = start(pages, out, "--workers", 2)
    wait_for_results(process, out)
    kills = 0
    while process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children[:1] if kills < 10 else ():
            os.kill(int(child), signal.SIGKILL)
            kills += 1
        time.sleep(0.05)
    _, stderr = process.communicate()
    assert process.returncode == 1, stderr
    assert kills
    lost = COUNT - len(out.read_text().splitlines())
    assert lost <= kills
    assert stderr.count("the worker process died while decoding it") == (lost > 0)
    assert f"{COUNT - lost:,} documents" in stderr


def test_a_stopped_process_goes_on(tmp_path, pages, unbroken):
    out = tmp_path / "out.jsonl"
    process = start(pages, out, "--workers", 2)
    wait_for_results(process, out)
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(1)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGCONT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 1, stderr
    assert timeless(out.read_text()) == unbroken[1]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of half a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_what_is_done(small_disk, pages, unbroken, tmp_path):
    out = small_disk / "out.jsonl"
    found = decode(pages, out)
    assert found.returncode == 2
    assert "No space left on device" in found.stderr
    assert "are kept: --resume continues" in found.stderr
    assert "Traceback" not in found.stderr
    assert not out.exists()
    for file in small_disk.iterdir():  # to a larger disk
        shutil.copy(file, tmp_path)
    assert_whole(
        decode(pages, tmp_path / "out.jsonl", "--resume"), tmp_path / "out.jsonl", unbroken
    )


def test_a_limit_on_the_size_of_files_keeps_what_is_done(tmp_path, pages, unbroken):
    out = tmp_path / "out.jsonl"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    found = decode(pages, out, preexec_fn=limit)
    assert found.returncode == 2
    assert "File too large" in found.stderr
    assert "are kept: --resume continues" in found.stderr
    assert_whole(decode(pages, out, "--resume"), out, unbroken)


def test_a_full_device_is_an_error(pages):
    found = decode(pages, "/dev/full")
    assert found.returncode == 2
    assert "No space left on device" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_reader_that_leaves_ends_the_run(pages):
    script = f"{sys.executable} -m lawful decode {pages} -r {RULES} | head -n 1"
    found = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert found.returncode == 1
    assert len(found.stdout.splitlines()) == 1
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_crash(pages, tmp_path, closed):
    name = "-" if "<" in closed and ">" not in closed else pages
    out = "-" if closed == ">&-" else tmp_path / "out.jsonl"
    line = " ".join(map(str, command(name, out)))
    found = subprocess.run(
        ["bash", "-c", f"{line} {closed}"],
        cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert found.returncode in (1, 2)
    assert "Traceback" not in found.stderr
    assert found.returncode == (2 if "standard" in found.stderr else 1)


@pytest.fixture
def locked(tmp_path):
    """A folder in which this user cannot write; root can where permissions alone forbid it."""
    if os.getuid():
        tmp_path.chmod(0o555)
        yield tmp_path
        tmp_path.chmod(0o755)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("root needs the right to mount a tmpfs")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_folder_that_cannot_be_written_is_an_error_before_the_work(pages, locked):
    found = decode(pages, locked / "out.jsonl")
    assert found.returncode == 2
    assert "Permission denied" in found.stderr or "Read-only file system" in found.stderr
    assert found.stderr.count("\n") == 1


def test_an_input_that_breaks_off_keeps_what_is_done(tmp_path, pages, unbroken):
    packed, out = tmp_path / "pages.jsonl.gz", tmp_path / "out.jsonl"
    whole = gzip.compress(pages.read_bytes())
    packed.write_bytes(whole[: len(whole) // 2])
    found = decode(packed, out)
    assert found.returncode == 2
    assert "unreadable after line" in found.stderr
    assert "are kept: --resume continues" in found.stderr
    packed.write_bytes(whole)
    assert_whole(decode(packed, out, "--resume"), out, unbroken)
