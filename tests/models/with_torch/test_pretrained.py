"""Model folders of others: no code of theirs is run, and nothing outside them is read."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from lawful import Document, InputError, from_pretrained
from tests.fixtures.small_models import encoder

torch = pytest.importorskip("torch", reason="needs the 'train' extra: make test-models")

from safetensors.torch import load_file  # noqa: E402 - what is behind the extra

from lawful.models.network import Network  # noqa: E402
from lawful.models.tokenizer import Tokenizer  # noqa: E402

LABELS = ("O", "B-a", "I-a")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A folder as written by transformers."""
    return encoder("bert", tmp_path_factory.mktemp("plain"), labels=3)


@pytest.fixture(scope="module")
def own(plain, tmp_path_factory):
    """A folder as written by lawful."""
    folder = tmp_path_factory.mktemp("own")
    network = Network.start(plain, LABELS)
    with network.card.replacing(folder, "tokenizer.json"):
        Tokenizer.load(plain).save(folder)
    network.save(folder)
    return folder


@pytest.fixture(params=["plain", "own"])
def folder(request, tmp_path):
    """A copy of either."""
    return shutil.copytree(request.getfixturevalue(request.param), tmp_path / "model")


def change(file, **settings):
    """Changes settings of a file of JSON."""
    found = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(found | settings))


def with_code(folder, **settings):
    """A folder with code that would leave a mark; returns the mark."""
    mark = folder / "mark"
    (folder / "code.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    names = {"AutoConfig": "code.C", "AutoModelForTokenClassification": "code.M"}
    change(folder / "config.json", auto_map=names, **settings)
    change(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["code.T", None]})
    return mark


def test_code_of_a_model_is_not_run_and_nobody_is_asked(folder):
    """A line "y" among the documents on standard input was taken for the user's consent."""
    mark = with_code(folder, model_type="unknown")
    script = "import sys, lawful; lawful.from_pretrained(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        input="y\ny\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    message = f"InputError: cannot load a model: {folder}: it needs Python code of its own, which"
    assert message in done.stderr
    assert "[y/N]" not in done.stdout
    assert not mark.exists()


