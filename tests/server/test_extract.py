"""Files and documents without scores, read and scored by the service."""

from __future__ import annotations

import json
import signal
from importlib.util import find_spec
from time import monotonic, sleep

import msgspec
import pytest

import lawful
from lab.receipts import draw_receipt
from lawful.server import messages
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PRINTED, XML
from tests.server.raw import connect, head, rest_of, status_of
from tests.server.services import LONG, decoded_by_command, serving, timeless


@pytest.fixture(scope="module")
def receipts():
    """A service with the rules of the receipt model."""
    with serving("--seconds", 30, rules=("receipt",)) as found:
        yield found


def extract(service, body, kind, **options):
    headers = {"Content-Type": kind}
    return service.client.post("/v1/extract", content=body, headers=headers, params=options)


def test_a_pdf_file_is_read_scored_and_decoded(receipts, tmp_path):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("onnxruntime")
    draw_receipt(0, tmp_path / "receipt.pdf")
    file = (tmp_path / "receipt.pdf").read_bytes()
    found = extract(receipts, file, "application/pdf", id="mine")
    assert found.status_code == 200, found.text
    assert found.json()["id"] == "mine"
    assert found.json()["fields"]["total"]
    broken = extract(receipts, b"no PDF", "application/pdf")
    assert broken.status_code == 422
    assert broken.json()["detail"] == "the PDF is damaged, or no PDF"


def test_words_without_scores_are_scored(receipts):
    pytest.importorskip("onnxruntime")
    boxes = [[0, 0, 10, 10], [20, 0, 30, 10]]
    line = json.dumps({"id": "x", "words": ["Total", "7.00"], "boxes": boxes})
    found = extract(receipts, line, "application/json").json()
    assert found["fields"]["total"][0]["text"] == "7.00"
    lines = extract(receipts, f"{line}\n{{}}\n", "application/x-ndjson").text.splitlines()
    assert json.loads(lines[0])["fields"] == found["fields"]
    assert json.loads(lines[1])["line"] == 2


STUCK = """
import sys, time
from pathlib import Path
if "lawful.server.reader_process" in sys.orig_argv:
    Path({begun!r}).touch()
    time.sleep(300)
"""
"""Has a process that reads a file get stuck as it starts."""


def test_the_end_of_the_service_does_not_wait_for_a_file(tmp_path):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("onnxruntime")
    begun = tmp_path / "begun"
    (tmp_path / "sitecustomize.py").write_text(STUCK.format(begun=str(begun)))
    options = ("--drain-seconds", 1, "--file-seconds", 200)
    environment = {"PYTHONPATH": str(tmp_path)}
    with serving(*options, rules=("receipt",), environment=environment) as found:
        with connect(found.port) as connection:
            headers = "Content-Type: application/pdf", "Content-Length: 4"
            connection.sendall(head("POST", "/v1/extract", *headers) + b"%PDF")
            until = monotonic() + LONG
            while not begun.exists():
                assert monotonic() < until
                sleep(0.05)
            found.process.send_signal(signal.SIGTERM)
            answer = rest_of(connection)
        began = monotonic()
        assert status_of(answer) == 503
        found.process.wait(LONG)
        assert monotonic() - began < 20


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("onnxruntime")
    draw_receipt(0, tmp_path / "receipt.pdf")
    return (tmp_path / "receipt.pdf").read_bytes()


def post(service, path, files, **options):
    return service.client.post(path, files=files, params=options)


def test_a_form_is_answered_as_the_file_alone_under_its_name(receipts, file):
    plain = extract(receipts, file, "application/pdf", id="x").json()
    for name, kind in (("x.pdf", "application/octet-stream"), ("a/b\\x.pdf", "text/plain")):
        found = post(receipts, "/v1/extract", {"file": (name, file, kind)})
        assert found.status_code == 200, found.text
        assert found.json() | {"seconds": 0} == plain | {"id": "x.pdf", "seconds": 0}
    headers = {"Content-Type": "application/octet-stream"}
    headers["Content-Disposition"] = 'attachment; filename="y.pdf"'
    raw = receipts.client.post("/v1/extract", content=file, headers=headers)
    assert raw.json()["id"] == "y.pdf"
    assert post(receipts, "/v1/extract", {"file": ("x.pdf", file)}, id="z").json()["id"] == "z"


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ({"other": ("x.pdf", b"%PDF")}, 422, "the form has 'other', expected one part: 'file'"),
        ({"file": ("x.txt", b"text")}, 415, "the file (x.txt) is of an unknown kind"),
        ([("file", ("x.pdf", b"%PDF"))] * 2, 422, "'file' twice"),
        ([(f"f{i}", b"") for i in range(9)], 422, "more than 8 parts"),
    ],
)
def test_wrong_forms_are_problems(receipts, files, status, said):
    found = post(receipts, "/v1/extract", files)
    assert (found.status_code, said in found.json()["detail"]) == (status, True), found.text


DIES = """
import os, sys, time
if "lawful.server.reader_process" in sys.orig_argv:
    from lawful.readers.reader import Reader
    original = Reader._read_once
    def read(self, file, name, kind):
        with open({log!r}, "a") as log:
            print(os.getpid(), file=log)
        content = file.read_bytes()
        if content == b"die":
            os._exit(7)
        if content == b"crash":
            os.kill(os.getpid(), 11)
        if content == b"hang":
            time.sleep(60)
        return original(self, file, name, kind)
    Reader._read_once = read
"""
"""Has the process die of some files, and note which one reads each."""


