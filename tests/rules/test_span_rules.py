"""Rules about words and the edges of spans: what they cost, and the best labelling."""

from __future__ import annotations

import pickle
import re
from functools import partial
from itertools import product
from math import inf

import numpy as np
import pytest

from lawful import Document, Field, Rules, RulesError, Scores, decode
from lawful.rules import Boundaries, Lexicon, Order, WordRule
from lawful.rules.files import rules_from
from tests.helpers import assert_finds_best

LABELS = ("O", "B-title", "I-title", "B-year", "I-year")


def decoded(words, labels, rules, sure=0.99):
    """The decoding under a model that is this sure of the labels."""
    probs = np.full((len(words), len(LABELS)), (1 - sure) / (len(LABELS) - 1))
    probs[range(len(words)), [LABELS.index(label) for label in labels]] = sure
    return decode(Document("d", words), Scores.from_probs(probs, LABELS), rules)


def rules_of(title=None, year=None, **parts):
    year = {"label": "year", **(year or {})}
    return rules_from(
        {"fields": {"title": {"label": "title", **(title or {})}, "year": year}, **parts}
    )


def violated(decoding):
    return [(check.id, check.message, check.price) for check in decoding.violations]


def test_some_words_are_in_some_fields_only():
    rules = rules_of(words=[{"match": r"^\d{4}$", "only": ["year"], "weight": 0.5}])
    words, labels = ["In", "1984", "1985", "1986"], ["B-title", "I-title", "B-year", "O"]
    assert violated(decoded(words, labels, rules)) == [
        ("title:words", "title is 'In 1984', but '1984' may be in year only", 0.5)
    ]
    rules = rules_of(words=[{"match": r"^\d{4}$", "only": [], "weight": 0.5}])
    found = decoded(words, labels, rules)
    assert found.penalty == 1.0
    assert found.violations[0].message == "title is 'In 1984', but '1984' is in no field"


def test_words_are_charged_one_by_one_and_may_change_labels():
    rules = rules_of(words=[{"in": ["one", "two"], "only": ["year"], "weight": 10}])
    found = decoded(["One", "two", "three"], ["B-title", "I-title", "I-title"], rules)
    assert found.labels == ("O", "O", "B-title")
    assert found.status == "unchecked"
    assert all("title:words" in correction.because for correction in found.corrections)


def test_spans_begin_and_end_with_some_words():
    rules = rules_of({"starts": "^[A-Z]", "ends": r"\.$"}, weight=1)
    words, labels = ["on", "Growth", "and", "form"], ["B-title", *["I-title"] * 3]
    assert violated(decoded(words, labels, rules)) == [
        (
            "title:starts",
            "title is 'on Growth and form': 'on' at its beginning does not match '^[A-Z]'",
            1.0,
        ),
        (
            "title:ends",
            r"title is 'on Growth and form': 'form' at its end does not match '\\.$'",
            1.0,
        ),
    ]
    assert not violated(decoded(["Growth", "form."], ["B-title", "I-title"], rules))


def test_boundaries_are_charged_once_where_a_span_begins():
    rules = rules_of(boundaries={"after": "[.,]$", "weight": 2}, repeat="first")
    words = ["Growth.", "1917", "Form", "1942"]
    found = decoded(words, ["B-title", "B-year", "B-title", "B-year"], rules)
    assert violated(found) == [
        ("title:boundary", "title 'Form' begins after '1917', which does not match '[.,]$'", 2.0),
        ("year:boundary", "year '1942' begins after 'Form', which does not match '[.,]$'", 2.0),
    ]
    # The end of a span before words in no field is free.
    assert not violated(decoded(words, ["B-title", "I-title", "O", "O"], rules))


