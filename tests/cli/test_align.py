"""``lawful align``, as a user would run it."""

from __future__ import annotations

import json

import pytest
from lawful_models import RECEIPT as MODEL

from lab import receipts as demo
from lawful.cli.truth_files import matched
from lawful.learn.align import Truth
from tests.helpers import run

RULES = """
fields:
  total: {label: total, type: money}
  day: {label: day, type: date}
  items: {label: item, type: money, many: true}
rules:
  - total == sum(items)
"""
DOCUMENTS = [
    {"id": "a", "words": ["Tea", "5.00", "Total", "12.00", "03/04/2024"]},
    {"id": "b", "words": ["Total", "7.00", "Paid", "7.00", "2024-12-31"]},
    {"id": "c", "words": ["nothing"]},
]


@pytest.fixture
def work(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    lines = "".join(json.dumps(each) + "\n" for each in DOCUMENTS)
    (tmp_path / "documents.jsonl").write_text(lines)
    return tmp_path


def align(work, truth=None, *options, name="values.csv"):
    if truth is not None:
        (work / name).write_text(truth)
        options = ("--truth", work / name, *options)
    out = work / "out.jsonl"
    found = run(
        "align", work / "documents.jsonl", "--rules", work / "rules.yaml", "--out", out, *options
    )
    gold = {}
    if out.exists():
        gold = {each["id"]: each["gold"] for each in map(json.loads, out.read_text().splitlines())}
    return found, gold


def test_values_of_a_csv_file(work):
    found, gold = align(work, "id,total,day,shop\na,12.00,04/03/2024,X\nb,7,12/31/2024,Y\n")
    assert found.returncode == 0, found.stderr
    assert gold == {
        "a": ["O", "O", "O", "B-total", "B-day"],  # months come first in the CSV file only
        "b": ["O", "?", "O", "?", "B-day"],
    }
    assert "values.csv: no fields, so not used: shop" in found.stderr
    assert "2 documents; 3 words labelled, 2 left open" in found.stderr
    assert "1 document left out, without true values" in found.stderr


def test_lists_in_json_lines(work):
    found, gold = align(
        work, '{"id": "a", "total": 12.0, "items": ["5", "6"]}\n', name="values.jsonl"
    )
    assert found.returncode == 0, found.stderr
    assert gold == {"a": ["O", "B-item", "O", "B-total", "O"]}


def test_other_names_of_columns(work):
    truth = "Beleg;Summe\na;12,00\n"
    found, gold = align(work, truth, "--truth-column", "id=Beleg", "--truth-column", "total=Summe")
    assert (found.returncode, gold["a"][3]) == (0, "B-total"), found.stderr


def test_ids_may_differ_by_folder_and_suffix(work):
    lines = [{**each, "id": f"scans/{each['id']}.pdf"} for each in DOCUMENTS]
    (work / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    found, gold = align(work, "id,total\na,12\nb.json,7\n")
    assert found.returncode == 0, found.stderr
    assert set(gold) == {"scans/a.pdf", "scans/b.pdf"}
    assert "2 documents matched with true values by the name of the file" in found.stderr


@pytest.mark.parametrize(
    ("documents", "rows", "expected"),
    [
        (["pdf/a.pdf"], ["a"], {"pdf/a.pdf": "a"}),
        (["a"], ["pdf/a.PDF"], {"a": "pdf/a.PDF"}),
        (["x/2024/a.pdf"], ["2024/a"], {"x/2024/a.pdf": "2024/a"}),
        (["x\\a.pdf"], ["a"], {"x\\a.pdf": "a"}),
        (["x/a.pdf", "y/a.pdf"], ["a"], {}),  # which one?
        (["a"], ["x/a", "y/a"], {}),
        (["x/a.pdf", "a"], ["a"], {"a": "a"}),  # its own comes first
        (["train/a"], ["test/a"], {}),
        (["1.5"], ["1.6", "1"], {}),  # no suffixes of files
        (["ba.pdf"], ["a"], {}),
    ],
)
def test_names_of_files_match_where_that_is_unambiguous(documents, rows, expected):
    found, by_name = matched(documents, {row: Truth(row, {"row": (row,)}) for row in rows})
    assert {id_: truth.values["row"][0] for id_, truth in found.items()} == expected
    assert all(truth.id == id_ for id_, truth in found.items())
    assert by_name == sum(id_ != row for id_, row in expected.items())


def test_bad_rows_are_named_and_the_rest_goes_on(work):
    found, gold = align(work, "id,total\na,12\nb,seven\na,13\n,5\nc\n")
    assert (found.returncode, set(gold)) == (1, {"a"})
    assert "values.csv, line 3: total is 'seven', expected money" in found.stderr
    assert "values.csv, line 4: a second row of 'a'; the first is 2" in found.stderr
    assert "values.csv, line 5: id is '', expected the id of a document" in found.stderr
    assert "values.csv, line 6: 1 cells, expected 2" in found.stderr


@pytest.mark.parametrize(
    ("truth", "options", "said"),
    [
        ("id,total\nz,12\n", (), "has true values in"),
        ("total\n12\n", (), "has no column 'id'; columns: total"),
        ("id,totl\na,12\n", (), "is a field (totl); fields: total, day, items"),
        ("id,total,total\na,1,2\n", (), "has two columns 'total'"),
        ("id,items\na,1\n", (), "column 'items' of"),
        ("id,total\na,1\n", ("--truth-column", "totl=x"), "'totl' is no field"),
        ("id,total\na,1\n", ("--truth-column", "total"), "expected FIELD=COLUMN"),
        ("", (), "has no column 'id'"),
        (None, (), "brings values of its own: give --truth"),
    ],
)
def test_input_that_cannot_be_used(work, truth, options, said):
    found, gold = align(work, truth, *options)
    assert (found.returncode, gold) == (2, {}), found.stderr
    assert said in found.stderr.replace("\n", " ")


def test_documents_that_bring_their_values(work):
    line = {"id": "a", "words": ["Total", "12.00"], "values": {"total": ["12.00"]}}
    (work / "documents.jsonl").write_text(json.dumps(line) + "\n")
    found, gold = align(work)
    assert (found.returncode, gold) == (0, {"a": ["O", "B-total"]}), found.stderr


def test_a_model_chooses_among_occurrences(tmp_path):
    """The receipt model tells the total from the same amount elsewhere on the page."""
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    pytest.importorskip("tokenizers", reason="needs the 'onnx' extra")
    pages = [page for page in demo.generate(6, seed=2) if page.gold.count("B-total") == 1][:3]
    lines, truth = [], ["id,total"]
    rules = tmp_path / "rules.yaml"
    rules.write_text("fields:\n  total: {label: total, type: money}\nrules: []\n")
    for page in pages:
        d = page.document
        total = d.words[page.gold.index("B-total")]
        # The amount is printed once more, at the top of the page, where it is no total.
        words, boxes = [total, *d.words], [(0.0, -40.0, 50.0, -20.0), *d.boxes]
        lines.append(json.dumps({"id": d.id, "words": words, "boxes": boxes}))
        truth.append(f'{d.id},"{total}"')
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    found, plain = align(tmp_path, "\n".join(truth))
    assert found.returncode == 0, found.stderr
    assert all(gold[0] == "?" for gold in plain.values())
    found, chosen = align(tmp_path, "\n".join(truth), "--model", MODEL)
    assert found.returncode == 0, found.stderr
    for page in pages:
        at = page.gold.index("B-total") + 1
        assert chosen[page.document.id][at] == "B-total"
        assert chosen[page.document.id][0] == "O"
    assert len(pages) == 3


def test_a_model_for_other_labels_is_refused(work):
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    pytest.importorskip("tokenizers", reason="needs the 'onnx' extra")
    found, gold = align(work, "id,total\na,12.00\n", "--model", MODEL)
    assert found.returncode == 2
    assert "field 'day' has label 'day', which the model does not know" in found.stderr
    assert gold == {}
