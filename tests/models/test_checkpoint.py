"""The card of a checkpoint directory: what it says is checked, and so are the files beside it."""

from __future__ import annotations

import re
import shutil
import sys

import msgspec
import numpy as np
import pytest
from lawful_models import RECEIPT as MODEL

from lawful import Document, InputError, from_pretrained
from lawful.base.errors import LawfulError
from lawful.models.checkpoint import CARD, ONNX, TOKENIZER, Card, ChainTables, read_card
from lawful.models.tokenizer import Tokenizer

TABLES = {"start": [1.0, 2.0], "between": [[3.0, 4.0], [5.0, 6.0]], "end": [7.0, 8.0]}


def test_a_chain_is_written_by_name_and_read_back(tmp_path):
    Card(labels=("O", "B-x"), window=8, crf=True, chain=ChainTables(**TABLES)).save(tmp_path)
    assert msgspec.json.decode((tmp_path / CARD).read_bytes())["chain"] == TABLES
    for name, part in read_card(tmp_path).learned._asdict().items():
        assert np.array_equal(part, TABLES[name])


def test_a_chain_of_an_older_card_is_not_misread(tmp_path):
    # Cards used to have a list without names, in the order between, start, end.
    old = {"labels": ["O", "B-x"], "window": 8, "crf": True}
    old["chain"] = [TABLES["between"], TABLES["start"], TABLES["end"]]
    (tmp_path / CARD).write_bytes(msgspec.json.encode(old))
    for name, part in read_card(tmp_path).learned._asdict().items():
        assert np.array_equal(part, TABLES[name])
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": []}, "zero labels, expected at least one"),
        ({"labels": ["O", "O"]}, "label 1 is 'O', the same as label 0"),
        ({"labels": ["O", " "]}, "label 1 is ' ', expected a name"),
        ({"labels": ["O", 3]}, "Expected `str`, got `int`"),
        ({"window": 0}, "window is 0, expected 1 to 1048576"),
        ({"window": -512}, "window is -512, expected 1 to 1048576"),
        ({"window": 10**30}, "window is 1000000000000000000000000000000, expected 1 to"),
        ({"window": 51.5}, "Expected `int`, got `float` - at `$.window`"),
        ({"windw": 8}, "Object contains unknown field `windw`"),
        ({"chain": {**TABLES, "end": [7.0]}}, "end of the chain has shape (1,), expected (2,)"),
        ({"chain": {**TABLES, "between": [[1.0], [2.0, 3.0]]}}, "between of the chain is not an"),
        ({"chain": {**TABLES, "start": [1.0, None]}}, "Expected `float`, got `null`"),
        ({"chain": TABLES, "crf": False}, "there is a chain, but crf is false"),
        ({"own_boxes": True}, "own_boxes is true, but boxes is false"),
        ({"sha256": {"model.onnx": 3}}, "Expected `str`, got `int` - at `$.sha256[...]`"),
    ],
)
def test_a_card_that_makes_no_sense_is_refused(tmp_path, change, said):
    card = {"labels": ["O", "B-x"], "window": 8, "crf": True} | change
    (tmp_path / CARD).write_bytes(msgspec.json.encode(card))
    with pytest.raises(InputError) as caught:
        read_card(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / CARD}: not the card of a model: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"3", b'{"labels": ["\xff"], "window": 8}', b'{"recipe":' + b"[" * 99999]
)
def test_a_card_that_is_no_json_object_is_refused(tmp_path, text):
    (tmp_path / CARD).write_bytes(text)
    with pytest.raises(InputError, match=r"lawful\.json: not the card of a model"):
        read_card(tmp_path)


@pytest.fixture
def shipped(tmp_path):
    """A copy of the shipped model."""
    return shutil.copytree(MODEL, tmp_path / "model")


def change(folder, **settings):
    """Changes settings of a card; ``None`` removes one."""
    card = msgspec.json.decode((folder / CARD).read_bytes()) | settings
    card = {name: value for name, value in card.items() if value is not None}
    (folder / CARD).write_bytes(msgspec.json.encode(card))


@pytest.mark.parametrize("name", [ONNX, TOKENIZER])
def test_every_changed_byte_is_noticed(shipped, name):
    """Most damaged files were loaded, and nothing was said."""
    rng = np.random.default_rng(0)
    data = (shipped / name).read_bytes()
    for at in rng.integers(len(data), size=200).tolist():
        damaged = bytearray(data)
        damaged[at] ^= int(rng.integers(1, 256))
        (shipped / name).write_bytes(damaged)
        with pytest.raises(InputError, match=rf"{name} is damaged or of another model: its SHA"):
            from_pretrained(shipped)


