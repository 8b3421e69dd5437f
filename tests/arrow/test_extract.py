"""Files and unscored documents in record batches: the same answers as one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from lawful_models import RECEIPT as MODEL

import lawful
from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful import InputError, Rules
from lawful.arrow import SCHEMA, extract_batches, extract_table, scored_batch
from lawful.arrow.ray import DecodeActor
from lawful.io.jsonl import decoding_line
from lawful.models.shipped import RULES
from lawful.readers import Reader
from lawful.rules.packs import rules_named
from tests.arrow.comparing import same
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PRINTED, XML

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")


@pytest.fixture(scope="module")
def tagger():
    return lawful.from_pretrained(MODEL)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for page in demo.generate(3):
        draw_pdf(page.document, folder / f"{page.document.id}.pdf")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    return sorted(map(str, folder.iterdir()))


@pytest.fixture(scope="module")
def expected(files, tagger):
    """The decodings, as lines, of the files that can be read."""
    documents = [Reader().read(path) for path in files[1:]]
    found = tagger.decode(documents, Rules.load(RULES), workers=1)
    return [decoding_line(decoding, ranked=True) for decoding in found]


def test_files_are_read_scored_and_decoded(files, tagger, expected):
    table = pa.table({"path": [*files, None, "missing.pdf"]})
    rows = extract_table(table, model=tagger).to_pylist()
    assert [row["id"] for row in rows] == [*files, None, "missing.pdf"]
    assert [row["error"] for row in rows if row["error"]] == [
        "the PDF is damaged, or no PDF",
        "path is null, expected that of a file",
        "there is no such file",
    ]
    for row, line in zip(rows[1:4], expected, strict=True):
        same(row, line)


def test_the_bytes_of_files_may_be_in_the_batch(files, tagger, expected):
    table = pa.table({"path": files, "bytes": [Path(path).read_bytes() for path in files]})
    rows = extract_table(table, model=tagger, columns={"content": "bytes"}).to_pylist()
    assert [row["id"] for row in rows] == files
    for row, line in zip(rows[1:], expected, strict=True):
        same(row, line)
    with pytest.raises(InputError, match="no column 'data'; columns: path, bytes"):
        extract_table(table, model=tagger, columns={"content": "data"})


def test_without_rules_and_a_model_answers_are_those_of_extract(files, tmp_path):
    """E-invoices were read with the receipt model, whatever their XML says."""
    path = pdfs.attached(tmp_path / "a.pdf", pdfs.text_pdf(PRINTED), factur__x_xml=XML)
    paths = [files[1], str(path)]
    rows = extract_table(pa.table({"path": paths})).to_pylist()
    for row, found in zip(rows, lawful.extract(paths), strict=True):
        same(row, decoding_line(replace(found, id=row["id"]), ranked=True))
    [row] = extract_table(pa.table({"path": paths[1:]}), rules_named("invoice")).to_pylist()
    check = next(each for each in row["checks"] if each["id"] == "PRINT")
    assert check["state"] == "satisfied"


def test_documents_without_scores_are_scored_and_decoded(tagger):
    pages = list(demo.generate(3))
    rules = Rules.load(RULES)
    table = pa.table(scored_batch(pages)).drop_columns(["scores", "gold"])
    rows = extract_table(table, rules, model=tagger).to_pylist()
    decodings = tagger.decode([page.document for page in pages], rules, workers=1)
    for row, decoding in zip(rows, decodings, strict=True):
        same(row, decoding_line(decoding, ranked=True))
    parts = [table.slice(0, 1), table.slice(1)]
    found = pa.Table.from_batches(extract_batches(parts, rules, model=tagger), SCHEMA)
    assert found.drop_columns(["seconds"]).to_pylist() == [
        {name: value for name, value in row.items() if name != "seconds"} for row in rows
    ]


def test_the_stage_of_ray_loads_its_model_once(tagger, monkeypatch):
    pages = list(demo.generate(2))
    table = pa.table(scored_batch(pages))
    stage = DecodeActor(demo.RULES)
    assert [row["status"] for row in stage(table).to_pylist()] == [
        lawful.decode(page.document, page.scores, Rules.load(demo.RULES)).status for page in pages
    ]
    assert stage(pa.table({})).schema == SCHEMA
    stage = DecodeActor(Rules.load(RULES), model=MODEL)
    monkeypatch.setattr("lawful.models.extraction.from_pretrained", None)  # not once more
    rows = stage(table.drop_columns(["scores", "gold"])).to_pylist()
    assert [row["error"] for row in rows] == [None, None]
    assert rows[0]["fields"]
