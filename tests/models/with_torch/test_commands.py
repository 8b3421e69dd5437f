"""``lawful train``, ``predict``, ``extract`` and ``export``, as a person types them."""

import json
import re
import subprocess
import sys
from contextlib import closing

import pytest

from lawful import Rules, read_jsonl
from lawful.io.jsonl import read_labelled, write_labelled
from lawful.review.desk import Desk
from lawful.review.documents import Documents
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue
from lawful.review.serving import shared
from lawful.review.store import Store
from tests.fixtures.small_models import encoder, receipts

torch = pytest.importorskip("torch", reason="needs the 'train' extra: make test-models")

RULES = """
fields:
  total: {label: total, type: money}
  tax: {label: tax, type: money}
rules:
  - total > tax
"""
QUICK = ("--epochs", 6, "--batch", 8, "--rate", 5e-3, "--new-rate", 5e-3)


def lawful(*arguments, code=0, **how):
    command = [sys.executable, "-m", "lawful", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    encoder("bert", folder / "base")
    pages = receipts(24)
    write_labelled(folder / "pages.jsonl", pages)
    lines = [json.dumps({"id": p.document.id, "words": p.document.words}) for p in pages[:3]]
    (folder / "words.jsonl").write_text("\n".join([*lines[:2], "{nonsense", lines[2]]) + "\n")
    (folder / "rules.yaml").write_text(RULES)
    return folder


@pytest.fixture(scope="module")
def model(work):
    done = lawful(
        "train", work / "pages.jsonl", "--base", work / "base", "--out", work / "model",
        "--rules", work / "rules.yaml", *QUICK,
    )  # fmt: skip
    assert "19 documents to train on, 5 to validate on; 7 labels" in done.stderr
    assert "at most 6 epochs of 3 batches, about " in done.stderr
    assert "epoch 1 of 6: loss" in done.stderr
    assert f"{work / 'model'}: F1" in done.stderr
    return work / "model"


def test_training_on_what_people_have_accepted(work, model):
    scored, gold, db = work / "scored.jsonl", work / "gold.jsonl", work / "review.db"
    lawful("predict", work / "pages.jsonl", "--model", model, "--out", scored)
    documents, common = Documents.open(str(scored)), shared(Rules.load(work / "rules.yaml"), "r")
    queue = Queue(documents, common.sets)
    with closing(Desk(documents, Store(db), common, Pictures(), queue)) as desk:
        for n in range(len(documents)):
            said = [{"words": [0, 2], "text": "one"}] if n == 3 else []
            seq = desk.pin(n, 0, said, "ada")["seq"]
            desk.judge(n, seq, "accepted", "ada", confirmed=True)
    lawful("review", "export", scored, "--rules", work / "rules.yaml", "--db", db, "--out", gold)
    assert [each.document.words[:2] for each in read_labelled(gold)][3] == ("one", "")
    done = lawful("train", gold, "--base", work / "base", "--out", work / "reviewed", *QUICK)
    assert "19 documents to train on, 5 to validate on" in done.stderr


def test_training_on_values(work):
    rows = [{"id": p.document.id, "words": p.document.words, "gold": p.gold} for p in receipts(24)]
    with (work / "bare.jsonl").open("w") as bare, (work / "values.jsonl").open("w") as values:
        for row in rows:
            by_label = {
                g[2:]: w for w, g in zip(row["words"], row["gold"], strict=True) if g != "O"
            }
            known = {name: by_label[name] for name in ("total", "tax") if name in by_label}
            bare.write(json.dumps({"id": row["id"], "words": row["words"]}) + "\n")
            values.write(json.dumps({"id": row["id"], **known}) + "\n")
    base = ("train", work / "bare.jsonl", "--base", work / "base", "--truth", work / "values.jsonl")
    done = lawful(
        *base, "--rules", work / "rules.yaml", "--out", work / "by-values", *QUICK, "--epochs", 10
    )
    assert "24 documents with true values" in done.stderr
    assert " of 10: loss" in done.stderr
    assert "the model of the last round" in done.stderr
    lawful("predict", work / "bare.jsonl", "--model", work / "by-values", "--out", work / "s.jsonl")
    done = lawful(*base, "--out", work / "none", code=2)
    assert "--truth needs --rules" in done.stderr


def test_predict_writes_what_decode_reads(work, model):
    out = work / "scored.jsonl"
    done = lawful("predict", work / "words.jsonl", "--model", model, "--out", out, code=1)
    assert "line 3: JSON is malformed" in done.stderr
    assert "3 documents: 3 scored, 1 bad line" in done.stderr
    assert [scored.document.id for scored in read_jsonl(out)] == ["r0", "r1", "r2"]
    lawful("decode", out, "--rules", work / "rules.yaml", "--out", work / "decoded.jsonl")
    assert len((work / "decoded.jsonl").read_text().splitlines()) == 3


def test_scores_may_go_into_an_npz_file(work, model):
    lawful(
        "predict", work / "pages.jsonl", "--model", model, "--out", work / "n.jsonl", "--npz",
        "--units", "pieces",
    )  # fmt: skip
    assert (work / "n.npz").exists()
    found = list(read_jsonl(work / "n.jsonl"))
    assert len(found) == 24
    assert all(scored.document.joins and scored.gold for scored in found)
    done = lawful("predict", work / "pages.jsonl", "--model", model, "--npz", code=2)
    assert "--npz writes a file next to --out" in done.stderr


def test_extract_reads_fields(work, model):
    rules = work / "rules.yaml"
    done = lawful("extract", work / "words.jsonl", "-m", model, "-r", rules, code=1)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == ["r0", "r1", "r2"]
    assert all(line["status"] == "satisfied" for line in lines)


def test_export_and_run_without_torch(work, model):
    done = lawful("export", model, "--out", work / "onnx", "--int8")
    assert "MiB" in done.stderr
    lawful("predict", work / "pages.jsonl", "-m", work / "onnx", "-o", work / "o.jsonl")
    assert len(list(read_jsonl(work / "o.jsonl"))) == 24


def test_training_that_is_killed_goes_on(work):
    whole_page = {"id": "one", "words": ["9.00"] * 20, "gold": ["B-total", *["I-total"] * 19]}
    (work / "odd.jsonl").write_text(json.dumps(whole_page) + "\n")  # nothing is found right there
    command = (
        "train", work / "pages.jsonl", "--base", work / "base", "--out", work / "killed",
        "--validation", work / "odd.jsonl", "--epochs", 4, "--batch", 8,
    )  # fmt: skip
    whole = [sys.executable, "-m", "lawful", *map(str, command)]
    with subprocess.Popen(whole, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("epoch 1 of 4: loss"):
                break
        process.terminate()
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "has a model that finds nothing right yet; continue with --resume" in rest
    assert "no output file" not in rest
    assert "unfinished run: resume it" in lawful(*command, code=2).stderr
    done = lawful(*command, "--resume", code=1)  # it is said that nothing was learnt
    assert "epoch 1 of" not in done.stderr
    assert "epoch 4 of 4: loss" in done.stderr
    said = " ".join(done.stderr.split())
    assert "F1 0.0 on the validation documents, the best so far" not in said
    assert re.search("(says O everywhere|finds is right); the loss still falls", said)
    assert "F1 is 0.0: the model finds nothing right in the validation documents" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--base", "nowhere/at-all"),
            "no folder nowhere/at-all, and from the hub",
        ),
        (("--device", "cuda:7"), "no device 'cuda:7': "),
        (("--layers", 9), "layers is 9, expected 1 to 2"),
        (("--rules", "shop.yaml"), "cannot learn it: shop (used by field 'shop' of the rules)"),
        (("--validation", "shops.jsonl"), "shop (2 in the validation documents). Add training"),
        (("--epochs", 0), "epochs is 0, expected a whole number of 1 or more"),
    ],
)
def test_what_cannot_be_trained_says_why(work, arguments, said):
    (work / "shop.yaml").write_text("fields:\n  shop: {label: shop, type: text}\nrules: []\n")
    line = {"id": "odd", "words": ["a", "b"], "gold": ["B-shop", "B-shop"]}
    (work / "shops.jsonl").write_text(json.dumps(line) + "\n")
    given = {"--base": work / "base", "--out": work / "never"} | {arguments[0]: arguments[1]}
    options = [part for pair in given.items() for part in pair]
    environment = {"HF_HUB_OFFLINE": "1", "PATH": "", "HOME": str(work)}
    done = lawful("train", "pages.jsonl", *options, code=2, cwd=work, env=environment)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (work / "never" / "model.safetensors").exists()


def test_labels_that_are_hardly_learnt_are_said(work):
    line = {"id": "odd", "words": ["a"], "gold": ["B-shop"]}
    (work / "more.jsonl").write_text((work / "pages.jsonl").read_text() + json.dumps(line) + "\n")
    done = lawful(
        "train", work / "more.jsonl", "--validation", work / "pages.jsonl", "--base", work / "base",
        "--out", work / "rare", *QUICK,
    )  # fmt: skip
    assert "fewer than 10 times in the training documents, too few to learn from: shop 1" in (
        done.stderr
    )
    assert "never in the validation documents, so F1 does not say" in done.stderr


def test_gold_labels_that_the_model_lacks_are_a_bad_line(work, model):
    line = {"id": "odd", "words": ["a"], "gold": ["B-shop"]}
    (work / "odd.jsonl").write_text(json.dumps(line) + "\n")
    done = lawful("predict", work / "odd.jsonl", "-m", model, "-o", work / "x.jsonl", code=2)
    assert "line 1: document 'odd' has gold label 'B-shop', which the model" in done.stderr
