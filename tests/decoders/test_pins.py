"""Decoding under pins: against every labelling, and what each pin means, by hand."""

from __future__ import annotations

from itertools import product
from math import inf, log

import numpy as np
import pytest

import lawful
from lawful import Document, Field, InputError, Rule, Rules, Scores, decode
from tests.fuzz_pins import run
from tests.helpers import ENOUGH

EXACT = ("auto", "exact", "readings", "paths", "lazyk", "best_first", "lazy_ilp")


@pytest.mark.parametrize("seed", range(2))  # make fuzz draws five thousand
def test_nothing_false_is_said_under_pins(seed):
    count = run(100, seed)
    assert count["cases"] == 100
    assert min(count["case: feasible"], count["case: infeasible"]) > 10
    assert count["case: contradictory"] > 5
    assert count["clash_minimal"] > 10
    assert count["confidence"] > 30


FIELDS = [Field(name, name, "money") for name in ("total", "cash", "change")]
RULES = Rules(FIELDS, ["cash == total + change"])
LABELS = ["O", "B-total", "B-cash", "B-change"]
PAGE = Document("r1", ["44.000", "56.000", "12.000"])
SCORES = Scores.from_probs(
    [[0.10, 0.80, 0.05, 0.05], [0.10, 0.60, 0.25, 0.05], [0.10, 0.05, 0.05, 0.80]], LABELS
)


def pinned(*pins, decoder="auto", page=PAGE, **options):
    return decode(page, SCORES, RULES, decoder=decoder, pins=pins, **options)


def test_without_pins_nothing_is_said_of_them():
    found = decode(PAGE, SCORES, RULES)
    assert found.labels == ("B-total", "B-cash", "B-change")
    assert (found.pins, found.moved) == ((), ())
    assert not {"pins", "moved"} & set(found.to_dict())


@pytest.mark.parametrize("decoder", EXACT)
@pytest.mark.parametrize(
    ("pin", "labels", "status"),
    [
        ({"words": (1, 2), "field": "total"}, ("O", "B-total", "B-change"), "unchecked"),
        ({"words": (1, 2), "field": None}, ("B-total", "O", "B-change"), "unchecked"),
        ({"words": (0, 1), "not": "total"}, ("O", "B-total", "B-change"), "unchecked"),
        ({"field": "total", "value": "56.000"}, ("O", "B-total", "B-change"), "unchecked"),
        ({"field": "total", "value": 12000}, ("B-change", "B-cash", "B-total"), "satisfied"),
        ({"field": "change", "value": None}, ("B-total", "B-cash", "O"), "unchecked"),
        ({"words": (1, 2), "text": "57"}, ("B-total", "O", "B-change"), "unchecked"),
    ],
)
def test_what_a_pin_means(decoder, pin, labels, status):
    found = pinned(pin, decoder=decoder, budget=ENOUGH)
    assert found.labels == labels
    assert (found.status, found.optimal) == (status, True)
    index = [LABELS.index(label) for label in labels]
    assert found.log_prob == pytest.approx(sum(SCORES.log_probs[range(3), index]))
    assert [pin.to_dict() for pin in found.pins] == found.to_dict()["pins"]


def test_what_the_model_says_keeps_its_meaning():
    found = pinned({"words": (0, 1), "field": "change"})
    assert found.labels == ("B-change", "B-total", "O")
    first = found.corrections[0]
    assert (first.old, first.new) == ("B-total", "B-change")
    assert first.price == pytest.approx(log(0.80 / 0.05))
    assert first.because[0] == "pin: word 0 is change"
    assert [(m.word, m.old, m.new, m.pinned) for m in found.moved] == [
        (0, "B-total", "B-change", True),
        (1, "B-cash", "B-total", False),
        (2, "B-change", "O", False),
    ]
    record = found.to_dict()
    assert record["pins"] == [{"words": [0, 1], "field": "change"}]
    assert record["moved"][2] == {"word": 2, "old": "B-change", "new": "O", "pinned": False}
    assert "  pin: word 0 is change" in str(found)
    assert "  moved word 2 '12.000': B-change -> O" in str(found)
    assert "pin: word 0 is change" in found._repr_html_()


