"""The layout of the repository: what may import what, in Python, in C++ and in tests.

The tables are the documentation. A new room gets a line in ``ORDER`` or ``CPP``, below everything
that it imports; an import that has to go upwards gets a line in ``UPWARDS``, with its reason.
"""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter

import pytest

from tests.helpers import ROOT

ORDER = (
    "_core",
    "base",
    "documents",
    "values",
    "rules",
    "results",
    "search",
    "decoders",
    "candidates",
    "io",
    "pipeline",
    "readers",
    "evaluation",
    "learn",
    "models",
    "llm",
    "arrow",
    "report",
    "server",
    "__init__",  # the public names, of which it imports most only when they are asked for
    "review",
    "cli",
    "__main__",
)
"""The rooms of ``src/lawful``, modules or folders: each imports from those above it only."""

UPWARDS = {
    ("rules.rule_set", "rules.files"): "Rules.load reads a file, and files are made into Rules",
    ("rules.rule_set", "rules.schemas"): "Rules.from_json_schema reads a schema",
    (
        "rules.compiled.program",
        "rules.language.nodes",
    ): "a type in a signature: nodes emit themselves",
    ("rules.compiled.program", "rules.parsed_rule"): "types in signatures: a program is of a rule",
    ("rules.compiled.program", "rules.rule_set"): "types in signatures: a program is of one rule",
    **{
        (f"rules.language.{each}", "rules.language.expression"): "a type: the parser calls them"
        for each in ("operands", "comparisons", "operators", "functions")
    },
    (
        "rules.judging.ambiguity",
        "rules.judging.judge",
    ): "a type in a signature: the judge settles, by this module",
    ("models.tagger", "models.quick"): "from_pretrained also loads quick models, which are taggers",
    ("documents.document", "report.notebook"): "notebooks show a document as its page",
    ("rules.rule_set", "report.notebook"): "notebooks show rules as tables",
    ("results.decoding", "results.wire"): "Decoding.to_dict is a line as a dictionary",
    ("results.decoding", "report.page"): "notebooks show a decoding as its card of the report",
}
"""Imports against the order, with the reason why each is there."""

CPP = {
    "base": (),
    "streams": ("base",),
    "rules": ("base",),
    "search": ("base", "streams", "rules"),
    "python": ("base", "streams", "rules", "search"),
}
"""The folders of ``cpp``, and those that each may include from, besides itself."""

NO_ROOM = (
    "core",
    "docs",
    "engines",
    "faults",
    "hostile",
    "lab",
    "layout",
    "package",
    "plugs",
    "web",
)
"""Tests that are about everything, not about one room."""

OBVIOUS = ("cli", "decoders", "models", "report", "values")
"""Rooms whose files need no map: one per command, decoder, step of training or kind of value."""

MAX_LINES = 500
"""Lines of a file: a longer one usually holds two ideas."""

MAX_ROOMS = 20
"""Rooms at most: a newcomer reads all their names."""

SOURCES = ROOT / "src" / "lawful"
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LAB = sorted((ROOT / "lab").rglob("*.py"))


def name_of(path, root):
    """The dotted name of a module below ``root``."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def imported(path):
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def imports_of(path, modules):
    """The modules among ``modules`` that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            for alias in node.names:
                names = f"{node.module}.{alias.name}", node.module
                yield from [name for name in names if name in modules][:1]


@pytest.fixture(scope="module")
def graph():
    """For every module of the package, the modules of the package that it imports."""
    paths = {name_of(path, SOURCES): path for path in SOURCES.rglob("*.py")}
    modules = {f"lawful.{name}": name for name in (*paths, "_core")} | {"lawful": "__init__"}
    return {
        name: {modules[found] for found in imports_of(path, modules)} - {name}
        for name, path in paths.items()
    }


def test_the_laboratory_is_imported_by_its_full_names():
    """Benchmarks are run by hand: one that imported a folder of former times was broken."""
    inside = {path.stem for path in LAB} | {path.parent.name for path in LAB}
    for path in LAB:
        names = {name.partition(".")[0] for name in imported(path) if "." in name}
        assert not names & (inside - {"lab"}), path


def test_no_file_is_too_long_to_read_in_one_go():
    sources = [*SOURCES.rglob("*.py*"), *(ROOT / "cpp").rglob("*.[ch]pp")]
    texts = {path: path.read_text("utf-8") for path in sources if path.suffix != ".pyc"}
    assert [path for path, text in texts.items() if text.count("\n") > MAX_LINES] == []


def test_the_map_for_contributors_has_every_module():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `([a-z_/]+)/` \| (.*) \|$", text)
    rooms = [room for room, _ in rows if "/" not in room and room in ORDER]
    assert rooms == [room for room in ORDER if (SOURCES / room).is_dir()]
    named = dict(rows)
    for path in SOURCES.rglob("*.py"):
        room, *inside = path.relative_to(SOURCES).with_suffix("").parts
        if inside in ([], ["__init__"]) or room in OBVIOUS:
            continue
        folder = "/".join((room, *inside[:-1]))
        text = named.get(folder, named[room])
        assert inside[-1] == "__init__" or f"`{inside[-1]}`" in text, path


def room_of(name):
    return name.partition(".")[0]


def test_every_room_has_its_place(graph):
    assert {room_of(name) for name in graph} - set(ORDER) == set()


def test_there_are_few_rooms():
    inside = {path for path in SOURCES.iterdir() if path.is_dir() or path.suffix == ".py"}
    names = {path.stem for path in inside} - {"__init__", "__main__", "__pycache__"}
    assert len(names) <= MAX_ROOMS, names


def test_imports_go_downwards(graph):
    upwards = {
        (name, found)
        for name, others in graph.items()
        for found in others
        if ORDER.index(room_of(found)) > ORDER.index(room_of(name))
    }
    assert upwards <= set(UPWARDS)


def test_modules_of_a_room_do_not_import_each_other_in_circles(graph):
    downwards = {
        name: {found for found in others if (name, found) not in UPWARDS}
        for name, others in graph.items()
    }
    TopologicalSorter(downwards).prepare()  # raises an error that has the circle


def test_exceptions_are_still_needed(graph):
    assert [pair for pair in UPWARDS if pair[1] not in graph.get(pair[0], ())] == []


def test_the_core_includes_downwards_and_only_its_bindings_know_python():
    files = [path for path in (ROOT / "cpp").rglob("*") if path.suffix in (".cpp", ".hpp")]
    assert {path.parent.name for path in files} == set(CPP)
    for path in files:
        folder = path.parent.name
        for quoted, angled in re.findall(r'#include (?:"(.+)"|<(.+)>)', path.read_text()):
            if quoted:
                assert quoted.split("/")[0] in (folder, *CPP[folder]), path
            elif re.match(r"nanobind|Python|numpy", angled):
                assert folder == "python", path


def test_tests_import_no_test_file_and_no_benchmark():
    others = {name_of(path, ROOT) for path in (ROOT / "lab" / "benchmarks").glob("*.py")}
    others |= {name_of(path, ROOT) for path in TESTS if path.name.startswith("test_")}
    for path in TESTS:
        assert not set(imports_of(path, others)), path


def test_what_is_shared_has_no_tests():
    for path in TESTS:
        if not path.name.startswith("test_"):
            assert not re.search(r"(?m)^def test_", path.read_text(encoding="utf-8")), path


def test_tests_lie_where_the_source_does():
    for path in TESTS:
        if path.name.startswith("test_"):
            room, *_ = path.relative_to(ROOT / "tests").with_suffix("").parts
            assert room.removeprefix("test_") in (*ORDER, *NO_ROOM), path
