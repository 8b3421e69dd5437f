"""The package as a user meets it: names, import, README and examples."""

from __future__ import annotations

import ast
import doctest
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

import lawful
from lawful.base.errors import shown
from tests.helpers import ROOT


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


NAMES = [
    "Boundaries", "Box", "Budget", "Candidates", "Decoding", "Document",
    "DocumentError", "FailedDocument", "Field", "Grounded", "Grounding", "InputError", "Labelled",
    "LawfulError",
    "LimitError", "MemoryBudgetError", "MissingExtraError", "Order", "Pin", "Report", "RowKind",
    "Rule", "RuleDefaults", "RuleFailure", "Rules", "RulesError", "Scheme", "SchemeError",
    "Scored", "Scores", "ScoresError", "Span", "SpanScores", "Tagger", "TimeBudgetError",
    "WordRule", "assignments", "choose", "decode", "decode_many", "evaluate", "extract",
    "from_pretrained", "ground", "paths", "read_jsonl", "readings", "register_type", "rule",
    "to_frame", "write_jsonl",
]  # fmt: skip
"""The public names; a change here is one for users, which CHANGELOG.md tells."""

FURTHER = {
    "decoders": ["DECODERS", "Decoder"],
    "documents": ["ScoreKind"],
    "llm": ["Answer", "Ask", "Client", "EndpointError", "Reply", "Usage", "extract_values"],
    "readers": ["Item", "Limits", "OcrMode", "Reader", "Selection", "files_in", "kind_of",
                "read_files"],
    "results": ["Check", "ClassValue", "Confidence", "Correction", "FieldValue", "SpanCorrection"],
    "rules": ["Lexicon", "PAPER"],
    "search": ["DocumentReading", "Problem", "ReadingStream", "Stream"],
}  # fmt: skip
"""Those of the public modules that are not among the public names."""


def test_the_public_names_are_the_ones_listed():
    assert sorted(lawful.__all__) == sorted(NAMES)
    source = ast.parse(Path(lawful.__file__).read_text())
    (checked,) = (node.body for node in source.body if isinstance(node, ast.If))
    for_type_checkers = [
        (line.module, name.name, name.asname) for line in checked for name in line.names
    ]
    assert for_type_checkers == [
        *(("lawful", name, name) for name in lawful.SUBMODULES),
        *((f"lawful.{lawful._MODULE_OF[name]}", name, name) for name in lawful.__all__),
    ]
    for name in lawful.__all__:
        assert getattr(lawful, name) is not None
    assert {*lawful.__all__, *lawful.SUBMODULES} <= set(dir(lawful))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = lawful.nonsense


def test_the_names_of_public_modules_are_the_ones_listed():
    assert sorted(FURTHER) == sorted(lawful.SUBMODULES)
    for module, names in FURTHER.items():
        found = getattr(lawful, module)
        assert sorted(set(found.__all__) - set(lawful.__all__)) == names
        assert all(getattr(found, name) is not None for name in names)
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = found.nonsense


def test_public_modules_need_no_import_of_their_own():
    names = " ".join(f"lawful.{module}.{names[0]};" for module, names in FURTHER.items())
    run(sys.executable, "-c", f"import lawful; {names}")


def test_every_public_name_says_what_it_is_for():
    further = [(getattr(lawful, module), name) for module in FURTHER for name in FURTHER[module]]
    for module, name in [(lawful, name) for name in lawful.__all__] + further:
        value = getattr(module, name)
        assert name in ("DECODERS", "PAPER", "ScoreKind", "OcrMode") or value.__doc__, name
    assert lawful.search.Stream.take.__doc__


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


def test_all_that_is_released_has_the_same_version():
    models = (ROOT / "packages/lawful-models/src/lawful_models/__init__.py").read_text()
    assert f'__version__ = "{lawful.__version__}"' in models
    assert f"\nversion: {lawful.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"(?m)^## (\S+),", (ROOT / "CHANGELOG.md").read_text())
    assert newest
    assert newest[1] == lawful.__version__


def test_every_shipped_model_has_a_card():
    for model in (ROOT / "packages/lawful-models/src/lawful_models").glob("*/model.onnx"):
        card = (model.parent / "README.md").read_text()
        for row in ("task", "for", "architecture", "languages", "trained on", "made by", "licence"):
            assert f"\n| {row} | " in card, model