def test_pins_of_the_document_and_of_the_call_add_up():
    page = Document("r1", PAGE.words, pins=[{"words": (0, 1), "field": None}])
    found = pinned({"field": "change", "value": None}, page=page)
    assert found.labels == ("O", "B-total", "O")
    assert [pin.kind for pin in found.pins] == ["nothing", "absent"]
    (many,) = lawful.decode_many([(page, SCORES)], RULES, workers=1)
    assert many.labels == ("O", "B-total", "B-change")


def test_a_corrected_text_is_read():
    found = pinned({"words": (0, 1), "text": "45.000"}, {"words": (2, 3), "text": "11.000"})
    assert found.status == "satisfied"
    assert found.words == ("45.000", "56.000", "11.000")
    assert found.fields["total"][0].text == "45.000"


def spans(labels, scheme):
    types = rules_of(scheme).scheme_for(tuple(labels_of(scheme)))
    return types.spans(types.indices(labels))


def labels_of(scheme):
    prefixes = {"BIO": "BI", "IO": "I", "IOB1": "IB", "IOBES": "BIES"}[scheme]
    return ["O", *(f"{prefix}-x" for prefix in prefixes)]


def rules_of(scheme):
    return Rules([Field("x", "x", many=True)], scheme=scheme)


@pytest.mark.parametrize("decoder", EXACT)
@pytest.mark.parametrize("scheme", ["BIO", "IO", "IOB1", "IOBES"])
def test_words_are_exactly_one_span(decoder, scheme):
    labels = labels_of(scheme)
    scores = Scores.from_probs(
        [[0.01] + [0.99 / (len(labels) - 1)] * (len(labels) - 1)] * 4, labels
    )
    document = Document("d", list("abcd"))
    found = decode(
        document, scores, rules_of(scheme), decoder=decoder,
        pins=[{"words": (1, 3), "field": "x"}],
    )  # fmt: skip
    assert ("x", 1, 3) in spans(found.labels, scheme)
    assert found.optimal
    two = [{"words": (1, 2), "field": "x"}, {"words": (2, 3), "field": "x"}]
    found = decode(document, scores, rules_of(scheme), decoder=decoder, pins=two)
    if scheme == "IO":  # two spans of a field cannot touch
        assert found.status == "infeasible"
        if decoder in ("auto", "exact"):
            assert found.clash == ("pin: word 1 is x", "pin: word 2 is x")
    else:
        assert {("x", 1, 2), ("x", 2, 3)} <= set(spans(found.labels, scheme))


def test_a_person_settles_what_a_text_means():
    fields = [Field("day", "day", "date")]
    scores = Scores.from_probs([[0.4, 0.6]], ["O", "B-day"])
    page = Document("d", ["05/04/2024"])
    assert str(decode(page, scores, Rules(fields)).values("day")[0]) == "2024-04-05"
    found = decode(page, scores, Rules(fields), pins=[{"field": "day", "value": "2024-05-04"}])
    assert str(found.values("day")[0]) == "2024-05-04"
    assert found.penalty == 0


def test_a_missing_field_has_its_default():
    rules = Rules([Field("tax", "tax", "money", default=0)])
    scores = Scores.from_probs([[0.6, 0.4]], ["O", "B-tax"])
    page = Document("d", ["5"])
    assert decode(page, scores, rules, pins=[{"field": "tax", "value": 0}]).labels == ("O",)
    other = decode(page, scores, rules, pins=[{"field": "tax", "value": 7}])
    assert (other.status, other.clash) == ("infeasible", ("pin: tax is 7",))


