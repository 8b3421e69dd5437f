"""Classes of documents: decided together with the labels, against brute force over both."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from itertools import product
from math import exp, inf, log

import numpy as np
import pytest

from lawful import (
    Budget,
    Document,
    DocumentError,
    Field,
    Labelled,
    Rule,
    Rules,
    RulesError,
    Scored,
    Scores,
    decode,
    read_jsonl,
    rule,
    write_jsonl,
)
from lawful.results.decoding import differences
from lawful.rules import RowKind
from lawful.rules.compiled.plan import plan_of
from lawful.rules.file_schema import json_schema
from lawful.rules.files import rules_from
from tests.helpers import ENOUGH, run

FIELDS = [Field("total", "total", "money"), Field("item", "item", "money", many=True)]
LABELS = ("O", "B-total", "B-item")
KIND = {"kind": "kind"}
SURE = {"invoice": log(0.9), "credit note": log(0.1)}


def decoded(words, labels, rules, classes=None, **options):
    """The decoding of a document whose labels are nearly sure: each of the others costs 7 nats."""
    probs = np.full((len(words), len(LABELS)), exp(-7.0))
    probs[range(len(words)), [LABELS.index(label) for label in labels]] = 1
    probs /= probs.sum(axis=1, keepdims=True)
    document = Document("d", words, classes=classes)
    return decode(document, Scores.from_probs(probs, LABELS), rules, **options)


SIGN = Rule("total < 0", id="sign", when="kind == 'credit note'")
NO_SIGN = Rule("total >= 0", id="no sign", when="kind != 'credit note'")


def test_rules_can_overrule_the_models_class():
    rules = Rules(FIELDS, [SIGN, NO_SIGN], classes=KIND)
    found = decoded(["-5.00"], ["B-total"], rules, {"kind": SURE})
    assert found.classes["kind"].value == "credit note"
    assert found.classes["kind"].first == "invoice"
    assert found.classes["kind"].price == pytest.approx(log(9))
    assert found.classes["kind"].because == ("no sign",)
    assert found.log_prob == pytest.approx(log(0.1), abs=0.01)
    assert found.optimal
    assert found.status == "satisfied"
    assert "  kind   credit note\n" in str(found)
    assert "  kind: invoice -> credit note (2.20 nats, because of no sign)" in str(found)
    assert "kind = credit note" in repr(found)
    assert found.to_dict()["classes"] == {
        "kind": {
            "value": "credit note",
            "first": "invoice",
            "price": pytest.approx(log(9)),
            "because": ["no sign"],
        }
    }


def test_the_models_class_stays_where_rules_allow_it():
    rules = Rules(FIELDS, [SIGN, NO_SIGN], classes=KIND)
    found = decoded(["5.00"], ["B-total"], rules, {"kind": SURE})
    assert found.to_dict()["classes"] == {"kind": {"value": "invoice"}}
    assert found.tried == 1  # the other class cannot be better


def test_classes_are_part_of_alternatives_and_have_confidence():
    rules = Rules(FIELDS, [SIGN, NO_SIGN], classes=KIND).with_defaults(weight=2)
    found = decoded(["-5.00"], ["B-total"], rules, {"kind": SURE}, alternatives=1)
    (other,) = found.alternatives
    assert found.classes["kind"].value == "invoice"  # at the price of a rule: 2 < log 9
    assert list(differences(found, other)) == [("kind", "invoice", "credit note")]
    assert found.margin == pytest.approx(log(9) - 2)
    low, high = found.confidence["kind"]
    assert low == pytest.approx(high)
    assert low == pytest.approx(0.9 * exp(-2) / (0.9 * exp(-2) + 0.1), abs=0.01)
    assert found.to_dict()["alternatives"][0]["classes"] == {"kind": "credit note"}


def test_a_document_without_scores_has_no_class():
    rules = Rules(FIELDS, [SIGN, "present(kind) or total > 3"], classes=KIND)
    found = decoded(["2"], ["B-total"], rules)
    assert [check.state for check in found.checks] == ["vacuous", "violated"]
    assert found.classes == {}
    assert "classes" not in found.to_dict()


def test_scores_may_have_another_name():
    rules = Rules(FIELDS, [SIGN], classes={"kind": "doc type"})
    assert decoded(["2"], ["B-total"], rules, {"doc type": SURE}).classes["kind"].value == "invoice"


def test_classes_are_judged_inside_the_search_on_rows_and_in_python():
    @rule(reads=("total", "kind"))
    def odd(total, kind):
        return kind != "credit note" or total % 2 == 1

    line = RowKind("line", ("item",))
    each = Rule("item < 9 or kind == 'credit note'", id="small", each="line")
    rules = Rules(FIELDS, [SIGN, each, odd], rows=[line], classes=KIND)
    assert [how.way for how in plan_of(rules).how.values()] == ["local", "compiled", "python"]
    found = decoded(["10"], ["B-item"], rules, {"kind": SURE})
    assert found.classes["kind"].because == ("small",)


def test_argmax_is_the_models_class():
    rules = Rules(FIELDS, [NO_SIGN], classes=KIND)
    budget = Budget(candidates=100)
    found = decoded(["-5"], ["B-total"], rules, {"kind": SURE}, decoder="argmax", budget=budget)
    assert found.classes["kind"].value == "invoice"
    assert not found.optimal
    assert found.bound >= found.worth


def test_infeasible_is_said_only_if_it_is_so_for_every_class():
    hard = {"weight": inf}
    rules = Rules(FIELDS, [Rule("kind == 'letter'", **hard)], classes=KIND)
    found = decoded(["5"], ["B-total"], rules, {"kind": SURE})
    assert (found.status, found.clash) == ("infeasible", ("kind == 'letter'",))
    ranked = decoded(["5"], ["B-total"], rules, {"kind": SURE}, alternatives=2)
    assert (ranked.status, ranked.clash) == ("infeasible", found.clash)
    rules = rules.with_rules(Rule("total < 3", **hard))
    assert decoded(["5"], ["B-total"], rules, {"kind": SURE}).status == "infeasible"
    rules = Rules(FIELDS, [Rule("kind == 'credit note'", **hard)], classes=KIND)
    assert decoded(["5"], ["B-total"], rules, {"kind": SURE}).status == "satisfied"


def test_classes_that_differ_in_their_clash_give_all_rules_of_it():
    rules = Rules(
        FIELDS,
        [
            Rule("total < 3", weight=inf, when="kind == 'invoice'"),
            Rule("total > 9", weight=inf, when="kind == 'credit note'"),
        ],
        classes=KIND,
    )
    found = decoded(["5"], ["B-total"], rules, {"kind": SURE})
    assert found.status == "infeasible"
    assert set(found.clash) > {"total < 3", "total > 9"}
    assert not found.clash_minimal


def test_limits_hold_for_all_classes_together():
    rules = Rules(FIELDS, ["total == sum(item)", NO_SIGN], classes=KIND)
    words, labels = ["-5", "3", "2"], ["B-total", "B-item", "B-item"]
    near = decoded(words, labels, rules, {"kind": SURE}, budget=Budget(max_cost=1.0))
    assert near.classes["kind"].value == "invoice"
    assert not near.optimal
    assert near.stopped_by == "max_cost"
    assert near.bound == pytest.approx(log(0.9) - 1, abs=0.01)
    few = decoded(words, labels, rules, {"kind": SURE}, decoder="paths", budget=Budget(2))
    assert few.tried <= 2
    assert (few.status, few.optimal) == ("exhausted", False)
    assert few.bound >= decoded(words, labels, rules, {"kind": SURE}, budget=ENOUGH).worth


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([1], r"document 'd': classes is \[1\], expected names and scores"),
        ({"kind": 3}, "classes 'kind' is 3, expected log-probabilities"),
        ({"kind": {}}, r"classes 'kind' is \{\}, expected log-probabilities"),
        ({"kind": {"a": "b"}}, "classes 'kind': 'a' is 'b', expected a log-probability"),
        ({"kind": {"a": 0.5}}, "'a' is 0.5, expected a log-probability"),
        ({"kind": {"a": float("nan")}}, "'a' is nan, expected a log-probability"),
        ({"kind": {"a": -(10**400)}}, "expected a log-probability"),
        ({"kind": {"a": -1.0}}, "probabilities sum to 0.367879, expected 1"),
        ({"kind": {"a": -inf}}, "probabilities sum to 0, expected 1"),
        ({"kind": {1: 0.0}}, "1 is 0.0, expected a log-probability"),
        (
            {name: {str(i): log(1 / 17) for i in range(17)} for name in ("kind", "tone", "way")},
            "classes have 4,913 combinations, expected at most 4,096",
        ),
    ],
)
def test_what_is_wrong_with_scores_of_classes_is_said(classes, message):
    names = {name: name for name in ("kind", "tone", "way")}
    with pytest.raises(DocumentError, match=message):
        decoded(["3"], ["B-total"], Rules(FIELDS, classes=names), classes)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], r"classes is \[\], expected a mapping"),
        ({"a b": None}, "classes: 'a b' is no name of letters, digits and _"),
        ({"total": {}}, "classes: the name 'total' is defined twice"),
        ({"ordered": {}}, "classes: the name 'ordered' is defined twice"),
        ({"kind": {"score": "x"}}, "unknown key 'score' in class kind; did you mean 'scores'"),
        ({"kind": {"scores": 3}}, "classes: kind: scores is 3, expected a name"),
        ({"kind": "x"}, "class kind is 'x', expected a mapping"),
        ({"sort": {}}, "unknown field 'kind'"),
        ({"kind": {}}, "cannot compare|kind"),
    ],
)
def test_what_is_wrong_with_names_of_classes_is_said(classes, message):
    fields = {"total": {"label": "total", "type": "money"}}
    data = {"fields": fields, "given": {"ordered": "money"}, "classes": classes}
    with pytest.raises(RulesError, match=message):
        rules_from({**data, "rules": ["total == kind"]})


def test_a_class_has_no_place():
    with pytest.raises(RulesError, match="kind is a class, so it has no place in the document"):
        Rules(FIELDS, ["start(kind) > 1"], classes=KIND)


def test_rule_files_name_classes():
    rules = Rules(FIELDS, [SIGN], classes=KIND)
    assert pickle.loads(pickle.dumps(rules)).classes == KIND
    assert rules.with_rules(NO_SIGN).with_defaults(weight=3).classes == KIND
    fields = {"total": {"label": "total", "type": "money"}}
    loaded = rules_from({"fields": fields, "classes": {"kind": None, "tone": {"scores": "t"}}})
    assert loaded.classes == {"kind": "kind", "tone": "t"}
    assert "classes" in json_schema()["properties"]


def test_scores_of_classes_stay_with_the_document(tmp_path):
    classes = {"kind": {**SURE, "letter": -inf}}
    document = Document("d", ["a", "b"], pages=[0, 1], joins=[False, True], classes=classes)
    scores = Scores.from_probs([[0.5, 0.5]] * 2, ["O", "B-total"])
    write_jsonl(tmp_path / "x.jsonl", [Scored(document, scores)])
    (again,) = read_jsonl(tmp_path / "x.jsonl")
    assert again.document == document
    assert again.to_words().document.classes == classes
    assert [p.document.classes for p in Labelled(document, ("O", "O")).by_page()] == [classes] * 2
    assert hash(document) == hash(again.document)


def test_classes_on_the_command_line(tmp_path):
    (tmp_path / "rules.yaml").write_text(
        "fields:\n  total: {label: total, type: money}\nclasses: {kind: {scores: kind}}\n"
        "rules:\n  - {id: sign, check: total < 0, when: kind == 'credit note'}\n"
        "  - {id: no sign, check: total >= 0, when: kind != 'credit note'}\n"
    )
    line = {"id": "a", "words": ["-5.00"], "labels": ["O", "B-total"], "probs": [[0.01, 0.99]]}
    line["classes"] = {"kind": SURE}
    source = tmp_path / "x.jsonl"
    source.write_text(json.dumps(line) + "\n")
    decoding = ("decode", source, "--rules", tmp_path / "rules.yaml")
    found = json.loads(run(*decoding).stdout)
    assert found["classes"]["kind"]["value"] == "credit note"
    table = run(*decoding, "--format", "csv").stdout.splitlines()
    assert table[0].split(",")[5:7] == ["kind", "total"]
    assert table[1].split(",")[5:7] == ["credit note", "-5.00"]
    page = run(*decoding, "--format", "html").stdout
    assert "credit note" in page
    assert "<del>invoice</del>" in page
    assert "1 correction<" in page
    shown = run("explain", source, "--rules", tmp_path / "rules.yaml").stdout
    assert "kind: invoice -> credit note" in shown
    listed = run("rules", tmp_path / "rules.yaml").stdout
    assert "(class, by scores of kind)" in listed


# Brute force: all labellings and all classes, judged by hand. None stands for a missing value.


def either(*parts):
    """Three-valued or."""
    return True if True in parts else None if None in parts else False


def of(value, test):
    return None if value is None else test(value)


CHECKS = {
    "total == sum(item)": lambda total, items, **_: (
        None if total is None or not items else total == sum(items)
    ),
    "kind == 'letter' or present(total)": lambda total, kind, **_: either(
        of(kind, lambda value: value == "letter"), total is not None
    ),
    "total > 2 or tone == 'rude'": lambda total, tone, **_: either(
        of(total, lambda value: value > 2), of(tone, lambda value: value == "rude")
    ),
    "kind != 'credit' or total < 3": lambda total, kind, **_: either(
        of(kind, lambda value: value != "credit"), of(total, lambda value: value < 3)
    ),
    "count(item) <= 1 or kind in ('invoice', 'letter')": lambda items, kind, **_: either(
        len(items) <= 1, of(kind, lambda value: value in ("invoice", "letter"))
    ),
    "tone == kind": lambda kind, tone, **_: None if None in (kind, tone) else tone == kind,
}


def penalty_by_hand(words, labels, classes, checks, weights):
    values = [
        [Decimal(word) for word, k in zip(words, labels, strict=True) if k == label]
        for label in (1, 2)
    ]
    cost = 0.0
    for check, weight in zip(checks, weights, strict=True):
        holds = CHECKS[check](total=next(iter(values[0]), None), items=values[1], **classes)
        cost += 0.25 if holds is None else 0.0 if holds else weight
    return cost


def seen(words, labels):
    totals = [word for word, k in zip(words, labels, strict=True) if k == 1]
    items = [word for word, k in zip(words, labels, strict=True) if k == 2]
    return tuple(map(int, totals[:1])), tuple(map(int, items))


def random_case(seed):
    rng = np.random.default_rng(seed)
    words = [str(word) for word in rng.integers(1, 5, rng.integers(0, 5))]
    scores = Scores.from_probs(rng.dirichlet(np.full(3, 0.5), len(words)).reshape(-1, 3), LABELS)
    names = {"kind": ["invoice", "credit", "letter"], "tone": ["rude", "letter"]}
    classes = {
        name: dict(zip(values, np.log(rng.dirichlet(np.full(len(values), 0.7))), strict=True))
        for name, values in names.items()
        if rng.random() < 0.8
    }
    if rng.random() < 0.2:
        classes["kind"] = dict.fromkeys(names["kind"][:2], log(0.5))  # a tie
    if rng.random() < 0.1:
        classes["tone"] = {"rude": 0.0, "letter": -inf}
    checks = [check for check in CHECKS if rng.random() < 0.5]
    weights = [inf if rng.random() < 0.45 else float(rng.integers(0, 5)) for _ in checks]
    rules = Rules(
        FIELDS,
        [Rule(check, weight=weight) for check, weight in zip(checks, weights, strict=True)],
        classes={"kind": "kind", "tone": "tone"},
    ).with_defaults(unchecked=0.25, presence="free", repeat="first")
    worth = {}
    options = [[(n, v, p) for v, p in classes[n].items()] if n in classes else [(n, None, 0.0)]
               for n in names]  # fmt: skip
    for labels in product(range(3), repeat=len(words)):
        log_prob = sum(scores.log_probs[range(len(words)), list(labels)])
        for chosen in product(*options):
            values = {name: value for name, value, _ in chosen}
            prior = sum(p for *_, p in chosen)
            cost = penalty_by_hand(words, labels, values, checks, weights)
            worth[labels, tuple(values.values())] = log_prob + prior - cost
    return Document("d", words, classes=classes), scores, rules, worth


def classes_of(found):
    return tuple(found.classes[n].value if n in found.classes else None for n in ("kind", "tone"))


@pytest.mark.parametrize("decoder", ["auto", "exact", "readings", "paths", "lazyk", "lazy_ilp"])
def test_the_best_labels_and_classes_are_found(decoder):
    statuses = set()
    for seed in range({"exact": 200, "lazy_ilp": 6}.get(decoder, 50)):
        document, scores, rules, worth = random_case(seed)
        best = max(worth.values())
        found = decode(document, scores, rules, decoder=decoder, budget=ENOUGH)
        statuses.add(found.status)
        if best == -inf:
            assert found.status == "infeasible", seed
            assert found.clash or decoder not in ("auto", "exact"), seed
            continue
        labels = tuple(LABELS.index(label) for label in found.labels)
        assert found.worth == pytest.approx(worth[labels, classes_of(found)]), seed
        assert found.worth == pytest.approx(best), seed
        assert found.optimal, seed
        assert found.bound == pytest.approx(best), seed
    assert statuses == {"satisfied", "relaxed", "unchecked", "infeasible"} or seed < 50 - 1


def test_the_next_best_and_the_confidence_are_those_of_all_classes():
    for seed in range(150):
        document, scores, rules, worth = random_case(seed)
        if max(worth.values()) == -inf:
            continue
        found = decode(document, scores, rules, budget=ENOUGH, alternatives=4)
        by_answer = {}
        for (labels, classes), each in worth.items():
            key = seen(document.words, labels), classes
            by_answer[key] = max(by_answer.get(key, -inf), each)
        ranked = sorted((each for each in by_answer.values() if each > -inf), reverse=True)
        assert found.optimal, seed
        assert [d.worth for d in (found, *found.alternatives)] == pytest.approx(ranked[:5]), seed
        assert all(other.optimal for other in found.alternatives), seed
        margin = ranked[0] - ranked[1] if len(ranked) > 1 else inf
        assert found.margin == pytest.approx(margin), seed
        total = sum(map(exp, worth.values()))
        answer = seen(document.words, [LABELS.index(label) for label in found.labels])
        shares = dict.fromkeys(("kind", "tone", "total", "item"), 0.0)
        for (labels, classes), each in worth.items():
            values = (*classes, *seen(document.words, labels))
            for name, one, other in zip(shares, values, (*classes_of(found), *answer), strict=True):
                shares[name] += exp(each) / total * (one == other)
        for name, (low, high) in found.confidence.items():
            assert low - 1e-9 <= shares[name] <= high + 1e-9, (seed, name)
            assert high - low < 0.01, (seed, name)