def test_a_card_without_checksums_is_loaded(shipped):
    change(shipped, sha256=None)
    assert from_pretrained(shipped).card.sha256 == {}


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_checksum_is_of_the_file_that_is_there_or_there_is_none(tmp_path, interrupted):
    card = Card(labels=("O",), window=8)
    with card.replacing(tmp_path, ONNX, TOKENIZER):
        (tmp_path / ONNX).write_bytes(b"before")
        (tmp_path / TOKENIZER).write_bytes(b"same")

    def replace():
        with card.replacing(tmp_path, ONNX):
            assert set(read_card(tmp_path).sha256) == {TOKENIZER}
            (tmp_path / ONNX).write_bytes(b"after")
            if interrupted:
                raise KeyboardInterrupt

    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            replace()
    else:
        replace()
    found = read_card(tmp_path)
    assert set(found.sha256) == ({TOKENIZER} if interrupted else {ONNX, TOKENIZER})
    for name in (ONNX, TOKENIZER):
        found.check_file(tmp_path / name)


def test_a_damaged_file_stays_noticed_when_another_one_is_replaced(tmp_path):
    card = Card(labels=("O",), window=8)
    with card.replacing(tmp_path, ONNX):
        (tmp_path / ONNX).write_bytes(b"before")
    (tmp_path / ONNX).write_bytes(b"damaged")
    with card.replacing(tmp_path, TOKENIZER):
        (tmp_path / TOKENIZER).write_bytes(b"new")
    with pytest.raises(InputError, match="is damaged"):
        read_card(tmp_path).check_file(tmp_path / ONNX)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"window": 2}, "window of the model is 2, expected at least 3: 2 special tokens and a"),
        ({"crf": True}, r"lawful\.json: crf is true, but there is no chain"),
    ],
)
def test_settings_that_do_not_fit_the_model_are_refused(shipped, settings, said):
    """With a window of 2, the first long document was a traceback."""
    change(shipped, **settings)
    with pytest.raises(InputError, match=said):
        from_pretrained(shipped)


def test_a_window_of_one_piece_is_enough(shipped):
    change(shipped, window=3)
    words = Document("d", ("Total", "56.000"), boxes=[(0, 0, 1, 1), (2, 0, 3, 1)])
    (scored,) = from_pretrained(shipped).predict([words])
    assert len(scored.scores) == 2


def test_labels_that_are_not_the_networks_are_refused(shipped):
    change(shipped, labels=["O", "B-total"])
    with pytest.raises(InputError, match=r"scores of 39 labels, expected 2 as in lawful\.json"):
        from_pretrained(shipped)


def test_a_word_piece_that_the_network_does_not_know_is_an_error(shipped):
    text = (shipped / TOKENIZER).read_text()
    assert '"[UNK]": 1' in text
    (shipped / TOKENIZER).write_text(text.replace('"[UNK]": 1', '"[UNK]": 99999'))
    change(shipped, sha256=None)
    tagger = from_pretrained(shipped)
    with pytest.raises(InputError, match="the model cannot be run: "):
        list(tagger.predict([Document("d", ("一",), boxes=[(0, 0, 1, 1)])]))


@pytest.mark.parametrize("data", [b"", b"nothing", b"\x08\x08"])
def test_a_file_that_is_no_network_is_refused(shipped, data):
    (shipped / ONNX).write_bytes(data)
    change(shipped, sha256=None)
    with pytest.raises(InputError, match=r"model\.onnx: (cannot be read|not an ONNX model)"):
        from_pretrained(shipped)


def test_a_truncated_network_is_refused(shipped):
    data = (shipped / ONNX).read_bytes()
    (shipped / ONNX).write_bytes(data[: len(data) // 2])
    change(shipped, sha256=None)
    with pytest.raises(InputError, match=r"model\.onnx: not an ONNX model that can be run"):
        from_pretrained(shipped)


@pytest.mark.parametrize("key", [b"\x0a\x08location", b"\x8a\x80\x00\x88\x00location"])
def test_weights_in_other_files_are_refused(shipped, key):
    """Such a file could be any on the machine; what lawful exports has all weights inside."""
    with (shipped / ONNX).open("ab") as file:
        file.write(b"allocation location" + key + b"\x12\x0b/etc/passwd")
    change(shipped, sha256=None)
    with pytest.raises(InputError, match="weights are in another file, expected all in this one"):
        from_pretrained(shipped)


def test_a_network_may_have_names_with_the_word_location(shipped):
    with (shipped / ONNX).open("ab") as file:
        file.write(b"\xa2\x06\x13allocation location")  # a field that onnxruntime does not know
    change(shipped, sha256=None)
    from_pretrained(shipped)


@pytest.mark.parametrize("text", [b"", b"{}", b"\xff", b"[" * 99999])
def test_a_broken_tokenizer_is_refused(shipped, text):
    (shipped / TOKENIZER).write_bytes(text)
    change(shipped, sha256=None)
    with pytest.raises(InputError, match=r"tokenizer\.json: not a tokenizer"):
        Tokenizer.load(shipped)


@pytest.mark.parametrize(
    ("model", "said"),
    [("nope", "no folder nope; a model of the hub needs torch"), ("./nope", "no folder ./nope")],
)
def test_a_model_that_is_not_there_is_said_before_what_is_not_installed(monkeypatch, model, said):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LawfulError, match=re.escape(said)):
        from_pretrained(model)
