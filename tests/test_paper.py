"""What reproduces the paper, on the pages that ship."""

from __future__ import annotations

from lawful import demo
from paper import semantics


def test_the_table_of_semantics_comes_out_on_the_shipped_pages(capsys, monkeypatch):
    monkeypatch.setattr(semantics, "RESAMPLES", 20)
    monkeypatch.setattr("sys.argv", ["x", str(demo.shipped()), "--rules", str(demo.RULES)])
    semantics.main()
    printed = capsys.readouterr().out
    assert "| best legal labelling, no rules | 92.8 |" in printed
    assert "| keep, agree, weight 10 | 98.7 |" in printed
    assert "| 10 / 0 | 100.0% |" in printed
    assert printed.count("weight chosen on one half") == 2
