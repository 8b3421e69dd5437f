"""Models as ONNX: the same scores without torch."""

import shutil

import numpy as np
import pytest

from lawful import Document, InputError, from_pretrained
from tests.fixtures.small_models import ODD, encoder, receipts

torch = pytest.importorskip("torch", reason="needs the 'train' extra: make test-models")
pytest.importorskip("onnxscript", reason="needs the 'train' extra: make test-models")

from lawful.models.checkpoint import read_card  # noqa: E402 - what is behind the extra
from lawful.models.export import export  # noqa: E402
from lawful.models.network import Network  # noqa: E402
from lawful.models.runners import OnnxRunner  # noqa: E402
from lawful.models.tokenizer import Tokenizer  # noqa: E402
from lawful.models.training import labels_of  # noqa: E402

PAGES = receipts(4)
DOCUMENTS = [
    *(page.document for page in PAGES),
    Document("odd", ODD, boxes=[(i, 0, i + 1, 2) for i in range(len(ODD))]),
    Document("long", ("Total", "56.000") * 100, boxes=[(i, 0, i + 1, 2) for i in range(200)]),
]
CASES = [
    ("bert", {}),
    ("bert", {"boxes": True}),
    ("bert", {"crf": True}),
    ("roberta", {}),
    ("distilbert", {}),
    ("layoutlm", {}),
]


def made(tmp_path, kind, how, *, int8=False):
    base = encoder(kind, tmp_path / "base")
    network = Network.start(base, labels_of(PAGES), **how)
    for part in network.ours.values():
        for parameter in part.parameters():
            torch.nn.init.normal_(parameter, std=0.1)
    network.save(tmp_path / "torch")
    Tokenizer.load(base).save(tmp_path / "torch")
    export(Network.load(tmp_path / "torch"), Tokenizer.load(base), tmp_path / "onnx", int8=int8)
    return tmp_path / "torch", tmp_path / "onnx"


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_scores_are_the_same_without_torch(tmp_path, kind, how):
    folders = made(tmp_path, kind, how)
    ours, theirs = (from_pretrained(folder) for folder in folders)
    assert type(theirs.runner).__name__ == "OnnxRunner"
    for scored, other in zip(ours.predict(DOCUMENTS), theirs.predict(DOCUMENTS), strict=True):
        assert scored.scores.log_probs == pytest.approx(other.scores.log_probs, abs=1e-3)
        if how.get("crf"):
            for part, again in zip(scored.scores.chain, other.scores.chain, strict=True):
                assert part == pytest.approx(again)


def test_eight_bits_are_a_fraction_of_the_size_and_about_the_same(tmp_path):
    folders = made(tmp_path, "bert", {"boxes": True}, int8=True)
    (tmp_path / "whole").mkdir()
    _, whole = made(tmp_path / "whole", "bert", {"boxes": True})
    assert (folders[1] / "model.onnx").stat().st_size < (whole / "model.onnx").stat().st_size / 2
    ours, theirs = (from_pretrained(folder) for folder in folders)
    for scored, other in zip(ours.predict(DOCUMENTS), theirs.predict(DOCUMENTS), strict=True):
        probs, again = (np.exp(each.scores.log_probs) for each in (scored, other))
        assert np.abs(probs - again).max() < 0.1


def test_products_of_eight_bits_do_not_overflow(tmp_path):
    """Processors without VNNI add two products in 16 bits; large ones overflowed unnoticed."""
    onnx = pytest.importorskip("onnx")
    weights = np.full((64, 8), 127, np.int8)
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Cast", ["ids"], ["numbers"], to=onnx.TensorProto.FLOAT),
            onnx.helper.make_node("Unsqueeze", ["numbers", "axis"], ["columns"]),
            onnx.helper.make_node("Expand", ["columns", "shape"], ["wide"]),
            onnx.helper.make_node("DynamicQuantizeLinear", ["wide"], ["small", "scale", "zero"]),
            onnx.helper.make_node("MatMulInteger", ["small", "weights", "zero"], ["sums"]),
            onnx.helper.make_node("Cast", ["sums"], ["logits"], to=onnx.TensorProto.FLOAT),
        ],
        "one product",
        [onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ["batch", "length"])],
        [onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, [None, None, 8])],
        [
            onnx.numpy_helper.from_array(weights, "weights"),
            onnx.numpy_helper.from_array(np.array([2]), "axis"),
            onnx.numpy_helper.from_array(np.array([1, 1, 64]), "shape"),
        ],
    )
    imports = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=imports, ir_version=8), tmp_path / "m")
    ids = np.array([[0, 255, 128]])
    found = OnnxRunner(tmp_path / "m").run(ids, np.ones_like(ids), np.zeros((1, 3, 4), np.int64))
    assert found[0, :, 0].tolist() == [0, 255 * 127 * 64, 128 * 127 * 64]


def test_a_folder_with_both_is_run_as_asked(tmp_path):
    source, exported = made(tmp_path, "bert", {})
    shutil.copy(exported / "model.onnx", source)
    assert type(from_pretrained(source).runner).__name__ == "TorchRunner"
    assert type(from_pretrained(source, backend="onnx").runner).__name__ == "OnnxRunner"
    with pytest.raises(InputError, match="backend is 'jax', expected torch or onnx"):
        from_pretrained(source, backend="jax")


def test_a_broken_export_says_so(tmp_path):
    source, exported = made(tmp_path, "bert", {})
    (exported / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"model\.onnx is damaged or of another model: its SHA"):
        from_pretrained(exported)
    card = read_card(exported)
    del card.sha256["model.onnx"]
    card.save(exported)
    with pytest.raises(InputError, match=r"model\.onnx: not an ONNX model that can be run"):
        from_pretrained(exported)
    with pytest.raises(InputError, match=r"no model\.onnx with a card in .*: create them with law"):
        from_pretrained(source, backend="onnx")


def test_another_models_folder_is_left_alone(tmp_path):
    source, _ = made(tmp_path, "bert", {})
    (tmp_path / "other").mkdir()
    other, _ = made(tmp_path / "other", "bert", {"crf": True})
    with pytest.raises(InputError, match="already has another model"):
        export(Network.load(source), Tokenizer.load(source), other)
    export(Network.load(source), Tokenizer.load(source), source)  # beside its own weights
    assert (source / "model.onnx").exists()
    assert set(read_card(source).sha256) == {"model.onnx", "model.safetensors", "tokenizer.json"}
    for backend in ("torch", "onnx"):
        from_pretrained(source, backend=backend)


@pytest.mark.parametrize("int8", [False, True])
def test_an_exported_model_names_no_file_of_this_machine(tmp_path, int8):
    """The exporter's notes had the path of every source file."""
    made(tmp_path, "bert", {}, int8=int8)
    (file,) = tmp_path.rglob("model.onnx")
    data = file.read_bytes()
    assert b".py" not in data
    assert b"stack_trace" not in data