def test_a_lexicon_is_a_file_next_to_the_rules(tmp_path):
    (tmp_path / "titles.txt").write_text("\ufeffOn  Growth\r\n\n  and FORM \n", "utf-8")
    path = tmp_path / "rules.yaml"
    path.write_text(
        "fields:\n  title: {label: title, in: titles.txt}\n  year: {label: year}\n"
        "words:\n  - {in: titles.txt, only: [title]}\nweight: 1\n"
    )
    rules = Rules.load(path)
    assert rules.fields[0].lexicon is rules.words[0].lexicon
    again = pickle.loads(pickle.dumps(rules))
    assert again.fields == rules.fields
    assert again.words == rules.words
    assert not violated(decoded(["ON", "growth"], ["B-title", "I-title"], again))
    assert violated(decoded(["growth"], ["B-title"], again)) == [
        ("title:in", "title is 'growth', which is not in titles.txt", 1.0)
    ]
    assert "and form" in Lexicon.of(tmp_path / "titles.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "field 'a': in: cannot read .*x.txt: No such file"),
        (b"one\ntw\xff\n", "x.txt, line 2: not UTF-8"),
        (b" \n\n", "in is 'x.txt', which has no texts"),
        (b"a" * (2**24 + 1), "more than 16,777,216 bytes"),
    ],
)
def test_what_is_wrong_with_a_lexicon_is_said(tmp_path, content, message):
    if content is not None:
        (tmp_path / "x.txt").write_bytes(content)
    (tmp_path / "rules.yaml").write_text("fields:\n  a: {label: a, in: x.txt}\n")
    with pytest.raises(RulesError, match=f"rules.yaml, line 2: .*{message}"):
        Rules.load(tmp_path / "rules.yaml")


def test_a_lexicon_is_a_plain_file():
    with pytest.raises(RulesError, match="cannot read /dev/zero: not a plain file"):
        Lexicon.of("/dev/zero")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"words": {}}, "words is {}, expected a list"),
        ({"words": [{"match": "a"}]}, "words: only is None, expected a list of fields"),
        ({"words": [{"only": ["year"]}]}, "words: expected either match or in"),
        ({"words": [{"only": ["year"], "match": "a", "in": ["b"]}]}, "either match or in"),
        (
            {"words": [{"only": ["yaer"], "match": "a"}]},
            "unknown field 'yaer'; did you mean",
        ),
        ({"words": [{"only": ["year"], "match": "("}]}, r"words: match: bad pattern '\('"),
        ({"words": [{"only": ["year"], "match": 3}]}, "words: match is 3, expected a text"),
        ({"words": [{"only": ["year"], "match": "a", "weight": -1}]}, "words: weight is -1"),
        ({"words": [{"only": "year", "match": "a"}]}, "expected a list of fields"),
        ({"words": [{"only": ["year", "year"], "match": "a"}]}, "a field is named twice"),
        ({"words": [{"only": ["year"], "mach": "a"}]}, "unknown key 'mach' in entry 1 of words"),
        ({"boundaries": []}, r"boundaries is \[\], expected a mapping"),
        ({"boundaries": {}}, "boundaries: after is missing"),
        ({"boundaries": {"after": "["}}, "boundaries: after: bad pattern"),
        ({"boundaries": {"after": "a", "weight": "x"}}, "boundaries: weight is 'x'"),
        ({"title": {"starts": 3}}, "field 'title': starts is 3, expected a text"),
        ({"title": {"ends": "["}}, "field 'title': ends: bad pattern"),
        ({"title": {"in": 3}}, "field 'title': in is 3, expected a file or a list of texts"),
        ({"title": {"in": []}}, "which has no texts"),
    ],
)
def test_what_is_wrong_with_rules_about_words_is_said(parts, message):
    with pytest.raises(RulesError, match=message):
        rules_of(**parts)


def test_other_settings_replace_the_weights_of_words_and_boundaries():
    rules = Rules(
        [Field("year", "year")],
        words=[WordRule(("year",), "a"), WordRule(("year",), "b", weight=3)],
        boundaries=Boundaries("c", weight=1),
    )
    (year,) = rules.fields
    assert [rules.weight_of(year, "words", rule.weight) for rule in rules.words] == [10, 3]
    hard = rules.with_defaults(weight=inf).with_rules("present(year)")
    assert [hard.weight_of(year, "words", rule.weight) for rule in hard.words] == [inf, inf]
    assert hard.boundaries == Boundaries("c")


def test_hard_rules_about_spans_clash_as_every_span():
    rules = rules_of(
        {"presence": "required"},
        words=[{"match": "a", "only": [], "weight": "hard"}],
        rules=[{"check": "present(title)", "weight": "hard"}],
    )
    found = decoded(["a", "a"], ["B-title", "I-title"], rules)
    assert found.status == "infeasible"
    assert "every span" in found.clash


