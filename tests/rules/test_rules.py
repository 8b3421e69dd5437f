"""Fields, rules and rule files; and what the judge makes of a labelling."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lawful import Document, Field, Rule, RuleDefaults, RuleFailure, Rules, RulesError
from lawful.rules.files import json_schema, rules_from
from lawful.rules.judge import Judge

FILE = """
presence: keep
weight: 8
fields:
  total:    {label: total, type: money}
  subtotal: {label: sub, type: money}
  tax:      {label: tax, type: money, default: 0}
  items:    {label: item, type: money, many: true}
rules:
  - subtotal == sum(items)
  - {id: sum, check: total == subtotal + tax, weight: hard, message: "total {total}, not so"}
  - id: small
    check: tax <= 1000
    when: total < 5000
    tolerance: 0.5
"""
LABELS = ["O", "B-total", "I-total", "B-sub", "I-sub", "B-tax", "B-item", "I-item"]


def write(tmp_path, text, name="rules.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def judge(words, labels, rules, best=None):
    """The judge's checks of one labelling, by id."""
    scheme = rules.scheme_for(tuple(LABELS))
    made = Judge(Document("d", words), rules, scheme)
    if best is not None:
        made.keep(np.array([LABELS.index(label) for label in best]))
    row = np.array([LABELS.index(label) for label in labels])
    checks = made.checks(made.read(row))
    assert made.cost(row).most == sum(c.price for c in checks)
    return {c.id: c for c in checks}


def outcome(load, source):
    """What an error of ours says; nothing when there is none. Any other error is a failure."""
    try:
        assert isinstance(load(source), Rules)
    except RulesError as error:
        return str(error)
    return ""


