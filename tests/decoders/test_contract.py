"""What every decoder promises, whatever its search."""

from __future__ import annotations

from itertools import islice
from math import inf

import numpy as np
import pytest

import lawful
from lawful import DECODERS, Budget, Document, Field, Rules, Scores, decode, demo
from lawful.decoders.lazy_ilp import LazyIlp

decoders = pytest.mark.parametrize("decoder", DECODERS)
EXAMPLES = list(demo.generate(6, seed=5, words=(24, 60)))
RULES = Rules.load(demo.RULES)
FREE = lawful.RuleDefaults(presence="free", repeat="any", weight=0)


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


@pytest.mark.parametrize(
    "options",
    [
        {"candidates": 0},
        {"candidates": 1.5},
        {"candidates": True},
        {"seconds": -1},
        {"max_cost": -1},
        {"max_cost": float("nan")},
        {"mass": 2},
        {"mass": "all"},
        {"mass": True},
    ],
)
def test_budgets_are_checked(options):
    with pytest.raises(lawful.InputError, match="budget: "):
        Budget(**options)


def test_lazy_ilp_yields_the_first_of_paths():
    example = next(demo.generate(1, seed=3, words=(24, 30)))
    problem = lawful.decoders.Problem(example.document, example.scores, RULES)
    found = list(islice(LazyIlp()._solutions(problem, []), 12))
    expected, log_probs = lawful._core.paths(problem.costs, problem.scheme.transitions).take(12)
    assert [float(log_prob[0]) for _, log_prob in found] == pytest.approx(log_probs.tolist())
    assert {tuple(labels[0]) for labels, _ in found} == {tuple(row.tolist()) for row in expected}


def test_lazy_ilp_with_highs_agrees_with_cbc():
    pytest.importorskip("highspy")
    example = EXAMPLES[1]
    budget = Budget(candidates=4)
    one, other = (
        decode(example.document, example.scores, RULES, decoder=LazyIlp(solver), budget=budget)
        for solver in ("cbc", "highs")
    )
    assert one.log_prob == pytest.approx(other.log_prob)


def test_corrections_have_prices_and_reasons():
    labels = ["O", "B-total", "B-cash", "B-change"]
    probs = [[0.1, 0.8, 0.05, 0.05], [0.1, 0.6, 0.25, 0.05], [0.1, 0.05, 0.05, 0.8]]
    rules = Rules(
        [Field(name, name, "money") for name in ("total", "cash", "change")],
        [lawful.Rule("cash == total + change", id="change")],
    )
    document = Document("d", ["44.000", "56.000", "12.000"])
    found = decode(document, Scores.from_probs(probs, labels), rules)
    assert found.status == "satisfied"
    assert found.labels == ("B-total", "B-cash", "B-change")
    (correction,) = found.corrections
    assert (correction.word, correction.old, correction.new) == (1, "B-total", "B-cash")
    assert correction.price == pytest.approx(np.log(0.6 / 0.25))
    assert correction.because == ("total:agrees",)
    text = str(found)
    assert "word 1 '56.000': B-total -> B-cash (0.88 nats, because of total:agrees)" in text
    html = found._repr_html_()
    assert "56.000" in html
    assert "total:agrees" in html


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


def test_reasons_are_what_gets_worse_and_legality_only_if_it_asked():
    # An amount of two words: putting one of them back is illegal, but that is nobody's reason.
    labels = ["O", "B-tax", "I-tax", "B-total", "B-sub"]
    sure = {"B-total": [0.02, 0.02, 0.02, 0.92, 0.02], "B-sub": [0.02, 0.02, 0.02, 0.02, 0.92]}
    probs = [
        sure["B-total"],
        sure["B-sub"],
        [0.5, 0.4, 0.04, 0.03, 0.03],
        [0.5, 0.04, 0.4, 0.03, 0.03],
    ]
    fields = [Field("total", "total", "money"), Field("sub", "sub", "money"),
              Field("tax", "tax", "money", default=0)]  # fmt: skip
    rules = Rules(fields, [lawful.Rule("total == sub + tax", id="sum"),
                           lawful.Rule("1 == 2", id="never")])  # fmt: skip
    document = Document("d", ["11", "10", "RM", "1"])
    found = decode(document, Scores.from_probs(probs, labels), rules)
    assert found.labels == ("B-total", "B-sub", "B-tax", "I-tax")
    first, second = found.corrections
    assert first.because == ("sum",)
    assert "sum" in second.because
    assert not {"legal", "never"} & {*first.because, *second.because}
    scores = Scores.from_probs([[0.1, 0.3, 0.6]], ["O", "B-total", "I-total"])
    (legal,) = decode(Document("d", ["5"]), scores, Rules([Field("total", "total")])).corrections
    assert legal.because == ("legal",)


def test_a_solver_that_gives_up_proves_nothing(monkeypatch):
    pulp = pytest.importorskip("pulp")
    monkeypatch.setattr(pulp.LpProblem, "solve", lambda *_: pulp.LpStatusNotSolved)
    found = run("lazy_ilp", EXAMPLES[0])
    assert (found.status, found.optimal) == ("exhausted", False)
    with pytest.raises(lawful.InputError, match="unknown solver 'foo'; solvers: cbc, highs"):
        run(LazyIlp("foo"), EXAMPLES[0])


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
