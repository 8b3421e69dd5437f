"""What the invoice model learns from: windows, and the stand-ins with which they are made."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from lawful_models import INVOICE

from lab.invoices import bare
from lab.invoices.labels import LABELS
from lab.invoices.packed import NO_TARGET, OUTPUTS, Windows
from lab.invoices.pages import example
from lab.invoices.shapes import original
from lawful import _core


@pytest.mark.parametrize(
    ("shape", "printed"),
    [
        ("0p000c00", "0.000,00"),
        ("00s00s0000", "00/00/0000"),
        ("customerpo", "customerpo"),  # was taken for a shape, and became a piece of its own
        ("po0000c0", "po0000,0"),
    ],
)
def test_only_what_stands_between_digits_is_a_separator(shape, printed):
    assert original(shape) == printed


def test_the_stand_in_finds_the_lines_of_the_core():
    rng = np.random.default_rng(3)
    for _ in range(30):
        corner = rng.integers(0, 60, (25, 2)).astype(float)
        boxes = np.hstack([corner, corner + rng.integers(1, 9, (25, 2))])
        order = np.lexsort((boxes[:, 1], boxes[:, 0]))
        assert bare.lines(boxes, order, 0.3).tolist() == _core.lines(boxes, order, 0.3).tolist()


def test_windows_are_the_same_where_lawful_is_not_built(tmp_path):
    pytest.importorskip("tokenizers", reason="needs the 'onnx' extra")
    from lab.invoices import windows

    pages = [example(5, number) for number in range(4)]
    made = windows.windows_of(INVOICE, pages)
    made.save(tmp_path / "made.npz")
    made = Windows.load([tmp_path / "made.npz"])
    code = "import lab.invoices.bare as b, sys, importlib; sys.argv[1:] = {}; b.main()"
    setup = "import lab.invoices.packed; "
    again = tmp_path / "again"
    subprocess.run(
        [sys.executable, "-c", setup + code.format([str(INVOICE), str(again), "--pages", "100",
                                                    "--seed", "5", "--workers", "1"])],
        check=True,
    )  # fmt: skip
    theirs = Windows.load([again / "5-0000.npz"])
    for ours, other in zip(made[:3], theirs[:3], strict=True):
        assert np.array_equal(ours, other[: len(ours)])
    kinds = {page.kind for page in pages}
    firsts = made.targets[np.cumsum(made.lengths.astype(int)) - made.lengths]
    assert {OUTPUTS[target] for target in firsts} == kinds
    assert made.targets[made.targets != NO_TARGET].max() < len(OUTPUTS)
    assert len(LABELS) + 3 == len(OUTPUTS)
