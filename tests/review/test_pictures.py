"""Pictures of pages: found by name, and never outside the folders that the reviewer has named."""

from __future__ import annotations

import io
import time
from contextlib import closing

import pytest

from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful import Document
from lawful.review.pictures import Pictured, Pictures

image = pytest.importorskip("PIL.Image")
JPEG = b"\xff\xd8\xff"


@pytest.fixture
def folder(tmp_path):
    """A folder with pictures, next to one that nobody has named."""
    inside, outside = tmp_path / "scans", tmp_path / "private"
    for place in (inside, outside):
        (place / "deep").mkdir(parents=True)
        for name in ("a", "a-2", "deep/a", "passwd"):
            picture = image.new("RGB", (40, 60), "red")
            picture.save(place / f"{name}.png")
    return inside


def document(id_="a", images=None, pages=(0,)):
    return Document(id_, ["x"] * len(pages), pages=pages, images=images)


def test_pictures_are_found_by_the_documents_id(folder):
    pictures = Pictures(images=str(folder))
    assert pictures.draw(document(), 0).startswith(JPEG)
    assert pictures.draw(document(), 1).startswith(JPEG)  # a-2.png
    assert pictures.draw(document(), 2) is None
    assert pictures.draw(document("deep/a"), 0).startswith(JPEG)
    assert pictures.draw(document("b"), 0) is None


def test_pictures_are_found_by_a_template(folder):
    pictures = Pictures(images=f"{folder}/{{id}}-{{page}}.png")
    assert not pictures.there(document(), 0)
    assert pictures.there(document(), 1)


def test_pages_of_a_pdf_are_drawn(folder):
    page = next(demo.generate(1)).document
    draw_pdf(page, folder / f"{page.id}.pdf")
    pictures = Pictures(images=str(folder))
    assert pictures.draw(page, 0).startswith(JPEG)
    assert pictures.draw(page, 7) is None


def test_pictures_that_documents_name_are_drawn_from_their_own_folder(folder):
    pictures = Pictures([folder])
    for name in ("a.png", str(folder / "a.png"), "deep/../a.png"):
        assert pictures.draw(document(images=[name]), 0).startswith(JPEG), name
    assert pictures.draw(document(images=[None]), 0) is None
    assert pictures.draw(document(), 0) is None  # only named ones


@pytest.mark.parametrize("where", ["id", "images", "template"])
@pytest.mark.parametrize(
    "name",
    ["../private/passwd", "deep/../../private/passwd", "{outside}/passwd", "link/passwd", "link",
     "\0", "a\0.png", "x" * 5000, " ", ".", "..", "/", "~/passwd", "{{id}}", "{page}"],
)  # fmt: skip
def test_nothing_outside_is_ever_drawn(folder, name, where):
    outside = folder.parent / "private"
    (folder / "link").symlink_to(outside)
    (folder / "link.png").symlink_to(outside / "passwd.png")
    name = name.replace("{outside}", str(outside))
    pictures = Pictures([folder], f"{folder}/{{id}}.png" if where == "template" else str(folder))
    named = document("nobody", [f"{name}.png"]) if where == "images" else document(name)
    assert pictures.draw(named, 0) is None


