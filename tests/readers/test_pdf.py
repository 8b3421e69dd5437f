"""PDF files: words and boxes, rotated pages, and files that cannot be used."""

from __future__ import annotations

import pytest

from lawful import InputError
from lawful.base.errors import MissingExtraError
from lawful.readers import Limits, Reader
from tests.fixtures import pdfs

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")

LINES = ["Invoice 17 of a seller", "Date 1.2.2024 and more words", "Total 1.234,50 EUR"]
WORDS = tuple(" ".join(LINES).split())


def read(folder, data, name="a.pdf", **options):
    path = folder / name
    path.write_bytes(data)
    return Reader(**({"ocr": "never"} | options)).read(path)


def test_words_boxes_pages_and_sizes(tmp_path):
    document = read(tmp_path, pdfs.text_pdf(LINES, LINES[:1]))
    assert document.words == (*WORDS, *LINES[0].split())
    assert document.pages == (0,) * len(WORDS) + (1,) * 5
    assert document.sizes == ((595, 842),) * 2
    assert document.id == str(tmp_path / "a.pdf")
    assert document.images == tuple(f"{tmp_path / 'a.pdf'}#page={n}" for n in (1, 2))
    x0, y0, x1, y1 = document.boxes[0]
    # Courier's letters are 6 wide at size 10; the baseline is 60 below the top.
    assert (x0, x1) == pytest.approx((50, 92), abs=0.5)
    assert 50 <= y0 < 55
    assert 60 < y1 < 64


TURNS = {
    0: ("0 0 595 842", "1 0 0 1 0 0"),
    90: ("0 0 842 595", "0 1 -1 0 842 0"),
    180: ("0 0 595 842", "-1 0 0 -1 595 842"),
    270: ("0 0 842 595", "0 -1 1 0 0 595"),
}
"""By rotation of a page, its sides in the file, and the matrix that draws text upright."""


@pytest.mark.parametrize("turn", TURNS)
def test_pages_are_read_as_they_are_shown(tmp_path, turn):
    """Scanners store pages sideways, with text that is upright once the page is turned."""
    media, matrix = TURNS[turn]
    lines = "".join(
        f"BT /F1 10 Tf 1 0 0 1 50 {842 - 60 - 20 * i} Tm ({line}) Tj ET "
        for i, line in enumerate(LINES)
    )
    document = read(tmp_path, drawn(f"q {matrix} cm {lines} Q", media, f"/Rotate {turn}"))
    assert document.words == WORDS
    assert document.sizes == ((595, 842),)
    assert document.boxes[0].x0 == pytest.approx(50, abs=0.5)
    assert 50 <= document.boxes[0].y0 < document.boxes[0].y1 < 64


def drawn(content, media="0 0 595 842", keys=""):
    """A PDF page with content in Courier, as F1."""
    font = b"<</Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding>>"
    fonts = "/Font <</F1 5 0 R>>"
    return pdfs.one_page(content.encode("cp1252"), media=media, fonts=fonts, more=[font], keys=keys)


def test_a_page_whose_corner_is_not_the_origin(tmp_path):
    content = "BT /F1 10 Tf 150 900 Td (Total) Tj ET BT /F1 10 Tf 10 10 Td (outside) Tj ET"
    document = read(tmp_path, drawn(content, "100 200 695 1042"))
    assert document.words == ("Total",)
    assert document.boxes[0].x0 == pytest.approx(50, abs=0.5)
    assert 130 < document.boxes[0].y0 < document.boxes[0].y1 < 146


def test_words_that_stick_out_of_the_page_are_cut(tmp_path):
    content = (
        "BT /F1 10 Tf 580 700 Td (Total) Tj ET BT /F1 9999999 Tf 10 10 Td (x) Tj ET "
        "BT /F1 10 Tf -10 800 Td (left) Tj ET"
    )
    document = read(tmp_path, drawn(content))
    assert {"left", "Total"} <= set(document.words)
    for x0, y0, x1, y1 in document.boxes:
        assert 0 <= x0 <= x1 <= 595
        assert 0 <= y0 <= y1 <= 842


def test_words_end_at_gaps_and_turns_not_at_the_parts_of_a_text(tmp_path):
    content = (
        "BT /F1 10 Tf 50 700 Td [(To) -10 (tal) -900 (12) 20 (,50)] TJ ET "
        "BT /F1 10 Tf 50 650 Td (left) Tj 100 0 Td (right) Tj ET "
        "BT /F1 10 Tf 0 1 -1 0 30 300 Tm (margin text) Tj ET "
        "BT /F1 10 Tf 0 -1 1 0 560 300 Tm (going down) Tj ET"
    )
    assert read(tmp_path, drawn(content)).words == (
        "Total", "12,50", "left", "right", "text", "margin", "going", "down",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the PDF is damaged"),
        (b"%PDF-1.7\nnothing", "the PDF is damaged"),
        (b"no PDF at all" * 100, "the PDF is damaged"),
        (pdfs.encrypted_pdf("secret", *LINES), "the PDF is encrypted, and needs a password"),
        (pdfs.text_pdf(), "the PDF is damaged"),
    ],
    ids=("empty", "header", "text", "encrypted", "no pages"),
)
def test_files_that_cannot_be_used(tmp_path, data, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path, data)