def test_what_no_labelling_can_satisfy_is_infeasible_and_the_clash_names_the_pin():
    alone = pinned({"field": "total", "value": 99})
    assert (alone.status, alone.clash) == ("infeasible", ("pin: total is 99",))
    rules = Rules(FIELDS, [Rule("total == 56000", id="sum", weight=inf)])
    found = decode(PAGE, SCORES, rules, pins=[{"words": (0, 1), "field": "total"}])
    assert (found.status, found.clash) == ("infeasible", ("pin: word 0 is total", "sum"))
    values = pinned({"words": (1, 2), "field": "total"}, {"field": "total", "value": 44000})
    assert values.clash == ("pin: word 1 is total", "pin: total is 44000")
    assert ("pin: total is 44000", "violated") in [(c.id, c.state) for c in values.checks]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"words": (0, 2), "field": "total"}, {"words": (1, 2), "field": "total"}),
        ({"words": (0, 1), "field": "total"}, {"words": (0, 1), "field": "cash"}),
        ({"words": (0, 1), "field": "total"}, {"words": (0, 3), "field": None}),
        ({"words": (0, 2), "field": "total"}, {"words": (1, 3), "not": "total"}),
        ({"words": (0, 1), "field": "total"}, {"field": "total", "value": None}),
        ({"field": "total", "value": 3}, {"field": "total", "value": None}),
        ({"field": "total", "value": 3}, {"field": "total", "value": "4"}),
        ({"words": (0, 1), "text": "4"}, {"words": (0, 1), "text": "5"}),
    ],
)
def test_contradictory_pins_are_an_error_that_names_both(one, other):
    for pins in ((one, other), (other, one)):
        first, second = (lawful.Pin.of(pin).id[5:] for pin in pins)
        with pytest.raises(InputError) as caught:
            pinned(*pins)
        message = str(caught.value)
        assert message.startswith("document 'r1': two pins contradict each other: ")
        assert {first, second} == set(message.split("other: ")[1].split("; "))


def test_pins_that_agree_are_no_contradiction():
    pins = [
        {"words": (0, 1), "field": "total"},
        {"words": (0, 3), "not": "tip"},
        {"words": (1, 2), "not": "total"},
        {"field": "total", "value": 44000},
        {"field": "total", "value": "44,000"},
        {"words": (0, 1), "text": "44.000"},
    ]
    rules = Rules([*FIELDS, Field("tip", "tip", "money", optional=True)])
    assert decode(PAGE, SCORES, rules, pins=pins).labels == ("B-total", "B-cash", "B-change")


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        ({"words": (0, 1), "field": "totl"}, "unknown field 'totl'; did you mean 'total'"),
        ({"field": "total", "value": "abc"}, "pinned total is 'abc', which is no money"),
        ({"field": "total", "value": 1e30}, "pinned total is 1e.30, expected a number up to"),
        ({"words": (2, 4), "field": "total"}, "has 3 words, but a pin: words 2:4 are total"),
        (5, "pin 0: found 5, expected one of"),
    ],
)
def test_pins_that_cannot_be_used_are_errors(pin, message):
    with pytest.raises(InputError, match=message):
        pinned(pin)


def test_the_value_of_a_list_is_no_pin():
    rules = Rules([Field("items", "total", "money", many=True)])
    with pytest.raises(InputError, match="items is a list; pin the words of its values"):
        decode(PAGE, SCORES, rules, pins=[{"field": "items", "value": 3}])


def test_pins_may_not_mention_words_too_often():
    page = Document("d", ["x"] * 1500)
    scores = Scores.from_probs([[0.5, 0.5]] * 1500, ["O", "B-total"])
    pins = [{"words": (i, 1500), "not": "total"} for i in range(1500)]
    some = decode(page, scores, Rules(FIELDS[:1]), pins=pins[:500])
    assert set(some.labels) == {"O"}
    with pytest.raises(InputError, match="pins mention words more than 1,048,576 times"):
        decode(page, scores, Rules(FIELDS[:1]), pins=pins)


