"""Fields, rules and sets of rules: what they refuse, and what they keep."""

from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pytest

import lawful
from lawful import Document, Field, Rule, Rules, RulesError, Scores, decode
from lawful.rules import RuleDefaults
from lawful.rules.files import rules_from
from tests.helpers import judged


def test_rule_objects_check_themselves():
    with pytest.raises(RulesError, match="'x' is no field"):
        Rules(["x"])
    with pytest.raises(RulesError, match="check is 3"):
        Rule(3)
    with pytest.raises(RulesError, match="rule 'x': weight is 'y'"):
        Rule("a == b", id="x", weight="y")
    with pytest.raises(RulesError, match="field 'a' is defined twice"):
        Rules([Field("a", "x"), Field("a", "y")])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Field("a", "x", pattern="a{99999999999}"),
        lambda: Field("a", "x", pattern="(" * 5000 + ")" * 5000),
        lambda: Rule("present(a)", weight=10**400),
        lambda: Rule("present(a)", tolerance=10**5000),
        lambda: Rules(None),
        lambda: Rules([Field("a", "x")], "present(a)"),
        lambda: Rules([Field("a", "x")]).with_defaults(bogus=1),
        lambda: rules_from({"fields": {"a": {"label": "x"}}, "weight": 1e300}),
    ],
)
def test_odd_values_are_errors_of_ours(make):
    with pytest.raises(RulesError):
        make()


def test_a_default_is_what_is_written():
    assert Field("a", "x", "money", default=1.234).default == Decimal("1.234")
    assert Field("a", "x", "money", default="12.50").default == Decimal("12.50")
    with pytest.raises(RulesError, match=r"default '1\.234' has several possible values"):
        Field("a", "x", "money", default="1.234")


def test_functions_must_fit_what_they_read():
    with pytest.raises(RulesError, match="cannot take the fields"):
        lawful.rule(reads=("a", "b"))(lambda a: True)
    with pytest.raises(RulesError, match="reads unknown field 'b'; fields: a"):
        Rules([Field("a", "x")], [lawful.rule(reads=("b",))(lambda b: True)])
    with pytest.raises(RulesError, match="is no rule"):
        Rules([Field("a", "x")], [lambda a: True])


def test_a_field_must_have_a_label_that_the_model_knows():
    rules = Rules([Field("total", "total", "money")])
    with pytest.raises(RulesError, match=r"field 'total' has label 'total', .* its labels: x"):
        rules.scheme_for(("O", "B-x"))


def test_a_label_that_is_nearly_right_is_suggested():
    rules = Rules([Field("total", "totl")])
    with pytest.raises(RulesError, match=r"did you mean 'total'.* may lack says optional: "):
        rules.scheme_for(("O", "B-total", "B-x"))


@pytest.mark.parametrize("decoder", sorted(set(lawful.decoders.DECODERS) - {"lazy_ilp"}))
def test_an_optional_field_is_missing_if_the_model_lacks_its_label(decoder):
    fields = [
        Field("total", "total", "money"),
        Field("tax", "tax", "money", default=0, optional=True),
        Field("tips", "tip", "money", many=True, optional=True),
    ]
    rules = Rules(fields, ["total == 7 + tax", "total > sum(tips)"])
    probs = [[0.4, 0.6], [0.6, 0.4]]
    scores = lawful.Scores.from_probs(probs, ["O", "B-total"])
    found = lawful.decode(lawful.Document("d", ["5", "7"]), scores, rules, decoder=decoder)
    assert set(found.fields) == {"total"}
    states = {check.id: check.state for check in found.rule_checks}
    assert states["total > sum(tips)"] == "vacuous"
    if decoder not in ("argmax", "beam"):
        assert (found.values("total"), states["total == 7 + tax"]) == ((Decimal(7),), "satisfied")


def test_an_optional_field_is_not_required():
    with pytest.raises(RulesError, match="field 'a' is both optional and required"):
        Rules([Field("a", "x", optional=True)], defaults=RuleDefaults(presence="required"))


def test_a_field_that_no_label_can_begin_is_an_error():
    rules = Rules([Field("total", "total")])
    with pytest.raises(RulesError, match="none of the model's labels can begin a span"):
        rules.scheme_for(("O", "I-total"))


def test_rules_survive_pickling():
    rules = Rules(
        [Field("total", "total", "money")], ["total > 0"], defaults=RuleDefaults(weight=3)
    )
    again = pickle.loads(pickle.dumps(rules))
    assert (again.fields, again.rules, again.defaults) == (
        rules.fields,
        rules.rules,
        rules.defaults,
    )
    assert judged(["-5"], ["B-total"], again)["total > 0"].state == "violated"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "number", "default": float("nan")}, "default is nan, expected a number"),
        ({"type": "number", "default": float("inf")}, "default is inf, expected a number"),
        ({"pattern": b"x"}, "pattern is b'x', expected a text"),
        ({"label": "a\ud800"}, "not valid Unicode"),
        ({"default": "a\ud800"}, "default is 'a.*not valid Unicode"),
    ],
)
def test_fields_that_would_fail_on_every_document_are_refused(entry, message):
    """They loaded, and every document failed."""
    with pytest.raises(RulesError, match=message):
        Field(name="a", **{"label": "a", **entry})