def test_a_file_is_read_with_its_defaults(tmp_path):
    rules = Rules.load(write(tmp_path, FILE))
    assert [f.name for f in rules.fields] == ["total", "subtotal", "tax", "items"]
    assert [r.weight for r in rules.compiled] == [8, inf, 8]
    assert {f.presence for f in rules.fields} == {"keep"}
    assert rules.fields[2].default == Decimal(0)
    data = {"fields": {"a": {"label": "total", "type": "money"}}, "rules": ["a > 0"]}
    as_json = Rules.load(write(tmp_path, json.dumps(data), "r.json"))
    text = 'rules = ["a > 0"]\n[fields.a]\nlabel = "total"\ntype = "money"'
    as_toml = Rules.load(write(tmp_path, text, "r.toml"))
    assert as_json.fields == as_toml.fields
    assert as_json.rules == as_toml.rules


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("type: money}", "typ: money}",
         r"rules.yaml, line 5: unknown key 'typ' in field 'total'; did you mean 'type'"),
        ("total, type: money", "total, type: mony", "line 5: unknown type 'mony'; types: money"),
        ("label: total, ", "", "line 5: field 'total' has no label"),
        ("rules:", "ruls:", "line 9: unknown key 'ruls' in the rule file; did you mean 'rules'"),
        ("weight: 8", "weight: heavy", "line 3: weight is 'heavy', expected a number of nats"),
        ("weight: 8", "weight: -1", "weight is -1"),
        ("weight: 8", "weight: 8\nweight: 9", "line 4: 'weight' is defined twice"),
        ("presence: keep", "presence: maybe", "line 2: presence is 'maybe', expected one of"),
        ("sum(items)", "sum(item)",
         r"line 10: rule .*unknown field 'item' in .*column 17\); did you mean items\? fields: "),
        ("check: tax <= 1000", "check: tax <= ", "line 13: .*invalid syntax"),
        ("when: total < 5000", "when: totl < 5000", "unknown field 'totl'"),
        ("{total}, not", "{totl}, not", "message names unknown field 'totl'"),
        ("tolerance: 0.5", "tolerance: -1", "tolerance is -1, expected a number of 0 or more"),
        ("default: 0", "default: x", "default 'x' is no money"),
        ("many: true", "many: 3", "line 8: field 'items': many is 3, expected true or false"),
        ("many: true", "many: true, default: 3", "a field with many has no default"),
        ("id: sum", "id: small", "rule 'small' is defined twice"),
        ("label: sub,", "label: total,", "has label 'total', as another field has"),
        ("  total:", "  2total:", "field '2total': a name is letters"),
        ("  total:", "  from:", "has a name that expressions cannot use"),
        ("fields:", "fields: [", "line .*column"),
        ("weight: 8", "weight: 8\nscheme: BOI", "unknown scheme 'BOI'"),
        ("weight: 8", "weight: 8\nmax_words: 0", "max_words is 0"),
        ("label: total, type: money", "label: total, pattern: '('", "bad pattern"),
        ("  - subtotal == sum(items)", "  - 3", "line 10: rule 1 is 3, expected a mapping"),
        ("  - subtotal == sum(items)", "  - {id: x}", "check is None, expected an expression"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_are_named_with_their_line(tmp_path, old, new, message):
    assert old in FILE
    with pytest.raises(RulesError, match=message):
        Rules.load(write(tmp_path, FILE.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.yaml", "", "the rule file is None, expected a mapping"),
        ("r.yaml", "- 1", "expected a mapping"),
        ("r.yaml", "fields: {}", "fields is {}, expected a mapping of fields"),
        ("r.yaml", "fields: {a: {label: b}}\nrules: 3", "rules is 3, expected a list"),
        ("r.yaml", "1: 2", "line 1: 1 is no name"),
        ("r.yaml", "a: !!python/object:os.system x", "could not determine a constructor"),
        ("r.json", "{", "r.json: "),
        ("r.toml", "x", "r.toml: "),
        ("r.ini", "x", "unknown kind of rule file; expected .yaml"),
    ],
)
def test_files_that_are_no_rule_files(tmp_path, name, text, message):
    with pytest.raises(RulesError, match=message):
        Rules.load(write(tmp_path, text, name))


def test_a_file_that_is_not_there():
    with pytest.raises(RulesError, match=r"cannot read rule file nowhere\.yaml: No such file"):
        Rules.load("nowhere.yaml")


def test_a_field_must_have_a_label_that_the_model_knows(tmp_path):
    rules = Rules.load(write(tmp_path, FILE))
    with pytest.raises(RulesError, match=r"field 'total' has label 'total', .* its labels: x"):
        rules.scheme_for(("O", "B-x"))


def test_three_states_and_their_messages(tmp_path):
    rules = Rules.load(write(tmp_path, FILE))
    words = ["66.000", "60.000", "5.000", "40.000", "20.000"]
    checks = judge(words, ["B-total", "B-sub", "B-tax", "B-item", "B-item"], rules)
    assert checks["subtotal == sum(items)"].state == "satisfied"
    assert checks["sum"].state == "violated"
    assert checks["sum"].message == "total 66,000, not so"
    assert checks["small"].state == "vacuous"
    assert checks["small"].message == "does not apply"
    checks = judge(words, ["B-total", "O", "O", "B-item", "B-item"], rules)
    assert checks["sum"].message == "not checked: subtotal missing"
    checks = judge(words, ["O", "B-sub", "O", "B-item", "B-total"], rules)
    assert checks["subtotal == sum(items)"].message == "subtotal is 60,000, sum(items) is 40,000"


def test_a_field_that_was_there_may_not_vanish(tmp_path):
    rules = Rules.load(write(tmp_path, FILE))
    best = ["B-total", "B-sub"]
    vanished = judge(["3", "4"], ["B-total", "O"], rules, best)
    assert vanished["subtotal:kept"].weight == inf
    assert "subtotal:kept" not in judge(["3", "4"], ["B-total", "O"], rules)
    free = rules.with_defaults(presence="free")
    assert "subtotal:kept" not in judge(["3", "4"], ["B-total", "O"], free, best)
    required = rules.with_defaults(presence="required")
    assert judge(["3", "4"], ["O", "O"], required)["total:required"].message == "total is missing"


def test_what_a_field_implies():
    rules = Rules([Field("total", "total", "money", max_words=1, pattern=r"[\d.,]+")])
    wrong = judge(["TOTAL", "1.000", "x"], ["B-total", "I-total", "O"], rules)
    assert wrong["total:reads"].message == "total is 'TOTAL 1.000', which is no money"
    assert wrong["total:max_words"].message == "total is 'TOTAL 1.000': more than 1 words"
    assert "does not match" in wrong["total:pattern"].message
    assert judge(["1.000", "x", "y"], ["B-total", "O", "O"], rules) == {}


@pytest.mark.parametrize(
    ("repeat", "states"),
    [
        ("agree", {"total == 5000": "violated", "total:agrees": "violated"}),
        ("first", {"total == 5000": "violated"}),
        ("any", {"total == 5000": "satisfied"}),
    ],
)
def test_repeats(repeat, states):
    rules = Rules(
        [Field("total", "total", "money")], ["total == 5000"], defaults=RuleDefaults(repeat=repeat)
    )
    checks = judge(["6.000", "5.000"], ["B-total", "B-total"], rules)
    assert {name: check.state for name, check in checks.items()} == states
    agreeing = judge(["5.000", "5000"], ["B-total", "B-total"], rules)
    assert {check.state for check in agreeing.values()} == {"satisfied"}


def test_any_looks_only_at_the_fields_that_a_rule_reads():
    names = [f"f{i}" for i in range(7)]
    labels = ["O", *(f"B-{name}" for name in names)]
    rules = Rules(
        [Field(name, name, "money") for name in names],
        ["f0 == 5", "f0 + f1 + f2 + f3 + f4 + f5 + f6 == 99"],
        defaults=RuleDefaults(repeat="any"),
    )
    made = Judge(Document("d", ["6", "5"] * 7), rules, rules.scheme_for(tuple(labels)))
    row = np.array([1 + i // 2 for i in range(14)])
    first, both = made.checks(made.read(row))
    assert first.state == "satisfied"
    assert both.state == "violated"  # all 128 combinations were tried


def test_a_field_without_a_readable_value_is_not_there():
    rules = Rules([Field("total", "total", "money"), Field("subtotal", "sub", "money")],
                  ["total == subtotal"])  # fmt: skip
    best = ["B-total", "B-sub", "O"]
    moved = judge(["7", "5", "x"], ["O", "B-sub", "B-total"], rules, best)
    assert moved["total:kept"].weight == inf  # a word that is no amount does not keep the field
    unreadable = judge(["x", "5", "7"], ["O", "B-sub", "O"], rules, ["B-total", "B-sub", "O"])
    assert "total:kept" not in unreadable  # nor is there anything to keep
    required = rules.with_defaults(presence="required")
    assert "total:required" in judge(["x", "5", "7"], ["B-total", "B-sub", "O"], required)


def test_required_wins_over_a_default():
    rules = Rules([Field("tax", "tax", "money", default=0, presence="required")])
    assert judge(["x"], ["O"], rules)["tax:required"].state == "violated"


def test_items_need_not_agree():
    rules = Rules([Field("items", "item", "money", many=True)])
    assert judge(["5", "6"], ["B-item", "B-item"], rules) == {}


def test_a_pattern_is_for_the_whole_text():
    rules = Rules([Field("total", "total", "text", pattern="[a-z]+")])
    assert "total:pattern" in judge(["abc1"], ["B-total"], rules)
    assert judge(["abc"], ["B-total"], rules) == {}


def test_when_must_hold_and_none_from_a_function_is_no_violation():
    fields = [Field("total", "total", "money"), Field("tax", "tax", "money")]
    applies = lawful.rule(reads=["total"])(lambda total: None)
    rules = Rules(fields, [Rule("total == 1", id="when", when="tax > 0"), applies])
    checks = judge(["5"], ["B-total"], rules)
    assert {check.state for check in checks.values()} == {"vacuous"}


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


def test_yaml_aliases_cannot_blow_up(tmp_path):
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
    )
    with pytest.raises(RulesError, match="over 20,000 entries"):
        Rules.load(write(tmp_path, text))


def test_one_unreadable_item_leaves_their_sum_unknown():
    rules = Rules([Field("items", "item", "money", many=True)], ["sum(items) == 5"])
    checks = judge(["5", "x"], ["B-item", "B-item"], rules)
    assert checks["sum(items) == 5"].state == "vacuous"
    assert checks["items:reads"].state == "violated"


def test_the_papers_semantics_is_three_lines(tmp_path):
    text = FILE.replace("presence: keep\nweight: 8", "presence: free\nrepeat: first\nweight: hard")
    assert Rules.load(write(tmp_path, text)).defaults == RuleDefaults("free", "first", inf)


def test_a_function_is_a_rule():
    @lawful.rule(reads=("total", "items"), weight=3)
    def adds_up(total, items):
        return total == sum(items)

    fields = [Field("total", "total", "money"), Field("items", "item", "money", many=True)]
    rules = Rules(fields, [adds_up])
    assert (
        judge(["7", "3", "4"], ["B-total", "B-item", "B-item"], rules)["adds_up"].state
        == "satisfied"
    )
    found = judge(["8", "3", "4"], ["B-total", "B-item", "B-item"], rules)["adds_up"]
    assert (found.state, found.weight) == ("violated", 3)
    assert found.message == "adds_up does not hold: total is 8, items is 3, 4"
    assert judge(["8", "3"], ["B-total", "O"], rules)["adds_up"].state == "vacuous"


def test_an_exception_in_a_function_is_reported_with_document_and_rule():
    @lawful.rule(reads=["total"], id="broken")
    def function(total):
        return total / 0

    rules = Rules([Field("total", "total", "money")], [function])
    with pytest.raises(RuleFailure, match="document 'd', rule 'broken': DivisionByZero"):
        judge(["8"], ["B-total"], rules)


def test_functions_must_fit_what_they_read():
    with pytest.raises(RulesError, match="cannot take the fields"):
        lawful.rule(reads=("a", "b"))(lambda a: True)
    with pytest.raises(RulesError, match="reads unknown field 'b'; fields: a"):
        Rules([Field("a", "x")], [lawful.rule(reads=("b",))(lambda b: True)])
    with pytest.raises(RulesError, match="is no rule"):
        Rules([Field("a", "x")], [lambda a: True])


def test_the_schema_knows_what_the_loader_knows():
    schema = json_schema()
    assert set(schema["properties"]) == {
        "fields", "rules", "scheme", "presence", "repeat", "weight", "tolerance", "max_words",
        "ambiguity", "unchecked",
    }  # fmt: skip
    field_keys = schema["properties"]["fields"]["additionalProperties"]["properties"]
    rule_keys = schema["properties"]["rules"]["items"]["anyOf"][1]["properties"]
    entries = [{"fields": {"a": {"label": "x", key: []}}} for key in field_keys]
    entries += [
        {"fields": {"a": {"label": "x"}}, "rules": [{"check": "present(a)", key: []}]}
        for key in rule_keys
    ]
    for entry in entries:
        assert "unknown key" not in outcome(rules_from, entry)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=5) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["label", "type", "many", "default", "presence", "check", "id", "weight", "when"]
)


