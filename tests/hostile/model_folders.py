"""Model folders with a damaged card, tokenizer or network, which then score a document."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

from lawful_models import RECEIPT as MODEL

from lawful import Document
from tests.hostile.mutations import damaged_bytes, damaged_value, json_bytes

LEFT_OUT = None
if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
    LEFT_OUT = "it needs the 'onnx' extra"

FILES = ("lawful.json", "lawful.json", "tokenizer.json", "tokenizer.json", "model.onnx")
FOLDER = tempfile.TemporaryDirectory(prefix="hostile-model-")
DOCUMENT = Document("d", ["Total", "12.50"], boxes=[[0, 0, 10, 10], [20, 0, 30, 10]])


def draw(rng):
    """The file that is damaged, and its bytes; none if it is missing."""
    name = rng.choice(FILES)
    data = (MODEL / name).read_bytes()
    if rng.random() < 0.05:
        return name, None
    if name.endswith(".json") and rng.random() < 0.6:
        value = json.loads(data)
        for _ in range(rng.choice((1, 1, 2, 3))):
            value = damaged_value(rng, value)
        data = json_bytes(value)
    return name, damaged_bytes(rng, data) if rng.random() < 0.6 else data


def run(case):
    """Loads the model and scores a document; without checksums, which would notice most."""
    from lawful.models.tagger import from_pretrained

    name, data = case
    folder = Path(FOLDER.name) / "model"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(MODEL, folder)
    card = json.loads((folder / "lawful.json").read_bytes())
    del card["sha256"]
    (folder / "lawful.json").write_text(json.dumps(card))
    (folder / name).unlink()
    if data is not None:
        (folder / name).write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (scored,) = from_pretrained(folder, backend="onnx").predict([DOCUMENT])
    assert len(scored.scores) == len(DOCUMENT)
    return "answer"
