"""What was accepted, as tables: values as people saw them, without documents, rules or decoding."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("starlette")

from lawful import Rules
from tests.helpers import RULES as DEMO_RULES
from tests.helpers import demo_lines, run
from tests.review.client import desk_of

RULES = """
scheme: BIO
fields:
  shop: {label: shop}
  issued: {label: date, type: date}
  total: {label: total, type: money}
  name: {label: name}
  price: {label: price, type: money}
rows:
  item: {fields: [name, price]}
rules:
  - {id: items, check: total == sum(price)}
"""
WORDS = ["=ACME", "2024-03-01", "Tea", "1.50", "Cake", "2,50", "Sum", "4.00", "3.350"]
BEST = ["B-shop", "B-date", "B-name", "B-price", "B-name", "B-price", "O", "B-total", "O"]


@pytest.fixture
def db(tmp_path):
    """Reviews of three documents: one corrected, one as it was, one rejected."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    labels = ["O", *(f"{p}-{n}" for n in ("shop", "date", "total", "name", "price") for p in "BI")]
    boxes = [[10 * i, 30 * (i // 2), 10 * i + 8, 30 * (i // 2) + 10] for i in range(len(WORDS))]
    probs = [[0.99 if each == one else 0.001 for each in labels] for one in BEST]
    line = {"words": WORDS, "boxes": boxes, "labels": labels, "probs": probs}
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": id_, **line}) + "\n" for id_ in "abc"))
    with closing(desk_of(path, tmp_path / "review.db", Rules.load(rules))) as desk:
        seq = desk.pin(0, 0, [{"words": [7, 8], "text": "4,00"}], "ada")["seq"]
        seq = desk.pin(0, seq, [
            {"words": [7, 8], "text": "4,00"}, {"words": [0, 1], "field": None},
        ], "ada")["seq"]  # fmt: skip
        desk.judge(0, seq, "accepted", "ada", note="no shop", confirmed=True)
        desk.judge(1, 0, "accepted", "Bob", confirmed=True)
        desk.judge(2, 0, "rejected", "Bob")
    return tmp_path / "review.db"


def export(db, *more):
    done = run("review", "export", "--db", db, *more)
    assert done.returncode == 0, done.stderr
    return done


def test_csv_has_values_who_and_what_was_corrected(db):
    done = export(db, "--format", "csv")
    assert "2 documents with accepted values" in done.stderr
    assert "left out: 1 rejected" in done.stderr
    first, second = csv.DictReader(io.StringIO(done.stdout))
    assert (first["id"], first["total"], first["shop"], first["issued"]) == (
        "a", "4.0", "", "2024-03-01",
    )  # fmt: skip
    assert first["price"] == "1.5; 2.5"
    assert (first["reviewer"], first["corrected"], first["note"]) == (
        "ada",
        "total; shop",
        "no shop",
    )
    assert first["at"].startswith("20")
    assert (second["shop"], second["corrected"]) == ("'=ACME", "")  # no formula


def test_rows_are_a_table_of_their_own(db):
    rows = list(csv.DictReader(io.StringIO(export(db, "--format", "csv", "--rows", "item").stdout)))
    assert [(each["id"], each["item"], each["name"], each["price"]) for each in rows[:2]] == [
        ("a", "1", "Tea", "1.5"), ("a", "2", "Cake", "2.5"),
    ]  # fmt: skip
    assert run("review", "export", "--db", db, "--format", "csv", "--rows", "x").returncode == 2


def test_json_lines_have_texts_and_places(db):
    first, _ = map(json.loads, export(db, "--format", "jsonl").stdout.splitlines())
    [total] = first["fields"]["total"]
    assert (total["text"], total["value"], total["words"]) == ("4,00", 4.0, [7, 8])
    assert first["rows"]["item"][1] == {
        "name": {"text": "Cake", "value": "Cake"}, "price": {"text": "2,50", "value": 2.5},
    }  # fmt: skip
    assert first["corrected"] == ["total", "shop"]


def test_parquet_has_columns_of_their_types(db, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export(db, "--out", tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert table["total"] == [4.0, 4.0]
    assert table["price"] == [[1.5, 2.5], [1.5, 2.5]]
    assert table["shop"] == [None, "=ACME"]
    assert table["reviewer"] == ["ada", "Bob"]


def test_spreadsheets_have_a_sheet_per_kind_of_rows_and_marks(db, tmp_path):
    pytest.importorskip("xlsxwriter")
    openpyxl = pytest.importorskip("openpyxl", reason="only to read what was written")
    export(db, "--out", tmp_path / "x.xlsx")
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert book.sheetnames == ["documents", "item"]
    head, first, second = book["documents"].iter_rows()
    cells = {name.value: cell for name, cell in zip(head, first, strict=True)}
    assert cells["total"].value == 4.0
    assert cells["total"].fill.fgColor.rgb == "FFFFF2CC"
    assert cells["issued"].is_date
    assert cells["issued"].fill.fgColor.rgb != "FFFFF2CC"
    assert [cell.value for cell in second if cell.value == "=ACME"] == ["=ACME"]
    assert all(cell.data_type != "f" for cell in second)
    assert [cell.value for cell in list(book["item"].iter_rows())[2]] == ["a", 2, "Cake", 2.5]


def test_a_spreadsheet_is_a_file_that_opens(db, tmp_path):
    pytest.importorskip("xlsxwriter")
    from zipfile import ZipFile

    export(db, "--out", tmp_path / "x.xlsx")
    with ZipFile(tmp_path / "x.xlsx") as parts:
        text = b"".join(parts.read(name) for name in parts.namelist() if "sheet" in name)
        assert parts.testzip() is None
    assert b"<f>" not in text  # no formulas
    assert run("review", "export", "--db", db, "--format", "xlsx").returncode == 2  # no --out


def test_documents_choose_which_and_undone_ones_are_left_out(db, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text((tmp_path / "documents.jsonl").read_text().splitlines(keepends=True)[1])
    assert len(export(db, path, "--format", "csv").stdout.splitlines()) == 2
    with closing(desk_of(path, db, Rules.load(tmp_path / "rules.yaml"))) as desk:
        desk.step(0, desk.standing(0).seq, "undo", "ada")
    assert len(export(db, path, "--format", "csv").stdout.splitlines()) == 1


def test_what_an_earlier_version_accepted_has_its_texts(db):
    with sqlite3.connect(db) as connection:
        rows = connection.execute("select * from review").fetchall()
        names = [each[1] for each in connection.execute("pragma table_info(review)")]
        last = dict(zip(names, rows[2], strict=True))
        after = json.loads(last["after"])
        del after["values"], after["rows"]
        last |= {"seq": None, "document": "old", "after": json.dumps(after)}
        marks = ", ".join(f":{name}" for name in names)
        connection.execute(f"insert into review values ({marks})", last)  # noqa: S608
    done = export(db, "--format", "csv")
    assert "1 document accepted by an earlier version" in done.stderr
    assert list(csv.DictReader(io.StringIO(done.stdout)))[-1]["total"] == "4,00"


def test_no_reviews_are_an_error(tmp_path):
    done = run("review", "export", "--db", tmp_path / "none.db", "--format", "csv")
    assert (done.returncode, "there are no reviews" in done.stderr) == (2, True)
    done = run("review", "export", "--db", tmp_path / "none.db")
    assert "needs the documents, and --rules" in done.stderr


def test_a_model_is_taught_from_what_was_accepted(tmp_path):
    documents, folder = tmp_path / "documents.jsonl", tmp_path / "model"
    documents.write_text(demo_lines(30))
    with closing(desk_of(documents, tmp_path / "review.db")) as desk:
        for slip in desk.documents.slips[:24]:
            desk.judge(slip.n, 0, "accepted", "ada", confirmed=True)
    command = ("teach", documents, "--reviews", tmp_path / "review.db", "--out", folder)
    done = run(*command, "--rules", DEMO_RULES)
    assert done.returncode == 0, done.stderr
    assert "24 documents with true values" in done.stderr
    assert "6 documents without" in done.stderr
    assert "taught on 24 documents" in done.stderr
    found = run("extract", documents, "--model", folder, "--unchecked", "pass")
    assert found.returncode in (0, 1), found.stderr
    assert (
        sum(bool(json.loads(line)["fields"].get("total")) for line in found.stdout.splitlines())
        > 20
    )
    assert "needs --rules" in run(*command).stderr
