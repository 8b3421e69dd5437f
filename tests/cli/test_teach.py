"""``lawful teach``, as a user would run it."""

from __future__ import annotations

import csv
import json

import pytest

from lawful import Rules
from lawful.io.jsonl import document_line
from lawful.learn.align.guessing import guess_columns
from tests.fixtures.invoices import invoice
from tests.helpers import run

NAMES = ("total", "day", "order", "customer")


@pytest.fixture
def work(tmp_path):
    """Twelve documents, the values of ten, and a row too many."""
    pairs = [invoice(number) for number in range(12)]
    lines = "".join(document_line(document) + "\n" for document, _ in pairs)
    (tmp_path / "documents.jsonl").write_text(lines)
    values = [[t.id, *(t.values[name][0] for name in NAMES)] for _, t in pairs]
    write(tmp_path, [*values[:10], ["invoice-99", "1.00", "2026-01-01", "12345", "Nobody"]])
    return tmp_path


def write(work, rows, header=("Document", "Total Amount", "Day", "Order no", "Customer")):
    with (work / "values.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def rows_of(work):
    with (work / "values.csv").open(newline="") as file:
        return list(csv.reader(file))[1:]


def teach(work, *options):
    return run(
        "teach", work / "documents.jsonl", "--truth", work / "values.csv", "--out", work / "model",
        *options,
    )  # fmt: skip


def test_from_values_to_fields(work):
    found = teach(work)
    assert found.returncode == 0, found.stderr
    assert "10 documents with true values" in found.stderr
    assert "2 documents without" in found.stderr
    assert "1 row of true values without a document" in found.stderr
    assert "total_amount  10      10       10 of 10 (100%)" in found.stderr
    types = {f.name: f.type for f in Rules.load(work / "model" / "rules.yaml").fields}
    assert types == {
        "total_amount": "money", "day": "date", "order_no": "text", "customer": "text",
    }  # fmt: skip
    document, truth = invoice(50)
    (work / "new.jsonl").write_text(document_line(document) + "\n")
    read = run("extract", work / "new.jsonl", "--model", work / "model", "--unchecked", "pass")
    assert read.returncode == 0, read.stderr
    fields = json.loads(read.stdout)["fields"]
    texts = {name: value[0]["text"] for name, value in fields.items()}
    assert texts["total_amount"] == truth.values["total"][0]
    assert texts["order_no"] == truth.values["order"][0]
    scored = run("predict", work / "new.jsonl", "--model", work / "model")
    assert scored.returncode == 0
    assert json.loads(scored.stdout)["spans"]


def test_columns_of_given_rules_are_found_by_their_words(work):
    (work / "rules.yaml").write_text(
        "fields:\n  total: {label: t, type: money}\n  number: {label: order}\n  place: {label: p}\n"
        "rules:\n  - total > 0\n"
    )
    found = teach(work, "--rules", work / "rules.yaml")
    assert found.returncode == 0, found.stderr
    assert "Total Amount  total         money" in found.stderr
    assert "Customer      not used" in found.stderr
    assert "with rules" in found.stderr
    assert "place" not in found.stderr
    assert "total > 0" in (work / "model" / "rules.yaml").read_text()


def test_bad_rows_are_named_and_the_rest_goes_on(work):
    rows = rows_of(work)
    rows += [rows[0], ["invoice-10", "not money", "2026-01-01", "1", "x"], ["invoice-11"]]
    write(work, rows)
    found = teach(work)
    assert found.returncode == 1
    assert "a second row of 'invoice-0'; the first is 2" in found.stderr
    assert "1 cells, expected 5" in found.stderr
    assert (work / "model" / "quick.json").exists()


def test_a_column_that_is_printed_nowhere(work):
    write(work, [[*row[:4], "Somebody Else"] for row in rows_of(work)])
    found = teach(work)
    assert found.returncode == 0
    assert "customer: left out, since none of its values is printed in its document" in found.stderr


def test_equal_values_are_said(work):
    rows = [[*row[:4], "Invoice"] for row in rows_of(work)]
    write(work, rows)
    assert "customer: all values are equal, so it learns a word" in teach(work).stderr


def test_one_document(work):
    write(work, rows_of(work)[:1])
    found = teach(work)
    assert found.returncode == 0
    assert "1 document: too few to say how good this is" in found.stderr
    assert "total_amount  1       1        -" in found.stderr


def test_ids_of_other_documents(work):
    write(work, [[f"x{row[0]}", *row[1:]] for row in rows_of(work)])
    found = teach(work)
    assert found.returncode == 2
    assert "names any of the documents: these are 'invoice-0', 'invoice-1'" in found.stderr
    assert "'xinvoice-0'" in found.stderr


def test_a_wrong_value_is_what_to_correct_first(work):
    rows = rows_of(work)
    rows[4][1] = "7.00"
    write(work, rows)
    found = teach(work)
    assert "invoice-4: total_amount is '7.00', found " in found.stderr


def test_a_column_that_the_file_does_not_have(work):
    found = teach(work, "--truth-column", "total=Sum")
    assert found.returncode == 2
    assert "has no column 'Sum'; columns: 'Document', 'Total Amount', 'Day'" in found.stderr
    assert not (work / "model").exists()


def test_a_field_that_the_rules_do_not_have(work):
    (work / "rules.yaml").write_text("fields:\n  total: {label: t, type: money}\n")
    options = "--rules", work / "rules.yaml", "--truth-column", "sum=Total Amount"
    found = teach(work, *options)
    assert found.returncode == 2
    assert "no field 'sum'; fields: total" in found.stderr


def test_a_column_gets_the_name_that_it_is_given(work):
    found = teach(work, "--truth-column", "gross=Total Amount")
    assert found.returncode == 0, found.stderr
    names = [f.name for f in Rules.load(work / "model" / "rules.yaml").fields]
    assert names == ["gross", "day", "order_no", "customer"]


@pytest.mark.parametrize("rows", [[], [["", "", "", "", ""]]])
def test_a_file_without_values(work, rows):
    write(work, rows)
    found = teach(work)
    assert found.returncode == 2
    assert "has no values: expected a row per document" in found.stderr


def test_values_that_are_all_printed_nowhere(work):
    rows = [[row[0], "99999.99", "1999-01-01", "none", "Nobody"] for row in rows_of(work)]
    write(work, rows)
    found = teach(work)
    assert found.returncode == 2
    assert "no value was found in any document, so there is nothing to learn" in found.stderr


def test_a_document_without_words(work):
    with (work / "documents.jsonl").open("a") as file:
        file.write('{"id": "blank", "words": []}\n')
    write(work, [*rows_of(work), ["blank", "1.00", "2026-01-01", "12345", "Nobody"]])
    found = teach(work)
    assert found.returncode == 1
    assert "blank: has no words, so nothing is learned from it" in found.stderr
    assert "taught on 10 documents" in found.stderr


def test_documents_are_read_twice(work):
    found = run("teach", "-", "--truth", work / "values.csv", "--out", work / "model")
    assert found.returncode == 2
    assert "standard input cannot be read twice" in found.stderr


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1.50", "20"], "money"),
        (["2026-01-31", "31.01.2026"], "date"),
        (["01/31/2026", "02/03/2026"], "us_date"),
        (["4711123", "9988123"], "text"),
        (["007", "123"], "text"),
        (["19 %", "7 %"], "percent"),
        (["Ann", "Bob & Co"], "text"),
    ],
)
def test_types_are_guessed_from_values(tmp_path, values, expected):
    lines = [{"name": f"d{i}.pdf", "x": value} for i, value in enumerate(values)]
    path = tmp_path / "values.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    guess = guess_columns(path, ["scans/d0.pdf", "scans/d1.pdf"])
    assert (guess.id, [f.type for f in guess.rules.fields]) == ("name", [expected])
