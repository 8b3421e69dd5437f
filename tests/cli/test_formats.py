"""Output formats: the end of a name decides, and all of them resume."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest
from pyarrow import parquet

from lawful.cli.output import Progress
from tests.helpers import DOCUMENTS, RULES, demo_lines, run, timeless

CHOICE = '{{"id": "{}", "samples": [{{"subtotal": "5.00", "total": "5.00"}}]}}\n'


def rows_of(path):
    return parquet.read_table(path).drop_columns(["seconds"]).to_pylist()


@pytest.fixture
def pages(tmp_path):
    lines = demo_lines(6).splitlines(keepends=True)
    lines.insert(2, "no JSON\n")
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_end_of_the_name_decides(tmp_path):
    run("decode", DOCUMENTS, "-r", RULES, "-o", "x.csv", cwd=tmp_path)
    first = next(csv.reader((tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()))
    assert first[:2] == ["id", "status"]
    for name in ("x.jsonl", "x.json", "x", "x.txt", "x.ndjson.gz"):
        done = run("decode", DOCUMENTS, "-r", RULES, "-o", name, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
    whole = timeless((tmp_path / "x.jsonl").read_text(encoding="utf-8"))
    assert timeless((tmp_path / "x").read_text(encoding="utf-8")) == whole
    run("decode", DOCUMENTS, "-r", RULES, "-o", "x.csv.gz", cwd=tmp_path)
    assert (tmp_path / "x.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    run("decode", DOCUMENTS, "-r", RULES, "-o", "x.html", cwd=tmp_path)
    assert (tmp_path / "x.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("-o", "x.csv", "--format", "jsonl"),
            "--out x.csv is the name of a csv file, and --format is jsonl: choose one of both",
        ),
        (
            ("-o", "x.parquet", "--format", "csv"),
            "--out x.parquet is the name of a parquet file, and --format is csv",
        ),
        (
            ("-o", "x.csv", "--trust", RULES, "--review-out", "y.jsonl"),
            "--review-out y.jsonl is the name of a jsonl file, and --out x.csv that of a csv file",
        ),
        (("--format", "parquet"), "this format needs a file as --out, and --out is -"),
        (
            ("-o", "x.parquet.gz"),
            "--out x.parquet.gz: Parquet files are compressed already; leave out .gz",
        ),
        (("-o", "x.xlsx"), "x.xlsx: .xlsx files are not written; expected one of .jsonl"),
    ],
)
def test_names_and_formats_that_disagree_are_errors(tmp_path, options, said):
    done = run("decode", DOCUMENTS, "-r", RULES, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["read", "check", "predict"])
def test_commands_that_write_json_lines_say_so(tmp_path, command):
    rules = ("-r", RULES) if command == "check" else ()
    done = run(command, DOCUMENTS, *rules, "-o", "x.CSV", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out x.CSV: expected a name such as x.jsonl, as it is JSON lines" in done.stderr


def test_lines_are_not_written_beside_themselves_as_scores(tmp_path):
    """x.npz would be read as the scores of x.jsonl."""
    done = run("predict", DOCUMENTS, "-o", "x.npz", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "x.npz: .npz files are not written" in done.stderr


def test_parquet_has_a_row_per_line_also_of_bad_ones(tmp_path, pages):
    done = run("decode", pages, "-r", RULES, "-o", "x.parquet", cwd=tmp_path)
    lines = run("decode", pages, "-r", RULES, "-o", "x.jsonl", cwd=tmp_path)
    assert done.stderr == lines.stderr
    found = rows_of(tmp_path / "x.parquet")
    assert [row["id"] for row in found if row["error"] is None] == [
        line["id"] for line in timeless((tmp_path / "x.jsonl").read_text(encoding="utf-8"))
    ]
    assert "malformed" in found[2]["error"]
    assert len(found) == 7


def test_a_run_that_writes_parquet_resumes(tmp_path, pages):
    stopped = run(
        "decode", pages, "-r", RULES, "-o", "x.parquet", "--bad-lines", "fail", cwd=tmp_path
    )
    assert "the results of 2 lines are kept: --resume continues" in stopped.stderr
    assert not (tmp_path / "x.parquet").exists()
    resumed = run("decode", pages, "-r", RULES, "-o", "x.parquet", "--resume", cwd=tmp_path)
    assert "resuming after line 2" in resumed.stderr
    run("decode", pages, "-r", RULES, "-o", "whole.parquet", cwd=tmp_path)
    assert rows_of(tmp_path / "x.parquet") == rows_of(tmp_path / "whole.parquet")
    assert {path.name for path in tmp_path.iterdir()} == {
        "pages.jsonl", "x.parquet", "whole.parquet",
    }  # fmt: skip


def test_parquet_in_folders(tmp_path, pages):
    (tmp_path / "in").mkdir()
    pages.rename(tmp_path / "in" / "a.jsonl")
    done = run("decode", "in", "-r", RULES, "-o", "out/", "--format", "parquet", cwd=tmp_path)
    assert "in/a.jsonl, line 3: JSON is malformed" in done.stderr
    run("decode", "in/a.jsonl", "-r", RULES, "-o", "a.parquet", cwd=tmp_path)
    assert rows_of(tmp_path / "out" / "a.parquet") == rows_of(tmp_path / "a.parquet")


def test_choose_writes_parquet(tmp_path):
    text = CHOICE.format("a") + "no JSON\n" + CHOICE.format("b")
    rules = ("-r", "receipt", "--unchecked", "pass")
    done = run("choose", "-", *rules, "-o", "x.parquet", stdin=text, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = rows_of(tmp_path / "x.parquet")
    assert [row["id"] for row in found if row["error"] is None] == ["a", "b"]
    assert {f["name"]: f["text"] for f in found[0]["fields"]}["total"] == "5.00"


def test_extract_writes_parquet(tmp_path):
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    document = json.dumps({"id": "r", "words": ["Total", "5.00"]})
    done = run("extract", "-", "-o", "x.parquet", stdin=document, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert [row["id"] for row in rows_of(tmp_path / "x.parquet")] == ["r"]


def test_without_pyarrow_the_extra_is_named(tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError('none here')", encoding="utf-8")
    done = subprocess.run(  # a process of its own, as this one has imported it
        [sys.executable, "-m", "lawful", "decode", DOCUMENTS, "-r", RULES, "-o", "x.parquet"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "writing Parquet files needs pyarrow: install the 'arrow' extra" in done.stderr


@pytest.mark.parametrize("form", ["jsonl", "csv", "html", "parquet"])
def test_known_values_are_summed_up_in_all_formats(tmp_path, form):
    line = json.loads(demo_lines(1))
    line["values"] = {"total": ["1.00"]}
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = run("decode", "in.jsonl", "-r", RULES, "-o", f"x.{form}", cwd=tmp_path)
    assert "known values that were found: total 0 of 1" in done.stderr


def test_progress_is_said_where_there_is_no_terminal(monkeypatch, capsys):
    clock = iter(range(0, 100, 4))
    monkeypatch.setattr("lawful.cli.output.monotonic", lambda: next(clock))
    with Progress() as progress:
        assert list(progress.documents("abcdef")) == [*"abcdef"]
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(" so far, ")[0] for line in said] == ["3 documents", "6 documents"]
    with Progress(files=4) as progress:
        list(progress.beats([*progress.documents("ab"), "idle", "idle"]))
    assert capsys.readouterr().err.splitlines() == [
        "2 of 4 files, 0.17/s, about 12.0 s left",
        "2 of 4 files, 0.083/s, about 24.0 s left",
    ]
    with Progress(quiet=True) as progress:
        list(progress.documents("abcdef"))
    assert not capsys.readouterr().err


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.html", "x.parquet"])
def test_a_run_that_reads_nothing_leaves_an_earlier_file_alone(tmp_path, name):
    """A wrong name of a file made a table of thousands of documents a table of none."""
    out = tmp_path / name
    out.write_bytes(b"last month's")
    (tmp_path / "bad.jsonl").write_text("no JSON\n")
    done = run("decode", "bad.jsonl", "-r", RULES, "-o", name, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{name} stays as it was, since no document could be read" in done.stderr
    assert out.read_bytes() == b"last month's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", name]
    run("decode", DOCUMENTS, "-r", RULES, "-o", name, cwd=tmp_path)
    assert out.read_bytes() != b"last month's"


def test_files_of_other_kinds_are_named(tmp_path):
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04")
    one = run("read", "a.docx", cwd=tmp_path)
    assert one.returncode == 2
    assert "a.docx: it is of no known kind" in one.stderr
    (tmp_path / "a.hocr").write_text("<html></html>")
    (tmp_path / "notes").write_text("by hand")
    several = run("read", ".", cwd=tmp_path)
    assert "2 files of other kinds left out (no ending, .docx)" in several.stderr
