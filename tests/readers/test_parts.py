"""Several documents in one file: where new ones begin, against all divisions and on PDF files."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from lawful import Document
from lawful.readers import Reader
from lawful.readers.parts import (
    COUNTER,
    PRIOR,
    _Page,
    _price_of_beginning,
    _price_of_going_on,
    first_pages,
    parts_of,
)
from tests.command_line import run
from tests.fixtures.pdfs import text_pdf

HEAD = ("Smith & Sons Ltd", "Old Street 5, London", "VAT GB123456789")


def invoice(number, *more, pages=1):
    """The pages of an invoice, as lines; letterheads are on all of them."""
    first = (*HEAD, f"Invoice No: {number}", f"Page 1 of {pages}", "paper 12.00", *more)
    last = ("tax 2.40", "Total due 14.40")
    if pages == 1:
        return [(*first, *last)]
    return [first, (*HEAD, "more paper 2.00", f"Page 2 of {pages}", *last)]


def test_three_invoices_of_one_seller_are_told_apart(tmp_path):
    path = tmp_path / "three.pdf"
    pages = [*invoice("A-101"), *invoice("A-102", pages=2), *invoice("A-103")]
    path.write_bytes(text_pdf(*pages))
    document = Reader().read(path)
    parts = parts_of(document)
    assert [part.id for part in parts] == [f"{path}#page=1", f"{path}#page=2-3", f"{path}#page=4"]
    assert [sorted(set(part.pages)) for part in parts] == [[0], [1, 2], [3]]
    assert sum((part.words for part in parts), ()) == document.words
    assert [len(part.words) == len(part.boxes) == len(part.pages) for part in parts] == [True] * 3


@pytest.mark.parametrize("pages", [1, 2])
def test_a_single_invoice_stays_whole(tmp_path, pages):
    (tmp_path / "one.pdf").write_bytes(text_pdf(*invoice("A-101", pages=pages)))
    document = Reader().read(tmp_path / "one.pdf")
    assert parts_of(document) == [document]


def test_what_a_page_says():
    page = _Page.of(["Rechnung Nr. RE-2024/17", "Seite 2 von 3", "Übertrag 10,00"])
    assert (page.counter, page.numbers, page.titled) == ((2, 3), {"re-2024/17"}, True)
    assert (page.total, page.carried) == (False, True)
    assert _Page.of(["page 1 of 2", "page 2 of 2"]).counter is None  # not clear which
    assert _Page.of(["page 3 of 2"]).counter is None


def test_the_cheapest_of_all_divisions_is_found():
    rng = np.random.default_rng(5)
    for _ in range(300):
        size = int(rng.integers(1, 7))
        pages = [
            _Page(
                (int(rng.integers(1, n + 1)), n) if (n := int(rng.integers(0, 4))) else None,
                frozenset(rng.choice(list("xyz"), int(rng.integers(0, 2))).tolist()),
                *(bool(rng.random() < 0.5) for _ in range(3)),
                frozenset(rng.choice(list("uvw"), int(rng.integers(0, 3))).tolist()),
            )
            for _ in range(size)
        ]
        divisions = [
            [0, *others] for count in range(size) for others in combinations(range(1, size), count)
        ]
        assert cost(pages, first_pages(pages)) == pytest.approx(
            min(cost(pages, firsts) for firsts in divisions)
        )


def cost(pages, firsts):
    """What a division costs, page by page."""
    total = 0.0
    for first, end in zip(firsts, [*firsts[1:], len(pages)], strict=True):
        total += PRIOR
        if first:
            total += _price_of_beginning(pages[first - 1], pages[first])
        for page in range(first + 1, end):
            numbers = frozenset().union(*(each.numbers for each in pages[first:page]))
            total += _price_of_going_on(pages[first : page + 1], numbers)
        counter = pages[first].counter
        total += COUNTER / 2 * (counter is not None and counter[1] != end - first)
    return total


def test_documents_without_pages_are_one():
    document = Document("d", ["a", "b"])
    assert parts_of(document) == [document]


def test_extract_writes_a_result_per_part(tmp_path):
    (tmp_path / "three.pdf").write_bytes(
        text_pdf(*invoice("A-101"), *invoice("A-102", pages=2), *invoice("A-103"))
    )
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    (tmp_path / "one.pdf").write_bytes(text_pdf(*invoice("B-1")))
    names = ("three.pdf", "bad.pdf", "one.pdf")
    paths = [str(tmp_path / name) for name in names]
    for out in ("-", str(tmp_path / "out.jsonl")):
        done = run("extract", "--rules", "invoice", "--split", *paths, "--out", out, "--no-cache")
        text = done.stdout if out == "-" else (tmp_path / "out.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        ids = [line["id"].removeprefix(f"{tmp_path}/") for line in lines]
        assert ids == ["three.pdf#page=1", "three.pdf#page=2-3", "three.pdf#page=4", "one.pdf"]
        assert [line["fields"]["number"][0]["text"] for line in lines] == [
            "A-101", "A-102", "A-103", "B-1",
        ]  # fmt: skip


def test_lines_of_documents_are_not_split(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "d", "words": ["a"]}\n')
    done = run("extract", "--split", tmp_path / "d.jsonl")
    assert done.returncode == 2
    assert "--split is for files" in done.stderr