def test_encrypted_files_are_read_with_their_password(tmp_path):
    data = pdfs.encrypted_pdf("secret", *LINES)
    assert read(tmp_path, data, password="secret").words == WORDS  # noqa: S106 - of this file
    with pytest.raises(InputError, match="the PDF is encrypted, and has another password"):
        read(tmp_path, data, password="other")  # noqa: S106
    assert read(tmp_path, pdfs.text_pdf(LINES), password="any").words == WORDS  # noqa: S106
    assert "secret" not in repr(Reader(password="secret"))  # noqa: S106


def test_encryption_without_a_password_is_no_obstacle(tmp_path):
    assert read(tmp_path, pdfs.encrypted_pdf("", *LINES)).words == WORDS


def test_cut_and_changed_files_give_words_or_an_error(tmp_path):
    data = pdfs.text_pdf(LINES, LINES)
    for cut in range(0, len(data), 37):
        for damaged in (data[:cut], data[:cut] + b"\xff\0" + data[cut + 2 :]):
            try:
                document = read(tmp_path, damaged)
            except InputError:
                continue
            assert len(document) <= 2 * len(WORDS)


def test_pages_and_bytes_are_limited(tmp_path):
    with pytest.raises(InputError, match="the file has 2 pages, more than the limit of 1"):
        read(tmp_path, pdfs.text_pdf(LINES, LINES), limits=Limits(pages=1))
    with pytest.raises(InputError, match=r"the file has .* bytes, more than the limit of 100"):
        read(tmp_path, pdfs.text_pdf(LINES), limits=Limits(bytes=100))
    with pytest.raises(InputError, match="the document has 13 words, more than the limit of 5"):
        read(tmp_path, pdfs.text_pdf(LINES), limits=Limits(words=5))
    with pytest.raises(InputError, match="a page has 111 characters: too many words"):
        read(tmp_path, pdfs.text_pdf(["x" * 111]), limits=Limits(words=1))
    with pytest.raises(InputError, match="limit of pages is 0, expected more than 0"):
        Limits(pages=0)


def test_a_huge_page_is_rendered_within_the_limit(tmp_path):
    from lawful.readers.pdf import open_pdf

    path = tmp_path / "huge.pdf"
    path.write_bytes(drawn("BT /F1 10 Tf 50 700 Td (Total) Tj ET", "0 0 14400 14400"))
    limits = Limits(pixels=1_000_000)
    with open_pdf(path, limits) as pdf, pdf.page(0) as page:
        assert [word.text for word in page.words(limits)] == ["Total"]
        pixels, scale = page.render(limits)
    assert pixels.shape[0] * pixels.shape[1] <= 1_010_000
    assert scale == pytest.approx(1000 / 14400, rel=0.01)


def test_a_font_without_a_meaning_has_no_words(tmp_path):
    assert read(tmp_path, pdfs.unmapped_font_pdf()).words == ()


def test_a_page_that_needs_ocr_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rapidocr", None)
    with pytest.raises(MissingExtraError, match="needs rapidocr: install the 'ocr' extra"):
        read(tmp_path, pdfs.unmapped_font_pdf(), ocr="auto")
    # A blank page needs none, and one with few words does not spoil the other pages.
    assert read(tmp_path, pdfs.text_pdf([]), ocr="auto").words == ()
    assert read(tmp_path, pdfs.text_pdf(LINES, ["Page 2"]), ocr="auto").words == (
        *WORDS, "Page", "2",
    )  # fmt: skip


def test_letters_beyond_the_first_plane_and_lone_surrogates(tmp_path):
    to_unicode = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange "
        b"<41> <44> endcodespacerange 3 beginbfchar <41> <D83DDE00> <42> <D83D> <43> <0043> "
        b"endbfchar endcmap end end"
    )
    font = b"<</Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R>>"
    data = pdfs.one_page(
        b"BT /F1 10 Tf 50 700 Td (CCCCAC CCCCCBC) Tj ET", fonts="/Font <</F1 5 0 R>>",
        more=[font, pdfs.stream(to_unicode)],
    )  # fmt: skip
    words = read(tmp_path, data).words
    assert words[0] == "CCCC\N{GRINNING FACE}C"
    assert "".join(words).encode()  # can be written


def test_characters_in_bulk_are_those_one_by_one(tmp_path, monkeypatch):
    """By the addresses of PDFium's functions, or by calls where these are not to be had."""
    from lawful.readers import characters

    content = (
        "BT /F1 10 Tf 50 700 Td [(To) -10 (tal) -900 (12) 20 (,50)] TJ ET "
        "BT /F1 10 Tf 0 1 -1 0 30 300 Tm (margin text) Tj ET "
        "BT /F1 10 Tf 0 -1 1 0 560 300 Tm (going down) Tj ET"
    )
    for data in (drawn(content), pdfs.text_pdf(LINES), pdfs.text_pdf([])):
        in_bulk = read(tmp_path, data)
        with monkeypatch.context() as patch:
            patch.setattr(characters, "addresses", lambda raw: None)
            assert read(tmp_path, data) == in_bulk
    assert characters.addresses(object()) is None