# The order of fields.


def test_a_span_after_one_of_a_later_field_is_out_of_order():
    rules = rules_of(order={"fields": ["title", "year"], "weight": 0.5}, repeat="first")
    labels = ["B-title", "B-year", "B-title", "B-title"]
    assert violated(decoded(["A", "1917", "B", "C"], labels, rules)) == [
        ("order: title, year", "title 'B' comes after year '1917'", 0.5),
        ("order: title, year", "title 'C' comes after year '1917'", 0.5),
    ]
    (check,) = decoded(["A", "B", "1917"], ["B-title", "B-title", "B-year"], rules).checks
    assert (check.state, check.message) == ("satisfied", "title before year")
    (check,) = decoded(["A"], ["B-title"], rules).checks
    assert (check.state, check.message, check.price) == (
        "vacuous",
        "not checked: title alone occurs",
        0,
    )
    (check,) = decoded(["A"], ["O"], rules).checks
    assert check.message == "not checked: none of the fields occurs"


def test_there_may_be_several_orders():
    names = ("author", "title", "year")
    fields = {name: {"label": name} for name in names}
    rules = rules_from({"fields": fields, "order": [["author", "title"], ["title", "year"]]})
    assert [order.fields for order in rules.orders] == [("author", "title"), ("title", "year")]
    named = {"fields": list(names), "weight": "hard", "id": "usual"}
    rules = rules_from({"fields": fields, "order": [named, ["title", "year"]]})
    assert rules.orders == (
        Order(names, inf, "usual"),
        Order(("title", "year"), 10, "order: title, year"),
    )
    assert pickle.loads(pickle.dumps(rules)).orders == rules.orders


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (3, "order is 3, expected a list of fields"),
        (["title"], "expected two or more fields"),
        (["title", 3], "expected a list of fields"),
        (["title", "title"], "a field is named twice"),
        (["title", "yaer"], "order: unknown field 'yaer'; did you mean 'year'"),
        ({"fields": ["title", "year"], "by": 3}, "unknown key 'by' in order"),
        ({"fields": ["title", "year"], "weight": -1}, "order: weight is -1"),
        ({"fields": ["title", "year"], "id": ""}, "order: id is ''"),
        ([["title", "year"], ["title", "year"]], "the id 'order: title, year' is used twice"),
    ],
)
def test_what_is_wrong_with_an_order_is_said(order, message):
    with pytest.raises(RulesError, match=message):
        rules_of(order=order)


def test_a_hard_order_clashes_by_name():
    rules = rules_of(
        order={"fields": ["title", "year"], "weight": "hard", "id": "usual"},
        rules=[
            {"check": "title == 'B'", "weight": "hard"},
            {"check": "year == 'A'", "weight": "hard"},
        ],
    )
    found = decoded(["A", "B"], ["B-year", "B-title"], rules)
    assert found.status == "infeasible"
    assert "usual" in found.clash


def test_confidences_are_right_under_an_order():
    rules = rules_of(
        order={"fields": ["title", "year"], "weight": 1.5}, presence="free", repeat="any"
    )
    for seed in range(20):
        rng = np.random.default_rng(seed)
        words = list("ABC")
        scores = Scores.from_probs(rng.dirichlet(np.full(5, 0.7), 3), LABELS)
        found = decode(Document("d", words), scores, rules, alternatives=1)
        answer = {
            name: [v.text for v in found.fields.get(name, ())][:1] for name in ("title", "year")
        }
        total, same = 0.0, dict.fromkeys(answer, 0.0)
        for labels in product(range(len(LABELS)), repeat=3):
            spans = spans_by_hand(labels)
            if spans is None:
                continue
            years = [start for name, start, _ in spans if name == "year"]
            late = sum(
                name == "title" and start > min(years, default=9) for name, start, _ in spans
            )
            weight = np.exp(sum(scores.log_probs[range(3), list(labels)]) - 1.5 * late)
            total += weight
            for name, values in answer.items():
                texts = [" ".join(words[a:b]) for other, a, b in spans if other == name]
                same[name] += weight * (texts[:1] == values)
        for name, sure in found.confidence.items():
            assert sure.low - 1e-6 <= same[name] / total <= sure.high + 1e-6, (seed, name)