def test_the_bill_of_materials_has_what_is_shipped(tmp_path):
    pytest.importorskip("packaging")
    from tests.sbom import sbom

    name, models = tmp_path / "a.whl", tmp_path / "m.whl"
    about = "Metadata-Version: 2.4\nName: {}\nVersion: 1.0\nLicense-Expression: MIT\n"
    with ZipFile(name, "w") as made:
        needs = "Requires-Dist: numpy>=1\nRequires-Dist: pytest>=8; extra == 'test'\n"
        needs += "Requires-Dist: lawful-models; extra == 'extract'\n"
        needs += "Requires-Dist: rich; extra == 'pretty'\n"
        made.writestr("a-1.0.dist-info/METADATA", about.format("a") + needs)
    with ZipFile(models, "w") as made:
        own = about.format("lawful-models").replace("1.0", lawful.__version__)
        made.writestr("m-1.0.dist-info/METADATA", own)
        made.writestr("m/receipt/model.onnx", b"weights")
    bill = sbom([name, models])
    found = {each["name"]: each for each in bill["components"]}
    assert set(found) == {"a", "lawful-models", "numpy", "rich"}
    assert (found["numpy"]["scope"], found["rich"]["scope"]) == ("required", "optional")
    assert found["numpy"]["version"] == version("numpy")
    assert found["numpy"]["licenses"]
    assert [each["name"] for each in found["a"]["components"]] == ["nanobind", "preact"]
    (model,) = found["lawful-models"]["components"]
    assert model["hashes"][0]["content"] == sha256(b"weights").hexdigest()
    assert found["a"]["hashes"][0]["content"] == sha256(name.read_bytes()).hexdigest()
    notice = (ROOT / "NOTICE").read_text().lower()
    assert all(each["name"] in notice for each in found["a"]["components"])


def test_the_sessions_in_the_readme_are_real():
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_the_command_line_session_in_the_readme_is_real(tmp_path):
    sessions = (ROOT / "README.md").read_text().split("```console\n")[1:]
    (session,) = (s.split("```")[0] for s in sessions if s.startswith("$ lawful decode"))
    for name in ("documents.jsonl.gz", "rules.yaml"):
        shutil.copy(ROOT / "src/lawful/rules/packs/demo" / name, tmp_path)
    timed = re.compile(r"[\d.]+ ms")
    for each in session.split("$ lawful ")[1:]:
        command, *shown = each.splitlines()
        found = subprocess.run(
            [sys.executable, "-m", "lawful", *command.split("#")[0].split()],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = timed.sub("", found.stdout + found.stderr).splitlines()
        for line in shown:
            assert line.strip() == "..." or timed.sub("", line) in lines, line


def test_the_numbers_in_the_readme_are_the_demos(tmp_path):
    printed = run(sys.executable, "-m", "lawful", "demo", "--out", str(tmp_path / "demo.html"))
    table = [line for line in (ROOT / "README.md").read_text().splitlines() if line[:2] == "| "]
    for name in ("best legal labelling", "the paper's semantics", "lawful's defaults"):
        (shown,) = ([c.strip() for c in line.split("|")[2:8]] for line in table if name in line)
        first = next(line for line in printed.splitlines() if line.startswith(f" {name} "))
        checked, passed, vacuous, value_f1, _, right, *of, fixed, broken = first.split(name)[
            1
        ].split()
        right = " ".join([right, *of])
        fixed, broken = ("" if each == "-" else each for each in (fixed, broken))
        assert shown == [f"{passed} of {checked}", vacuous, value_f1, right, fixed, broken]


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


def test_the_workflow_runs_what_one_machine_runs():
    """It had left out two targets, although its first line said that it does the same."""
    alone = re.findall(r"(?m)^make (\S+)$", (ROOT / ".ci" / "run").read_text())
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    check = workflow["jobs"]["check"]
    assert check["strategy"]["matrix"]["target"] == alone
    assert check["steps"][-1] == {"run": "make ${{ matrix.target }}"}
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"(?m)^{target}:.*##", makefile) for target in alone)