@settings(max_examples=1500)
@given(
    st.dictionaries(
        st.sampled_from(["fields", "rules", "scheme", "weight", "tolerance", "presence"]),
        VALUES
        | st.dictionaries(st.sampled_from(["a", "b"]), st.dictionaries(KEYS, VALUES))
        | st.lists(st.dictionaries(KEYS, VALUES), max_size=2),
    )
)
def test_any_data_is_rules_or_an_error_of_ours(data):
    outcome(rules_from, data)


@settings(max_examples=500)
@given(st.text(max_size=80))
def test_any_yaml_is_rules_or_an_error_of_ours(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("fuzz") / "rules.yaml"
    path.write_text("fields: {a: {label: x}}\n" + text, encoding="utf-8", errors="replace")
    outcome(Rules.load, path)


def test_a_default_is_what_is_written():
    assert Field("a", "x", "money", default=1.234).default == Decimal("1.234")
    assert Field("a", "x", "money", default="12.50").default == Decimal("12.50")
    with pytest.raises(RulesError, match=r"default '1\.234' may be read in several ways"):
        Field("a", "x", "money", default="1.234")


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
    assert judge(["-5"], ["B-total"], again)["total > 0"].state == "violated"


def test_a_function_says_yes_no_or_nothing():
    rules = Rules(
        [Field("total", "total")], [lawful.rule(reads="total", id="r")(lambda total: "no")]
    )
    with pytest.raises(RuleFailure, match="it returned 'no', expected True, False or None"):
        judge(["5"], ["B-total"], rules)


def test_a_field_that_no_label_can_begin_is_an_error():
    rules = Rules([Field("total", "total")])
    with pytest.raises(RulesError, match="no label can begin it"):
        rules.scheme_for(("O", "I-total"))


def test_a_key_may_not_be_there_twice_in_json(tmp_path):
    text = '{"fields": {"a": {"label": "x"}}, "weight": 1, "weight": 2}'
    with pytest.raises(RulesError, match="'weight' is defined twice"):
        Rules.load(write(tmp_path, text, "r.json"))


def test_rule_objects_check_themselves():
    with pytest.raises(RulesError, match="'x' is no field"):
        Rules(["x"])
    with pytest.raises(RulesError, match="check is 3"):
        Rule(3)
    with pytest.raises(RulesError, match="rule 'x': weight is 'y'"):
        Rule("a == b", id="x", weight="y")
    with pytest.raises(RulesError, match="field 'a' is defined twice"):
        Rules([Field("a", "x"), Field("a", "y")])
