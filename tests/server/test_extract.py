"""Files and documents without scores, read and scored by the service."""

from __future__ import annotations

import json
import signal
from importlib.util import find_spec
from time import monotonic, sleep

import pytest

from lawful.demo.files import draw_receipt
from tests.server.raw import connect, head, rest_of, status_of
from tests.server.services import LONG, serving


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
    assert broken.json()["detail"] == "document.pdf: the PDF is damaged, or no PDF"


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
if "read" in sys.orig_argv:
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


def test_what_cannot_be_read_here_is_said(receipts):
    found = extract(receipts, b"no image", "image/png")
    if find_spec("rapidocr") is None:
        assert found.status_code == 501
        assert "install the 'ocr' extra" in found.json()["detail"]
    else:
        assert found.status_code == 422
    assert extract(receipts, b"x", "text/plain").status_code == 415