def test_standard_input_is_left_to_the_documents(folder):
    with_code(folder, model_type="unknown")
    script = (
        "import contextlib, sys, lawful\n"
        "with contextlib.suppress(lawful.InputError): lawful.from_pretrained(sys.argv[1])\n"
        "print(sys.stdin.read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        input="y\ny\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "y\ny\n\n"


def test_a_known_architecture_runs_without_the_code_beside_it(folder):
    mark = with_code(folder)
    assert len(from_pretrained(folder).labels) == 3
    assert not mark.exists()


class Evil:
    """A pickle that makes a folder when it is read."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return os.mkdir, (self.mark,)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_may_have_tensors_and_nothing_else(plain, tmp_path, legacy):
    folder = shutil.copytree(plain, tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    file = folder / "pytorch_model.bin"
    how = {"_use_new_zipfile_serialization": not legacy}
    torch.save(weights, file, **how)
    assert len(from_pretrained(folder).labels) == 3
    torch.save(weights | {"more": Evil(folder / "mark")}, file, **how)
    with pytest.raises(InputError, match="weights are a pickle with more than tensors"):
        from_pretrained(folder)
    assert not (folder / "mark").exists()


def test_tensors_without_code_are_preferred(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "model")
    torch.save({"more": Evil(folder / "mark")}, folder / "pytorch_model.bin")
    assert len(from_pretrained(folder).labels) == 3


def indexed(folder, name, *, at="model"):
    """Makes the weights of a folder those of a file that an index names."""
    keys = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    (folder / "link.safetensors").symlink_to(folder.parent / "outside.safetensors")
    (folder / "loop.safetensors").symlink_to("loop.safetensors")
    shutil.copy(folder / "part.safetensors", folder.parent / "outside.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(keys, name)}
    (folder / f"{at}.safetensors.index.json").write_text(json.dumps(index))


def test_weights_in_several_files_are_loaded(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "model")
    indexed(folder, "part.safetensors")
    assert len(from_pretrained(folder).labels) == 3


@pytest.mark.parametrize("at", ["model", "other"])
@pytest.mark.parametrize(
    "name",
    [
        "../outside.safetensors",
        "sub/../../outside.safetensors",
        "{outside}",
        "link.safetensors",
        "loop.safetensors",
        "a\0b",
    ],
)
def test_an_index_that_leads_out_of_the_folder_is_refused(plain, tmp_path, name, at):
    folder = shutil.copytree(plain, tmp_path / "model")
    indexed(folder, name.format(outside=tmp_path / "outside.safetensors"), at=at)
    if at == "other":
        change(folder / "config.json", transformers_weights="other.safetensors.index.json")
    with pytest.raises(InputError, match=r"index\.json: '.*' is not in the model's folder"):
        from_pretrained(folder)


def test_links_of_the_hubs_cache_are_followed(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "models--a" / "snapshots" / "1")
    indexed(folder, "blob.safetensors")
    (tmp_path / "models--a" / "blobs").mkdir()
    (folder / "part.safetensors").rename(tmp_path / "models--a" / "blobs" / "2")
    (folder / "blob.safetensors").symlink_to("../../blobs/2")
    assert len(from_pretrained(folder).labels) == 3


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": 3}', '{"weight_map": {"a": 3}}'])
def test_a_broken_index_is_refused(plain, tmp_path, text):
    folder = shutil.copytree(plain, tmp_path / "model")
    (folder / "model.safetensors.index.json").write_text(text)
    with pytest.raises(InputError, match=r"index\.json: not an index of weights"):
        from_pretrained(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[]", r"config\.json: list, expected an object"),
        (b"{", r"config\.json: not JSON"),
        (b'{"model_type": "\xff"}', r"config\.json: not JSON"),
        (b"[" * 99999, r"config\.json: not JSON"),
        (b"{}", "cannot load a model: "),
        (b'{"model_type": []}', "cannot load a model: "),
        (b'{"model_type": "bert", "vocab_size": "x"}', "Field 'vocab_size' expected int"),
        (b'{"model_type": "bert", "hidden_size": 0}', r"cannot load a model|config\.json: not of"),
    ],
)
def test_a_broken_configuration_is_refused(folder, text, said):
    (folder / "config.json").write_bytes(text)
    with pytest.raises(InputError, match=said):
        from_pretrained(folder)


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"tokenizer_class": 3}'])
def test_a_broken_configuration_of_a_tokenizer_is_refused(plain, tmp_path, text):
    folder = shutil.copytree(plain, tmp_path / "model")
    (folder / "tokenizer_config.json").write_bytes(text)
    with pytest.raises(InputError, match=r"tokenizer_config\.json: |cannot load a tokenizer: "):
        from_pretrained(folder)


@pytest.mark.parametrize("data", [b"", b"\xff" * 100, None])
def test_broken_weights_are_refused(folder, data):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100] if data is None else data)
    with pytest.raises(InputError, match=r"cannot load a model: |model\.safetensors is damaged"):
        from_pretrained(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_every_changed_byte_is_noticed(own, tmp_path, name):
    folder = shutil.copytree(own, tmp_path / "model")
    rng = np.random.default_rng(0)
    data = (folder / name).read_bytes()
    for at in rng.integers(len(data), size=200 if name == "model.safetensors" else 5).tolist():
        damaged = bytearray(data)
        damaged[at] ^= int(rng.integers(1, 256))
        (folder / name).write_bytes(damaged)
        with pytest.raises(InputError, match=rf"{name} is damaged or of another model: its SHA"):
            from_pretrained(folder)
    if name == "model.safetensors":  # as a base to train, too
        with pytest.raises(InputError, match="is damaged or of another model"):
            Network.start(folder, LABELS)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"labels": ["O", "B-a"]}, r"config\.json has 3 labels, expected 2 as in lawful\.json"),
        ({"window": 49}, r"lawful\.json: window is 49, expected at most 48, the model's own"),
        ({"window": 2}, "window of the model is 2, expected at least 3"),
        ({"crf": True}, "weights of another network"),
    ],
)
def test_settings_that_do_not_fit_the_model_are_refused(own, tmp_path, settings, said):
    folder = shutil.copytree(own, tmp_path / "model")
    change(folder / "lawful.json", **settings)
    with pytest.raises(InputError, match=said):
        from_pretrained(folder)


def test_a_word_piece_that_the_network_does_not_know_is_an_error(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "model")
    text = (folder / "tokenizer.json").read_text()
    assert '"[UNK]": 1' in text
    (folder / "tokenizer.json").write_text(text.replace('"[UNK]": 1', '"[UNK]": 99999'))
    with pytest.raises(InputError, match="the model cannot be run: index out of range"):
        list(from_pretrained(folder).predict([Document("d", ("",))]))


def test_a_model_without_room_for_a_word_is_refused(tmp_path):
    with pytest.raises(InputError, match="window of the model is 2, expected at least 3: 2 spec"):
        from_pretrained(encoder("bert", tmp_path / "model", positions=2))
