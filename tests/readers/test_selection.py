"""Pages of a file that are read."""

import pytest

from lawful import InputError
from lawful.readers import Limits, Reader, Selection
from tests.fixtures import pdfs


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("1", 3, [1]), ("1-3,last", 9, [1, 2, 3, 9]), ("last", 1, [1]), (" 2 , 2-4 ", 3, [2, 3]),
        ("5-", 7, [5, 6, 7]), ("5-last", 7, [5, 6, 7]), ("9-,Last", 7, [7]),
        ("1-9999999", 2, [1, 2]),
    ],
)  # fmt: skip
def test_pages_are_numbered_from_one(text, count, expected):
    assert [page + 1 for page in Selection(text).pages(count)] == expected


@pytest.mark.parametrize(
    "text", ["", "0", "-3", "1,,2", "1-2-3", "first", "last-1", "1 2", "²", "1."]
)
def test_what_is_no_selection(text):
    with pytest.raises(InputError, match="expected numbers, ranges or last, such as"):
        Selection(text)


def test_ranges_go_up():
    with pytest.raises(InputError, match="pages 3-2 are in the wrong order"):
        Selection("1,3-2")


def test_pages_that_a_file_does_not_have():
    with pytest.raises(InputError, match="it has 1 page, and none of the pages 2-5"):
        Selection("2-5").pages(1)


def test_only_selected_pages_are_read_and_count_for_the_limit(tmp_path):
    pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
    path = tmp_path / "a.pdf"
    path.write_bytes(pdfs.text_pdf(*[[f"page {number}"] for number in range(1, 8)]))
    reader = Reader("never", Limits(pages=3), Selection("2-3,last"))
    document = reader.read(path)
    assert document.words == ("page", "2", "page", "3", "page", "7")
    assert document.pages == (0, 0, 1, 1, 2, 2)
    assert len(document.sizes) == 3
    assert document.images == tuple(f"{path}#page={number}" for number in (2, 3, 7))
    with pytest.raises(InputError, match="the file has 4 pages, more than the limit of 3"):
        Reader("never", Limits(pages=3), Selection("1-4")).read(path)


def test_pages_of_what_ocr_engines_write(tmp_path):
    page = (
        '<div class="ocr_page" title="bbox 0 0 9 9"><span class="ocrx_word" title="bbox 1 1 2 2">'
    )
    text = "".join(f"{page}{number}</span></div>" for number in range(1, 4))
    path = tmp_path / "a.hocr"
    path.write_text(f"<html><body>{text}</body></html>", encoding="utf-8")
    assert Reader(pages=Selection("last")).read(path).words == ("3",)
