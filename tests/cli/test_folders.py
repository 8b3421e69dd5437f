"""Folders as output: one file per input file, a manifest, and runs that resume."""

from __future__ import annotations

import json
from itertools import islice

import pyarrow as pa
import pytest
from pyarrow import parquet

import lawful
from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful import Rules
from lawful.arrow import SCHEMA, decode_table, scored_batch
from tests.helpers import DOCUMENTS, RULES, demo_lines, run, timeless


@pytest.fixture(scope="module")
def pages():
    return list(islice(lawful.read_jsonl(DOCUMENTS), 6))


@pytest.fixture
def folder(tmp_path, pages):
    """Two Parquet files, one of them in a subfolder, and one of JSON lines."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    parquet.write_table(pa.table(scored_batch(pages[:3])), tmp_path / "in" / "a.parquet")
    parquet.write_table(pa.table(scored_batch(pages[3:])), tmp_path / "in" / "sub" / "b.parquet")
    (tmp_path / "in" / "c.jsonl").write_text(demo_lines(2), encoding="utf-8")
    (tmp_path / "in" / "_SUCCESS").touch()
    return tmp_path


def rows(path):
    return parquet.read_table(path).drop_columns(["seconds"]).to_pylist()


def manifest(folder):
    text = (folder / "out" / "manifest.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_every_file_of_a_folder_has_its_output(folder, pages):
    found = run("decode", "in", "-r", RULES, "-o", "out/", "--quiet", cwd=folder)
    assert found.returncode == 1, found.stderr
    assert names(folder / "out") == ["a.parquet", "c.jsonl", "manifest.jsonl", "sub/b.parquet"]
    rules = Rules.load(RULES)
    for name, some in (("a.parquet", pages[:3]), ("sub/b.parquet", pages[3:])):
        decoded = parquet.read_table(folder / "out" / name)
        assert decoded.schema.equals(SCHEMA)
        expected = decode_table(scored_batch(some), rules).drop_columns(["seconds"])
        assert rows(folder / "out" / name) == expected.to_pylist()
    lines = run("decode", "in/c.jsonl", "-r", RULES, cwd=folder).stdout
    out = (folder / "out" / "c.jsonl").read_text(encoding="utf-8")
    assert timeless(out) == timeless(lines)
    listed = [(line["input"], line["output"]) for line in manifest(folder)]
    assert listed == [
        ("in/a.parquet", "a.parquet"),
        ("in/c.jsonl", "c.jsonl"),
        ("in/sub/b.parquet", "sub/b.parquet"),
    ]
    assert sum(line["counts"].get("satisfied", 0) for line in manifest(folder)) >= 1


def test_workers_and_csv_give_the_same_files(folder):
    run("decode", "in", "-r", RULES, "-o", "out/", cwd=folder)
    run("decode", "in/a.parquet", "in/c.jsonl", "-r", RULES, "-o", "two/", "--format", "csv",
        "--workers", "2", cwd=folder)  # fmt: skip
    assert names(folder / "two") == ["a.parquet", "c.csv", "manifest.jsonl"]
    assert rows(folder / "two" / "a.parquet") == rows(folder / "out" / "a.parquet")
    alone = run("decode", "in/c.jsonl", "-r", RULES, "--format", "csv", cwd=folder).stdout
    assert (folder / "two" / "c.csv").read_text(encoding="utf-8") == alone


def test_one_parquet_file_into_another(folder, pages):
    table = pa.table(scored_batch(pages[:2])).replace_schema_metadata(None)
    table = table.rename_columns(["tokens" if n == "words" else n for n in table.column_names])
    parquet.write_table(table, folder / "bare.parquet")
    (folder / "labels.json").write_text(json.dumps(list(demo.LABELS)), encoding="utf-8")
    (folder / "labels.txt").write_text("\n".join(demo.LABELS), encoding="utf-8")
    for labels in ("labels.json", "labels.txt"):
        found = run(
            "decode", "bare.parquet", "-r", RULES, "-o", "x.parquet", "--label-names", labels,
            "--kind", "log_probs", "--column", "words=tokens", cwd=folder,
        )  # fmt: skip
        assert "2 documents" in found.stderr
        rules = Rules.load(RULES)
        expected = decode_table(scored_batch(pages[:2]), rules).drop_columns(["seconds"])
        assert rows(folder / "x.parquet") == expected.to_pylist()


def test_bad_files_and_rows_are_reported_and_the_rest_goes_on(folder, pages):
    (folder / "in" / "broken.parquet").write_bytes(b"PAR1 broken")
    wrong = pa.table({"id": ["x", "y"], "words": [["a"], ["b"]], "probs": [[[0.5, 0.5]], [[1.0]]]})
    parquet.write_table(wrong, folder / "in" / "wrong.parquet")
    labelled = wrong.append_column("labels", pa.array([["O", "B-total"]] * 2))
    parquet.write_table(labelled, folder / "in" / "z.parquet")
    found = run("decode", "in", "-r", RULES, "-o", "out/", "--bad-lines", "skip", cwd=folder)
    assert found.returncode == 1
    assert "in/broken.parquet: unreadable after row 0" in found.stderr
    assert "in/wrong.parquet: no label names" in found.stderr
    assert "in/z.parquet, row 1: " in found.stderr  # the rules know labels that it lacks
    listed = {line["input"]: line["output"] for line in manifest(folder)}
    assert listed["in/broken.parquet"] is listed["in/wrong.parquet"] is None
    assert "broken.parquet" not in names(folder / "out")
    assert [row["error"] is None for row in rows(folder / "out" / "z.parquet")] == [False, False]
    assert len(rows(folder / "out" / "a.parquet")) == 3
    found = run("decode", "in", "-r", RULES, "-o", "strict/", "--bad-lines", "fail", cwd=folder)
    assert found.returncode == 2
    assert "the results of 1 file are kept: --resume continues" in found.stderr


def test_a_run_resumes_after_the_last_whole_file(folder):
    run("decode", "in", "-r", RULES, "-o", "whole/", cwd=folder)
    good = (folder / "in" / "c.jsonl").read_text(encoding="utf-8")
    (folder / "in" / "c.jsonl").write_text("{}\n", encoding="utf-8")
    stopped = run("decode", "in", "-r", RULES, "-o", "out/", "--bad-lines", "fail", cwd=folder)
    assert stopped.returncode == 2
    assert names(folder / "out") == [
        "a.parquet",
        "manifest.jsonl.journal",
        "manifest.jsonl.partial",
    ]
    (folder / "in" / "c.jsonl").write_text(good, encoding="utf-8")
    again = run("decode", "in", "-r", RULES, "-o", "out/", cwd=folder)
    assert "--resume continues it, --no-resume starts again" in again.stderr
    written = (folder / "out" / "a.parquet").stat().st_mtime_ns
    other = run("decode", "in", "-r", RULES, "-o", "out/", "--resume", "-d", "paths", cwd=folder)
    assert "--decoder has changed" in other.stderr
    found = run("decode", "in", "-r", RULES, "-o", "out/", "--resume", cwd=folder)
    assert "resuming after file 1" in found.stderr
    assert (folder / "out" / "a.parquet").stat().st_mtime_ns == written
    assert names(folder / "out") == names(folder / "whole")
    assert manifest(folder) == [
        json.loads(line) for line in (folder / "whole" / "manifest.jsonl").read_text().splitlines()
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in/a.parquet", "in/c.jsonl"], "there are 2 files, which needs a folder as --out"),
        (["in/a.parquet", "-o", "x.jsonl"], "expected a name that ends in .parquet, or a folder"),
        (["in/a.parquet", "-o", "x.parquet", "--resume"], "--resume needs a folder"),
        (["in", "-o", "in/"], "in/a.parquet is an input file: choose another folder"),
        (["in", "in/sub/b.parquet", "in/sub", "-o", "out/"], "would both be written to"),
        (["-", "-o", "out/"], "standard input has no name"),
        (["empty", "-o", "out/"], "no scored documents in empty"),
        (["in", "-o", "out/", "--column", "words"], "expected NAME=COLUMN"),
        (["in", "-o", "out/", "--label-names", "none.txt"], "--label-names: cannot read none.txt"),
        (
            ["in", "-o", "out/", "--review-out", "r.jsonl"],
            "--review-out needs --trust",
        ),
    ],
)
def test_wrong_uses_are_errors(folder, arguments, message):
    (folder / "empty").mkdir()
    found = run("decode", *arguments, "-r", RULES, cwd=folder)
    assert found.returncode == 2
    assert message in found.stderr


def test_extract_writes_one_file_per_file(tmp_path):
    pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    (tmp_path / "files" / "more").mkdir(parents=True)
    pages = list(demo.generate(3))
    for page, name in zip(pages, ("a", "b", "more/a"), strict=True):
        draw_pdf(page.document, tmp_path / "files" / f"{name}.pdf")
    (tmp_path / "files" / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    found = run("extract", "files", "-o", "out/", cwd=tmp_path)
    assert "files/broken.pdf: the PDF is damaged" in found.stderr
    assert names(tmp_path / "out") == [
        "a.pdf.jsonl", "b.pdf.jsonl", "manifest.jsonl", "more/a.pdf.jsonl",
    ]  # fmt: skip
    together = timeless(run("extract", "files", cwd=tmp_path).stdout)
    apart = [
        timeless((tmp_path / "out" / line["output"]).read_text(encoding="utf-8"))[0]
        for line in manifest(tmp_path)
        if line["output"]
    ]
    assert apart == together
    run("extract", "files/a.pdf", "-o", "csv/", "--format", "csv", cwd=tmp_path)
    table = (tmp_path / "csv" / "a.pdf.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 2
    assert table[0].startswith("id,status")
    (tmp_path / "x.jsonl").write_text(demo_lines(1), encoding="utf-8")
    found = run("extract", "x.jsonl", "-o", "out/", cwd=tmp_path)
    assert "x.jsonl has lines of documents, and --out is a folder" in found.stderr