def test_a_message_that_no_file_can_hold_is_refused():
    """It loaded, and the first violation could not be written."""
    with pytest.raises(RulesError, match=r"rule 'x': message is .*not valid Unicode"):
        Rule("a > 0", id="x", message="\ud800")


def nested(value):
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(0), 10**5000, np.zeros(2), b"x", {}, object()], ids=type)
@pytest.mark.parametrize(
    "place",
    [
        *((), ("fields",), ("rules",), ("scheme",), ("weight",), ("tolerance",), ("presence",)),
        *(
            (("fields", "a", key))
            for key in ("label", "type", "many", "default", "repeat", "pattern")
        ),
        *((("rules", 0, key)) for key in ("id", "check", "when", "message", "unchecked")),
        *(("fields", "a"), ("rules", 0), ("fields", "a", "max_words")),
    ],
    ids=str,
)
def test_a_value_of_a_wrong_type_is_an_error_of_ours_wherever_it_stands(place, value):
    """Errors failed to show lists nested deeply, and integers of thousands of digits."""
    data = {"top": {"fields": {"a": {"label": "x"}}, "rules": [{"check": "present(a)"}]}}
    *path, last = ("top", *place)
    where = data
    for key in path:
        where = where[key]
    where[last] = value
    with pytest.raises(RulesError) as raised:
        rules_from(data["top"])
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("default", [10**19, 1e300, Decimal("1e-30"), True, b"1", [1], "1e5"])
def test_a_default_is_a_number_to_calculate_with(default):
    """A default of 1e999999 was written out in full."""
    with pytest.raises(RulesError, match="field 'a': default"):
        Field("a", "x", "money", default=default)


@pytest.mark.parametrize("tolerance", ["1e999999999", "1e-999999", 10**40])
def test_tolerances_have_a_size_to_calculate_with(tolerance):
    with pytest.raises(RulesError, match="expected 0, or 1e-18 to 1e18"):
        RuleDefaults(tolerance=tolerance)
    assert RuleDefaults(tolerance="0E-40").tolerance == 0


def test_too_many_fields_are_refused_at_once():
    """400,000 took a minute."""
    with pytest.raises(RulesError, match="over 10,000 fields"):
        Rules(Field(f"f{i}", f"l{i}") for i in range(400_000))


@pytest.mark.parametrize(
    "number", ["1234567890123456.25", "9007199254740993.1", "0.1", "1e3", "123456789012345678"]
)
def test_constants_have_all_digits_that_are_written(number):
    # Read as binary floats, a value of 17 digits was not equal to itself.
    rule = lawful.Rule(f"a == {number} and \"\\\\\" != 'é'", tolerance=0)
    rules = Rules([Field("a", "a", "number")], [rule])
    scores = lawful.Scores.from_probs([[0, 1]], ["O", "B-a"])
    text = format(Decimal(number), "f")
    assert lawful.decode(lawful.Document("d", [text]), scores, rules).status == "satisfied"


@pytest.mark.parametrize("id_", ["a:kept", "a:reads", "legal", "every span", "pin: a is absent"])
def test_a_rule_is_not_called_like_a_condition(id_):
    with pytest.raises(RulesError, match="which is the name of a condition that is not a rule"):
        Rules([Field("a", "a", "money")], ["a > 0", lawful.Rule("a < 9", id=id_)])
    assert Rules([Field("a", "a", "money")], [lawful.Rule("a < 9", id="b:kept")])


def test_messages_have_the_sides_of_a_comparison_and_may_be_in_several_languages():
    data = {
        "fields": {"a": {"label": "a", "type": "money"}, "b": {"label": "b", "type": "money"}},
        "rules": [
            {
                "id": "x",
                "check": "a == 2 * b",
                "message": {"de": "nicht {right}", "en": "{left} {a}"},
            }
        ],
    }
    rules = rules_from(data)
    assert list(rules.parsed[0].messages) == ["en", "de"]
    words = Document("d", ["3.00", "1.00"])
    scores = Scores.from_probs([[0.001, 0.998, 0.001], [0.001, 0.001, 0.998]], ["O", "B-a", "B-b"])
    [check] = [each for each in decode(words, scores, rules).checks if each.id == "x"]
    assert check.message == "3.00 3.00"
    data["rules"][0]["message"] = {"en": "{middle}"}
    with pytest.raises(RulesError, match="message names unknown field 'middle'"):
        rules_from(data)
    data["rules"][0] |= {"check": "present(a)", "message": "{left}"}
    with pytest.raises(RulesError, match="message names unknown field 'left'"):
        rules_from(data)
