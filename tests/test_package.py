"""The package as a user meets it: names, import, README and examples."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lawful
from lawful.errors import shown
from tests.helpers import ROOT


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_public_names_are_the_ones_listed():
    assert len(set(lawful.__all__)) == len(lawful.__all__)
    source = ast.parse(Path(lawful.__file__).read_text())
    (checked,) = (node.body for node in source.body if isinstance(node, ast.If))
    for_type_checkers = [
        (line.module, name.name, name.asname) for line in checked for name in line.names
    ]
    assert for_type_checkers == [
        (f"lawful.{lawful._MODULE_OF[name]}", name, name) for name in lawful.__all__
    ]
    for name in lawful.__all__:
        assert getattr(lawful, name) is not None
    assert set(lawful.__all__) <= set(dir(lawful))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = lawful.nonsense


def test_every_public_name_says_what_it_is_for():
    for name in lawful.__all__:
        assert name in ("DECODERS", "PAPER", "ScoreKind") or getattr(lawful, name).__doc__, name
    assert lawful.Stream.take.__doc__


def test_import_needs_numpy_and_the_core_only():
    script = (
        "import numpy, sys; before = set(sys.modules); import lawful;"
        "print(*set(sys.modules) - before)"
    )
    loaded = set(run(sys.executable, "-c", script).split())
    foreign = {name.split(".")[0] for name in loaded} - sys.stdlib_module_names
    assert foreign - {"_editable_skbc_lawful"} == {"lawful"}


def test_the_version_is_written_once():
    assert re.fullmatch(r"\d+\.\d+\.\d+", lawful.__version__)
    assert "dynamic" in (ROOT / "pyproject.toml").read_text()


def test_the_sessions_in_the_readme_are_real():
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_the_command_line_session_in_the_readme_is_real():
    sessions = (ROOT / "README.md").read_text().split("```console\n")[1:]
    (session,) = (s.split("```")[0] for s in sessions if s.startswith("$ lawful explain"))
    command, *shown = session.splitlines()
    arguments = command.split("#")[0].split()[2:]
    found = subprocess.run(
        [sys.executable, "-m", "lawful", *arguments],
        cwd=ROOT / "src/lawful/demo", capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    timed = re.compile(r"[\d.]+ ms")
    lines = timed.sub("", found).splitlines()
    for line in shown:
        assert line.strip() == "..." or timed.sub("", line) in lines, line


def test_the_numbers_in_the_readme_are_the_demos(tmp_path):
    printed = run(sys.executable, "-m", "lawful", "demo", "--out", str(tmp_path / "demo.html"))
    tables = (ROOT / "README.md").read_text().split("| lawful's defaults |")[1:]
    rows = [line for line in printed.splitlines() if line.startswith(" lawful's defaults")]
    assert len(tables) == len(rows) == 2  # by a simulated tagger, and by the shipped model
    for table, row in zip(tables, rows, strict=True):
        checked, passed, unchecked, value_f1, *_, fixed, broken = row.split()[2:]
        cells = [cell.strip() for cell in table.splitlines()[0].split("|")]
        assert cells[:4] == [checked, passed, unchecked, value_f1]
        assert cells[5:7] == [fixed, broken]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example):
    optional = re.compile(
        r"^import (usaddress|pycrfsuite|polars|duckdb|datasets|pandas)$", re.MULTILINE
    )
    for package in optional.findall(example.read_text()):
        pytest.importorskip(package)
    assert run(sys.executable, str(example))


def test_the_walkthrough_prints_the_papers_table():
    lines = run(sys.executable, "examples/walkthrough.py").splitlines()
    assert "   4.8%   B-total  I-total  I-total  yes   no" in lines
    assert "   4.5%   B-cash   I-cash   I-cash   yes   yes" in lines


def test_rules_of_the_examples_change_what_is_found():
    pytest.importorskip("pycrfsuite")
    found = run(sys.executable, "examples/intents.py")
    assert "separately  play(city='boston', time='tonight')" in found
    assert "together    play(artist='boston tonight')" in found
    found = run(sys.executable, "examples/references.py")
    assert "title: Games of | date: 1917. | title: Review of | author: History, Part A," in found
    assert "title: Games of 1917. | journal: Review of History, Part A, | volume: 6(3)," in found


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", "'x'"),
        ("a" * 1000, "'" + "a" * 198 + "…"),
        (10**5000, "a value of type int"),
        (nested(5000), "a value of type list"),
    ],
    ids=("short", "long", "wide", "deep"),
)
def test_messages_show_values_of_any_length_and_depth(value, expected):
    assert shown(value) == expected


def test_no_module_hides_a_public_name():
    """Importing ``lawful.choose``, had it been a module, would have replaced the function."""
    modules = {path.stem for path in (ROOT / "src" / "lawful").iterdir()}
    assert modules & set(lawful.__all__) == set()
