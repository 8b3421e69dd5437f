"""Rule files: what they say, and which line of one is wrong."""

from __future__ import annotations

import json
from decimal import Decimal
from math import inf, isnan
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Rules, RulesError
from lawful.rules import RuleDefaults
from lawful.rules.files import parse_rules, rules_from
from lawful.rules.parsed_text import read_yaml
from tests.fixtures.rule_file import FILE


def write(tmp_path, text, name="rules.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


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
    assert [r.weight for r in rules.parsed] == [8, inf, 8]
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
        ("total, type: money", "total, type: mony",
         "line 5: unknown type 'mony'; did you mean 'money'. types: money"),
        ("label: total, ", "", "line 5: field 'total' has no label"),
        ("rules:", "ruls:", "line 9: unknown key 'ruls' in the rule file; did you mean 'rules'"),
        ("weight: 8", "weight: heavy", "line 3: weight is 'heavy', expected a number of nats"),
        ("weight: 8", "weight: -1", "weight is -1"),
        ("weight: 8", "weight: 8\nweight: 9", "line 4: 'weight' is defined twice"),
        ("presence: keep", "presence: maybe", "line 2: presence is 'maybe', expected one of"),
        ("sum(items)", "sum(item)",
         r"line 10: rule .*unknown field 'item' in .*column 17\); did you mean 'items'\? fields: "),
        ("check: tax <= 1000", "check: tax <= ", "line 13: .*invalid syntax"),
        ("when: total < 5000", "when: totl < 5000", "unknown field 'totl'"),
        ("{total}, not", "{totl}, not", "message names unknown field 'totl'"),
        ("tolerance: 0.5", "tolerance: -1", "tolerance is -1, expected a number of 0 or more"),
        ("default: 0", "default: x", "default 'x' is no money"),
        ("many: true", "many: 3", "line 8: field 'items': many is 3, expected true or false"),
        ("many: true", "many: true, default: 3", "a field with many has no default"),
        ("id: sum", "id: small", "line 13: rules 2 and 3 have one id, 'small'"),
        ("label: sub,", "label: total,", "line 6: .*has label 'total', as field 'total' has"),
        ("weight: hard", "unchecked: 0,5", r"inside {…} a comma ends a value: .* 0\.01 for 0,01"),
        ("check: total == subtotal + tax", "check: total == round(tax, 2)",
         r"line 11: unknown key '2\)' in rule 2; inside {…} a comma ends a value: quote the"),
        ("sum(items)", "sum(items)\n  - {check: total in ('a', 'b')}", "line 11.* ends a value"),
        ("check: tax <= 1000", "check: tax <= 1000\n    weigt:", "did you mean 'weight'"),
        ("tolerance: 0.5", "tolerance: 0,5", r"tolerance is '0,5'.*; write 0\.5"),
        ("weight: 8", "weight: 0,5", r"weight is '0,5', .*; write 0\.5"),
        ("tax <= 1000", "tax <= 0,01", r"leading zeros.*; write 0\.01 for 0,01"),
        ("tax <= 1000", "tax <= 10,5", r"',' is not part of the rule language.*; write 10\.5"),
        ("  total:", "  2total:", "field '2total': expected a name of letters"),
        ("  total:", "  from:", "has a name that expressions cannot use"),
        ("fields:", "fields: [", "line .*column"),
        ("weight: 8", "weight: 8\nscheme: BOI", "unknown scheme 'BOI'"),
        ("weight: 8", "weight: 8\nmax_words: 0", "max_words is 0"),
        ("label: total, type: money", "label: total, pattern: '('", "bad pattern"),
        ("  - subtotal == sum(items)", "  - 3", "line 10: rule 1 is 3, expected a mapping"),
        ("  - subtotal == sum(items)", "  - {id: x}", "check is None, expected an expression"),
        ("weight: 8", "weight: 8\nclasses: [kind]", r"line 4: classes is \['kind'\], expected a m"),
        ("weight: 8", "weight: 8\nclasses: {kind: {score: x}}", "line 4: unknown key 'score'"),
        ("weight: 8", "weight: 8\norder: 3", "line 4: order is 3, expected a list of fields"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_are_named_with_their_line(tmp_path, old, new, message):
    assert old in FILE
    path = write(tmp_path, FILE.replace(old, new, 1))
    with pytest.raises(RulesError, match=message) as raised:
        Rules.load(path)
    assert str(raised.value).count(path.name) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.yaml", "", "the rule file is None, expected a mapping"),
        ("r.yaml", "- 1", "expected a mapping"),
        ("r.yaml", "fields: {}", "fields is {}, expected a mapping of fields"),
        (
            "r.yaml",
            "fields: {a: {label: x}}\nrows: false",
            "line 2: rows is False, expected a mapping",
        ),
        ("r.yaml", "fields: {a: {label: b}}\nrules: 3", "rules is 3, expected a list"),
        ("r.yaml", "1: 2", "line 1: 1 is no name"),
        ("r.yaml", "a: !!python/object:os.system x", "python/object:os.system is not part of"),
        ("r.yaml", "a: !!bool x", "line 1: 'x' is no bool"),
        ("r.yaml", "a: !!timestamp x", "line 1: .*timestamp is not part of rule files"),
        ("r.yaml", f"a: {'9' * 5000}", "line 1: .*digits"),
        ("r.yaml", "a: &a [*a]", "nested too deeply"),
        ("r.yaml", "[" * 5000, "nested too deeply"),
        ("r.json", "[" * 50_000, "nested too deeply"),
        ("r.json", " " * 1_000_001, "over 1,000,000 bytes"),
        ("r.json", "{", "r.json: "),
        ("r.toml", "x", "r.toml: "),
        ("r.ini", "x", "unknown file type; rule files end in .yaml"),
    ],
)
def test_files_that_are_no_rule_files(tmp_path, name, text, message):
    with pytest.raises(RulesError, match=message):
        Rules.load(write(tmp_path, text, name))


