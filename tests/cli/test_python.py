"""``--python``: rules of a Python file on the command line."""

from __future__ import annotations

import pytest

from tests.helpers import DOCUMENTS, ROOT, RULES, demo_lines, run


@pytest.fixture
def file(tmp_path):
    """The example of the documentation."""
    code = (ROOT / "docs/rules.md").read_text().split("```python\n")[-1].split("```")[0]
    path = tmp_path / "round_cash.py"
    path.write_text(code)
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_its_rules_are_checked(file, workers):
    found = run("decode", "-", "--rules", RULES, "--python", file, "--workers", workers,
                stdin=demo_lines(20))  # fmt: skip
    for line in found.stdout.splitlines():
        assert "paid_with_round_cash" in line
    assert len(found.stdout.splitlines()) == 20


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules", RULES),
        ("check", DOCUMENTS, "--rules", RULES, "--labels", "argmax"),
        ("explain", DOCUMENTS, "--rules", RULES),
    ],
    ids=lambda arguments: arguments[0],
)
def test_other_commands_take_it_too(file, arguments):
    assert "paid_with_round_cash" in run(*arguments, "--python", file).stdout


def test_its_errors_are_messages(tmp_path):
    (tmp_path / "bad.py").write_text(
        "import lawful\n@lawful.rule(reads='nothing')\ndef f(nothing): return True\n"
    )
    found = run("decode", DOCUMENTS, "--rules", RULES, "--python", tmp_path / "bad.py")
    assert found.returncode == 2
    assert "bad.py: rule 'f': reads unknown field 'nothing'; fields: " in found.stderr
    found = run("calibrate", DOCUMENTS, "--python", tmp_path / "bad.py")
    assert "--python adds to the rules of --rules, which is not given" in found.stderr
    assert "Traceback" not in found.stderr