def test_a_crf_obeys_pins():
    chain = {"start": [0, 0, -9], "between": [[0, 0, -9], [0, -1, 2], [0, -1, 2]], "end": [0, 1, 0]}
    labels = ["O", "B-total", "I-total"]
    scores = Scores.from_logits([[0, 1, 0], [1, 0, 0.5], [0, 0, 1]], labels).with_chain(**chain)
    rules = Rules([Field("total", "total", presence="free", repeat="first")])
    page = Document("d", ["a", "b", "c"])
    for pin, keeps in {
        (0, 1): lambda row: row[0] == 1 and row[1] != 2,
        (1, 3): lambda row: row[1:] == (1, 2),
        (2, 3): lambda row: row[2] == 1,
    }.items():
        found = decode(page, scores, rules, pins=[{"words": pin, "field": "total"}])
        problem = lawful.search.Problem(page, scores, rules)
        every = [row for row in product(range(3), repeat=3) if problem.scheme.allows(row)]
        best = max(problem.log_prob(np.array(row)) for row in every if keeps(row))
        assert (found.decoder, found.optimal) == ("paths", True)
        assert found.log_prob == pytest.approx(best)
        assert keeps(tuple(labels.index(label) for label in found.labels))


def test_argmax_refuses_pins():
    with pytest.raises(InputError, match="has pins, which decoder argmax cannot obey"):
        pinned({"words": (0, 1), "field": None}, decoder="argmax")


def test_no_time_to_see_what_moved():
    found = pinned({"words": (0, 1), "field": None}, budget=lawful.Budget(seconds=1e-9))
    assert found.moved is None
    assert found.to_dict()["moved"] is None


def test_alternatives_and_confidence_are_under_the_pins():
    found = pinned({"words": (1, 2), "field": "cash"}, alternatives=3)
    assert all(other.labels[1] == "B-cash" for other in found.alternatives)
    assert found.confidence["cash"].low > 1 - 1e-9


def test_readings_agree_with_pins():
    page = Document("r1", PAGE.words, pins=[{"field": "total", "value": "56.000"}])
    for reading in lawful.readings(page, SCORES, RULES):
        assert [value.value for value in reading.fields.get("total", ())] == [56000]


DATES = [Field("issued", "date", "date", where="start == 0"), Field("due", "date", "date")]


@pytest.mark.parametrize(
    ("pins", "issued", "due"),
    [
        ([], ["2024-01-02"], ["2024-02-03"]),
        ([{"words": [1, 2], "field": "issued"}], ["2024-02-03"], []),
        ([{"words": [0, 1], "not": "issued"}], [], ["2024-01-02"]),
        ([{"field": "issued", "value": None}], [], ["2024-01-02"]),
        ([{"field": "due", "value": "2024-01-02"}], ["2024-02-03"], ["2024-01-02"]),
    ],
)
def test_pins_decide_between_fields_that_share_a_label(pins, issued, due):
    probs = [[0.1, 0.9]] * 2
    scores = Scores.from_probs(probs, ["O", "B-date"])
    words = ["2024-01-02", "2024-02-03"]
    found = decode(Document("d", words, pins=pins), scores, Rules(DATES))
    assert found.status != "infeasible"
    assert found.optimal
    texts = {name: [v.text for v in found.fields.get(name, [])] for name in ("issued", "due")}
    assert texts["issued"][:1] == issued
    assert due == [] or due[0] in texts["due"]


@pytest.mark.parametrize(
    "budget",
    [lawful.Budget(candidates=1), lawful.Budget(seconds=1e-5), lawful.Budget(max_cost=1.0)],
)
@pytest.mark.parametrize("decoder", ["auto", "readings", "paths", "lazyk"])
def test_an_answer_after_a_limit_obeys_pinned_values(decoder, budget):
    rules = Rules([Field("total", "total", "money"), Field("tax", "tax", "money")], ["total > tax"])
    page = Document("d", ["5.00", "7.00", "2.00"])
    scores = Scores.from_probs(
        [[0.1, 0.9, 0.0], [0.8, 0.1, 0.1], [0.2, 0.1, 0.7]], ["O", "B-total", "B-tax"]
    )
    pins = [{"field": "total", "value": "7.00"}, {"field": "tax", "value": 7}]
    for some in (pins[:1], pins[1:]):
        found = decode(page, scores, rules, pins=some, budget=budget, decoder=decoder)
        assert not [check for check in found.checks if check.id.startswith("pin: ")]
    found = decode(page, scores, rules, pins=pins, budget=budget, decoder=decoder)
    (broken,) = [check.id for check in found.checks if check.id.startswith("pin: ")]
    assert broken == "pin: tax is 7"  # one word cannot be both; the first pin is obeyed