def test_a_file_that_is_not_there():
    with pytest.raises(RulesError, match=r"cannot read rule file nowhere\.yaml: No such file"):
        Rules.load("nowhere.yaml")


def test_a_key_may_not_be_there_twice_in_json(tmp_path):
    text = '{"fields": {"a": {"label": "x"}}, "weight": 1, "weight": 2}'
    with pytest.raises(RulesError, match="'weight' is defined twice"):
        Rules.load(write(tmp_path, text, "r.json"))


def test_yaml_aliases_cannot_blow_up(tmp_path):
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
    )
    with pytest.raises(RulesError, match="more than 20,000 entries"):
        Rules.load(write(tmp_path, text))


def test_a_long_list_is_refused_at_once(tmp_path):
    """A megabyte took twenty seconds."""
    began = process_time()
    with pytest.raises(RulesError, match="more than 20,000 entries"):
        Rules.load(write(tmp_path, f"[{'a,' * 499_000}]"))
    assert process_time() - began < 8


def test_words_in_yaml_mean_themselves(tmp_path):
    """YAML 1.1 has no for false, 12:30 for 750, 010 for 8, and dates of its own."""
    fields = ["no", "on", "off", "yes", "y", "n"]
    text = "fields:\n" + "".join(f"  {name}: {{label: {name}}}\n" for name in fields)
    rules = Rules.load(write(tmp_path, text + "rules: [{check: present(no), id: off}]"))
    assert [(f.name, f.label) for f in rules.fields] == [(name, name) for name in fields]
    assert rules.rules[0].id == "off"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"), ("12:30:00", "12:30:00"), ("2024-12-31", "2024-12-31"), ("010", 10),
        ("0o10", 8), ("0x1F", 31), ("1_000", "1_000"), ("1e3", 1000.0), ("-.inf", -inf),
        ("+.5", 0.5), ("true", True), ("~", None), ("null", None), ("", None), ("'3'", "3"),
        ("<<", "<<"), ("=", "="), ("0b1", "0b1"), ("!!str 3", "3"), ("3.", 3.0),
    ],
)  # fmt: skip
def test_yaml_has_the_values_of_its_core_schema(written, value):
    found = read_yaml(f"a: {written}")[0]["a"]
    assert (found, type(found)) == (value, type(value))
    assert isnan(read_yaml(".nan")[0])


def test_the_papers_semantics_is_three_lines(tmp_path):
    text = FILE.replace("presence: keep\nweight: 8", "presence: free\nrepeat: first\nweight: hard")
    assert Rules.load(write(tmp_path, text)).defaults == RuleDefaults("free", "first", inf)


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


@settings(max_examples=500)  # make fuzz draws a million hostile inputs
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


@settings(max_examples=250)
@given(st.text(max_size=80))
def test_any_yaml_is_rules_or_an_error_of_ours(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("fuzz") / "rules.yaml"
    path.write_text("fields: {a: {label: x}}\n" + text, encoding="utf-8", errors="replace")
    outcome(Rules.load, path)


@pytest.mark.parametrize(
    ("kind", "text", "line", "column"),
    [
        ("yaml", "fields: {a: {label: a}}\nrules:\n  - a == b\n", 3, 10),
        ("yaml", "fields: {a: {label: a}}\nrules:\n  - {check: 'a == = 3'}\n", 3, 19),
        ("yaml", "fields: {a: {label: a}}\nrules:\n  - check: >\n      a == b\n", 3, None),
        ("yaml", "fields: [\n", 2, 1),
        ("yaml", "fields:\n  a: {label: a, typ: money}", 2, None),
        ("json", "{\n  3", 2, 3),
        ("toml", "a = 1\nb = [3 3]", 2, 8),
    ],
)
def test_errors_know_the_line_and_the_column(kind, text, line, column):
    with pytest.raises(RulesError) as caught:
        parse_rules(text.encode(), kind)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_rules_without_a_folder_read_no_files():
    with pytest.raises(RulesError, match="expected a list: no files are read"):
        parse_rules(b"fields: {a: {label: a, in: /etc/passwd}}")
    with pytest.raises(RulesError, match="unknown kind of rules 'py'; kinds: yaml, toml, json"):
        parse_rules(b"", "py")