def test_damaged_and_huge_pictures_are_none(folder):
    (folder / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 99)
    (folder / "bad2.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "text.png").write_text("<script>alert(1)</script>")
    image.new("1", (20_000, 20_000)).save(folder / "huge.png")
    pictures = Pictures(images=str(folder))
    for name in ("bad", "bad2", "text", "huge"):
        assert pictures.draw(document(name), 0) is None, name


def test_the_api_serves_them(folder, tmp_path):
    pytest.importorskip("starlette")
    from tests.review.client import client_of, desk_of

    page = next(demo.generate(1)).document
    image.new("RGB", (4000, 100), "white").save(folder / f"{page.id}.png")
    with closing(desk_of(demo.shipped(), tmp_path / "r.db", images=str(folder))) as desk:
        client = client_of(desk)
        assert client.get("/api/documents/0").json["images"] == [True]
        found = client.get("/api/documents/0/pages/0")
        assert (found.status, found.headers["content-type"]) == (200, "image/jpeg")
        assert client.get("/api/documents/0/pages/1").status == 404
        assert client.get("/api/documents/1/pages/0").status == 404
        for path in ("/api/documents/0/pages/-1", "/api/documents/0/pages/x", "/api/documents/-1"):
            assert client.get(path).status == 404
        assert client.get("/api/documents/0/pages/0", headers={"authorization": ""}).status == 401


def test_pictures_are_kept_on_the_disk_until_their_file_changes(folder, tmp_path, monkeypatch):
    cache = tmp_path / "r.db.pictures"
    with closing(Pictures(images=str(folder), cache=cache)) as pictures:
        first = pictures.draw(document(), 0)
    [kept] = cache.iterdir()
    assert kept.read_bytes() == first
    kept.write_bytes(b"as it was kept")
    with closing(Pictures(images=str(folder), cache=cache)) as pictures:
        assert pictures.draw(document(), 0) == b"as it was kept"
        image.new("RGB", (50, 50), "blue").save(folder / "a.png")
        assert pictures.draw(document(), 0).startswith(JPEG)
        assert len(list(cache.iterdir())) == 2
        monkeypatch.setattr("lawful.review.pictures.MAX_BYTES", 10)
        pictures._kept.keep(str(folder / "a.png"), b"x" * 9)
    assert len(list(cache.iterdir())) < 2


def test_pages_are_drawn_ahead(folder, tmp_path):
    cache = tmp_path / "kept"
    asked = [Pictured("a", None, 2), Pictured("nobody", None, 1)]
    with closing(Pictures([folder], str(folder), cache=cache)) as pictures:
        pictures.draw_ahead(lambda: iter(asked))
        until = time.monotonic() + 60
        while len(list(cache.glob("*.jpg"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
    assert len(list(cache.glob("*.jpg"))) == 2


def test_a_process_that_dies_costs_one_picture(folder, monkeypatch):
    with closing(Pictures(images=str(folder))) as pictures:
        assert pictures.draw(document(), 0).startswith(JPEG)
        for process in list(pictures._now._pool._processes.values()):
            process.kill()
        pictures.draw(document(), 1)  # may be lost
        assert pictures.draw(document(), 0).startswith(JPEG)


@pytest.mark.parametrize("held", range(1, 9))
@pytest.mark.parametrize("turn", ["", "#page=1&turn=90", "#page=1&turn=180", "#page=1&turn=270"])
@pytest.mark.parametrize("kind", ["jpg", "tif"])
def test_large_images_are_made_small_as_they_are_held(tmp_path, held, turn, kind):
    """The same picture as if it had been turned at its full size."""
    import numpy as np

    from lawful.readers.images import frame_of, open_image, picture_of
    from lawful.readers.limits import Limits

    corner = image.new("RGB", (640, 320), "white")
    corner.paste((200, 0, 0), (0, 0, 320, 160))
    corner.paste((0, 0, 200), (320, 160, 640, 320))
    exif = image.Exif()
    exif[0x0112] = held
    path = tmp_path / f"a.{kind}"
    corner.save(path, exif=exif)
    found = image.open(io.BytesIO(picture_of(f"{path}{turn}", 80)))
    with open_image(path, Limits()) as opened:
        whole = frame_of(opened, 0, Limits())
    angle = int(turn.rpartition("=")[2] or 0) // 90 if turn else 0
    wanted = image.fromarray(np.ascontiguousarray(np.rot90(whole, -angle))).resize(found.size)
    assert found.size[0] == 80
    assert np.abs(np.asarray(found, int) - np.asarray(wanted, int)).mean() < 12
