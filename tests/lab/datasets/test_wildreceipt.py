"""The reader of WildReceipt: small files as published, and real ones where they are."""

from __future__ import annotations

import json

import pytest

from lab.datasets.wildreceipt import reading_order
from lawful import Box, InputError
from tests.fixtures import outputs
from tests.fixtures.published import DATA, converted, lines, needs, read, wild_receipt, write


def test_wildreceipt_as_published(wild):
    found = read("wildreceipt", wild)
    assert [(page.document.id, page.split) for page in found] == [
        ("a.jpeg", "train"), ("b.jpeg", "test"), ("c", "test"),
    ]  # fmt: skip
    page = found[0]
    assert list(zip(page.document.words, page.gold, strict=True)) == [
        ("1", "B-Store_addr_value"),
        ("Main", "I-Store_addr_value"),
        ("St", "I-Store_addr_value"),
        ("Springfield", "B-Store_addr_value"),  # another annotation
        ("torn", "O"),
        ("TOTAL", "B-Total_key"),
        ("$", "B-Total_value"),
        ("9.50", "I-Total_value"),
        ("Thank", "O"),
        ("you", "O"),
    ]
    assert page.document.boxes[4] == Box(90, 20, 100, 30)
    assert page.document.boxes[6] == page.document.boxes[7] == Box(60, 52, 80, 62)
    assert read("wildreceipt", wild, "test") == found[1:]


def test_one_file_of_wildreceipt(wild):
    packed = write(wild / "raw" / "part.txt.gz", (wild / "test.txt").read_text())
    assert [page.split for page in read("wildreceipt", packed)] == ["part", "part"]
    assert read("wildreceipt", wild / "test.txt") == read("wildreceipt", wild, "test")


def test_rows_are_read_from_left_to_right():
    boxes = [Box(50, 4, 60, 14), Box(0, 0, 10, 10), Box(0, 6, 10, 16)]
    assert reading_order(boxes) == [1, 0, 2]  # the last is too far below the first of the row
    assert reading_order([]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"label": 26},
            r"train\.txt, line 1: label of annotation 0 is 26, which is not in class_list",
        ),
        ({"box": [1, 2, 3, 4]}, "box of annotation 0 has 4 numbers, expected 8"),
        ({"text": None}, r"train\.txt, line 1: Expected `str`, got `null`"),
    ],
)
def test_a_broken_annotation_is_named(wild, change, message):
    receipt = wild_receipt()
    receipt["annotations"][0] |= change
    write(wild / "train.txt", lines(receipt))
    with pytest.raises(InputError, match=message):
        read("wildreceipt", wild)


def test_a_class_list_that_is_missing_or_broken(wild):
    write(wild / "class_list.txt", "Ignore\n")
    with pytest.raises(InputError, match=r"class_list\.txt, line 1: 'Ignore', expected a number"):
        read("wildreceipt", wild)
    write(wild / "class_list.txt", "9" * 5000 + " Total\n")  # more digits than Python parses
    with pytest.raises(InputError, match=r"9999', expected a number and a name"):
        read("wildreceipt", wild)
    (wild / "class_list.txt").unlink()
    with pytest.raises(InputError, match=r"no class_list\.txt, which names .* in .*wildreceipt"):
        read("wildreceipt", wild)


@needs("wildreceipt")
def test_a_part_of_wildreceipt():
    orders = json.loads((outputs.SHARED / "predictions" / "wild-order.json").read_text())
    found = read("wildreceipt", DATA / "wildreceipt" / "raw" / "part.txt.gz")
    for mine, other in zip(found, converted(DATA / "wildreceipt" / "part.jsonl.gz"), strict=True):
        order = orders[other["id"]]
        assert mine.document.id == other["id"]
        assert mine.document.words == tuple(other["words"][i] for i in order)
        assert mine.document.boxes == tuple(Box(*other["boxes"][i]) for i in order)
        assert mine.gold == tuple(other["labels"][i] for i in order)
