"""Files of all kinds as documents, and many files in processes of their own."""

from __future__ import annotations

import os
import signal
import time
import zlib
from dataclasses import dataclass

import numpy as np
import pytest

from lab.receipts.drawing import pdf_file
from lawful import Box, FailedDocument, InputError
from lawful.readers import Item, Limits, Reader, files_in, kind_of, read_files
from lawful.readers.images import frame_of, open_image, picture_of
from lawful.readers.ocr import split_word
from lawful.readers.page import Page, Word, clean, make_document, split_dates
from tests.fixtures import pdfs

image = pytest.importorskip("PIL.Image", reason="needs the 'pdf' extra")

LINE = "Invoice 17 of a seller with a total of 12,50 EUR"


def test_kinds_are_told_by_name_and_json_by_its_beginning(tmp_path):
    names = ("a.PDF", "a.jpg", "a.hocr", "a.html", "a.xml", "a.jsonl", "a.json", "b.json", "c.json")
    for name in names:
        (tmp_path / name).write_text('{"id": "a", "words": []}', encoding="utf-8")
    (tmp_path / "b.json").write_text('{"DocumentMetadata": {}, "Blocks": []}', encoding="utf-8")
    (tmp_path / "c.json").write_text('{"analyzeResult": {"pages": []}}', encoding="utf-8")
    assert [kind_of(tmp_path / name) for name in names] == [
        "pdf", "image", "hocr", "hocr", "alto", None, None, "textract", "azure",
    ]  # fmt: skip


