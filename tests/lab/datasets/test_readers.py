"""All readers: our own lines, paths that are not there, and names that nobody knows."""

from __future__ import annotations

import pytest

from lawful import Document, DocumentError, InputError, read_jsonl
from lawful.documents.records import Labelled
from lawful.io import jsonl
from lawful.io.jsonl import read_labelled, write_labelled
from lawful.readers.labelled import READERS, reader_named
from tests.fixtures.published import lines, read, write


def test_labelled_lines_are_read_as_they_were_written(docile, cord, tmp_path):
    before = [*read("docile", docile), *read("cord", cord), Labelled(Document("x", ()), ())]
    for name in ("d.jsonl", "d.jsonl.gz"):
        assert write_labelled(tmp_path / name, iter(before)) == len(before)
        assert read("jsonl", tmp_path / name) == before
    assert read("jsonl", tmp_path / "d.jsonl", "val") == read("docile", docile, "val")
    with pytest.raises(InputError, match=r"no split 'x' in .*; splits: dev, test, train, val"):
        read("jsonl", tmp_path / "d.jsonl", "x")
    with pytest.raises(InputError, match="has no scores, expected one of probs, log_probs, logits"):
        next(read_jsonl(tmp_path / "d.jsonl"))


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


def test_a_line_that_is_too_long_is_named(wild, monkeypatch):
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 10)
    with pytest.raises(InputError, match=r"class_list\.txt, line 2: the line is longer than 10"):
        read("wildreceipt", wild)


def test_an_unknown_format_lists_the_known_ones():
    message = "unknown format 'sroie'; formats: facturx, jsonl, cord, wildreceipt, docile"
    with pytest.raises(InputError, match=message):
        reader_named("sroie")
