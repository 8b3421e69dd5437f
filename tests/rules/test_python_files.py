"""Rules in a Python file, and rules added to those of a file."""

from __future__ import annotations

import pickle
import subprocess
import sys
from decimal import Decimal

import pytest

import lawful
from lawful import Field, Rule, Rules, RulesError
from lawful.rules import RuleDefaults
from lawful.rules.python_files import load_python

CODE = """
import lawful

@lawful.rule(reads=("b", "a"), weight=3)
def second(b, a):
    return a > b

first = lawful.Rule("a > 0")
again = second
"""
RULES = Rules(
    [Field("a", "a", "money"), Field("b", "b", "money")],
    ["b > 0"],
    scheme="IO",
    defaults=RuleDefaults(weight=2, presence="free"),
)


def write(tmp_path, code):
    path = tmp_path / "more.py"
    path.write_text(code)
    return path


def test_added_rules_keep_what_the_file_says():
    """Rules made of the fields and rules of others lost their defaults and their scheme."""
    rules = RULES.with_rules("a > 0", Rule("a > b", weight=5))
    assert [(rule.id, rule.weight) for rule in rules.parsed] == [
        ("b > 0", 2), ("a > 0", 2), ("a > b", 5)
    ]  # fmt: skip
    assert (rules.fields, rules.scheme, rules.defaults) == (RULES.fields, "IO", RULES.defaults)
    assert len(RULES.rules) == 1
    with pytest.raises(RulesError, match="rules 1 and 2 have one id, 'b > 0'"):
        RULES.with_rules("b > 0")


def test_the_rules_of_a_python_file_come_in_order_and_once(tmp_path):
    found = load_python(write(tmp_path, CODE))
    assert [(rule.id, rule.weight) for rule in found] == [("second", 3), ("a > 0", None)]
    assert found[0].check(Decimal(1), Decimal(2)) is True


def test_another_process_can_use_them(tmp_path):
    """The function of a decorated rule cannot be found by its name, so it could not be pickled."""
    rules = RULES.with_rules(*load_python(write(tmp_path, CODE)))
    script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).rules[1].check(1, 2))"
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, input=pickle.dumps(rules), capture_output=True, check=True)
    assert found.stdout == b"True\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\ndef f(:\n", r"more\.py, line 2: invalid syntax"),
        ("x = 1\n\nx / 0\n", r"more\.py, line 3: ZeroDivisionError: division by zero"),
        ("def f():\n    raise SystemExit(3)\nf()\n", r"more\.py, line 2: SystemExit: 3"),
        ("import nothing_of_this_name", r"more\.py, line 1: ModuleNotFoundError: No module"),
        ("import lawful\nlawful.Rule(3)", r"more\.py, line 2: check is 3, expected an expr"),
        ("open('nowhere')", r"more\.py, line 1: FileNotFoundError"),
        ("x = 1\0", r"more\.py.*null bytes"),
        ("def rule(a): return a > 0", r"more\.py: no rules; make a function a rule with @lawful"),
    ],
)
def test_files_that_are_no_rules_in_python(tmp_path, code, message):
    with pytest.raises(RulesError, match=message):
        load_python(write(tmp_path, code))


def test_a_python_file_that_is_not_there(tmp_path):
    with pytest.raises(RulesError, match=r"cannot read .*nowhere\.py: No such file"):
        load_python(tmp_path / "nowhere.py")


def test_an_error_of_the_function_names_document_and_rule(tmp_path):
    code = "import lawful\n@lawful.rule(reads='a')\ndef bad(a):\n    return a / 0\n"
    rules = RULES.with_rules(*load_python(write(tmp_path, code)))
    scores = lawful.Scores.from_probs([[1.0, 0.0]], ["a", "b"])
    with pytest.raises(lawful.RuleFailure, match="document 'd', rule 'bad': DivisionByZero"):
        lawful.decode(lawful.Document("d", ["5"]), scores, rules)
