"""Kills during runs with a folder as output: no complete file is lost or made again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from pyarrow import parquet

from lab import receipts as demo
from lawful.arrow import scored_batch
from tests.helpers import ROOT, RULES

FILES, PAGES = 12, 60


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in")
    found = list(demo.generate(FILES * PAGES, words=(24, 40), noise=0.3))
    for number in range(FILES):
        some = found[number * PAGES : (number + 1) * PAGES]
        parquet.write_table(pa.table(scored_batch(some)), folder / f"{number:02}.parquet")
    return folder


def command(pages, out, *more):
    arguments = ("decode", pages, "-r", RULES, "-o", f"{out}/", "--quiet", *more)
    return [sys.executable, "-m", "lawful", *map(str, arguments)]


def outputs(out):
    """The rows of all files, without the time that each took."""
    return {
        path.name: parquet.read_table(path).drop_columns(["seconds"]).to_pylist()
        for path in sorted(out.glob("*.parquet"))
    }


@pytest.mark.parametrize("workers", [1, 2])
def test_kills_lose_no_complete_file(tmp_path, pages, workers):
    whole, out = tmp_path / "whole", tmp_path / "out"
    subprocess.run(command(pages, whole), cwd=ROOT, check=False, timeout=300)
    complete: dict[str, int] = {}
    for kill in range(1, 5):
        process = subprocess.Popen(
            command(pages, out, "--resume", "--workers", workers), cwd=ROOT, start_new_session=True
        )
        while process.poll() is None and len(list(out.glob("*.parquet"))) < 2 * kill:
            time.sleep(0.002)
        time.sleep(0.02 * kill)  # into the next file
        assert process.poll() is None, "finished before the last kill"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for path in out.glob("*.parquet"):
            assert parquet.read_table(path).num_rows == PAGES  # whole, or not there
        journal = (out / "manifest.jsonl.partial").read_text()
        for name, written in complete.items():
            assert (out / name).stat().st_mtime_ns == written  # not made again
        complete |= {
            path.name: path.stat().st_mtime_ns
            for path in out.glob("*.parquet")
            if f'"{path.name}"' in journal
        }
        assert len(complete) >= 2 * kill - 1
    subprocess.run(command(pages, out, "--resume"), cwd=ROOT, check=False, timeout=300)
    for name, written in complete.items():
        assert (out / name).stat().st_mtime_ns == written
    assert outputs(out) == outputs(whole)
    assert len(outputs(out)) == FILES
    assert (out / "manifest.jsonl").read_text() == (whole / "manifest.jsonl").read_text()
    assert sorted(path.name for path in out.iterdir()) == sorted(
        path.name for path in whole.iterdir()
    )