# Brute force: all labellings, judged by hand.

WORDS = ("On", "growth,", "1917", "form.", "and")


def spans_by_hand(labels):
    """The spans of a legal BIO labelling: field, start, end; ``None`` if it is not legal."""
    spans = []
    for i, k in enumerate(labels):
        prefix, _, name = LABELS[k].partition("-")
        if prefix == "B":
            spans.append([name, i, i + 1])
        elif prefix == "I":
            if not i or LABELS[labels[i - 1]][2:] != name:
                return None
            spans[-1][2] = i + 1
    return spans


def penalty_by_hand(words, spans, data):
    cost = 0.0
    for name, start, end in spans:
        field, inside = data["fields"][name], words[start:end]
        cost += data["weight"] * sum(
            [
                "starts" in field and not re.search(field["starts"], inside[0]),
                "ends" in field and not re.search(field["ends"], inside[-1]),
                "in" in field
                and " ".join(inside).lower() not in [text.lower() for text in field["in"]],
            ]
        )
        for rule in data.get("words", ()):
            for word in inside:
                meant = re.search(rule["match"], word) if "match" in rule else word in rule["in"]
                if meant and name not in rule["only"]:
                    cost += rule["weight"]
        order = data.get("order", {"fields": []})["fields"]
        if name in order and any(
            other in order[order.index(name) + 1 :] and begin < start for other, begin, _ in spans
        ):
            cost += data["order"]["weight"]
        at = data.get("boundaries")
        if at and start and not re.search(at["after"], words[start - 1]):
            cost += at["weight"]
    return cost


def random_case(seed):
    rng = np.random.default_rng(seed)
    words = [str(word) for word in rng.choice(WORDS, rng.integers(1, 6))]
    title, year = {"label": "title"}, {"label": "year"}
    data = {
        "fields": {"title": title, "year": year},
        "weight": float(rng.choice([0.7, 2.0])),
        "presence": "free",
        "repeat": "first",
    }
    for field, key, value in (
        (title, "starts", "^[A-Z]"),
        (title, "ends", "[.,]$"),
        (year, "ends", r"\d"),
        (title, "in", ["on growth,", "1917", "On"]),
    ):
        if rng.random() < 0.4:
            field[key] = value
    if rng.random() < 0.6:
        match = {"match": r"\d"} if rng.random() < 0.5 else {"in": ["growth,", "and"]}
        only = [["year"], ["title"], []][rng.integers(3)]
        weight = float(rng.choice([1.5, inf]))
        data["words"] = [{**match, "only": only, "weight": weight}] * int(rng.integers(1, 3))
    if rng.random() < 0.5:
        order = ["title", "year"] if rng.random() < 0.5 else ["year", "title"]
        data["order"] = {"fields": order, "weight": float(rng.choice([0.4, 5.0, inf]))}
    if rng.random() < 0.6:
        data["boundaries"] = {"after": "[.,]$", "weight": float(rng.choice([0.5, 3.0, inf]))}
    probs = rng.dirichlet(np.full(len(LABELS), 0.5), len(words))
    return words, Scores.from_probs(probs, LABELS), data


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk", "paths", "readings", "best_first"])
def test_the_best_labelling_under_rules_about_spans_is_found(decoder):
    for seed in range(80 if decoder in ("auto", "exact") else 20):
        words, scores, data = random_case(seed)
        document = Document("d", words)
        penalty = partial(penalty_of_labels, words, data)
        assert_finds_best(document, scores, rules_from(data), decoder, penalty)


def penalty_of_labels(words, data, labels):
    spans = spans_by_hand(labels)
    return None if spans is None else penalty_by_hand(words, spans, data)


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "link.txt"])
def test_a_rule_file_names_no_files_outside_of_its_folder(tmp_path, name):
    folder = tmp_path / "rules"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    path = folder / "rules.yaml"
    path.write_text(f"fields: {{state: {{label: state, in: {name}}}}}")
    with pytest.raises(RulesError, match="is outside of the rule file's folder"):
        Rules.load(path)
