"""What reproduces the paper, on the pages that ship."""

from __future__ import annotations

import json
from math import inf

import pytest

from lawful import demo
from paper import run, semantics


def test_the_table_of_semantics_comes_out_on_the_shipped_pages(capsys, monkeypatch):
    monkeypatch.setattr(semantics, "RESAMPLES", 20)
    monkeypatch.setattr(semantics, "WEIGHTS", (10.0, inf))
    monkeypatch.setattr("sys.argv", ["x", str(demo.shipped()), "--rules", str(demo.RULES)])
    semantics.main()
    printed = capsys.readouterr().out
    assert "| best legal labelling, no rules | 93.8 |" in printed
    assert "| keep, agree, weight 10 | 98.7 |" in printed
    assert "| 9 / 0 | 100.0% |" in printed
    assert printed.count("weight chosen on one half") == 2


def run_table(monkeypatch, out, *more):
    arguments = [str(demo.shipped()), "--rules", str(demo.RULES), "--out", str(out), *more]
    monkeypatch.setattr("sys.argv", ["run", *arguments])
    run.main()


def test_the_papers_table_comes_out_and_finished_cells_are_kept(tmp_path, monkeypatch, capsys):
    more = ("--methods", "argmax,published,lazyk,exact", "--pages", "6", "--repeats", "1")
    run_table(monkeypatch, tmp_path, *more)
    table = capsys.readouterr().out
    assert table.count("\n") == 2 + 1 + 5 + 8 + 3
    cells = [json.loads(line) for line in (tmp_path / "cells.jsonl").read_text().splitlines()]
    for cell in cells:
        assert cell["f1s"] == pytest.approx(cell["f1"] * cell["satisfied"])
    by_key = {(cell["method"], cell["candidates"]): cell for cell in cells}
    for candidates in (32, 64, 128, 512):  # the same candidates, in the same order
        assert by_key["published", candidates]["f1s"] == by_key["lazyk", candidates]["f1s"]
    assert by_key["exact", 2**17]["satisfied"] == 1
    assert (tmp_path / "table.md").read_text() == table
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + len(cells)

    monkeypatch.setattr(run, "measure", None)  # nothing is measured again
    run_table(monkeypatch, tmp_path, *more)
    assert capsys.readouterr().out == table


def test_an_unknown_method_lists_the_known_ones(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="unknown method 'magic'; methods: argmax, beam"):
        run_table(monkeypatch, tmp_path, "--methods", "magic")
