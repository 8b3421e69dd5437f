"""Interruptions at random moments of an extraction from files: only what was in work is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from tests.helpers import ROOT, timeless

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs the 'arrow' extra")

FILES, TIMES = 24, 30
HOW = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scans")
    for page in demo.generate(FILES, words=(24, 40), noise=0.3):
        draw_pdf(page.document, folder / f"{page.document.id}.pdf")
    (folder / "receipt-00003.pdf").write_bytes(b"%PDF-1.7 broken")
    return folder


def start(scans, out, *more):
    arguments = ("extract", scans, "-o", out, "--unchecked", "pass", *more)
    command = [sys.executable, "-m", "lawful", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def ended(process):
    _, said = process.communicate(timeout=300)
    return said


def rest(out):
    """What is kept of an unfinished run: the lines of the partial file that are complete."""
    partial = out.with_name(f"{out.name}.partial")
    return partial.read_bytes().splitlines(keepends=True) if partial.exists() else []


def read(out):
    if out.suffix == ".parquet":
        return parquet.read_table(out).drop_columns(["seconds"]).to_pylist()
    return timeless(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("workers", "name"), [(1, "a.jsonl"), (2, "a.jsonl"), (2, "a.parquet")])
def test_interruptions_at_random_moments_change_nothing(tmp_path, scans, workers, name):
    whole, out = tmp_path / f"whole-{name}", tmp_path / name
    said = ended(start(scans, whole))
    rng = np.random.default_rng(workers)
    times = 0
    while times < TIMES:
        before = rest(out)
        process = start(scans, out, "--resume", "--workers", workers)
        if rng.random() < 0.9:  # some are interrupted before they have begun
            while process.poll() is None and len(rest(out)) <= len(before):
                time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.3))
        if process.poll() is not None:  # it was faster: begin again
            assert ended(process).splitlines()[-1] == said.splitlines()[-1]
            assert read(out) == read(whole)
            out.unlink()
            continue
        os.killpg(process.pid, HOW[times % len(HOW)])
        ended(process)
        if not out.exists():
            kept = before[:-1]  # the last line may have no entry in the journal yet
            assert rest(out)[: len(kept)] == kept
        times += 1
    assert ended(start(scans, out, "--resume")).splitlines()[-1] == said.splitlines()[-1]
    assert read(out) == read(whole)
    assert {path.name for path in tmp_path.iterdir()} == {out.name, whole.name}
