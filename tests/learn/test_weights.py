"""Learned weights: a convex fit with true derivatives, honest figures, and safety."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Document, Field, Rule, Rules, Scores
from lawful.base.errors import InputError
from lawful.documents.records import Scored
from lawful.io.jsonl import write_jsonl
from lawful.learn.candidates import Finder
from lawful.learn.learned_file import learned_text
from lawful.learn.optimizer import Loss, ScoredReadings, fit
from lawful.learn.parameters import Parameters
from lawful.learn.weights import Learner, learn
from lawful.rules import Boundaries, Order, WordRule
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.rows import RowKind
from tests.fixtures.confusable import RULES, confusable_pages
from tests.helpers import run

WRONG = Rule("total < net", id="wrong")
RULE_FILE = """
fields: {net: {label: net, type: money}, tax: {label: tax, type: money},
  total: {label: total, type: money}}
rules: [total == net + tax]
"""


@cache
def pages_of(count=80):
    return tuple(confusable_pages(count))


def random_loss(seed, pages=4, parameters=3):
    random = np.random.default_rng(seed)
    found = []
    for _ in range(pages):
        size = int(random.integers(1, 6))
        charged = random.integers(0, 3, size=(size, parameters)).astype(float)
        found.append(ScoredReadings(-random.exponential(3, size), charged))
    defaults = random.uniform(0, 10, parameters)
    return Loss.of(found, random.uniform(0.5, 3), defaults, random.uniform(0.01, 1, parameters))


@given(st.integers(0, 10**6))
def test_the_derivatives_are_those_of_the_loss(seed):
    loss = random_loss(seed)
    weights = np.random.default_rng(seed + 1).uniform(0, 12, 3)
    step = 1e-5
    for i in range(3):
        ahead, behind = (weights + sign * step * np.eye(3)[i] for sign in (1, -1))
        slope = (loss.value(ahead) - loss.value(behind)) / (2 * step)
        assert loss.slope(weights)[i] == pytest.approx(slope, abs=1e-5)
        curve = (loss.slope(ahead) - loss.slope(behind)) / (2 * step)
        assert loss.curvature(weights)[i] == pytest.approx(curve, abs=1e-5)


@given(st.integers(0, 10**6))
def test_the_loss_is_convex(seed):
    loss, random = random_loss(seed), np.random.default_rng(seed + 2)
    one, other = random.uniform(0, 12, (2, 3))
    middle = loss.value((one + other) / 2)
    assert middle <= (loss.value(one) + loss.value(other)) / 2 + 1e-9


@given(st.integers(0, 10**6))
def test_the_fit_is_the_minimum_and_not_negative(seed):
    loss = random_loss(seed)
    weights = fit(loss)
    assert (weights >= 0).all()
    slope = loss.slope(weights)
    assert np.abs(slope[weights > 0]).max(initial=0) < 1e-4  # the conditions of Karush-Kuhn-Tucker
    assert slope[weights == 0].min(initial=0) > -1e-4
    random = np.random.default_rng(seed + 3)
    for other in random.uniform(0, 15, (50, 3)):
        assert loss.value(weights) <= loss.value(other) + 1e-7


def test_what_is_charged_nowhere_keeps_its_default():
    page = ScoredReadings(np.array([0.0, -1.0]), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    loss = Loss.of([page], 1.0, np.array([7.0, 5.0, 3.0]), np.ones(3))
    weights = fit(loss)
    assert weights[[0, 2]].tolist() == [7.0, 3.0]
    assert weights[1] < 5


FIELDS = (
    Field("a", "a", "money", pattern=r"\d+", max_words=1),
    Field("b", "b", "money", presence="required"),
    Field("c", "c", "money"),
    Field("d", "d", repeat="any"),
)
EVERYTHING = Rules(
    FIELDS,
    [
        Rule("a == b", unchecked=2, weight=3),
        Rule("a > 3", weight=7, when="b > 1"),
        Rule("c > 2", each="row", weight=1.5, unchecked=0.25),
        "count(d) <= 1",
    ],
    rows=[RowKind("row", ("c",), "c")],
    orders=[Order(("a", "b"), weight=4)],
    words=[WordRule(("d",), match="x", weight=2.5)],
    boundaries=Boundaries("[.,x]$", weight=1.25),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["1", "5", "x", "9."]), st.sampled_from("Oabcd")),
                min_size=1, max_size=7), st.integers(0, 99))  # fmt: skip
def test_counts_times_weights_are_the_penalty(words, seed):
    parameters = Parameters(EVERYTHING)
    labels = ("O", *(f"{p}-{name}" for name in "abcd" for p in "BI"))
    scheme = EVERYTHING.scheme_for(labels)
    document = Document("x", [word for word, _ in words])
    gold = scheme.indices([label if label == "O" else f"B-{label}" for _, label in words])
    counting = Judge(document, parameters.counting_rules, scheme)
    reading = counting.read(gold)
    counts, rest = parameters.count(counting.checks(reading))
    assert rest == 0
    values = np.random.default_rng(seed).uniform(0, 9, len(parameters.all)).round(3)
    for weights in (parameters.defaults, values):
        judge = Judge(document, parameters.apply(weights), scheme)
        assert judge.weigh(reading).most == pytest.approx(counts @ weights)


def test_the_defaults_are_those_of_the_rules():
    parameters = Parameters(EVERYTHING)
    same = parameters.apply(parameters.defaults)
    for rules in (same, EVERYTHING):
        assert [r.weight for r in rules.parsed] == [3, 7, 1.5, 10]
        assert [r.unchecked for r in rules.parsed] == [2, 0.5, 0.25, 0.5]
    assert same.defaults == EVERYTHING.defaults
    assert (same.orders, same.boundaries) == (EVERYTHING.orders, EVERYTHING.boundaries)


def test_hard_rules_are_not_learned():
    rules = Rules(FIELDS, [Rule("a == b", weight=inf)])
    parameters = Parameters(rules)
    assert "weight" not in {each.part for each in parameters.all}
    assert parameters.apply(parameters.defaults).parsed[0].weight == inf
    document = Document("x", ["1", "2"])
    scores = Scores.from_probs(np.full((2, 3), 1 / 3), ["O", "B-a", "B-b"])
    rules = Rules([replace(f, optional=f.presence != "required") for f in FIELDS], rules.rules)
    finder = Finder(Parameters(rules))
    assert finder.page(Scored(document, scores, ("B-a", "B-b"))) is None
    page = finder.page(Scored(document, scores, ("O", "B-b")))
    assert all(not reading[0] or not reading[1] for reading in page.found)


@pytest.fixture(scope="module")
def against_wrong():
    return learn(pages_of(), Rules(RULES.fields, [WRONG]), folds=3)


def test_a_wrong_rule_gets_no_weight_and_costs_nothing(against_wrong):
    weights = {(w.parameter.part, w.parameter.id): w.value for w in against_wrong.weights}
    assert weights["weight", "wrong"] == weights["unchecked", "wrong"] == 0
    boards = against_wrong.boards
    assert boards["defaults"].values.f1 < boards["no rules"].values.f1 - 0.5
    assert boards["learned"].values.f1 >= boards["no rules"].values.f1
    assert against_wrong.gain.is_shown
    (worth,) = against_wrong.values
    assert worth.gain == (0, 0, 0)


def test_a_true_rule_next_to_a_wrong_one_keeps_its_worth():
    learned = learn(pages_of(), RULES.with_rules(replace(WRONG, weight=30)), folds=3)
    alone = learn(pages_of(), RULES, folds=3)
    f1, without = learned.boards["learned"].values.f1, alone.boards["learned"].values.f1
    assert f1 == pytest.approx(without, abs=0.01)
    assert f1 > learned.boards["no rules"].values.f1 + 0.03
    worth = {value.id: value.gain for value in learned.values}
    assert worth["total == net + tax"].is_shown
    assert worth["wrong"].value == 0


def test_a_rule_that_some_pages_break_gets_less_than_its_default():
    pages = confusable_pages(120, 1)
    some = [
        page if i % 3 else replace(page, document=_without_sum(page.document))
        for i, page in enumerate(pages)
    ]
    for each, less in ((some, True), (pages, False)):
        weights = {w.parameter.id: w.value for w in learn(each, RULES, folds=3).weights
                   if w.parameter.part == "weight"}  # fmt: skip
        assert (0 < weights["total == net + tax"] < 9) is less


def _without_sum(document):
    words = [f"{int(word) + 3}" if word.isdigit() else word for word in document.words]
    return Document(document.id, tuple(words))


def test_the_same_seed_learns_the_same(against_wrong):
    again = learn(pages_of(), Rules(RULES.fields, [WRONG]), folds=3)
    assert again.record() == against_wrong.record()


def test_weights_of_a_fold_do_not_depend_on_the_truth_of_its_pages():
    parameters, pages = Parameters(RULES), list(pages_of())
    finder, rest = Finder(parameters), list(range(20, 80))
    found = []
    for gold in (pages[0].gold, ("O",) * 5):
        changed = [replace(page, gold=gold) for page in pages[:20]] + pages[20:]
        learner = Learner(parameters, changed, [finder.page(page) for page in changed], seed=0)
        learner.fit(list(range(80)))  # what one fit finds is not known to the next
        found.append(learner.fit(rest))
    assert (found[0].weights == found[1].weights).all()
    assert found[0][1:3] == found[1][1:3]
    assert (found[0].weights != parameters.defaults).any()


def test_shuffled_gold_shows_no_gain():
    random = np.random.default_rng(0)
    shuffled = [
        replace(page, gold=tuple(page.gold[i] for i in random.permutation(len(page.gold))))
        for page in pages_of(36)
    ]
    learned = learn(shuffled, RULES, folds=3)
    assert not learned.gain.is_shown
    assert learned.gain.value < 0.03


def test_too_few_pages_are_refused():
    with pytest.raises(InputError, match="29 pages with true labels, expected at least 30"):
        learn(pages_of(29), RULES)
    with pytest.raises(InputError, match="folds is 1, expected 2 to 30"):
        learn(pages_of(30), RULES, folds=1)


def test_the_learned_file_loads_with_its_weights(against_wrong, tmp_path):
    path = tmp_path / "learned.yaml"
    path.write_text(learned_text(against_wrong, ["learned"]))
    loaded = Rules.load(path)
    assert [(r.id, r.weight, r.unchecked) for r in loaded.parsed] == [
        (r.id, r.weight, r.unchecked) for r in against_wrong.rules.parsed
    ]
    assert loaded.defaults.weights == against_wrong.rules.defaults.weights
    assert "# F1 with it minus F1 without it, on unseen pages: " in path.read_text()


def test_the_command_writes_only_if_there_is_a_gain(tmp_path):
    documents, out, figures = (tmp_path / name for name in ("d.jsonl", "l.yaml", "f.json"))
    write_jsonl(documents, confusable_pages(30, sure=9))
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULE_FILE)
    common = ("rules", "learn", documents, "--rules", rules, "--out", out, "--folds", 2)
    done = run(*common, "--figures", figures)
    assert done.returncode == 1, done.stderr
    assert "no gain can be shown: F1 of values on unseen pages " in done.stderr
    assert "nothing is written" in done.stderr
    assert not out.exists()
    assert json.loads(figures.read_text())["gain"]["shown"] is False
    done = run(*common, "--force")
    assert done.returncode == 0, done.stderr
    assert "no gain can be shown" in out.read_text()
    assert run("rules", out).returncode == 0
    write_jsonl(documents, pages_of(20))
    done = run(*common)
    assert done.returncode == 2
    assert "20 pages with true labels, expected at least 30" in done.stderr
