"""OCR by the real library: photos, scans inside PDF files, and what it costs to be wrong."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest

from lab import receipts as demo
from lab.receipts.drawing import draw_pdf, photograph
from lawful.readers import Limits, Reader
from lawful.readers.images import picture_of
from lawful.readers.misreads import MAX_OF_PAGE
from lawful.readers.ocr import Ocr
from lawful.readers.pdf import open_pdf
from tests.fixtures import pdfs
from tests.fixtures.outputs import SHARED
from tests.helpers import run, timeless

pytest.importorskip("rapidocr", reason="needs the 'ocr' extra: make test-files")
image = pytest.importorskip("PIL.Image", reason="needs the 'pdf' extra")

RECEIPTS = SHARED / "data" / "receipt_images"


@pytest.fixture(scope="module")
def reader():
    return Reader()


@pytest.fixture(scope="module")
def page():
    return next(iter(demo.generate(1))).document


@pytest.fixture(scope="module")
def printed(tmp_path_factory, page):
    """A receipt as a PDF file, and the pixels of its page."""
    path = tmp_path_factory.mktemp("printed") / "receipt.pdf"
    draw_pdf(page, path)
    with open_pdf(path, Limits()) as pdf, pdf.page(0) as drawn:
        return path, drawn.render(Limits())[0], drawn.size


def found_share(found, expected):
    """The share of words that were read, whatever their order."""
    common = Counter(found) & Counter(expected)
    return common.total() / len(expected)


def scanned_pdf(pixels, size, keys="", text=b""):
    """A PDF page that is only an image, with a text over it if there is one."""
    file = io.BytesIO()
    image.fromarray(pixels).save(file, "JPEG", quality=90)
    high, wide, _ = pixels.shape
    picture = pdfs.stream(
        file.getvalue(),
        b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB "
        b"/BitsPerComponent 8 /Filter /DCTDecode" % (wide, high),
    )
    return pdfs.one_page(
        b"q %.2f 0 0 %.2f 0 0 cm /I Do Q %s" % (*size, text), media=f"0 0 {size[0]} {size[1]}",
        fonts="/XObject <</I 5 0 R>> /Font <</F1 6 0 R>>",
        more=[picture, b"<</Type /Font /Subtype /Type1 /BaseFont /Courier>>"], keys=keys,
    )  # fmt: skip


def test_a_skewed_and_noisy_photo(tmp_path, reader, page, printed):
    photograph(printed[0], tmp_path / "photo.jpg", seed=1)
    document = reader.read(tmp_path / "photo.jpg")
    assert found_share(document.words, page.words) >= 0.9
    assert document.sizes[0][0] > 300
    assert document.images == (str(tmp_path / "photo.jpg"),)
    amounts = ["43.500", "4.785", "48.285", "49.000", "715"]
    assert [word for word in document.words if word in amounts][-5:] == amounts


def test_digits_that_are_blurred_keep_what_else_they_may_be(tmp_path, reader, printed):
    photograph(printed[0], tmp_path / "photo.jpg", seed=1)
    sharp = image.open(tmp_path / "photo.jpg")
    small = sharp.resize([int(0.35 * side) for side in sharp.size])
    small.resize(sharp.size).save(tmp_path / "blurred.png")
    blurred = reader.read(tmp_path / "blurred.png")
    pairs = list(zip(blurred.words, blurred.misreads, strict=True))
    count = sum(map(len, reader.read(tmp_path / "photo.jpg").misreads or ()))
    assert count < sum(len(some) for _, some in pairs) <= MAX_OF_PAGE
    assert all(any(map(str.isdigit, word)) for word, some in pairs if some)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_photos_without_a_direction_are_turned(tmp_path, reader, page, printed, turn):
    """Counted clockwise, as the picture has to be turned to be upright."""
    _, pixels, _ = printed
    image.fromarray(np.ascontiguousarray(np.rot90(pixels, turn // 90))).save(tmp_path / "a.png")
    document = reader.read(tmp_path / "a.png")
    assert found_share(document.words, page.words) >= 0.9
    high, wide, _ = pixels.shape
    assert document.sizes == ((wide, high),)
    mark = f"#turn={turn}" if turn else ""
    assert document.images == (f"{tmp_path / 'a.png'}{mark}",)
    picture = image.open(io.BytesIO(picture_of(document.images[0], 200)))
    assert picture.size[0] < picture.size[1]  # upright, as the receipt


def test_a_page_that_is_read_well_is_read_once(tmp_path, printed, monkeypatch):
    looks = []
    look = Ocr._look
    monkeypatch.setattr(Ocr, "_look", lambda *given: looks.append(given[2:]) or look(*given))
    image.fromarray(printed[1]).save(tmp_path / "a.png")
    Reader().read(tmp_path / "a.png")
    assert looks == [()]


def test_a_scan_that_was_turned_inside_a_pdf(tmp_path, reader, page, printed):
    _, pixels, size = printed
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned_pdf(np.ascontiguousarray(np.rot90(pixels)), size[::-1]))
    document = reader.read(path)
    assert found_share(document.words, page.words) >= 0.9
    assert document.sizes == (size,)
    assert document.images == (f"{path}#page=1&turn=90",)
    assert max(box.y1 for box in document.boxes) <= size[1] + 1


def test_a_scan_in_a_pdf_has_boxes_in_points(tmp_path, reader, page, printed):
    _, pixels, size = printed
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned_pdf(pixels, size))
    document = reader.read(path)
    assert found_share(document.words, page.words) >= 0.9
    assert document.sizes == (pytest.approx(size, abs=0.1),)
    total = document.boxes[document.words.index("48.285")]
    true = page.boxes[page.words.index("48.285")]
    assert [2 * edge for edge in total] == pytest.approx(true, abs=20)  # drawn at half the size
    assert Reader("never").read(path).words == ()


def test_a_scan_that_was_stored_sideways(tmp_path, reader, page, printed):
    _, pixels, (width, height) = printed
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned_pdf(pixels.transpose(1, 0, 2)[::-1], (height, width), "/Rotate 90"))
    document = reader.read(path)
    assert document.sizes == (pytest.approx((width, height), abs=0.1),)
    assert found_share(document.words, page.words) >= 0.9


def test_only_pages_without_text_are_read_by_ocr(tmp_path, printed):
    class Counting:
        pages = 0

        def read(self, pixels, scale=1.0):
            del pixels, scale
            self.pages += 1
            return [], 0

    path, engine = tmp_path / "a.pdf", Counting()
    line = "a page with many more than ten words in its text layer"
    path.write_bytes(pdfs.text_pdf([line], ["Page 2"], []))
    found = Reader(engine=engine).read(path)
    assert engine.pages == 1  # the one without words
    assert found.words == (*line.split(), "Page", "2")
    Reader("always", engine=engine).read(path)
    assert engine.pages == 4
    path.write_bytes(scanned_pdf(*printed[1:], text=b"BT /F1 9 Tf 9 9 Td (a stamp) Tj ET"))
    assert Reader(engine=engine).read(path).words == ("a", "stamp")
    assert engine.pages == 5


def test_every_frame_of_a_tiff_is_a_page(tmp_path, reader, printed):
    _, pixels, _ = printed
    frames = [image.fromarray(pixels), image.fromarray(pixels[:200])]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    document = reader.read(tmp_path / "a.tif")
    assert set(document.pages) == {0, 1}
    assert document.sizes == (pixels.shape[1::-1], (pixels.shape[1], 200))
    assert document.images[1] == f"{tmp_path / 'a.tif'}#page=2"


def test_a_blank_image_has_no_words(tmp_path, reader):
    image.new("RGB", (300, 200), "white").save(tmp_path / "blank.png")
    assert reader.read(tmp_path / "blank.png").words == ()
    drawn = image.new("RGB", (300, 200), "white")
    drawn.paste("black", (100, 100, 160, 101))
    drawn.save(tmp_path / "line.png")
    assert len(reader.read(tmp_path / "line.png")) <= 1


def test_from_photos_to_fields(tmp_path, page, printed):
    for seed in (1, 2):
        photograph(printed[0], tmp_path / f"{seed}.jpg", seed=seed)
    image.new("1", (12_000, 12_000)).save(tmp_path / "bomb.png")
    found = run("extract", tmp_path, cwd=tmp_path)
    assert "bomb.png: the image has 144,000,000 pixels, more than the limit" in found.stderr
    lines = timeless(found.stdout)
    assert [line["id"] for line in lines] == [str(tmp_path / f"{seed}.jpg") for seed in (1, 2)]
    for line in lines:
        assert len(line["labels"]) == pytest.approx(len(page), abs=5)
        assert line["fields"]
    again = run("extract", tmp_path, "--workers", "2", cwd=tmp_path)
    assert timeless(again.stdout) == lines


@pytest.mark.skipif(not RECEIPTS.is_dir(), reason="needs ../shared/data/receipt_images")
def test_real_photos(reader):
    """On all 48: see docs/files.md."""
    right = words = 0
    for file in sorted((RECEIPTS / "img").glob("*.jpg"))[:3]:
        truth = [
            word
            for line in (RECEIPTS / "box" / f"{file.stem}.csv").read_text("utf-8").splitlines()
            for word in line.split(",", 8)[-1].split()
        ]
        found = reader.read(file).words
        right += found_share([w.upper() for w in found], [w.upper() for w in truth]) * len(truth)
        words += len(truth)
    assert right / words > 0.75
