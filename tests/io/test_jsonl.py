"""Documents as JSON lines: read, refused, written."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lab import receipts as demo
from lab.receipts import json_line
from lawful import FailedDocument, InputError, Scored, read_jsonl, write_jsonl
from lawful.io import jsonl
from lawful.io.jsonl import (
    LineParser,
    decoding_line,
    parse_documents,
    read_decodings,
    read_labelled,
    read_lines,
)

LINE = {
    "id": "r1",
    "words": ["Total", "56.000"],
    "labels": ["O", "B-total", "I-total"],
    "probs": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]],
}


def read(tmp_path, *lines, name="documents.jsonl"):
    path = tmp_path / name
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return list(read_jsonl(path, on_error="yield"))


@pytest.mark.parametrize("name", ["documents.jsonl", "documents.jsonl.gz"])
def test_lines_are_documents(tmp_path, name):
    extra = {"boxes": [[0, 0, 1, 1], [2, 0, 3, 1]], "pages": [0, 0], "gold": ["O", "B-total"]}
    plain, full = read(tmp_path, LINE, "", {**LINE, **extra, "id": "r2", "width": 9}, name=name)
    assert plain.document.words == ("Total", "56.000")
    assert np.exp(plain.scores.log_probs) == pytest.approx(np.array(LINE["probs"]))
    assert (full.document.id, full.line, full.gold) == ("r2", 3, ("O", "B-total"))
    assert plain.scores.labels is full.scores.labels  # so that their scheme is compiled once


def test_a_bad_line_raises_an_error_that_names_it(tmp_path):
    read(tmp_path, LINE, "", {**LINE, "words": ["Total"]}, LINE)
    path = tmp_path / "documents.jsonl"
    found = read_jsonl(path)
    assert next(found).document.id == "r1"
    with pytest.raises(InputError, match=r"documents\.jsonl, line 3: .* 1 word"):
        next(found)
    assert [type(each) for each in read_jsonl(path, "yield")] == [Scored, FailedDocument, Scored]
    with pytest.raises(InputError, match=r"on_error is 'warn', expected 'raise' or 'yield'"):
        read_jsonl(path, "warn")
    with pytest.raises(InputError, match=r"on_error is \[\], expected 'raise' or 'yield'"):
        read_jsonl(path, [])


def test_other_kinds_of_scores(tmp_path):
    logits = {key: value for key, value in LINE.items() if key != "probs"}
    one, other = read(
        tmp_path,
        {**logits, "logits": [[1.0, 2.0, 3.0], [0, 0, 0]]},
        {**logits, "log_probs": np.log([[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]]).tolist()},
    )
    assert np.exp(one.scores.log_probs[1]) == pytest.approx([1 / 3] * 3)
    assert np.exp(other.scores.log_probs[0]) == pytest.approx([0.2, 0.3, 0.5])


def test_scores_in_an_npz_beside_the_lines(tmp_path):
    np.savez(
        tmp_path / "documents.npz",
        labels=np.array(LINE["labels"]),
        kind=np.array("probs"),
        **{"scores/r1": np.array(LINE["probs"], dtype=np.float32)},
    )
    bare = {"id": "r1", "words": LINE["words"]}
    found, missing = read(tmp_path, bare, {**bare, "id": "r2"})
    assert np.exp(found.scores.log_probs) == pytest.approx(np.array(LINE["probs"]))
    assert missing == FailedDocument(
        2,
        "document 'r2' has no scores, expected one of probs, log_probs, logits "
        "or scores/r2 in the .npz file",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 3}, "Expected `str`, got `int` - at `$.id`"),
        ({"words": None}, "Expected `array`, got `null` - at `$.words`"),
        ({"probs": [[0.9, 0.1, 0.0]]}, "document 'r1' has 2 words, but 1 row of scores"),
        ({"probs": [[0.9, 0.1], [0.1, 0.9]]}, "3 labels, but the scores have 2 columns"),
        ({"probs": [[0.9, 0.1, 0.0], [0.2, 0.7]]}, "row 1 of probs has 2 labels, expected 3"),
        ({"probs": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.3]]}, "row 1 of probs sums to 1.2"),
        ({"probs": "x"}, "Expected `array | null`, got `str`"),
        ({"probs": None}, "document 'r1' has no scores, expected one of probs, log_probs, logits"),
        ({"logits": [[0, 0, 0]] * 2}, "has probs and logits, expected one of"),
        ({"labels": None}, "document 'r1' has no labels"),
        ({"labels": ["O", "O", "x"]}, "label 1 is 'O', the same as label 0"),
        ({"boxes": [[0, 0, 1, 1]]}, "document 'r1' has 2 words, but 1 box"),
        ({"gold": ["O"]}, "document 'r1' has 2 words, but 1 gold label"),
        ({"gold": ["O", "B-x"]}, "gold of word 1 is 'B-x', which is not among the labels"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(tmp_path, change, message):
    first, bad, last = read(tmp_path, LINE, {**LINE, **change}, LINE)
    assert isinstance(first, Scored)
    assert isinstance(last, Scored)
    assert bad.line == 2
    assert message in bad.message


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", "nonsense", '{"id": "r1"}', "\x00", '{"id": NaN}']
)
def test_a_line_that_is_no_document(tmp_path, text):
    bad, good = read(tmp_path, text, LINE)
    assert isinstance(bad, FailedDocument)
    assert isinstance(good, Scored)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(lawful.InputError, match=r"cannot read .*nothing\.jsonl: No such file"):
        list(read_jsonl(tmp_path / "nothing.jsonl"))
    with pytest.raises(lawful.InputError, match="it is a folder"):
        list(read_jsonl(tmp_path))
    cut = tmp_path / "cut.jsonl.gz"
    whole = gzip.compress((json.dumps(LINE) + "\n").encode() * 3000, compresslevel=0)
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(lawful.InputError, match="unreadable after line"):
        list(read_jsonl(cut))


@settings(max_examples=1500)
@given(
    st.dictionaries(
        st.sampled_from([*LINE, "boxes", "pages", "joins", "gold", "logits", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=3),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=8,
        ),
    )
)
def test_any_line_is_a_document_or_a_bad_line(changes):
    text = json.dumps({**LINE, **changes}).encode()
    assert isinstance(LineParser("-").parse(1, text), Scored | FailedDocument)


@settings(max_examples=500)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_a_bad_line(text):
    assert isinstance(LineParser("-").parse(1, text), Scored | FailedDocument)


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_is_written_is_read_again(tmp_path, name):
    examples = list(demo.generate(5, seed=2))
    assert write_jsonl(tmp_path / name, examples) == 5
    for before, after in zip(examples, read_jsonl(tmp_path / name), strict=True):
        assert after.document == before.document
        assert after.gold == before.gold
        assert np.exp(after.scores.log_probs) == pytest.approx(
            np.exp(before.scores.log_probs), abs=1e-6
        )


def test_small_probabilities_survive_and_forbid_nothing(tmp_path):
    scores = lawful.Scores.from_probs([[1 - 1e-12, 1e-12]], ["O", "B-a"])
    write_jsonl(tmp_path / "d.jsonl", [Scored(lawful.Document("d", ["x"]), scores)])
    (again,) = read_jsonl(tmp_path / "d.jsonl")
    assert np.exp(again.scores.log_probs[0, 1]) == pytest.approx(1e-12)


def test_a_broken_npz_is_named(tmp_path):
    (tmp_path / "documents.npz").write_bytes(b"PK junk")
    with pytest.raises(lawful.InputError, match=r"documents\.npz: cannot be read"):
        read(tmp_path, LINE)


def test_a_decoding_is_one_line_with_exact_amounts():
    example = next(demo.generate(1, seed=8))
    decoding = lawful.decode(example.document, example.scores, lawful.Rules.load(demo.RULES))
    record = json.loads(decoding_line(decoding), parse_float=str, parse_int=str)
    assert list(record)[:11] == [
        "id", "status", "checked", "rules", "optimal", "log_prob", "labels", "fields", "checks",
        "corrections", "decoder",
    ]  # fmt: skip
    for name, values in record["fields"].items():
        for shown, value in zip(values, decoding.fields[name], strict=True):
            assert shown["value"] == (None if value.value is None else str(value.value))
            assert [int(i) for i in shown["words"]] == list(value.words)


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path):
    """The first document was a bad line."""
    file = tmp_path / "pages.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json_line(next(demo.generate(1))).encode())
    (found,) = read_jsonl(file)
    assert found.document.id == "receipt-00000"


def read_scored(path):
    return read_jsonl(path, on_error="yield")


def read_documents(path):
    return parse_documents(read_lines(path))


@pytest.mark.parametrize("reader", [read_scored, read_documents, read_decodings])
def test_a_line_that_is_not_utf_8_is_a_bad_line(tmp_path, reader):
    """It ended every command but decode with a traceback."""
    file = tmp_path / "pages.jsonl"
    file.write_bytes(b'{"id": "\xff", "words": []}\n')
    (found,) = reader(file)
    assert isinstance(found, FailedDocument)
    assert found.line == 1
    with pytest.raises(InputError, match=r"pages\.jsonl, line 1: "):
        list(read_labelled(file))


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "-"])
@pytest.mark.parametrize("ending", ["\n", ""])
@pytest.mark.parametrize("long", ["x" * 5_000_000, " " * 5_000_000, "x" * 200])
def test_a_line_that_is_too_long_is_a_bad_line(tmp_path, monkeypatch, name, ending, long):
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 200)
    good = json.dumps(LINE)
    data = f"{good}\n{long}\n{good}\n\n{long}{ending}".encode()
    file = tmp_path / name
    if name == "-":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        file = name
    else:
        file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    first, bad, third, *last = read_scored(file)
    assert isinstance(first, Scored)
    assert bad == FailedDocument(2, "the line is longer than 200 bytes, which is the maximum")
    assert third.line == 3
    if ending or len(long) > 200:
        assert [each.line for each in last] == [5]


@pytest.mark.parametrize("reader", [read_scored, read_documents, read_decodings])
def test_a_line_that_is_too_long_is_not_kept(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1000)
    file = tmp_path / "pages.jsonl.gz"
    with gzip.open(file, "wb") as out:
        for _ in range(64):
            out.write(bytes(1 << 20))
    tracemalloc.start()
    (found,) = reader(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found, FailedDocument)
    assert peak < 6 << 20
    with pytest.raises(InputError, match=r"line 1: the line is longer than 1000 bytes"):
        list(read_labelled(file))
