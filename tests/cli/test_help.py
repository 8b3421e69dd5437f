"""Help pages and the options that commands have in common."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from typer.main import get_command

import lawful.cli
from lawful.cli.app import Commands, app
from lawful.cli.commands import Listed, commands_of
from tests.helpers import DOCUMENTS, RULES, demo_lines, run

COMMANDS = [
    "extract", "read", "einvoice", "decode", "choose", "explain", "check", "evaluate",
    "calibrate", "teach", "align", "train", "predict", "export", "demo", "data convert",
    "data info", "data rules", "data split", "rules show", "rules mine", "rules debug",
    "rules learn", "trust fit", "trust check", "review open", "review export", "review import",
    "serve",
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
    listed = {each.name for each in Commands.listed}
    assert listed == {name.split()[0] for name in COMMANDS}
    first = help_page()
    assert all(re.search(rf"│ {name.split()[0]} ", first) for name in COMMANDS)


def test_commands_are_listed_with_the_first_sentence_of_their_help():
    """They are listed without being imported, so the sentence is written twice."""
    listed = [each for each in get_command(app).commands.values() if isinstance(each, Listed)]
    listed += commands_of(get_command(app))["rules"].commands.values()
    for each in listed:
        assert each.help == each.command.help.split("\n\n")[0].replace("\n", " ")


def test_the_list_of_commands_imports_none_of_them():
    """They took 0.8 seconds."""
    code = (
        "import sys; from lawful.cli.app import app; sys.argv = ['lawful', '--help']\n"
        "app(standalone_mode=False); print(sorted(m for m in sys.modules if m[:7] == 'lawful.'))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = found.stdout.splitlines()[-1]
    assert "lawful.cli.app" in modules
    assert "lawful.cli.decode" not in modules
    assert "lawful.documents" not in modules


def test_every_command_has_a_sentence_an_example_and_flags_without_a_type(pages):
    for name, page in pages.items():
        lines = [line.strip() for line in page.splitlines() if line.strip()]
        assert lines[0].startswith(f"Usage: python -m lawful {name} ")
        assert lines[1][0].isupper()
        assert page.count(f"Example: lawful {name}") == 1
        assert "<bool>" not in page


@pytest.mark.parametrize("command", ["decode", "choose", "extract", "evaluate", "calibrate"])
def test_commands_that_decode_share_their_options(pages, command):
    for option in ("--decoder", "--candidates", "--seconds", "--mass", "--max-cost", "--workers",
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
        "asking", "commands", "counts", "demo_files", "error_summary", "folders",
        "groups", "inputs", "options", "output", "review_inputs", "runs", "score_tables",
        "scored_files", "scored_out", "scoring",
        "terminal", "training_progress", "trust_options", "truth_files", "writers",
    }  # fmt: skip
    for file in folder.glob("*.py"):
        if file.stem not in ("app", *shared):
            assert set(re.findall(r"lawful\.cli\.(\w+)", file.read_text())) <= shared


def test_an_unknown_name_of_rules_is_said_with_the_known_ones():
    found = run("rules", "invoce")
    assert found.returncode == 2
    assert "no rule file invoce; did you mean 'invoice'? names of rules: " in found.stderr


def test_an_option_means_the_same_in_every_command():
    """``--labels`` was a file of names in one command, and a choice in another."""
    found = defaultdict(set)
    for name in COMMANDS:
        command = get_command(app)
        for word in name.split():
            command = commands_of(command)[word]
        for each in command.params:
            for option in each.opts:
                found[option].add(each.metavar)
    several = {
        option: kinds for option, kinds in found.items() if option[0] == "-" and len(kinds) > 1
    }
    assert several == {
        "--trust": {"FILE", "NAME=FILE"},  # of the service: one for each of its rules
        "--confidence": {"", "P"},  # of fields; of a promise, how sure it is
        "--split": {"", "NAME"},  # a file into its documents; the part of a data set
        "--out": {"FILE", "FOLDER"}, "-o": {"FILE", "FOLDER"},
        "--rules": {"FILE", "NAME=FILE"}, "-r": {"FILE", "NAME=FILE"},  # of a service: several
    }  # fmt: skip
