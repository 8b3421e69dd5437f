"""Folders with small data sets, as they are published."""

from __future__ import annotations

import pytest

from tests.fixtures.published import (
    CLASSES,
    cord_receipt,
    docile_document,
    lines,
    wild_receipt,
    write,
)


@pytest.fixture
def cord(tmp_path):
    for split in ("train", "dev", "test"):
        for number in (1, 0):
            file = tmp_path / "CORD" / split / "json" / f"receipt_{number:05d}.json"
            write(file, cord_receipt(number))
    return tmp_path / "CORD"


@pytest.fixture
def wild(tmp_path):
    write(tmp_path / "wildreceipt" / "class_list.txt", CLASSES)
    write(tmp_path / "wildreceipt" / "train.txt", lines(wild_receipt()))
    write(tmp_path / "wildreceipt" / "test.txt", lines(wild_receipt("b.jpeg"), wild_receipt("c")))
    return tmp_path / "wildreceipt"


@pytest.fixture
def docile(tmp_path):
    annotation, ocr = docile_document()
    folder = tmp_path / "docile"
    for id_ in ("d1", "d2", "d3"):
        write(folder / "ocr" / f"{id_}.json", ocr)
        if id_ != "d3":
            write(folder / "annotations" / f"{id_}.json", annotation)
    for split, ids in {"train": ["d2"], "val": ["d1"], "trainval": ["d2", "d1"]}.items():
        write(folder / f"{split}.json", ids)
    write(folder / "test.json", ["d3"])
    return folder
