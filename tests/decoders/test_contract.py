"""What every decoder promises, whatever its search."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import lawful
from lab import receipts as demo
from lawful import Budget, Document, Field, Rules, Scores, decode
from lawful.decoders import DECODERS

decoders = pytest.mark.parametrize("decoder", DECODERS)
EXAMPLES = list(demo.generate(6, seed=5, words=(24, 60)))
RULES = Rules.load(demo.RULES)
FREE = lawful.rules.RuleDefaults(presence="free", repeat="any", weight=0)


def run(decoder, example, rules=RULES, budget=None):
    return decode(example.document, example.scores, rules, decoder=decoder, budget=budget)


@decoders
def test_every_document_gets_a_decoding_that_is_what_it_says(decoder):
    for example in EXAMPLES:
        found = run(decoder, example)
        assert found.id == example.document.id
        assert found.decoder == ("exact" if decoder == "auto" else decoder)
        assert len(found.labels) == len(example.document)
        index = [example.scores.labels.index(label) for label in found.labels]
        expected = example.scores.log_probs[np.arange(len(index)), index].sum()
        assert found.log_prob == pytest.approx(expected)
        violated = [check for check in found.checks if check.state == "violated"]
        assert found.penalty == sum(check.price for check in found.checks)
        if found.status == "satisfied":
            assert not violated
            assert found.optimal
        if found.status == "relaxed":
            assert violated
        if decoder != "argmax" and found.status != "exhausted":
            assert RULES.scheme_for(example.scores.labels).allows(index)
        assert (found.stopped_by is not None) == (found.status == "exhausted")
        assert found.bound >= found.log_prob - found.penalty - 1e-9
        assert 0 < found.mass <= 1
        for values in found.fields.values():
            for value in values:
                start, end = value.words
                assert value.text == example.document.text(start, end)


@decoders
def test_without_rules_the_models_own_best_comes_back(decoder):
    rules = Rules(RULES.fields, defaults=FREE).with_defaults(presence="free", repeat="any")
    for example in demo.generate(5, seed=1, words=(24, 40), noise=0):
        found = run(decoder, example, rules)
        assert found.status == "unchecked"
        assert found.optimal
        assert found.labels == example.gold
        assert found.corrections == ()
        assert found.tried == 1


@decoders
def test_is_repeatable(decoder):
    for example in EXAMPLES[:3]:
        one, other = (run(decoder, example).to_dict() for _ in range(2))
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


@decoders
@pytest.mark.parametrize(
    ("budget", "name"),
    [
        (Budget(candidates=1), "candidates"),
        (Budget(candidates=inf, seconds=1e-9), "seconds"),
        (Budget(candidates=inf, mass=1e-12), "mass"),
    ],
)
def test_budgets_stop_where_they_should_and_say_which_one_did(decoder, budget, name):
    impossible = Rules(
        [Field("total", "total", "money")],
        ["present(total) == (not present(total))"],
        defaults=FREE,
    ).with_defaults(weight=inf)
    found = run(decoder, EXAMPLES[0], impossible, budget)
    assert found.status == "exhausted"
    assert found.tried <= 1
    if decoder not in ("argmax", "beam"):
        assert found.stopped_by == name


@decoders
def test_a_document_without_words(decoder):
    document = Document("empty", [])
    scores = Scores.from_probs(np.empty((0, 27)), demo.LABELS)
    found = decode(document, scores, RULES, decoder=decoder)
    assert found.status == "unchecked"
    assert found.checked == 0
    assert found.labels == ()
    assert {check.state for check in found.checks} == {"vacuous"}


@decoders
def test_no_legal_labelling_is_an_answer_too(decoder):
    scores = Scores.from_probs([[0.0, 0.0, 1.0]], ["O", "B-total", "I-total"])
    rules = Rules([Field("total", "total", "money")])
    found = decode(Document("d", ["5"]), scores, rules, decoder=decoder)
    assert found.status == ("exhausted" if decoder in ("argmax", "beam") else "infeasible")
    assert found.labels == ("I-total",)
    assert not found.optimal


@decoders
def test_hard_rules_that_cannot_hold_are_infeasible_and_the_models_answer_stays(decoder):
    scores = Scores.from_probs([[0.6, 0.4]] * 2, ["O", "B-total"])
    rules = Rules([Field("total", "total", "money")], ["1 == 2"]).with_defaults(weight=inf)
    found = decode(Document("d", ["5", "6"]), scores, rules, decoder=decoder)
    assert found.status == ("exhausted" if decoder in ("argmax", "beam") else "infeasible")
    assert found.labels == ("O", "O")


def test_an_unknown_decoder_lists_the_known_ones():
    with pytest.raises(lawful.InputError, match="unknown decoder 'best'; decoders: auto, exact"):
        run("best", EXAMPLES[0])


def test_what_is_given_must_be_what_is_expected():
    document, scores = EXAMPLES[0].document, EXAMPLES[0].scores
    for arguments in ((document.words, scores, RULES), (document, scores.log_probs, RULES),
                      (document, scores, "rules.yaml")):  # fmt: skip
        with pytest.raises(lawful.InputError, match=r"expected a (Document|Scores|Rules)"):
            decode(*arguments)
    with pytest.raises(lawful.InputError, match="budget is 5, expected a Budget"):
        decode(document, scores, RULES, budget=5)


def test_words_and_rows_must_agree():
    with pytest.raises(lawful.DocumentError, match="has 1 word, but 2 rows of scores"):
        decode(
            Document("d", ["a"]), Scores.from_probs([[1.0]] * 2, ["O"]), Rules([Field("a", "a")])
        )


def test_argmax_gives_back_the_argmax_whatever_is_wrong_with_it():
    scores = Scores.from_probs([[0.1, 0.3, 0.6]], ["O", "B-total", "I-total"])
    found = decode(Document("d", ["5"]), scores, Rules([Field("total", "total")]), decoder="argmax")
    assert found.labels == ("I-total",)
    assert found.status == "exhausted"


def test_a_budget_that_finds_nothing_gives_back_the_best_legal_labelling():
    scores = Scores.from_probs([[0.1, 0.3, 0.6]], ["O", "B-total", "I-total"])
    rules = Rules([Field("total", "total")])
    found = decode(
        Document("d", ["5"]), scores, rules, decoder="lazyk", budget=Budget(candidates=1)
    )
    assert (found.labels, found.status) == (("B-total",), "exhausted")


def test_the_mass_is_what_was_seen():
    scores = Scores.from_probs([[0.5, 0.3, 0.2]], ["O", "B-total", "B-x"])
    rules = Rules([Field("total", "total", "money")], ["total == 5"]).with_defaults(
        presence="required", weight=inf
    )
    found = decode(Document("d", ["5"]), scores, rules)
    assert found.labels == ("B-total",)
    assert found.mass == pytest.approx(0.8)


def test_a_rule_is_not_satisfied_by_deleting_what_it_reads():
    labels = ["O", "B-total", "B-sub"]
    probs = [[0.3, 0.65, 0.05], [0.3, 0.05, 0.65]]
    fields = [Field("total", "total", "money"), Field("sub", "sub", "money")]
    document, scores = Document("d", ["7", "5"]), Scores.from_probs(probs, labels)
    rules = Rules(fields, ["total == sub"])
    kept = decode(document, scores, rules)
    assert kept.labels == ("B-total", "B-sub")
    assert kept.status == "relaxed"
    assert kept.violations[0].message == "total is 7, sub is 5"
    paper = decode(document, scores, rules.with_defaults(presence="free", weight=inf))
    assert paper.status == "unchecked"  # by looking away
    assert "O" in paper.labels
