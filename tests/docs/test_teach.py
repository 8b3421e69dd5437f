"""The page about teaching: its commands, run on small invoices that are made here."""

import csv
import json
import shlex

import pytest

from tests.docs.pages import blocks
from tests.fixtures.invoices import hocr, invoice
from tests.helpers import ROOT, run


def test_the_commands_of_the_page_work(tmp_path):
    pytest.importorskip("PIL")
    (tmp_path / "documents").mkdir()
    pairs = [invoice(number) for number in range(20)]
    for document, _ in pairs:
        (tmp_path / "documents" / f"{document.id}.hocr").write_text(hocr(document))
    with (tmp_path / "values.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", *pairs[0][1].values])
        rows.writerows([t.id, *(value for (value,) in t.values.values())] for _, t in pairs)
    document, truth = invoice(50)
    (tmp_path / "new.hocr").write_text(hocr(document))
    (block,) = blocks("console", pages=[ROOT / "docs" / "teach.md"])
    commands = [shlex.split(line.removeprefix("$ ")) for line in block.text.splitlines() if line]
    for _, *arguments in commands:
        found = run(*(each.replace("new.pdf", "new.hocr") for each in arguments), cwd=tmp_path)
        assert found.returncode in {0, 1}, found.stderr  # 1: no rule was checked
    fields = json.loads(found.stdout)["fields"]
    assert fields["total"][0]["text"] == truth.values["total"][0]
