"""The reader of CORD: small files as published, and real ones where they are."""

from __future__ import annotations

import json
import sys

import pytest

from lawful import Box, InputError, MissingExtraError
from tests.fixtures.published import DATA, converted, cord_receipt, lines, needs, read, write


def test_cord_as_published(cord):
    found = read("cord", cord)
    assert [page.document.id for page in found] == [
        f"{split}/receipt_0000{number}" for split in ("train", "dev", "test") for number in (0, 1)
    ]
    assert [page.split for page in found] == ["train"] * 2 + ["dev"] * 2 + ["test"] * 2
    page = found[0]
    assert list(zip(page.document.words, page.gold, strict=True)) == [
        ("Ice", "B-menu.nm"),
        ("tea", "I-menu.nm"),
        ("Rice", "B-menu.nm"),  # another entity of the same category
        ("TOTAL", "O"),  # a key word
        ("Rp", "B-total.total_price"),
        ("56.000", "I-total.total_price"),
        ("or", "O"),
        ("4", "B-total.total_price"),  # I- would be illegal behind a key word
    ]
    assert page.document.boxes[0] == Box(0, 10, 9, 15)
    assert page.document.boxes[-1] == Box(95, 98, 100, 100)  # cut off at the edge of the image


def test_one_split_of_cord(cord):
    dev = read("cord", cord, "dev")
    assert [page.split for page in dev] == ["dev", "dev"]
    assert read("cord", cord / "dev") == dev
    with pytest.raises(InputError, match=r"no split 'val' in .*; splits: train, dev, test"):
        read("cord", cord, "val")


@pytest.mark.parametrize("end", [".jsonl", ".jsonl.gz"])
def test_cord_as_json_lines(cord, tmp_path, end):
    named = {"id": "train/receipt_00001", **cord_receipt(7)}
    write(tmp_path / f"train{end}", lines(cord_receipt(0), named))
    assert read("cord", tmp_path) == read("cord", cord, "train")
    assert read("cord", tmp_path / f"train{end}") == read("cord", cord, "train")


def test_cord_as_parquet(cord, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def table(name, *receipts):
        columns = {
            "image": [b"not read"] * len(receipts),
            "ground_truth": list(map(json.dumps, receipts)),
        }
        parquet.write_table(arrow.table(columns), tmp_path / name)

    table("validation-00000-of-00001-5f3.parquet", cord_receipt(0), cord_receipt(1))
    table("train-00000-of-00002-8a1.parquet", cord_receipt(0))
    table("train-00001-of-00002-3c9.parquet", cord_receipt(1))
    assert read("cord", tmp_path) == [*read("cord", cord, "train"), *read("cord", cord, "dev")]

    (tmp_path / "data").mkdir()
    (tmp_path / "validation-00000-of-00001-5f3.parquet").rename(tmp_path / "data" / "dev.parquet")
    assert read("cord", tmp_path, "dev") == read("cord", cord, "dev")
    (tmp_path / "data").rename(tmp_path / "validation")
    (tmp_path / "validation" / "dev.parquet").rename(tmp_path / "validation" / "0000.parquet")
    assert read("cord", tmp_path, "dev") == read("cord", cord, "dev")

    wrong = tmp_path / "wrong.parquet"
    parquet.write_table(arrow.table({"text": ["a"]}), wrong)
    with pytest.raises(InputError, match="no column 'ground_truth'; columns: text"):
        read("cord", wrong)
    parquet.write_table(arrow.table({"ground_truth": ["{}"]}), wrong)
    with pytest.raises(InputError, match=r"wrong\.parquet, row 1: .*`valid_line`"):
        read("cord", wrong)
    parquet.write_table(arrow.table({"ground_truth": [3]}), wrong)
    with pytest.raises(InputError, match=r"row 1: ground_truth is of type int, expected text"):
        read("cord", wrong)
    wrong.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match=r"wrong\.parquet: unreadable after row 0"):
        read("cord", wrong)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write(tmp_path / "train.parquet", "")
    with pytest.raises(MissingExtraError, match="needs pyarrow: install the 'arrow' extra"):
        read("cord", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"valid_line": 3},
            r"receipt_00000\.json: Expected `array`, got `int` - at `\$.valid_line`",
        ),
        ({"valid_line": [{"category": "menu.nm"}]}, "missing required field `words`"),
        ({"meta": {}}, "missing required field `image_size`"),
    ],
)
def test_a_broken_receipt_is_named(cord, change, message):
    file = cord / "train" / "json" / "receipt_00000.json"
    write(file, cord_receipt() | change)
    with pytest.raises(InputError, match=message):
        read("cord", cord)


def test_a_receipt_without_a_name(tmp_path):
    receipt = cord_receipt()
    del receipt["meta"]["image_id"]
    write(tmp_path / "test.jsonl", lines(receipt))
    with pytest.raises(InputError, match=r"test\.jsonl, line 1: the receipt has no id"):
        read("cord", tmp_path)


@needs("cord")
def test_all_of_cord():
    found = read("cord", DATA / "cord" / "raw")
    others = [
        page
        for split in ("train", "dev", "test")
        for page in converted(DATA / "cord" / f"{split}.jsonl.gz")
    ]
    different = []
    for mine, other in zip(found, others, strict=True):
        assert mine.document.id == other["id"]
        assert mine.document.words == tuple(other["words"])
        assert mine.document.boxes == tuple(Box(*box) for box in other["boxes"])
        if mine.gold != tuple(other["labels_value"]):
            different.append(mine.document.id)
    assert different == ["train/receipt_00191"]  # an I- behind a key word there, which is illegal
