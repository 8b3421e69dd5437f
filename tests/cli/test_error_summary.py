"""Messages about bad lines: what repeats is said once."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from lawful import FailedDocument, InputError
from lawful.cli.error_summary import MAX_KINDS, MAX_RANGES, Complaints
from tests.helpers import DOCUMENTS, run


def complaints_of(capsys, *bad):
    counts = Counter()
    with Complaints("skip", counts) as complaints:
        assert list(complaints.without_bad([*bad, "fine"])) == ["fine"]
    assert counts == {"bad lines": len(bad)}
    return capsys.readouterr().err.splitlines()


def test_a_message_is_said_once_with_the_numbers_of_the_other_lines(capsys):
    bad = [FailedDocument(n, f"document 'r{n}' has {n} words") for n in (2, 3, 4, 7, 9, 10)]
    assert complaints_of(capsys, *bad, FailedDocument(8, "no JSON")) == [
        "line 2: document 'r2' has 2 words",
        "line 8: no JSON",
        "5 more lines with the same problem as line 2: 3-4, 7, 9-10",
    ]


def test_no_input_prints_without_end(capsys):
    bad = [FailedDocument(2 * n, f"problem {'x' * (n % 50)}") for n in range(1, 5000)]
    said = complaints_of(capsys, *bad)
    assert len(said) == 2 * MAX_KINDS + 1
    assert max(map(len, said)) < 80 + 6 * MAX_RANGES
    assert said[-1] == "2,999 more bad lines with other problems"


def test_the_first_bad_line_may_be_fatal():
    with Complaints("fail", Counter()) as complaints, pytest.raises(InputError, match="line 3: x"):
        complaints.add(FailedDocument(3, "x"))


def test_a_wrong_label_name_is_said_once_and_nothing_is_usable(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("fields: {total: {label: totl, type: money}}")
    found = run("decode", DOCUMENTS, "-r", rules)
    assert found.returncode == 2
    said = found.stderr.splitlines()
    assert len(said) == 3
    assert "'totl'" in said[0]
    assert "did you mean 'total'?" in said[0]
    assert said[1].startswith("47 more lines with the same problem as line 1: 2-48")


def test_repeated_ids_and_word_pieces_are_said_once(tmp_path):
    line = {
        "id": "a", "words": ["7", ".00"], "joins": [False, True], "labels": ["O", "B-total"],
        "probs": [[0.5, 0.5], [0.5, 0.5]],
    }  # fmt: skip
    rules = tmp_path / "rules.yaml"
    rules.write_text("fields: {total: {label: total, type: money}}")
    lines = "".join(json.dumps({**line, "id": id_}) + "\n" for id_ in "abacada")
    found = run("decode", "-", "-r", rules, stdin=lines)
    assert found.stderr.splitlines()[:2] == [
        "3 documents with the id of an earlier one: 'a' in line 3, 'a' in line 5, 'a' in line 7",
        "7 documents of word pieces, which were labelled one by one: --pool mean merges them into "
        "words before decoding",
    ]
    merged = run("decode", "-", "-r", rules, "--pool", "mean", stdin=lines)
    assert "word pieces" not in merged.stderr
