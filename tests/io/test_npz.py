"""Scores in an ``.npz`` file: read if they are what the document needs, refused before reading."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from lawful import FailedDocument, InputError, Scored, read_jsonl
from lawful.io import npz

LABELS = np.array(["O", "B-a"])
SCORES = np.log(np.full((2, 2), 0.5))


def array(value, **header):
    """An array in the format of NumPy, with a changed header."""
    value = np.asarray(value)
    fields = np.lib.format.header_data_from_array_1_0(value) | header
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, fields)
    return file.getvalue() + value.tobytes()


def read(tmp_path, members, method=zipfile.ZIP_DEFLATED, words=("a", "b")):
    """The document of a line whose scores are in an ``.npz`` file with these members."""
    members = {"labels": array(LABELS), "kind": array("log_probs")} | members
    with zipfile.ZipFile(tmp_path / "d.npz", "w", method) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    (tmp_path / "d.jsonl").write_text(json.dumps({"id": "r", "words": words}) + "\n")
    (found,) = read_jsonl(tmp_path / "d.jsonl", on_error="yield")
    return found


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("type_", ["<f8", ">f4", "<f2"])
def test_arrays_of_any_layout_are_read(tmp_path, method, order, type_):
    probs = np.array([[0.25, 0.75], [0.5, 0.5]])
    file = io.BytesIO()
    np.lib.format.write_array(file, np.array(probs, dtype=type_, order=order))
    members = {"kind": array("probs"), "scores/r": file.getvalue()}
    found = read(tmp_path, members, method)
    assert np.exp(found.scores.log_probs) == pytest.approx(probs)


@pytest.mark.parametrize("shape", [(0, 2), (0, 0), (0,)])
def test_a_document_without_words_has_an_empty_array(tmp_path, shape):
    found = read(tmp_path, {"scores/r": array(np.empty(shape))}, words=())
    assert found.scores.log_probs.shape == (0, 2)


HUGE = (1 << 40, 1 << 40)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"scores/r": array(SCORES[:1])}, "shape (1, 2), expected (2, 2)"),
        ({"scores/r": array(np.zeros((2, 3)))}, "shape (2, 3), expected (2, 2)"),
        ({"scores/r": array(np.zeros(2))}, "shape (2,), expected (2, 2)"),
        ({"scores/r": array(SCORES, shape=(-2, -2))}, "shape (-2, -2), expected (2, 2)"),
        ({"scores/r": array(SCORES, shape=HUGE)}, "expected (2, 2)"),
        ({"scores/r": array(SCORES)[:-8]}, "has 152 bytes, expected 160 for float64"),
        ({"scores/r": array(SCORES) + bytes(8)}, "has 168 bytes, expected 160 for float64"),
        ({"scores/r": array(SCORES + 0j)}, "holds complex128, expected real numbers"),
        ({"scores/r": array(SCORES, descr="|O")}, "holds object, expected real numbers"),
        ({"scores/r": array(SCORES, descr=("<f8", (1 << 20,)))}, "expected real numbers"),
        ({"scores/r": array(SCORES, descr="nonsense")}, "cannot be read: not a header"),
        ({"scores/r": array(SCORES, shape="2")}, "cannot be read: not a header"),
        ({"scores/r": b"\x93NUMPY\x03\x00" + bytes(100)}, "version (3, 0), expected (1, 0)"),
        ({"scores/r": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100)}, "not a header"),
        ({"scores/r": b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16}, "not a header"),
        ({"scores/r": b""}, "cannot be read: not a header"),
        ({"labels": array([[1]])}, "labels in the .npz file holds int64, expected text"),
        ({"labels": array([["O"]])}, "labels in the .npz file has shape (1, 1), expected (any)"),
        ({"labels": array(["O"], shape=(-1,))}, "labels in the .npz file has 132 bytes, expected"),
        ({"labels": array(LABELS, descr="|S12")}, "labels in the .npz file holds |S12, expected"),
        ({"kind": array(["probs"])}, "kind in the .npz file has shape (1,), expected ()"),
        ({"kind": array("odd")}, "unknown kind of scores 'odd'"),
        ({"chain/between": array("x")}, "chain/between in the .npz file holds <U1, expected real"),
        ({"chain/between": array(np.zeros((2, 3)))}, "between of the chain has shape (2, 3)"),
        ({"chain/between": array(SCORES), "chain/end": b"x"}, "chain/end in the .npz file cannot"),
    ],
)  # fmt: skip
def test_an_array_that_does_not_fit_is_a_bad_line(tmp_path, members, said):
    found = read(tmp_path, {"scores/r": array(SCORES)} | members)
    assert isinstance(found, FailedDocument)
    assert said in found.message
    assert found.message.count(".npz file") <= 1


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_cannot_be_limited_is_refused(tmp_path, method):
    found = read(tmp_path, {"scores/r": array(SCORES)}, method)
    assert f"compression method {method}, expected none or deflate" in found.message


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (8, 1, "is encrypted"),
        (10, 99, "compression method 99, expected none or deflate"),
        (16, 7, "cannot be read: Bad CRC-32"),
    ],
)
def test_a_damaged_directory_is_a_bad_line(tmp_path, at, value, said):
    read(tmp_path, {"scores/r": array(SCORES)})
    data = bytearray((tmp_path / "d.npz").read_bytes())
    data[data.rindex(b"PK\x01\x02") + at] = value
    (tmp_path / "d.npz").write_bytes(data)
    (found,) = read_jsonl(tmp_path / "d.jsonl", on_error="yield")
    assert isinstance(found, FailedDocument)
    assert said in found.message


@pytest.mark.parametrize("seed", range(100))
def test_a_file_with_a_changed_byte_is_read_or_refused(tmp_path, seed):
    read(tmp_path, {"scores/r": array(SCORES)})
    rng = np.random.default_rng(seed)
    data = bytearray((tmp_path / "d.npz").read_bytes())
    data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
    (tmp_path / "d.npz").write_bytes(data)
    with suppress(InputError):  # no zip file any more
        (found,) = read_jsonl(tmp_path / "d.jsonl", on_error="yield")
        assert isinstance(found, FailedDocument | Scored)


def test_a_small_file_does_not_fill_the_memory(tmp_path):
    """An .npz file of 2.3 MB was unpacked to 2.4 GB for a document of two words."""
    big = np.zeros((1 << 20, 8))  # 64 MiB, and less than 100 KiB in the file
    names = array(big, descr="<U16", shape=(1 << 20,))
    lines = [{"id": "r", "words": ["a", "b"]}, {"id": "r", "words": ["a"], "labels": ["O"]}]
    read(tmp_path, {"scores/r": array(big), "labels": names})
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, lines)))
    tracemalloc.start()
    for found in read_jsonl(tmp_path / "d.jsonl", on_error="yield"):
        assert isinstance(found, FailedDocument)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(
    ("limit", "largest", "member"),
    [
        ("LARGEST_ARRAY", 3, "scores/r"),
        ("LARGEST_ARRAY", 4, "chain/between"),
        ("LARGEST_TEXT", 23, "kind"),
    ],
)
def test_what_is_unpacked_has_a_limit(tmp_path, monkeypatch, limit, largest, member):
    scores = array(np.zeros((2, 2), np.int8))
    members = {"kind": array("logits"), "scores/r": scores, "chain/between": array(SCORES)}
    assert isinstance(read(tmp_path, members), Scored)
    monkeypatch.setattr(npz, limit, largest)
    found = read(tmp_path, members)
    assert f"bytes, expected at most {largest}" in found.message
    assert f"{member} in the .npz file has " in found.message


@pytest.mark.parametrize("name", ["labels", "kind"])
def test_texts_with_numbers_that_are_no_characters_are_bad_lines(tmp_path, name):
    texts = {"labels": np.array(["O", "B-x"]), "kind": np.array("logits")}
    for endian in "<>":
        odd = texts[name].astype(f"{endian}U6")
        raw = odd.view(f"{endian}u4") if odd.ndim else odd.reshape(1).view(f"{endian}u4")
        raw[0] = 0x110000
        np.savez(tmp_path / "d.npz", **(texts | {name: odd, "scores/a": np.zeros((1, 2))}))
        (tmp_path / "d.jsonl").write_text('{"id": "a", "words": ["x"]}\n')
        (bad,) = read_jsonl(tmp_path / "d.jsonl", on_error="yield")
        assert bad.message == f"{name} in the .npz file is not valid Unicode"