def test_an_infeasible_answer_shows_what_a_person_said():
    rules = Rules([Field("total", "total", "money")], [Rule("total > 100", weight=inf)])
    scores = Scores.from_probs([[0.1, 0.9], [0.9, 0.1]], ["O", "B-total"])
    pin = {"field": "total", "value": "7.00"}
    found = decode(Document("d", ["5.00", "7.00"]), scores, rules, pins=[pin])
    assert (found.status, found.labels) == ("infeasible", ("O", "B-total"))
    assert found.clash == ("pin: total is '7.00'", "total > 100")


ANY_DATES = [Field("issued", "date", "date", where="start >= 0"), Field("due", "date", "date")]


@pytest.mark.parametrize(
    ("pins", "labels"),
    [
        ([{"field": "issued", "value": None}, {"field": "due", "value": None}], ("O", "O")),
        ([{"field": "issued", "value": None}, {"words": [0, 1], "not": "due"}], ("O", "B-date")),
        ([{"words": [0, 2], "not": "issued"}, {"field": "due", "value": None}], ("O", "O")),
    ],
)
def test_pins_refuse_a_label_if_they_refuse_all_fields_that_share_it(pins, labels):
    scores = Scores.from_probs([[0.1, 0.9], [0.4, 0.6]], ["O", "B-date"])
    page = Document("d", ["2024-03-01", "2024-03-30"])
    found = decode(page, scores, Rules(ANY_DATES), pins=pins)
    assert (found.status, found.labels) == ("unchecked", labels)


def test_a_clash_names_the_pin_that_decides_to_which_field_a_span_belongs():
    issued = Field("issued", "date", "date", presence="required", where="start >= 0")
    rules = Rules([issued, ANY_DATES[1]], defaults=lawful.rules.RuleDefaults(weight=inf))
    scores = Scores.from_probs([[0.1, 0.9]], ["O", "B-date"])
    pin = {"words": [0, 1], "not": "issued"}
    found = decode(Document("d", ["2024-03-01"]), scores, rules, pins=[pin])
    assert found.clash == ("pin: word 0 is not issued", "issued:required")
    assert found.clash_minimal
    assert found.fields["due"]  # which was said to clash by itself


def test_a_field_that_is_pinned_to_its_default_may_be_missing():
    rules = Rules([Field("tax", "tax", "money", default=0)], ["tax < 1"])
    scores = Scores.from_probs([[0.4, 0.6]], ["O", "B-tax"])
    page = Document("d", ["5.00"])
    found = decode(page, scores, rules, pins=[{"field": "tax", "value": 0}])
    assert (found.status, found.labels) == ("satisfied", ("O",))
    assert decode(page, scores, rules).labels == ("B-tax",)  # without the pin it is kept


def test_a_rule_that_can_hold_with_the_old_label_is_no_reason():
    # Whatever 2.000 is, the old label breaks the pin, so the first of its values was taken: 2000.
    field = Field("x", "x", "money", repeat="any", ambiguity=2.0)
    rules = Rules([field], [Rule("x < 5", id="small", weight=10)])
    scores = Scores.from_probs([[0.0, 1.0], [0.4, 0.6]], ["O", "B-x"])
    pin = {"words": [1, 2], "not": "x"}
    found = decode(Document("d", ["2.000", "7.00"]), scores, rules, pins=[pin])
    (correction,) = found.corrections
    assert correction.because == ("pin: word 1 is not x",)
