"""What was read is kept: equal to a fresh reading, found again, bounded, never believed blindly."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import pytest

import lawful.readers.cache as cache_module
from lawful import Box, Document, InputError
from lawful.readers import Reader, Selection
from lawful.readers.cache import ReadCache, default_folder
from lawful.readers.limits import Limits
from lawful.readers.ocr import Ocr
from lawful.readers.page import Word
from tests.fixtures import pdfs
from tests.fixtures.outputs import SHARED
from tests.helpers import needs_shared, run

image = pytest.importorskip("PIL.Image", reason="needs the 'pdf' extra")

PASSWORD = "secret"  # noqa: S105 - of a test
LINES = ("Invoice 17 of a seller with a total of 12,50 EUR", "Hauptstraße 5 İ ﬁ 一二 x")


@pytest.fixture
def reader(tmp_path):
    return Reader(cache=ReadCache.open(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(pdfs.text_pdf(LINES, LINES[:1]))
    return path


@pytest.fixture
def readings(monkeypatch):
    """The names of the files that are read, and not found."""
    names = []
    original = Reader._read_pdf
    monkeypatch.setattr(Reader, "_read_pdf", lambda *args: names.append(args[2]) or original(*args))
    return names


def entries(reader):
    return [each for each in reader.cache.folder.rglob("*") if each.is_file()]


def test_a_file_is_read_once_whatever_its_name(reader, file, readings, tmp_path):
    first = reader.read(file)
    assert first == Reader().read(file)
    readings.clear()
    again = reader.read(file)
    assert (again, again.images, again.line) == (first, first.images, first.line)
    copy = tmp_path / "b.pdf"
    copy.write_bytes(file.read_bytes())
    found = reader.read(copy)
    assert found == replace(first, id=str(copy), images=found.images)
    assert found.images == tuple(f"{copy}#page={page}" for page in (1, 2))
    assert not readings


@pytest.mark.parametrize(
    "other",
    [{"ocr": "never"}, {"pages": Selection("1")}, {"limits": Limits(pixels=7_000_000)}],
)
def test_what_decides_the_result_decides_where_it_is_kept(reader, file, readings, other):
    first = reader.read(file)
    assert replace(reader, limits=Limits(seconds=7), engine=Ocr(1)).read(file) == first
    assert len(readings) == 1
    found = replace(reader, **other).read(file)
    assert len(readings) == 2
    assert found == replace(Reader(), **other).read(file)
    file.write_bytes(pdfs.text_pdf(LINES[1:]))
    assert reader.read(file) == Reader().read(file) != first


def test_limits_hold_for_what_is_kept(reader, file):
    reader.read(file)
    for limits in (Limits(pages=1), Limits(words=3), Limits(bytes=10)):
        with pytest.raises(InputError) as kept:
            replace(reader, limits=limits).read(file)
        with pytest.raises(InputError) as fresh:
            Reader(limits=limits).read(file)
        assert str(kept.value) == str(fresh.value)


def test_another_version_of_a_reader_reads_again(reader, file, readings, monkeypatch):
    reader.read(file)
    monkeypatch.setattr(cache_module, "_version", lambda package: f"new {package}")
    cache_module._versions.cache_clear()
    reader.read(file)
    cache_module._versions.cache_clear()
    assert len(readings) == 2


def test_damaged_entries_are_read_again_and_replaced(reader, file, readings):
    first = reader.read(file)
    [entry] = entries(reader)
    good = entry.read_bytes()
    flipped = bytearray(good)
    flipped[-9] ^= 4
    for bad in (b"", good[:-1], good[:16], bytes(flipped), b"\0" * 40, cache_of(b"{}")):
        entry.write_bytes(bad)
        readings.clear()
        assert reader.read(file) == first
        assert len(readings) == 1
        assert entries(reader) == [entry]
        assert reader.read(file) == first
        assert len(readings) == 1


def cache_of(plain):
    """An entry with a right checksum and another content."""
    packed = cache_module.zlib.compress(plain, 1)
    return cache_module.blake2b(packed, digest_size=16).digest() + packed


def test_nothing_is_kept_of_files_with_a_password_nor_of_those_that_cannot_be_read(
    reader, tmp_path
):
    (tmp_path / "p.pdf").write_bytes(pdfs.encrypted_pdf(PASSWORD, LINES[0]))
    assert replace(reader, password=PASSWORD).read(tmp_path / "p.pdf").words
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7 broken")
    with pytest.raises(InputError, match="damaged"):
        reader.read(tmp_path / "bad.pdf")
    assert not entries(reader)


def test_a_file_that_changes_while_it_is_read_is_not_kept(reader, file, monkeypatch):
    original = Reader._read_pdf

    def changing(self, path, name):
        path.write_bytes(pdfs.text_pdf(LINES[1:]))
        return original(self, path, name)

    monkeypatch.setattr(Reader, "_read_pdf", changing)
    reader.read(file)
    assert not entries(reader)


def test_it_keeps_to_its_bound_and_drops_what_was_used_longest_ago(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_FOLDERS", 1)
    cache = replace(ReadCache.open(tmp_path / "cache"), most=6_000)
    reader, files = Reader(cache=cache), []
    for number in range(30):
        files.append(tmp_path / f"{number}.pdf")
        files[-1].write_bytes(pdfs.text_pdf([f"{number} {os.urandom(300).hex()}"]))
        reader.read(files[-1])
        assert sum(each.stat().st_size for each in entries(reader)) <= 6_000
        for age, each in enumerate(sorted(entries(reader), key=lambda e: e.stat().st_mtime_ns)):
            os.utime(each, (age, age))  # clocks are too coarse to tell entries apart
        reader.read(files[0])  # is always in use
    assert len(entries(reader)) > 5
    cached = []
    monkeypatch.setattr(
        Reader, "_read_pdf", lambda *args: cached.append(args[2]) or Document("x", ())
    )
    for each in (files[0], files[-1], files[5]):
        reader.read(each)
    assert cached == [str(files[5])]


def test_half_written_entries_of_killed_processes_go(reader, file, tmp_path):
    reader.read(file)
    [entry] = entries(reader)
    old, new = entry.with_name(".old.tmp"), entry.with_name(".new.tmp")
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    entry.unlink()
    reader.read(file)
    assert sorted(entries(reader)) == sorted([entry, new])


def read_all(folder):
    reader = Reader(cache=ReadCache.open(folder / "cache"))
    return [reader.read(file) for file in sorted(folder.glob("*.pdf")) * 5]


def test_several_processes_share_it(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}.pdf").write_bytes(pdfs.text_pdf([f"Page {number}", *LINES]))
    expected = [Reader().read(file) for file in sorted(tmp_path.glob("*.pdf"))] * 5
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(read_all, [tmp_path] * 2)) == [expected] * 2
    assert len(entries(Reader(cache=ReadCache.open(tmp_path / "cache")))) == 6


def test_only_the_user_may_look_into_it(reader, file):
    reader.read(file)
    assert reader.cache.folder.stat().st_mode & 0o077 == 0
    assert entries(reader)[0].stat().st_mode & 0o077 == 0


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert default_folder() == Path("/elsewhere/lawful")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification says to ignore
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "lawful"
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    assert default_folder() is None
    assert ReadCache.open() is None
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"--cache .*file cannot be used"):
        ReadCache.open(tmp_path / "file")


def test_photos_are_not_read_again_by_another_command(tmp_path, monkeypatch):
    """With a stand-in for OCR, whose misreads, turned pages and numbers come back as they were."""
    words = [Word("Total", Box(1.25, 2, 30.1, 9)), Word("7.00", Box(40, 2, 61, 9.99))]
    calls = []
    engine = SimpleNamespace(read=lambda pixels, scale=1.0: calls.append(scale) or (words, 90))
    image.new("RGB", (80, 40), "white").save(tmp_path / "a.png")
    reader = Reader(cache=ReadCache.open(tmp_path / "cache"), engine=engine)
    first = reader.read(tmp_path / "a.png")
    assert reader.read(tmp_path / "a.png") == first
    assert first.images == (f"{tmp_path}/a.png#turn=90",)
    assert reader.read(tmp_path / "a.png").images == first.images
    assert len(calls) == 1


@needs_shared
def test_misreads_of_a_real_photo_come_back(tmp_path):
    pytest.importorskip("rapidocr", reason="needs the 'ocr' extra")
    photo = min((SHARED / "data" / "receipt_images" / "img").iterdir())
    reader = Reader(cache=ReadCache.open(tmp_path / "cache"))
    first, again = reader.read(photo), reader.read(photo)
    assert first.misreads
    assert (again, again.misreads) == (first, first.misreads)


def test_commands_share_it_or_leave_it(tmp_path, file):
    plain = run("read", "a.pdf", "--cache", "c", cwd=tmp_path).stdout
    [entry] = (each for each in (tmp_path / "c").rglob("*") if each.is_file())
    used = entry.stat().st_mtime_ns
    os.utime(entry, (0, 0))
    assert run("read", "a.pdf", "--cache", "c", cwd=tmp_path).stdout == plain
    assert entry.stat().st_mtime_ns >= used
    os.utime(entry, (0, 0))
    assert run("read", "a.pdf", "--no-cache", cwd=tmp_path).stdout == plain
    assert entry.stat().st_mtime == 0
    both = run("read", "a.pdf", "--no-cache", "--cache", "c", cwd=tmp_path)
    assert both.returncode == 2
    assert "choose one of them" in both.stderr
