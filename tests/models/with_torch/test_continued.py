"""Training that goes on from a model of lawful keeps what that model knows."""

from __future__ import annotations

import numpy as np
import pytest

import lawful
from lab import receipts
from lawful import InputError
from lawful.models.network import Network
from lawful.models.runners import TorchRunner
from lawful.models.shipped import base_named, invoice_model, receipt_model
from lawful.models.tagger import Tagger
from lawful.models.tokenizer import Tokenizer

pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")

PAGES = [page.document for page in receipts.generate(2)]
OLD = ("B-total", "I-total", "O")


def test_shipped_models_have_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert base_named("receipts") == str(receipt_model())
    (tmp_path / "invoices").mkdir()  # of documents
    assert base_named("invoices") == str(invoice_model())
    (tmp_path / "invoices/config.json").write_text("{}")
    assert base_named("invoices") == "invoices"
    assert base_named("MiniLM/") == "MiniLM/"


@pytest.mark.parametrize("folder", [receipt_model(), invoice_model()], ids=["receipts", "invoices"])
def test_the_shipped_weights_score_as_they_did(folder):
    """Within what 8 bits of activations cost when onnxruntime runs the export."""
    shipped = lawful.from_pretrained(folder)
    card = shipped.card
    network = Network.start(folder, card.labels, kinds=card.kinds)
    assert network.card.lines
    assert network.card.own_boxes
    tagger = Tagger(Tokenizer.load(folder), TorchRunner(network.eval(), "cpu"), network.card)
    for one, other in zip(tagger.predict(PAGES), shipped.predict(PAGES), strict=True):
        ours, theirs = (np.exp(each.scores.log_probs) for each in (one, other))
        assert np.mean(ours.argmax(1) == theirs.argmax(1)) > 0.97
        assert np.abs(ours - theirs).mean() < 0.01


def test_labels_of_the_same_name_keep_their_scores(bert, tmp_path):
    first = Network.start(bert, ("O", "B-total", "I-total"), lines=True, seed=1)
    first.save(tmp_path)
    Tokenizer.load(bert).save(tmp_path)
    first.card.save(tmp_path)
    more = Network.start(tmp_path, ("O", "B-new", "I-new", "B-total"), layers=1)
    assert more.card.lines
    old, new = first.encoder.classifier.weight, more.encoder.classifier.weight
    assert (new[0] == old[0]).all()
    assert (new[3] == old[1]).all()
    assert more.encoder.config.num_hidden_layers == 1
    with pytest.raises(InputError, match="places of another kind than --boxes"):
        Network.start(tmp_path, OLD, boxes=True)


def test_another_export_says_what_to_do(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    card = Network.start(receipt_model(), OLD).card
    card.save(tmp_path)
    with pytest.raises(InputError, match=r"training cannot go on from .*model.onnx.*safetensors"):
        Network.start(tmp_path, OLD)
