"""Every example of every page: sessions run, rules load, commands exist, JSON is JSON."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import keyword
import re
import shlex

import pytest
import yaml
from typer.main import get_command

import lawful
from lawful.cli.app import app
from lawful.cli.commands import commands_of
from lawful.rules.file_schema import json_schema
from lawful.rules.language.functions import FUNCTIONS
from tests.docs.pages import DOCS, PAGES, blocks

SESSIONS = [page for page in DOCS if blocks("pycon", pages=[page]) and page.stem != "tutorial"]
"""Pages with Python sessions; the tutorial's runs among its commands (``test_tutorial``)."""


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_python_sessions_are_real(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_every_session_is_marked_as_one(page):
    """A prompt in a block of another language would not be highlighted as a session."""
    for block in blocks("", "python", "text", "console", pages=[page]):
        assert not re.search(r"^>>> ", block.text, re.MULTILINE), block


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_rules_load(block, tmp_path):
    content = yaml.safe_load(block.text)
    if not set(content) & set(json_schema()["properties"]):
        return  # YAML, but no rule file
    for name in re.findall(r"in: (\w+\.txt)", block.text):
        (tmp_path / name).write_text("one\ntwo\n", encoding="utf-8")
    path = tmp_path / "rules.yaml"
    path.write_text(block.text + _missing_fields(content), encoding="utf-8")
    rules = lawful.Rules.load(path)
    assert len(rules.parsed) == len(content.get("rules", []))


def _missing_fields(content):
    """Fields for a part of a rule file that has none: one for every name that it uses."""
    if "fields" in content:
        return ""
    names = {name.partition(":")[0] for name in content.get("weights", {})}
    for each in content.get("rules", []):
        expression = each if isinstance(each, str) else each["check"]
        used = re.findall(r"\b[a-z]\w*", re.sub(r"'[^']*'", "", expression))
        names |= {name for name in used if not keyword.iskeyword(name) and name not in FUNCTIONS}
    names -= {*content.get("classes", {}), *content.get("given", {})}
    for each in content.get("order", []):
        parts = each["fields"] if isinstance(each, dict) else each
        names |= {parts} if isinstance(parts, str) else set(parts)
    fields = {name: {"label": name, "type": "money"} for name in names or {"x"}}
    return yaml.safe_dump({"fields": fields})


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_is_json(block):
    try:
        json.loads(block.text)
    except json.JSONDecodeError:  # one value per line
        for line in block.text.splitlines():
            json.loads(line)


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_is_python_and_names_exist(block):
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lawful"):
            try:
                module = importlib.import_module(node.module)
            except ModuleNotFoundError as error:  # an extra
                pytest.skip(str(error))
            assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if re.fullmatch(r"lawful(\.\w+)+", name):
                _find(name)


def _find(dotted):
    """The thing that a dotted name under ``lawful`` names; importing modules where needed."""
    found = lawful
    for i, part in enumerate(names := dotted.split(".")[1:], start=1):
        if not hasattr(found, part):
            importlib.import_module(".".join(["lawful", *names[:i]]))
        found = getattr(found, part)


COMMANDS = [
    (block, line)
    for block in blocks("console", "sh", "bash")
    for line in re.sub(r"\\\n\s*", " ", block.text).splitlines()
    if re.match(r"\$ lawful ", line)
]


@pytest.mark.parametrize(
    ("block", "line"), COMMANDS, ids=[f"{block}-{i}" for i, (block, _) in enumerate(COMMANDS)]
)
def test_commands_and_their_options_exist(block, line):
    words = shlex.split(line, comments=True)[2:]
    command, parents = get_command(app), []
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command = commands_of(command)[words.pop(0)]
        parents.append(command.name)
    assert parents, f"there is no command {line!r}"
    options = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    if hasattr(command, "commands"):  # a group that takes a file, such as `lawful rules FILE`
        options |= {
            name for c in commands_of(command).values() for p in c.params for name in p.opts
        }
    options |= {"-h", "--help"}
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= options, f"lawful {' '.join(parents)} has no {used - options}"


def test_there_are_examples():
    """The tests above would pass if the pages were not found."""
    assert len(SESSIONS) > 6
    assert len(COMMANDS) > 30
    assert len(blocks("yaml")) > 10
    assert len(PAGES) > 25
