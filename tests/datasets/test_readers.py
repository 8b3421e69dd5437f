"""Readers of data sets: small files in the published formats, and real ones where they are."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from lawful import Box, Document, DocumentError, InputError, MissingExtraError, read_jsonl
from lawful.datasets import READERS, reader_named
from lawful.datasets.wildreceipt import reading_order
from lawful.document import Labelled
from lawful.io.jsonl import read_labelled, write_labelled
from tests.fixtures import outputs


def read(name, path, split=None):
    return list(reader_named(name)(path, split))


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


# CORD


def cord_word(text, x, y, is_key=0):
    corners = {
        "x1": x,
        "y1": y,
        "x2": x + 9,
        "y2": y,
        "x3": x + 9,
        "y3": y + 5,
        "x4": x,
        "y4": y + 5,
    }
    return {"text": text, "quad": corners, "is_key": is_key, "row_id": y}


def cord_receipt(number=0, split="train"):
    return {
        "valid_line": [
            {
                "category": "menu.nm",
                "group_id": 1,
                "words": [cord_word("Ice", 0, 10), cord_word(" ", 9, 10), cord_word("tea", 12, 10)],
            },
            {"category": "menu.nm", "group_id": 2, "words": [cord_word("Rice", 0, 20)]},
            {
                "category": "total.total_price",
                "group_id": 3,
                "words": [
                    cord_word("TOTAL", 0, 30, 1),
                    cord_word("Rp", 40, 30),
                    cord_word("56.000", 45, 30),
                    cord_word("or", 60, 30, 1),
                    cord_word("4", 95, 98),
                ],
            },
        ],
        "meta": {
            "version": "v0.1",
            "split": split,
            "image_id": number,
            "image_size": {"width": 100, "height": 100},
        },
        "roi": {},
    }


@pytest.fixture
def cord(tmp_path):
    for split in ("train", "dev", "test"):
        for number in (1, 0):
            file = tmp_path / "CORD" / split / "json" / f"receipt_{number:05d}.json"
            write(file, cord_receipt(number))
    return tmp_path / "CORD"


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
    with pytest.raises(InputError, match=r"row 1: ground_truth is no text"):
        read("cord", wrong)
    wrong.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match=r"wrong\.parquet: unreadable after row 0"):
        read("cord", wrong)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write(tmp_path / "train.parquet", "")
    with pytest.raises(MissingExtraError, match="needs pyarrow: install the 'parquet' extra"):
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
    with pytest.raises(InputError, match=r"test\.jsonl, line 1: neither id nor meta\.image_id"):
        read("cord", tmp_path)


# WildReceipt

CLASSES = "0 Ignore\n1 Store_addr_value\n23 Total_value\n24 Total_key\n25 Others\n"


def segment(text, label, x, y, height=10):
    corners = [x, y + height, x + 20, y + height, x + 20, y, x, y]
    return {"box": list(map(float, corners)), "text": text, "label": label}


def wild_receipt(name="a.jpeg"):
    return {
        "file_name": name,
        "height": 100,
        "width": 100,
        "annotations": [
            segment("$ 9.50", 23, 60, 52),  # right of its key, and a little below
            segment("Thank you", 25, 0, 80),
            segment("TOTAL", 24, 10, 50),
            segment("", 23, 30, 50),
            segment("torn", 0, 90, 20),
            segment("1 Main St", 1, 0, 0),
            segment("Springfield", 1, 0, 12),
        ],
    }


@pytest.fixture
def wild(tmp_path):
    write(tmp_path / "wildreceipt" / "class_list.txt", CLASSES)
    write(tmp_path / "wildreceipt" / "train.txt", lines(wild_receipt()))
    write(tmp_path / "wildreceipt" / "test.txt", lines(wild_receipt("b.jpeg"), wild_receipt("c")))
    return tmp_path / "wildreceipt"


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
    (wild / "class_list.txt").unlink()
    with pytest.raises(InputError, match=r"no class_list\.txt in .*wildreceipt: it names"):
        read("wildreceipt", wild)


# DocILE


def ocr_word(text, x, y, snapped=None):
    word = {"value": text, "confidence": 0.9, "geometry": [[x, y], [x + 0.1, y + 0.02]]}
    return word | ({"snapped_geometry": snapped} if snapped else {})


def ocr_page(number, *words):
    blocks = [{"geometry": [], "lines": [{"geometry": [], "words": list(words)}]}]
    return {"page_idx": number, "dimensions": [1000, 500], "blocks": blocks}


def docile_document():
    due = {"bbox": [0.1, 0.1, 0.4, 0.13], "fieldtype": "amount_due", "page": 0, "text": "$ 12"}
    name = {"bbox": [0.1, 0.1, 0.4, 0.13], "fieldtype": "vendor_name", "page": 1, "text": "A B"}
    address = {"bbox": [0.0, 0.0, 0.6, 0.5], "fieldtype": "vendor_address", "page": 1, "text": ""}
    item = due | {"fieldtype": "line_item_amount_gross", "line_item_id": 1}
    annotation = {
        "field_extractions": [due, name, address],
        "line_item_extractions": [item],
        "metadata": {"page_count": 2},
    }
    ocr = {
        "pages": [
            ocr_page(
                0,
                ocr_word("Due", 0.7, 0.1),
                ocr_word("$", 0.12, 0.1, [[0.13, 0.101], [0.14, 0.12]]),
                ocr_word("12", 0.25, 0.1),
            ),
            ocr_page(
                1,
                ocr_word("Road", 0.2, 0.2),
                ocr_word("A", 0.12, 0.1),
                ocr_word("B", 0.25, 0.1),
                ocr_word("5", 0.3, 0.2),
            ),
        ]
    }
    return annotation, ocr


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


def test_docile_as_its_toolkit_has_it(docile):
    found = read("docile", docile)
    assert [(d.document.id, d.split) for d in found] == [("d2", "train"), ("d1", "val")]
    document = found[0].document
    assert list(zip(document.words, found[0].gold, document.pages, strict=True)) == [
        ("Due", "O", 0),
        ("$", "B-amount_due", 0),
        ("12", "I-amount_due", 0),
        ("Road", "B-vendor_address", 1),
        ("A", "B-vendor_name", 1),  # in the address too, which comes later
        ("B", "I-vendor_name", 1),
        ("5", "B-vendor_address", 1),
    ]
    assert document.boxes[0] == Box(350, 100, 400, 120)
    assert document.boxes[1] == Box(65, 101, 70, 120)  # as snapped to the text
    assert [d.document.id for d in read("docile", docile, "trainval")] == ["d2", "d1"]


def test_docile_page_by_page(docile):
    pages = list(read("docile", docile, "val")[0].by_page())
    assert [(page.document.id, len(page.document)) for page in pages] == [("d1/0", 3), ("d1/1", 4)]
    assert pages[1].gold[0] == "B-vendor_address"
    assert pages[1].document.pages == (1, 1, 1, 1)
    assert list(pages[0].by_page()) == [pages[0]]


def test_docile_as_json_lines(docile, tmp_path):
    annotation, ocr = docile_document()
    file = tmp_path / "lines" / "val.jsonl.gz"
    write(file, lines({"id": "d1", "annotation": annotation, "ocr": ocr}))
    assert read("docile", file) == read("docile", file.parent) == read("docile", docile, "val")


def test_docile_says_which_file_is_missing_or_broken(docile):
    with pytest.raises(InputError, match=r"cannot read .*annotations.d3\.json: No such file"):
        read("docile", docile, "test")
    with pytest.raises(InputError, match="splits: test, train, trainval, val"):
        read("docile", docile, "dev")
    write(docile / "ocr" / "d2.json", {"pages": [{"blocks": []}]})
    with pytest.raises(InputError, match=r"ocr.d2\.json: .*missing required field `dimensions`"):
        read("docile", docile)
    write(docile / "train.json", {"d2": 1})
    with pytest.raises(InputError, match=r"train\.json: Expected `array`, got `object`"):
        read("docile", docile)
    for file in docile.glob("*.json"):
        file.unlink()
    with pytest.raises(InputError, match=r"no list of ids in .*: looked for train\.json"):
        read("docile", docile)


# Our own lines


def test_labelled_lines_are_read_as_they_were_written(docile, cord, tmp_path):
    before = [*read("docile", docile), *read("cord", cord), Labelled(Document("x", ()), ())]
    for name in ("d.jsonl", "d.jsonl.gz"):
        assert write_labelled(tmp_path / name, iter(before)) == len(before)
        assert read("jsonl", tmp_path / name) == before
    assert read("jsonl", tmp_path / "d.jsonl", "val") == read("docile", docile, "val")
    with pytest.raises(InputError, match=r"no split 'x' in .*; splits: dev, test, train, val"):
        read("jsonl", tmp_path / "d.jsonl", "x")
    (bad, *_) = read_jsonl(tmp_path / "d.jsonl")  # who wants scores is told that there are none
    assert "has no scores, expected one of probs, log_probs, logits" in bad.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": None}, "d.jsonl, line 2: document 'r' has no gold labels"),
        ({"gold": ["O", "O"]}, "line 2: document 'r' has 1 word, but 2 gold labels"),
        ({"words": "a"}, "line 2: Expected `array`, got `str`"),
        ({"id": ""}, "line 2: the document's id is ''"),
    ],
)
def test_a_line_that_cannot_be_used_is_an_error(tmp_path, change, message):
    line = {"id": "r", "words": ["a"], "gold": ["O"]}
    write(tmp_path / "d.jsonl", lines(line, line | change))
    with pytest.raises(InputError, match=message):
        list(read_labelled(tmp_path / "d.jsonl"))


def test_as_many_labels_as_words():
    with pytest.raises(DocumentError, match="document 'd' has 1 word, but 0 gold labels"):
        Labelled(Document("d", ("a",)), ())


# What is not there


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("cord", r"no CORD in .*: looked for \{train,dev,test\}/json/\*\.json, \*\.parquet or"),
        ("wildreceipt", r"no WildReceipt in .*: looked for train\.txt or test\.txt"),
        ("docile", r"no DocILE in .*: looked for annotations/ and ocr/ .* or \*\.jsonl"),
        ("jsonl", "cannot read .*: Is a directory"),
    ],
)
def test_a_wrong_folder_says_what_was_looked_for(name, wanted, tmp_path):
    with pytest.raises(InputError, match=wanted):
        read(name, tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_a_path_that_is_not_there(name, tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*nowhere: [Nn]o such file"):
        read(name, tmp_path / "nowhere")


def test_an_unknown_format_lists_the_known_ones():
    message = "unknown format 'sroie'; formats: cord, wildreceipt, docile, jsonl"
    with pytest.raises(InputError, match=message):
        reader_named("sroie")


# The real ones

DATA = outputs.SHARED / "data"


def needs(path):
    return pytest.mark.skipif(not (DATA / path).exists(), reason=f"needs ../shared/data/{path}")


def converted(path: Path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(map(json.loads, file))


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


@needs("docile_sample")
def test_a_page_of_docile():
    (mine,) = read("docile", DATA / "docile_sample" / "raw")
    (other,) = converted(DATA / "docile_sample" / "test.jsonl.gz")
    assert mine.document.id == other["id"]
    assert mine.document.words == tuple(other["words"])
    assert mine.document.boxes == tuple(Box(*box) for box in other["boxes"])
    assert mine.gold == tuple(other["labels"])