def test_folders_are_read_by_name_without_hidden_and_other_files(tmp_path):
    for name in ("b/2.pdf", "b/1.PNG", "a.tif", ".hidden.pdf", ".git/x.pdf", "notes.txt", "x.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "folder.pdf").mkdir()
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    found = [str(path.relative_to(tmp_path)) for path in files_in(tmp_path)]
    assert found == ["a.tif", "b/1.PNG", "b/2.pdf"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.pdf", "there is no such file"),
        ("folder", "it is no file"),
        ("a.docx", "it is of no known kind"),
        ("a.png", "the image is damaged, or no image"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.docx").write_bytes(b"PK")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    with pytest.raises(InputError, match=said):
        Reader().read(tmp_path / name)


def bomb(path, side):
    """A small PNG of one colour with very many pixels."""
    image.new("1", (side, side)).save(path, "PNG")
    assert path.stat().st_size < 2**19
    return path


def test_decompression_bombs_are_not_unpacked(tmp_path):
    for side, limits in ((9000, Limits()), (20_000, Limits(pixels=10**6))):
        with pytest.raises(
            InputError, match=r"pixels, more than the limit|more pixels than the limit"
        ):
            Reader(limits=limits).read(bomb(tmp_path / "bomb.png", side))


def test_photos_are_turned_as_the_camera_says(tmp_path):
    exif = image.Exif()
    exif[0x0112] = 6  # turn by a quarter
    pixels = np.zeros((20, 40, 3), np.uint8)
    image.fromarray(pixels).save(tmp_path / "a.jpg", exif=exif)
    with open_image(tmp_path / "a.jpg", Limits()) as opened:
        assert frame_of(opened, 0, Limits()).shape == (40, 20, 3)


def test_a_damaged_photo_says_so(tmp_path):
    path = tmp_path / "a.jpg"
    image.effect_noise((300, 300), 50).save(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="the image is damaged"):
        Reader().read(path)


def test_pictures_of_pages_for_the_report(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(pdfs.text_pdf([LINE], [LINE]))
    picture = picture_of(f"{path}#page=2", 300)
    assert picture is not None
    assert picture.startswith(b"\xff\xd8")
    for reference in (f"{path}#page=3", str(tmp_path / "b.pdf"), "/etc/passwd", "/dev/zero", "a\0"):
        assert picture_of(reference, 300) is None


def test_words_of_ocr_are_split_where_a_blank_is_missing():
    def parts(text):
        return [word.text for word in split_word(text, Box(0, 0, 100, 10))]

    assert parts("18.00EUR") == ["18.00", "EUR"]
    assert parts("RM33.90") == ["RM", "33.90"]
    assert parts("GLN:587") == ["GLN:", "587"]
    for whole in ("12:30", "F2022-17", "1851-A", "http://a.b", "TVA:", "AB12.345", "x"):
        assert parts(whole) == [whole]
    boxes = [word.box for word in split_word("18.00EUR", Box(0, 0, 80, 10))]
    assert boxes == [(0, 0, 50, 10), (50, 0, 80, 10)]


def test_texts_are_cleaned():
    assert clean(" a\x00b\ud83d\ude00\ud800 ") == "ab\N{GRINNING FACE}\ufffd"
    assert clean("\u200b \n") == ""


def test_two_dates_in_one_word_are_two_words():
    words = [
        Word("01/18/20-01/22/20", Box(0, 0, 170, 10)),
        Word("1-800-555-0100", Box(0, 20, 9, 29)),
    ]
    document = make_document("d", [Page(words, (200.0, 100.0))])
    assert document.words == ("01/18/20", "-", "01/22/20", "1-800-555-0100")
    assert document.boxes[:3] == (Box(0, 0, 80, 10), Box(80, 0, 90, 10), Box(90, 0, 170, 10))


def test_two_dates_in_one_word_that_runs_up():
    first, dash, last = split_dates(Word("01.18.2020–01.22.2020", Box(0, 0, 10, 210)))
    assert (first.text, dash.text, last.text) == ("01.18.2020", "–", "01.22.2020")
    assert first.box == pytest.approx(Box(0, 110, 10, 210))
    assert last.box == pytest.approx(Box(0, 0, 10, 100))


@pytest.mark.parametrize("text", ["99/99/99-01/22/20", "01/18/20", "2020-01-18", "123456-123456"])
def test_other_words_stay_whole(text):
    word = Word(text, Box(0, 0, 10, 10))
    assert split_dates(word) == [word]


def test_a_page_that_unpacks_to_a_gigabyte_costs_no_more_than_the_limit(tmp_path):
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(1024)) + packer.flush()
    content = pdfs.stream(packed, b"/Filter /FlateDecode")
    page = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R>>"
    pages = b"<</Type /Pages /Kids [3 0 R] /Count 1>>"
    catalogue = b"<</Type /Catalog /Pages 2 0 R>>"
    bomb, good = tmp_path / "bomb.pdf", tmp_path / "good.pdf"
    bomb.write_bytes(pdf_file([catalogue, pages, page, content]))
    good.write_bytes(pdfs.text_pdf([LINE]))
    items = [Item(1, path=str(bomb)), Item(2, path=str(good))]
    limits = Limits(memory=256 * 2**20, seconds=30.0)
    first, second = read_files(items, Reader("never", limits))
    assert isinstance(first, FailedDocument) or first.words == ()
    assert second.words == tuple(LINE.split())


@dataclass(frozen=True)
class Trap(Reader):
    """A reader that stalls on or dies of certain files."""

    def read(self, path):
        if "stall" in str(path):
            time.sleep(60)
        if "raise" in str(path):
            raise ZeroDivisionError("odd")
        if "crash" in str(path):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(path)


@pytest.mark.parametrize("workers", [1, 2])
def test_one_bad_file_costs_no_other(tmp_path, workers):
    names = ["a.pdf", "stall.pdf", "b.pdf", "crash.pdf", "broken.pdf", "c.pdf", "raise.pdf"]
    for name in names:
        (tmp_path / name).write_bytes(b"x" if "broken" in name else pdfs.text_pdf([LINE]))
    items = [Item(n, path=str(tmp_path / name)) for n, name in enumerate(names, 1)]
    items.append(Item(8, b'{"id": "line", "words": ["a"]}'))
    reader = Trap("never", Limits(seconds=4.0))
    a, stalled, b, crashed, broken, c, raised, line = read_files(items, reader, workers=workers)
    for number, document in ((1, a), (3, b), (6, c)):
        assert document.words == tuple(LINE.split())
        assert document.line == number
    assert line.words == ("a",)
    assert raised == FailedDocument(7, "ZeroDivisionError: odd", items[6].path)
    assert stalled == FailedDocument(2, "it took longer than the limit of 4 seconds", items[1].path)
    assert (
        crashed.message
        == "the process that read it died (killed by signal 9, perhaps out of memory)"
    )
    assert "damaged" in broken.message
