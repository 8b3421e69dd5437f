"""What messages say to people who write rules as in another language, and doubts about rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lawful import Rules, RulesError
from lawful.base.errors import RulesWarning
from lawful.rules.files import parse_rules

FILE = """fields:
  net: {label: net, type: money}
  gross: {label: gross, type: money}
  rate: {label: rate, type: percent}
  iban: {label: iban, type: text}
  quantity: {label: quantity, type: number}
  amount: {label: amount, type: money}
rows:
  line:
    fields: [quantity, amount]
rules:
  - gross >= net
"""


def error_of(text):
    with pytest.raises(RulesError) as found:
        parse_rules(text.encode())
    return found.value


@pytest.mark.parametrize(
    ("check", "column", "hint"),
    [
        ("net > 0 && gross > 0", 9, "write 'and' for &&"),
        ("net > 0 AND gross > 0", 9, "write 'and' for AND"),
        ("net > 0 || gross > 0", 9, "write 'or' for ||"),
        ("NOT (net > 0)", 1, "write 'not' for NOT"),
        ("gross == net * 19%", 16, "write 19 % as 0.19, or as * 19 / 100"),
        ("gross == 5.5 % net", 10, "write 5.5 % as 0.055, or as * 5.5 / 100"),
        ("net == round(gross * 0,19, 2)", 8, "write 0.19 for 0,19"),
        ("net == sum(amount where quantity = 2)", 8, "write == to compare"),
        ("net = gross", 5, "write == to compare"),
        ("net <> gross", 5, "write != for <>"),
        ("iban == 'a = 1 %' && net > 1", 19, "write 'and' for &&"),
        ("seller.iban == 'x'", 1, "did you mean 'iban'?"),
        ("qty > 1", 1, "did you mean 'quantity'?"),
        ("net == SUM(amount)", 8, "did you mean 'sum'?"),
        ("net == gross − net", 14, "write - for −"),
        ("net ≤ gross", 5, "write <= for ≤"),
    ],
)
def test_expressions_in_other_notations(check, column, hint):
    message = str(error_of(f'{FILE}  - "{check}"\n'))
    assert hint in message
    assert f"(column {column})" in message


@pytest.mark.parametrize(
    ("wrong", "right", "line", "said"),
    [
        ("[quantity,", "[qty,", 10, "did you mean 'quantity'?"),
        ("net, type: money}", "net, required: true}", 2, "write presence: required"),
        ("net, type: money}", "net, type: amount}", 2, "did you mean 'money'?"),
        ("net, type: money}", "net, type: iban}", 2, "check: iban(name of the field)"),
        ("rate, type: percent}", "rate, type: percent", 4, "this bracket is open until line 5"),
        ("[quantity, amount]", "[quantity, amount", 10, "this bracket is open until line 11"),
    ],
)
def test_files_that_are_nearly_right(wrong, right, line, said):
    assert wrong in FILE
    error = error_of(FILE.replace(wrong, right))
    assert error.line == line
    assert f"line {line}" in str(error)
    assert said in str(error)


@pytest.mark.parametrize(
    ("check", "doubtful"),
    [
        ("rate == 0.19", True),
        ("0.07 == rate", True),
        ("rate in (0.07, 19)", True),
        ("net > 0 and rate < 0.5", True),
        ("rate == 19", False),
        ("rate in (0, 7, 19)", False),
        ("rate / 100 == 0.19", False),
        ("net == 0.19", False),
        ("net == round(gross * rate, 2)", True),
        ("net == (100 + rate) * gross", False),
        ("net == gross * rate / 100", False),
        ("net == 0.01 * rate * gross", False),
    ],
)
def test_a_percent_that_is_compared_with_a_fraction_is_doubtful_and_works(
    tmp_path, check, doubtful
):
    file = tmp_path / "rules.yaml"
    file.write_text(f"{FILE}  - {{id: r, check: '{check}'}}\n")
    if doubtful:
        with pytest.warns(RulesWarning, match=r"rules.yaml: rule 'r': rate is a percent: "):
            rules = Rules.load(file)
    else:
        rules = Rules.load(file)
    assert bool(rules.doubts) == doubtful


def test_the_command_line_warns_of_doubtful_rules_and_goes_on(tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_text(FILE + "  - rate == 0.19\n")
    command = [sys.executable, "-m", "lawful", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "rate is a percent: 19 % is 19 and not 0.19; write 19, unless 0.19 % is meant" in (
        " ".join(done.stderr.split())
    )
    assert done.stderr.count("percent") == 1
    assert "valid, but see the warnings" in " ".join(done.stderr.split())
