"""Pictures of pages: found by name, and never outside the folders that the reviewer has named."""

from __future__ import annotations

from contextlib import closing

import pytest

from lawful import Document, demo
from lawful.demo.drawing import draw_pdf
from lawful.review.pictures import Pictures

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
