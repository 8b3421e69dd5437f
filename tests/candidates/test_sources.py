"""What several systems say, each as reliable as it is."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Candidates, Document, Field, InputError, Rules, Scores, choose
from lawful.learn.reliability import learn_reliability
from lawful.rules import RowKind

RULES = Rules(
    [
        Field("total", "total", "money"),
        Field("seller", "seller"),
        Field("name", "name", many=True),
        Field("price", "price", "money", many=True),
    ],
    rows=[RowKind("lines", ("name", "price"))],
)
WITH_SUM = Rules(RULES.fields, ["total == sum(price)"], rows=RULES.rows).with_defaults(weight=3)


def lines(text):
    """Rows from a text: ``"tea 1, cake 2"``; a dash is a price that is missing."""
    parts = (each.split() for each in text.split(",") if each.strip())
    return [{"name": name, "price": None if price == "-" else price} for name, price in parts]


def rows_of(found):
    """The rows of a decoding as such a text."""
    rows = ({n: v.text for n, v in row.items()} for row in found.rows("lines"))
    return ", ".join(f"{row.get('name')} {row.get('price', '-')}" for row in rows)


def chosen(rules=RULES, reliability=None, **sources):
    return choose(Candidates.from_sources(sources, reliability), rules)


def test_log_probabilities_of_sources_add():
    found = Candidates.from_sources({"a": {"total": 5}, "b": {"total": 7}}, {"a": 0.9, "b": 0.6})
    [slot] = found.slots
    # 5, 7, and what nobody has named: a source that errs may say any of the three.
    odds = (0.9 + 0.1 / 3) * (0.4 / 3), (0.1 / 3) * (0.6 + 0.4 / 3)
    assert exp(slot.log_probs["5"]) == pytest.approx(odds[0] / sum(odds))
    assert slot.log_other == pytest.approx(log(0.1 / 3 * 0.4 / 3) - log(sum(odds) + 0.04 / 9))


def test_a_reliable_source_outvotes_others():
    sources = {"a": {"total": 5}, "b": {"total": 7}, "c": {"total": 7}}
    equal = {"a": 0.9, "b": 0.9, "c": 0.9}
    assert str(chosen(reliability=equal, **sources).values("total")[0]) == "7"
    known = {"a": {"total": 0.99, "*": 0.1}, "b": 0.6, "c": 0.6}
    assert str(chosen(reliability=known, **sources).values("total")[0]) == "5"


def test_a_source_that_errs_often_is_found_out_by_the_others():
    right = [{"name": f"n{i}", "price": i} for i in range(12)]
    wrong = [{"name": f"n{i}", "price": i + 50 * (i > 1)} for i in range(12)]
    other = [{"name": f"n{i}", "price": i + 70 * (i == 1)} for i in range(12)]
    sources = {"a": {"lines": wrong}, "b": {"lines": right}, "c": {"lines": other}}
    sources["a"]["lines"][0]["price"] = 9
    sources["c"]["lines"][0]["price"] = None
    found = chosen(**sources)
    assert [int(v) for v in found.values("price")] == list(range(12))


def test_samples_of_one_source_share_its_vote():
    many = [{"total": 7}] * 9
    equal = dict.fromkeys("abc", 0.9)
    found = chosen(reliability=equal, a=many, b={"total": 5}, c={"total": 5})
    assert str(found.values("total")[0]) == "5"


def test_texts_that_say_the_same_are_one_candidate_in_the_form_of_most():
    found = chosen(a={"seller": "ACME, Inc."}, b={"seller": "Acme Inc"}, c={"seller": "Acme Inc"},
                   d={"seller": "Apex"}, e={"seller": "Apex"})  # fmt: skip
    assert found.fields["seller"][0].text == "Acme Inc"


def test_a_row_is_there_or_not_as_a_whole():
    a, b = lines("tea 1, cake 2"), lines("tea 1")
    assert rows_of(chosen(a={"lines": a}, b={"lines": a}, c={"lines": b})) == "tea 1, cake 2"
    assert rows_of(chosen(a={"lines": a}, b={"lines": b}, c={"lines": b})) == "tea 1"
    # Two of three have the row, and one of these two its price.
    half = lines("tea 1, cake -")
    assert rows_of(chosen(a={"lines": a}, b={"lines": half}, c={"lines": b}))[:12] == "tea 1, cake "


def test_rules_put_rows_in_and_out_as_a_whole():
    a, b = lines("tea 1, cake 2"), lines("tea 1")
    known = dict.fromkeys("abc", 0.8)
    found = chosen(WITH_SUM, known, a={"total": 3, "lines": a}, b={"total": 3, "lines": b},
                   c={"total": 3, "lines": b})  # fmt: skip
    assert (rows_of(found), found.status) == ("tea 1, cake 2", "satisfied")
    sources = {n: {"total": 1, "lines": each} for n, each in {"a": a, "b": a, "c": b}.items()}
    free = WITH_SUM.with_defaults(presence="free")
    found = chosen(free, known, **sources)
    assert (rows_of(found), found.status) == ("tea 1", "satisfied")
    # What most have is kept, unless the rules say otherwise.
    assert rows_of(chosen(WITH_SUM, known, **sources)) == "tea 1, cake 2"


def test_a_source_without_any_rows_says_nothing_about_them():
    a = lines("tea 1, cake 2")
    assert rows_of(chosen(a={"lines": a}, b={"lines": a[:1]}, c={"lines": []})).startswith("tea 1")
    assert rows_of(chosen(a={"lines": a}, b={"lines": []}, c={"lines": []})) == ""


def test_a_source_that_never_has_a_field_does_not_say_that_it_is_missing():
    with_, without = lines("tea 1, cake 2"), lines("tea -, cake -")
    found = chosen(a={"lines": with_}, b={"lines": without}, c={"lines": without})
    assert rows_of(found) == "tea 1, cake 2"


TEXTS = st.sampled_from(["1", "2", "3", None])
ROWS = st.lists(st.fixed_dictionaries({"name": st.sampled_from("ab"), "price": TEXTS}), max_size=3)
OBJECTS = st.fixed_dictionaries({"total": TEXTS, "lines": ROWS})


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from([RULES, WITH_SUM]))
def test_what_all_sources_say_never_vanishes(objects, rules):
    sources = {f"s{i}": each for i, each in enumerate(objects)}
    for candidates in (Candidates.from_sources(sources), Candidates.from_samples(objects)):
        found = choose(candidates, rules)
        if all(each["total"] is not None for each in objects):
            assert found.values("total")
        shared = min(len(each["lines"]) for each in objects)
        same = all(each["lines"] == objects[0]["lines"] for each in objects)
        if same:
            assert rows_of(found) == rows_of(choose(Candidates.from_samples(objects[:1]), RULES))
        assert len(found.rows("lines")) >= shared * same


@pytest.mark.parametrize(
    ("sources", "reliability", "message"),
    [
        ([], None, r"sources is \[\], expected what each says, by name"),
        ({}, None, "expected what each says, by name"),
        ({"a": 5}, None, "source a: sample 0 is 5, expected an object"),
        ({"a": None}, None, "no source can be read: source a: sample 0: no answer"),
        ({"a": {}}, {"b": 0.5}, "reliability of 'b', which is no source; sources: a"),
        ({"a": {}}, {"a": 1.5}, r"reliability of a: \* is 1.5, expected a number between 0 and 1"),
        ({"a": {}}, {"a": {"x": "1"}}, "reliability of a: x is '1', expected a number between"),
    ],
)
def test_bad_sources_are_named(sources, reliability, message):
    with pytest.raises(InputError, match=message):
        Candidates.from_sources(sources, reliability)


def test_scores_of_words_join_what_others_say():
    page = Document.from_text("Subtotal 48.00 Cash 60.00 Total 53.28")
    labels = ("O", "B-total", "I-total")
    probs = np.full((len(page), 3), (0.98, 0.01, 0.01))
    probs[[1, 3, 5]] = (0.58, 0.41, 0.01), (0.9, 0.09, 0.01), (0.55, 0.44, 0.01)
    scores = Scores.from_probs(probs, labels)
    alone = Candidates.from_sources({"tagger": scores}, document=page, rules=RULES)
    [slot] = alone.slots
    assert slot.log_probs["53.28"] > slot.log_probs["48.00"] > slot.log_probs["60.00"]
    samples = [{"total": 48}, {"total": 53.28}, {"total": 57}]
    both = {"tagger": scores, "model": samples}
    found = choose(Candidates.from_sources(both, document=page, rules=RULES), RULES, document=page)
    assert [str(v) for v in found.values("total")] == ["53.28"]
    with pytest.raises(InputError, match="sources with scores need document= and rules="):
        Candidates.from_sources(both)


def test_equal_truth_makes_a_source_reliable_and_errors_do_not():
    pairs = [
        (
            {
                "a": {"total": i, "seller": "ACME Inc"},
                "b": [{"total": i}, {"total": i + 1}],
                "c": {"total": i, "seller": f"x{i}"},
            },
            {"total": f"{i}.00", "seller": "Acme, Inc."},
        )
        for i in range(30)
    ]
    found = learn_reliability(pairs)
    assert found["a"]["total"] == found["a"]["seller"] == 0.99
    assert found["b"]["total"] == pytest.approx(0.5, abs=0.03)
    assert found["c"]["seller"] == 0.5 < found["c"]["*"] < found["c"]["total"]
    known = Candidates.from_sources({"a": {"total": 1}, "b": {"total": 2}}, {
        name: found[name] for name in "ab"})  # fmt: skip
    assert known.slots[0].log_probs["1"] > log(0.95)
    with pytest.raises(InputError, match="there are no documents"):
        learn_reliability([])
    with pytest.raises(InputError, match="the truth is None, expected an object"):
        learn_reliability([({"a": {}}, None)])
