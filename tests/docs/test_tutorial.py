"""The tutorial, from its first command to its last, in an empty folder."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys

import pytest

from tests.docs.pages import blocks
from tests.helpers import ROOT, run

TIMES = re.compile(r"[\d.]+ ms")


def test_the_tutorial_is_real(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("pypdfium2")
    monkeypatch.chdir(tmp_path)
    page = [ROOT / "docs" / "tutorial.md"]
    ran = 0
    for block in blocks("console", "yaml", "pycon", pages=page):
        if block.language == "yaml":
            (tmp_path / "rules.yaml").write_text(block.text, encoding="utf-8")
        elif block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.text, {}, str(block), None, 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        else:
            for command, shown in commands(block.text):
                printed = output(command, tmp_path)
                assert_shown(shown, printed)
                ran += 1
    assert ran > 6
    assert {"receipt.pdf", "fields.csv", "report.html"} <= {
        path.name for path in tmp_path.iterdir()
    }


def commands(text):
    """The commands of a session, each with the lines that it prints."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((shlex.split(line[2:]), []))
        else:
            found[-1][1].append(line)
    return found


def output(command, folder):
    """What a command prints, on both channels."""
    name, *arguments = command
    if name == "pip":
        return ""  # the package is there
    if name == "python":
        return subprocess.run(
            [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    assert name == "lawful"
    done = run(*arguments, cwd=folder)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout + done.stderr


def assert_shown(shown, printed):
    """Asserts that lines are printed in this order; ``...`` stands for any number of others."""
    lines = iter(TIMES.sub("", printed).splitlines())
    for line in shown:
        if line.strip() not in {"...", ""}:
            assert TIMES.sub("", line) in lines, line


def test_a_line_that_is_not_printed_is_noticed():
    with pytest.raises(AssertionError, match="total 5"):
        assert_shown(["total 4", "total 5"], "total 4\ntotal 6\n")
