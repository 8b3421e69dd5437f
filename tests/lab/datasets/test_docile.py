"""The reader of DocILE: small files as published, and real ones where they are."""

from __future__ import annotations

import pytest

from lawful import Box, InputError
from tests.fixtures.published import DATA, converted, docile_document, lines, needs, read, write


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


@pytest.mark.parametrize(
    ("id_", "said"),
    [("../d1", r"id '\.\./d1' leads to another folder"), ("a\0b", "embedded null")],
)
def test_a_list_of_ids_names_files_of_the_data_set_only(docile, id_, said):
    write(docile / "train.json", [id_])
    with pytest.raises(InputError, match=said):
        read("docile", docile, "train")


@needs("docile_sample")
def test_a_page_of_docile():
    (mine,) = read("docile", DATA / "docile_sample" / "raw")
    (other,) = converted(DATA / "docile_sample" / "test.jsonl.gz")
    assert mine.document.id == other["id"]
    assert mine.document.words == tuple(other["words"])
    assert mine.document.boxes == tuple(Box(*box) for box in other["boxes"])
    assert mine.gold == tuple(other["labels"])
