"""``lawful data`` as a user would run it."""

from __future__ import annotations

import json
import re

import pytest

from lab.datasets import RULES
from lawful import Rules
from lawful.io.jsonl import read_labelled, write_labelled
from tests.fixtures import outputs
from tests.fixtures.labelled import MONEY, PAGES
from tests.helpers import needs_shared, run


@pytest.fixture
def documents(tmp_path):
    write_labelled(tmp_path / "documents.jsonl", PAGES)
    return tmp_path / "documents.jsonl"


def test_info_on_the_command_line(documents, tmp_path):
    found = run("data", "info", "jsonl", documents)
    assert found.returncode == 0
    assert "5 (train 2, test 1)" in found.stdout
    assert "15: 2.5 per page, 4 in the longest document" in found.stdout
    assert "3 types; 6 labels" in found.stdout
    assert "rule" not in found.stdout
    rules = tmp_path / "rules.json"
    fields = {name: {"label": name, "type": "money"} for name in MONEY}
    check = {"id": "sum", "check": "total == net + tax"}
    rules.write_text(json.dumps({"fields": fields, "rules": [check]}))
    found = run("data", "info", "jsonl", documents, "--rules", rules)
    assert re.search(r"no rule violated +4 +80\.0%", found.stdout)
    assert re.search(r"of the first, no rule could be checked +3 +60\.0%", found.stdout)
    assert re.search(r"every text has a value +3 +60\.0%", found.stdout)
    assert re.search(r"sum +1 +1 +3", found.stdout)
    assert re.search(r"tax:reads +1", found.stdout)


def test_info_of_json_lines_needs_no_format(documents):
    plain = run("data", "info", documents)
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout == run("data", "info", "jsonl", documents).stdout
    found = run("data", "info", "cord")
    assert (found.returncode, found.stderr) == (
        2, "lawful: where is the data set? lawful data info cord PATH\n"
    )  # fmt: skip
    assert "unknown" in run("data", "info", "none.jsonl").stderr


def test_convert_on_the_command_line(documents, tmp_path):
    out = tmp_path / "out.jsonl.gz"
    found = run("data", "convert", "jsonl", documents, "--out", out)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "5 documents\n")
    assert list(read_labelled(out)) == PAGES
    found = run("data", "convert", "jsonl", documents, "--split", "test", "--by-page")
    assert [json.loads(line)["id"] for line in found.stdout.splitlines()] == ["c/0", "c/1"]


def test_the_papers_rules_can_be_printed_and_loaded():
    for name, file in RULES.items():
        assert run("data", "rules", name).stdout == file.read_text()
        assert Rules.load(file).parsed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["info", "sroie", "."],
            "unknown format 'sroie'; formats: facturx, jsonl, cord",
        ),
        (["convert", "sroie", "."], "unknown format 'sroie'"),
        (["rules", "sroie"], "no rules called 'sroie'; rules by name: receipt"),
        (
            ["rules", "jsonl"],
            "no rules called 'jsonl'; rules by name: receipt, invoice",
        ),
        (["info", "cord", "docs"], "no CORD in docs: looked for {train,dev,test}/json/*.json"),
        (["info", "cord", "nowhere"], "cannot read nowhere: no such file or folder"),
        (["info", "jsonl", "/dev/null"], "no document in /dev/null"),
        (["info", "jsonl", "/dev/null", "--rules", "no.yaml"], "no rule file 'no.yaml'; rules"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message):
    found = run("data", *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@needs_shared
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (
            ("cord", "cord/raw"),
            [r"1,000 \(train 800, dev 100, test 100\)", r"violated +697 +69\.7%"],
        ),
        (("wildreceipt", "wildreceipt/raw/part.txt.gz"), [r"284", r"violated +221 +77\.8%"]),
        (
            ("docile", "docile_sample/raw"),
            [r"256 in the longest", "fields that occur in no document: net, tax, paid"],
        ),
    ],
)
def test_the_papers_table_of_data_sets(arguments, shown):
    name, path = arguments
    found = run("data", "info", name, outputs.SHARED / "data" / path)
    for pattern in shown:
        assert re.search(pattern, found.stdout), found.stdout
