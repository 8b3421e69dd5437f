"""Output files that resume: after any end of a run, the whole output is as of an unbroken run."""

from __future__ import annotations

import gzip
import os
import signal
import time

import numpy as np
import pytest

from lawful import InputError
from lawful.io.journal import Entry, Journal, resumable

MANIFEST = {"rules": "abc", "temperature": 1.5}
LINES = [(number, b"line %d\n" % number) for number in range(1, 201)]
WHOLE = "head\n" + "".join(f"result {number}\n" for number, _ in LINES) + "foot 200\n"


def run(out, *, resume=None, lines=LINES, manifest=MANIFEST, stop_at=None, pause=0.0):
    """Writes a result for each line; with ``stop_at``, fails before that line."""
    with resumable(str(out), manifest, "head\n", resume=resume) as output:
        for number, _ in output.lines(lines):
            if number == stop_at:
                raise KeyboardInterrupt
            if number > output.last_line:
                time.sleep(pause)
                output.add(Entry(number, f"id {number}", {"done": 1}), f"result {number}\n")
        output.finish(lambda counts: f"foot {counts['done']}\n")


def stopped(out, at=100):
    with pytest.raises(KeyboardInterrupt):
        run(out, stop_at=at)
    return out.with_name(f"{out.name}.journal"), out.with_name(f"{out.name}.partial")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.txt"


def names(path):
    return sorted(file.name for file in path.parent.iterdir())


def test_an_unbroken_run_leaves_only_its_output(out):
    run(out)
    assert out.read_text() == WHOLE
    assert names(out) == ["out.txt"]


@pytest.mark.parametrize("at", [2, 100, 200])
def test_a_stopped_run_resumes_after_its_last_result(out, at):
    stopped(out, at)
    assert names(out) == ["out.txt.journal", "out.txt.partial"]
    run(out, resume=True)
    assert out.read_text() == WHOLE
    assert names(out) == ["out.txt"]


def test_a_run_without_results_leaves_nothing(out):
    stopped(out, at=1)
    assert names(out) == []


def test_the_old_output_stays_until_the_new_one_is_whole(out):
    out.write_text("old")
    out.chmod(0o640)
    stopped(out)
    assert out.read_text() == "old"
    run(out, resume=True)
    assert out.read_text() == WHOLE
    assert out.stat().st_mode & 0o777 == 0o640


def test_an_unfinished_run_is_only_discarded_when_told_so(out):
    journal, _ = stopped(out)
    with pytest.raises(InputError, match="unfinished run with 99 results: --resume"):
        run(out)
    assert journal.exists()
    run(out, resume=False)
    assert out.read_text() == WHOLE


def test_what_was_cut_or_damaged_is_done_again(out):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        journal, partial = stopped(out, at=int(rng.integers(2, 150)))
        damaged = [journal, partial][rng.integers(2)]
        data = bytearray(damaged.read_bytes())
        first = 0 if damaged == partial else data.index(b"\n") + 1  # after the manifest
        at = int(rng.integers(first, len(data)))
        if rng.random() < 0.5:
            del data[at:]
        else:
            data[at:] = bytes(len(data) - at)  # what a file system may leave after a power failure
        damaged.write_bytes(data)
        run(out, resume=True)
        assert out.read_text() == WHOLE, seed
        out.unlink()


def test_a_changed_bit_of_the_output_is_noticed(out):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        _, partial = stopped(out, at=50)
        data = bytearray(partial.read_bytes())
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        partial.write_bytes(data)
        run(out, resume=True)
        assert out.read_text() == WHOLE, seed
        out.unlink()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"manifest": {**MANIFEST, "temperature": 2.0}}, r"temperature has changed \(1.5 before"),
        ({"manifest": {**MANIFEST, "more": 1}}, "more has changed"),
        ({"lines": [(1, b"another\n"), *LINES[1:]]}, "line 1 of the input has changed"),
        ({"lines": LINES[1:]}, "line 2 of the input has changed"),
        ({"lines": LINES[:50]}, "line 99 of the input is missing"),
    ],
)
def test_a_run_whose_input_or_options_changed_does_not_resume(out, changed, message):
    journal, _ = stopped(out)
    with pytest.raises(InputError, match=message):
        run(out, resume=True, **changed)
    assert journal.exists()
    run(out, resume=True)
    assert out.read_text() == WHOLE


def test_lines_that_were_not_done_may_change(out):
    stopped(out)
    lines = [*LINES[:99], (100, b"mended\n"), *LINES[100:]]
    run(out, resume=True, lines=lines)
    assert out.read_text() == WHOLE


def test_packed_output_has_the_bytes_of_an_unbroken_run(tmp_path):
    one, other = tmp_path / "one.gz", tmp_path / "other.gz"
    stopped(one)
    run(one, resume=True)
    run(other)
    assert gzip.decompress(one.read_bytes()).decode() == WHOLE
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["out.txt.journal", "out.txt.partial"])
def test_files_of_others_are_left_alone(out, name):
    other = out.with_name(name)
    other.write_text("mine\n")
    for resume in (None, True, False):
        with pytest.raises(InputError, match="move it away"):
            run(out, resume=resume)
    assert names(out) == [name]
    assert other.read_text() == "mine\n"


def test_two_runs_cannot_write_one_output(out):
    child = os.fork()
    if not child:
        run(out, pause=0.05)
        os._exit(0)
    while not out.with_name("out.txt.journal").exists():
        time.sleep(0.005)
    time.sleep(0.05)
    with pytest.raises(InputError, match="another run is writing it"):
        run(out, resume=True)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    run(out, resume=True)
    assert out.read_text() == WHOLE


def fail(*_, **__):
    raise OSError("as if killed")


def test_a_run_that_was_killed_at_the_very_end_is_whole(out, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(type(out), "unlink", fail)
        with pytest.raises(OSError, match="as if killed"):
            run(out)
    assert names(out) == ["out.txt", "out.txt.journal"]
    run(out, resume=True)
    assert out.read_text() == WHOLE
    assert names(out) == ["out.txt"]


def test_fifty_kills_at_random_moments_change_nothing(out):
    kills = 0
    rng = np.random.default_rng(7)
    while kills < 50 or not out.exists():
        if out.exists():  # it ended before it was killed
            assert out.read_text() == WHOLE
            out.unlink()
        child = os.fork()
        if not child:
            run(out, resume=True, pause=0.0005)
            os._exit(0)
        if kills < 50:
            time.sleep(rng.uniform(0.001, 0.012))
            os.kill(child, signal.SIGKILL)
            kills += 1
        os.waitpid(child, 0)
    assert out.read_text() == WHOLE
    assert names(out) == ["out.txt"]


def test_resuming_needs_an_output_file():
    with pytest.raises(InputError, match="--resume needs an output file"):
        run("-", resume=True)


def test_a_folder_is_no_output(tmp_path):
    with pytest.raises(InputError, match="it is a folder"):
        Journal(str(tmp_path), {}, "", resume=None)
