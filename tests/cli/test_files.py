"""Files on the command line: ``lawful read`` and ``lawful extract`` from PDF files to fields."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful.cli.inputs import Inputs
from lawful.models.shipped import receipt_model
from tests.fixtures import pdfs
from tests.helpers import run, timeless

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")


@pytest.fixture
def folder(tmp_path):
    """A folder with three receipts, a broken file and one that is no document."""
    scans = tmp_path / "scans"
    scans.mkdir()
    for page in demo.generate(3):
        draw_pdf(page.document, scans / f"{page.document.id}.pdf")
    (scans / "a-broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (scans / "b-broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (scans / "notes.txt").write_text("no document", encoding="utf-8")
    return tmp_path


def documents(text):
    return [json.loads(line) for line in text.splitlines()]


def test_read_writes_documents_and_goes_on_after_a_bad_file(folder):
    found = run("read", "scans", "--out", "read.jsonl", cwd=folder)
    assert found.returncode == 1
    assert found.stderr.splitlines() == [
        "scans: 1 file of other kinds left out (.txt)",
        "scans/a-broken.pdf: the PDF is damaged, or no PDF",
        "1 more input with the same problem as scans/a-broken.pdf: scans/b-broken.pdf",
        "3 documents: 3 read, 2 bad lines",
    ]
    read = documents((folder / "read.jsonl").read_text(encoding="utf-8"))
    for line, page in zip(read, demo.generate(3), strict=True):
        assert line["id"] == f"scans/{page.document.id}.pdf"
        assert line["words"] == list(page.document.words)
        assert line["images"] == [f"scans/{page.document.id}.pdf#page=1"]
        assert len(line["sizes"]) == 1


def test_extract_takes_files_folders_and_lines_together(folder):
    run("read", "scans/receipt-00001.pdf", "--out", "read.jsonl", cwd=folder)
    inputs = ("scans/receipt-00000.pdf", "read.jsonl", "scans")
    found = run("extract", *inputs, "--quiet", cwd=folder)
    names = ["receipt-00000", "receipt-00001", "receipt-00000", "receipt-00001", "receipt-00002"]
    lines = timeless(found.stdout)
    assert [line["id"] for line in lines] == [f"scans/{name}.pdf" for name in names]
    assert [lines[0], lines[1]] == [lines[2], lines[3]]
    assert lines[0]["fields"]["total"][0]["text"] == "48.285"
    assert timeless(run("extract", *inputs, "--workers", "2", cwd=folder).stdout) == lines


def test_extract_from_files_is_extract_from_what_read_writes(folder):
    run("read", "scans", "--out", "read.jsonl", cwd=folder)
    lines = timeless(run("extract", "read.jsonl", "--batch", "1", cwd=folder).stdout)
    assert timeless(run("extract", "scans", cwd=folder).stdout) == lines


def test_reports_show_pages_of_files_and_of_documents_only_if_asked(folder):
    run("extract", "scans", "--format", "html", "--out", "a.html", cwd=folder)
    assert (folder / "a.html").read_text(encoding="utf-8").count("data:image/jpeg") == 3
    run("read", "scans", "--out", "read.jsonl", cwd=folder)
    run("extract", "read.jsonl", "--format", "html", "--out", "b.html", cwd=folder)
    assert "data:image/jpeg" not in (folder / "b.html").read_text(encoding="utf-8")
    run("extract", "read.jsonl", "--images", "--format", "html", "--out", "c.html", cwd=folder)
    assert (folder / "c.html").read_text(encoding="utf-8").count("data:image/jpeg") == 3


@pytest.mark.parametrize("command", ["read", "extract"])
def test_a_run_over_files_is_resumed(folder, command):
    first = "scans/receipt-00000.pdf"
    found = run(command, "scans", "--out", "whole.jsonl", cwd=folder)
    bad = run(command, first, "scans", "--bad-lines", "fail", "--out", "a.jsonl", cwd=folder)
    assert bad.returncode == 2
    assert "scans/a-broken.pdf: the PDF is damaged" in bad.stderr
    assert "results of 1 line" in bad.stderr
    again = run(command, first, "scans", "--resume", "--out", "a.jsonl", cwd=folder)
    assert "resuming after line 1" in again.stderr
    whole = timeless((folder / "whole.jsonl").read_text(encoding="utf-8"))
    resumed = timeless((folder / "a.jsonl").read_text(encoding="utf-8"))
    assert resumed == [whole[0], *whole]
    assert found.returncode == 1


STALLED = """
import time
from pathlib import Path
from lawful.__main__ import main
from lawful.readers.reader import Reader

