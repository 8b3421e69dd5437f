"""``lawful teach --deep``: a network learns what the quick model chose; the better one stays."""

from __future__ import annotations

import pytest

from lawful import InputError, from_pretrained
from lawful.documents.records import UNKNOWN
from lawful.models import deep
from lawful.models.recipe import Recipe
from lawful.models.teaching import Teacher
from tests.fixtures.invoices import invoice, rules
from tests.helpers import run

pytest.importorskip("torch", reason="needs the 'train' extra: make test-models")

RULES = rules()
FEW = Recipe(epochs=1)


@pytest.fixture(scope="module")
def teacher():
    found = Teacher(RULES)
    for number in range(20):
        found.add(*invoice(number))
    return found


def test_both_models_are_tested_on_documents_that_neither_has_seen(teacher, bert, monkeypatch):
    seen = []
    train = deep.train

    def watched(network, tokenizer, pages, *rest, **how):
        seen.extend(pages)
        return train(network, tokenizer, pages, *rest, **how)

    monkeypatch.setattr(deep, "train", watched)
    found = deep.compare(teacher, str(bert), lambda _: None, FEW)
    held = teacher.folds()[0]
    assert found.documents == len(held)
    assert {page.document.id for page in seen} == teacher.documents.keys() - set(held)
    values = sum(id_ in pupil.lessons for pupil in teacher.pupils.values() for id_ in held)
    assert (found.deep, found.better) == (0, False)  # after one epoch, a new network says nothing
    assert 0.9 * values <= found.quick <= values


def test_other_places_of_a_value_are_not_learned_as_none(teacher):
    document, truth = invoice(0)
    (page,) = [p.labelled for p in teacher.aligned() if p.labelled.document.id == document.id]
    (value,) = truth.values["total"]
    labels = [label for word, label in zip(document.words, page.gold, strict=True) if word == value]
    assert labels.count("B-total") == 1
    assert {*labels} <= {"B-total", "O", UNKNOWN}


def test_the_network_of_all_documents_is_a_model(teacher, bert, tmp_path):
    deep.teach_deep(teacher, str(bert), tmp_path / "m", lambda _: None, FEW)
    tagger = from_pretrained(tmp_path / "m")
    assert {f"B-{f.label}" for f in RULES.fields} <= set(tagger.labels)
    assert teacher.right(tagger, teacher.folds()[0]) >= 0


def test_too_few_documents_say_so(bert):
    few = Teacher(RULES)
    few.add(*invoice(0))
    with pytest.raises(InputError, match="10 are needed, but there are 1"):
        deep.compare(few, str(bert), lambda _: None)


def test_a_base_without_deep_is_refused(tmp_path):
    (tmp_path / "d.jsonl").write_text("")
    found = run("teach", tmp_path / "d.jsonl", "--truth", tmp_path / "x.csv",
                "--out", tmp_path / "m", "--base", "receipts")  # fmt: skip
    assert found.returncode == 2
    assert "--base is for --deep" in found.stderr
