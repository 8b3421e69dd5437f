"""Help pages and the options that commands have in common."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lawful.cli
from lawful.cli.app import app
from tests.helpers import DOCUMENTS, RULES, demo_lines, run

COMMANDS = [
    "extract", "read", "decode", "choose", "explain", "check", "evaluate", "calibrate",
    "align", "train", "predict", "export", "demo", "data convert", "data info", "data rules",
    "data split", "rules show", "rules mine", "rules debug", "rules learn", "review open",
    "review export", "review import", "serve",
    "experiments paper", "experiments semantics",
]  # fmt: skip


def help_page(*arguments, width=100):
    command = [sys.executable, "-m", "lawful", *arguments, "-h"]
    environment = {**os.environ, "COLUMNS": str(width)}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


@pytest.fixture(scope="module")
def pages():
    return {name: help_page(*name.split()) for name in COMMANDS}


def test_every_command_is_listed():
    listed = {info.callback.__name__ for info in app.registered_commands}
    assert listed == {name for name in COMMANDS if " " not in name}
    first = help_page()
    assert all(re.search(rf"│ {name.split()[0]} ", first) for name in COMMANDS)


def test_every_command_has_a_sentence_an_example_and_flags_without_a_type(pages):
    for name, page in pages.items():
        lines = [line.strip() for line in page.splitlines() if line.strip()]
        assert lines[0].startswith(f"Usage: python -m lawful {name} ")
        assert lines[1][0].isupper()
        assert page.count(f"Example: lawful {name}") == 1
        assert "<bool>" not in page


@pytest.mark.parametrize("command", ["decode", "choose", "extract", "evaluate", "calibrate"])
def test_commands_that_decode_share_their_options(pages, command):
    for option in ("--decoder", "--candidates", "--seconds", "--max-cost", "--workers",
                   "--bad-lines", "--quiet"):  # fmt: skip
        assert f" {option} " in pages[command]


@pytest.mark.parametrize(
    "command",
    [
        ["decode", "-", "-r", RULES],
        ["check", "-", "-r", RULES],
        ["evaluate", "-", "-r", RULES],
        ["calibrate", "-", "-r", RULES],
    ],
    ids=lambda command: command[0],
)
def test_bad_lines_and_quiet_mean_the_same_everywhere(command):
    lines = demo_lines(4, words=(24, 40)) + "{}\n"
    found = run(*command, "--quiet", stdin=lines)
    assert found.returncode == 1
    assert found.stdout
    assert re.fullmatch(r"line 5: .*\n", found.stderr)
    found = run(*command, "--bad-lines", "fail", stdin=lines)
    assert found.returncode == 2
    assert "lawful: line 5: " in found.stderr


def test_the_count_of_workers_is_checked():
    for command in ("decode", "evaluate"):
        found = run(command, DOCUMENTS, "-r", RULES, "--workers", 0)
        assert found.returncode == 2
        assert "workers is 0, expected a count from 1 to 256" in found.stderr


def test_no_command_imports_another():
    folder = Path(lawful.cli.__file__).parent
    shared = {
        "automation", "complaints", "folders", "follower", "inputs", "options", "output", "runs",
        "scoreboards", "scored_files", "tagging", "tally", "trusting", "truths", "writers",
    }  # fmt: skip
    for file in folder.glob("*.py"):
        if file.stem not in ("app", *shared):
            assert set(re.findall(r"lawful\.cli\.(\w+)", file.read_text())) <= shared


def test_an_unknown_name_of_rules_is_said_with_the_known_ones():
    found = run("rules", "invoce")
    assert found.returncode == 2
    assert "no rule file invoce; did you mean 'invoice'? names of rules: " in found.stderr