def test_the_process_that_reads_stays_and_is_replaced_if_it_dies(tmp_path, file):
    """A file that kills it is a problem of its request alone; other files share one process."""
    (tmp_path / "sitecustomize.py").write_text(DIES.format(log=str(tmp_path / "pids")))
    environment = {"PYTHONPATH": str(tmp_path)}
    options = ("--seconds", 30, "--file-seconds", 2)
    why = {
        b"die": "the process that read the file died",
        b"crash": "the process that read the file died",
        b"hang": "reading the file took more than 2 seconds",
    }
    with serving(*options, rules=("receipt",), environment=environment) as found:
        for body in (file, b"die", file, b"crash", file, b"hang", b"no PDF"):
            answer = extract(found, body, "application/pdf")
            assert answer.status_code == (200 if body == file else 422), answer.text
            assert why.get(body, "") in answer.text
    pids = (tmp_path / "pids").read_text().split()
    assert [pids.index(pid) for pid in pids] == [0, 0, 2, 2, 4, 4, 6]


def test_without_rules_files_are_told_to_be_receipts_or_invoices(file, tmp_path):
    with serving("--seconds", 30, "--warm", "--cache", tmp_path / "c", rules=()) as found:
        answer = post(found, "/v1/extract", {"file": ("x.pdf", file)})
        assert answer.json()["classes"]["kind"]["value"] == "receipt"
        named = post(found, "/v1/extract", {"file": ("x.pdf", file)}, rules="receipt")
        assert named.json()["fields"] == answer.json()["fields"]
    kept = [each for each in (tmp_path / "c").rglob("*") if each.is_file()]
    assert len(kept) == 1


def test_e_invoices_have_the_values_of_their_xml(tmp_path):
    path = pdfs.attached(tmp_path / "a.pdf", pdfs.text_pdf(PRINTED), factur__x_xml=XML)
    expected = lawful.extract(path).to_dict()
    with serving("--seconds", 30, rules=()) as found:
        answer = post(found, "/v1/extract", {"file": (str(path), path.read_bytes())}).json()
    assert [check["state"] for check in answer["checks"] if check["id"] == "PRINT"] == ["satisfied"]
    assert [each["value"] for each in answer["fields"]["gross"]] == [136.85]
    assert answer["fields"].keys() == expected["fields"].keys()


def test_values_are_grounded_on_a_document_or_a_file(receipts, file):
    page = {"id": "p", "words": ["Total", "7.00"], "boxes": [[0, 0, 10, 10], [20, 0, 30, 10]]}
    body = {"document": page, "values": {"total": 7, "iban": "DE1"}}
    found = receipts.client.post("/v1/ground", json=body).json()
    msgspec.convert(found, messages.GroundedLine)
    assert [each["words"] for each in found["values"]] == [[1], []]
    lines = f"{json.dumps(body)}\n{{}}\n"
    kind = {"Content-Type": "application/x-ndjson"}
    answers = receipts.client.post("/v1/ground", content=lines, headers=kind).text.splitlines()
    assert json.loads(answers[0]) == found
    assert "keys document and values" in json.loads(answers[1])["error"]
    total = extract(receipts, file, "application/pdf").json()["fields"]["total"][0]
    values = json.dumps({"total": total["text"]})
    files = {"file": ("x.pdf", file), "values": (None, values, "application/json")}
    read = post(receipts, "/v1/ground", files, rules="receipt").json()
    assert read["id"] == "x.pdf"
    assert read["values"][0]["text"] == total["text"]
    wrong = post(receipts, "/v1/ground", {"file": ("x.pdf", file)})
    assert wrong.json()["detail"] == "the form has 'file', expected 'values' and 'file'"


SAMPLES = [
    {"total": "9.00", "subtotal": "8.00", "tax": "1.00"},
    {"total": "9.50", "tax": "1.00"},
    {"total": "9.50"},
]


def test_candidates_are_chosen_as_by_the_command(receipts, file):
    line = json.dumps({"id": "s", "samples": SAMPLES})
    found = receipts.client.post("/v1/choose", json={"id": "s", "samples": SAMPLES})
    expected = decoded_by_command([line.encode()], command="choose", rules="receipt")
    assert timeless(found.content) == timeless(expected.rstrip())
    bad = receipts.client.post("/v1/choose", json={"id": "s"})
    assert bad.status_code == 422
    assert "expected one of samples, sources" in bad.json()["detail"]
    option = receipts.client.post("/v1/choose", params={"pool": "mean"}, content=line)
    assert "pool is about scores" in option.json()["detail"]
    total = extract(receipts, file, "application/pdf").json()["fields"]["total"][0]
    samples = json.dumps({"id": "s", "samples": [{"total": total["text"]}, {"total": "1.23"}]})
    files = {"file": ("x.pdf", file), "candidates": (None, samples)}
    placed = post(receipts, "/v1/choose", files).json()["fields"]["total"][0]
    assert placed["text"] == total["text"]
    assert placed["box"]
    page = {"id": "p", "words": ["Total", "7.00"], "boxes": [[0, 0, 10, 10], [20, 0, 30, 10]]}
    with_page = {"id": "s", "samples": [{"total": "7.00"}], "document": page}
    chosen = receipts.client.post("/v1/choose", json=with_page).json()
    assert chosen["fields"]["total"][0]["box"] == [20, 0, 30, 10]


def test_what_cannot_be_read_here_is_said(receipts):
    found = extract(receipts, b"no image", "image/png")
    if find_spec("rapidocr") is None:
        assert found.status_code == 501
        assert "install the 'ocr' extra" in found.json()["detail"]
    else:
        assert found.status_code == 422
    assert extract(receipts, b"x", "text/plain").status_code == 415