read = Reader.read
Reader.read = lambda self, path: time.sleep(99 * (Path(path).stem == "stalled")) or read(self, path)
main()
"""


@pytest.fixture
def stalled(folder):
    """A folder with two receipts, and a third one that is never read."""
    for name in ("a-broken.pdf", "b-broken.pdf"):
        (folder / "scans" / name).unlink()
    (folder / "scans" / "receipt-00002.pdf").rename(folder / "scans" / "stalled.pdf")

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, "-c", STALLED, *arguments], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return folder, start


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_result_waits_for_no_other_file(stalled, workers):
    _, start = stalled
    with start("extract", "scans", "--workers", workers) as process:
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.terminate()
    assert [line["id"] for line in lines] == [f"scans/receipt-0000{n}.pdf" for n in range(2)]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_keeps_each_file_that_was_done(stalled, workers, how):
    folder, start = stalled
    journal = folder / "a.jsonl.journal"
    with start("extract", "scans", "--out", "a.jsonl", "--workers", workers) as process:
        while process.poll() is None and not (
            journal.exists() and len(journal.read_text().splitlines()) == 4
        ):
            time.sleep(0.01)
        process.send_signal(how)
        process.wait()
        said = process.stderr.read()
    if how != signal.SIGKILL:
        assert process.returncode == 130
        last = said.splitlines()[-1]
        assert last == "lawful: interrupted; the results of 2 lines are kept: --resume continues"
        assert "Traceback" not in said
    resumed = run("extract", "scans", "--out", "a.jsonl", "--resume", cwd=folder)
    assert "resuming after line 2" in resumed.stderr
    whole = run("extract", "scans", cwd=folder)
    assert timeless((folder / "a.jsonl").read_text(encoding="utf-8")) == timeless(whole.stdout)


def test_values_that_are_known_are_shown_beside_the_answer(folder):
    run("read", "scans", "--out", "read.jsonl", cwd=folder)
    lines = documents((folder / "read.jsonl").read_text(encoding="utf-8"))
    lines[0]["values"] = {"total": ["48285.00"], "cash": ["1.00"], "nonsense": ["x"]}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    found = run("extract", "-", stdin=text, cwd=folder)
    assert "known values that were found: total 1 of 1, cash 0 of 1" in found.stderr
    first, second, *_ = documents(found.stdout)
    assert first["known"]["total"] == {"known": ["48,285.00"], "found": ["48,285"], "right": True}
    assert first["known"]["cash"]["right"] is False
    assert "known" not in second
    report = run("extract", "-", "--format", "html", stdin=text, cwd=folder).stdout
    assert "<h3>Known values</h3>" in report


def test_a_report_names_the_files_that_could_not_be_read(folder):
    run("extract", "scans", "--out", "r.html", cwd=folder)
    report = (folder / "r.html").read_text(encoding="utf-8")
    assert "The fields found in 3 of 5 documents" in report
    assert re.search("<b>[2-5] need a person</b>: 2 that could not be read or decoded", report)
    assert "None needs a person" not in report
    cards = re.findall('<details class="card person" open>.*', report)
    assert [re.findall("<bdi>(.*?)</bdi>", card) for card in cards] == [
        [f"scans/{name}-broken.pdf", "the PDF is damaged, or no PDF"] for name in "ab"
    ]
    assert re.search(r'value="all" checked> all 5<.*> [2-5] need a person<', report, re.DOTALL)


def test_a_model_for_other_documents_is_said(folder):
    model = str(receipt_model())
    found = run("extract", "scans", "--rules", "invoice", "--model", model, cwd=folder)
    assert "the model does not know 41 of 44 labels of the rules (number," in found.stderr
    (folder / "rules.yaml").write_text("fields: {a: {label: b, optional: true}}", encoding="utf-8")
    found = run("extract", "scans", "--rules", "rules.yaml", cwd=folder)
    assert found.returncode == 2
    assert "the model does not know 1 of 1 labels of the rules (b);" in found.stderr


def test_inputs_that_cannot_be_used(folder):
    (folder / "empty").mkdir()
    for command, argument, said in (
        ("read", "empty", "no PDF file, image or hOCR file in empty"),
        ("read", "none.jsonl", "cannot read none.jsonl: No such file"),
        ("extract", "empty", "no PDF file, image or hOCR file in empty"),
        ("extract", "none.pdf", "none.pdf: there is no such file"),
    ):
        found = run(command, argument, cwd=folder)
        assert found.returncode == 2
        assert said in found.stderr
    out = run("read", "scans/receipt-00000.pdf", "--out", "scans/receipt-00000.pdf", cwd=folder)
    assert ".pdf files are not written" in out.stderr


def test_names_of_any_bytes(folder):
    name = os.fsdecode(b"scans/\xff\x1b[31m.pdf")
    (folder / name).write_bytes(pdfs.text_pdf(["a page of more words than ten: " * 2]))
    (folder / name.replace("31", "32")).write_bytes(b"broken")
    found = run("read", "scans", cwd=folder)
    assert documents(found.stdout)[-1]["id"] == "scans/\ufffd\x1b[31m.pdf"
    assert "scans/\\udcff\\x1b[32m.pdf" in found.stderr


def test_read_sorts_documents_that_have_boxes(tmp_path):
    boxes = [[50, 0, 60, 10], [0, 0, 10, 10]]
    lines = [{"id": "a", "words": ["x", "y"], "boxes": boxes}, {"id": "b", "words": ["x", "y"]}]
    lines.append({**lines[0], "gold": ["O", "B-a"]})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    found = run("read", "-", stdin=text)
    assert [line["words"] for line in documents(found.stdout)] == [["y", "x"], ["x", "y"]]
    assert "line 3: it has gold labels" in found.stderr


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path):
    """Its content was hashed before its size was checked: twenty gigabytes took minutes."""
    path = tmp_path / "huge.pdf"
    with path.open("wb") as file:
        file.truncate(2**43)
    found = run("read", path, "--ocr", "never")
    assert "more than the limit of 268,435,456" in found.stderr


def test_a_name_adds_no_lines_to_what_is_said(tmp_path):
    (tmp_path / "a\nlawful: all is well.pdf").write_bytes(b"x")
    found = run("read", ".", "--ocr", "never", cwd=tmp_path)
    assert "a\\nlawful: all is well.pdf: the PDF is damaged" in found.stderr


def test_pages_and_time_are_limited(folder):
    (folder / "long.pdf").write_bytes(pdfs.text_pdf(*[["a word"]] * 5))
    found = run("read", "long.pdf", "--max-pages", "4", "--ocr", "never", cwd=folder)
    assert "long.pdf: the file has 5 pages, more than the limit of 4" in found.stderr
    found = run("read", "scans", "--file-seconds", "0.000001", cwd=folder)
    assert "it took longer than the limit of 1e-06 seconds" in found.stderr


def test_pages_are_selected(folder):
    (folder / "long.pdf").write_bytes(pdfs.text_pdf(*[[f"word {n}"] for n in range(1, 6)]))
    found = run("read", "long.pdf", "--pages", "1,last", "--ocr", "never", cwd=folder)
    assert documents(found.stdout)[0]["words"] == ["word", "1", "word", "5"]
    found = run("read", "long.pdf", "--pages", "some", cwd=folder)
    assert "pages are 'some', expected numbers, ranges or last" in found.stderr


def test_passwords_come_from_an_option_or_the_environment(folder):
    (folder / "locked.pdf").write_bytes(pdfs.encrypted_pdf("secret", "a locked page"))
    found = run("read", "locked.pdf", cwd=folder)
    assert (
        "locked.pdf: the PDF is encrypted, and needs a password (--password, or the environment "
        "variable LAWFUL_PDF_PASSWORD)"
    ) in found.stderr
    for how, options in ({"LAWFUL_PDF_PASSWORD": "secret"}, ()), ({}, ("--password", "secret")):
        found = run(
            "read", "locked.pdf", "--ocr", "never", "--out", "out.jsonl", *options, cwd=folder,
            env=how,
        )  # fmt: skip
        assert documents((folder / "out.jsonl").read_text())[0]["words"] == ["a", "locked", "page"]
    assert not any(b"secret" in path.read_bytes() for path in folder.glob("*out.jsonl*"))


def test_inputs_are_named_by_their_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "a.jsonl").write_text("\n{}\n{}\n", encoding="utf-8")
    alone, inputs = Inputs(["a.jsonl"]), Inputs(["scans/receipt-00000.pdf", "a.jsonl", "scans"])
    assert [number for number, _ in alone.lines()] == [2, 3]
    assert alone.name(3) == "line 3"
    assert [number for number, _ in inputs.lines()] == [1, 3, 4, 5, 6, 7, 8, 9]
    assert [inputs.name(number) for number in (1, 3, 4, 5, 9)] == [
        "scans/receipt-00000.pdf", "a.jsonl, line 2", "a.jsonl, line 3", "scans/a-broken.pdf",
        "scans/receipt-00002.pdf",
    ]  # fmt: skip
    assert [inputs.is_file(number) for number in (1, 3, 5)] == [True, False, True]
