"""Regular expressions: Python's language, a time limit, and the same verdict everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import lawful
from lawful import Budget, Document, Field, RuleFailure, Rules, RulesError, Scores
from lawful.rules.language.patterns import MAX_CHARACTERS, compiled
from tests.helpers import run

SLOW, LONG = "(a|aa)+$", "a" * 60 + "!"
"""Python's own engine takes years for this."""

PATTERNS = [
    *(r"\w", r"\W", r"\s", r"\S", r"\d", r"\D", ".", r"[\w.-]", r"[^\W\d_]", r"[\s\S]", r"[\W\d]"),
    *("(?i)i", "(?i)[a-z]", "(?i)[^i]", "(?i)k", "(?i)ß", "(?i)[H-J]", "(?ai)[a-k]", "(?ai)i"),
    *("a{e<=1}", "a{e}", "a{1}", "{1", "a{,2}", "[[a]", "[--a]", "[a&&b]", "[a||b]", r"\x41"),
    *("(?a:\\w)", "(?i:I)", "(?-i:I)", "(?s:.)", "(?m:^a$)", "(?x) a # [", "^a", "a$", r"\Aa\Z"),
    *(
        r"\ba",
        r"a\B",
        r"\B",
        "a*?b",
        "a++b",
        "(?>a|ab)b",
        "(?=a)",
        "(?!a).",
        "(?<=a)b",
        "(?<!a)b",
        "(?!)",
    ),
    *(r"(a)\1", r"(a)?(?(1)b|1)", "(?P<x>a)(?P=x)", "a|ab|", "()", "(?:a|b)*1", "²", "[]a]"),
]
TEXTS = [
    "", "ab", "aab", "a\n", "\na", "a b", "aa1", "ae<=1", "a{e<=1}", "a{e}", "{1", "[a", "a--z",
    *"abzkiIİıKſßẞ1²_-.[]&|\\A é\x1c\t\n\u0301٣½‿ ",
]  # fmt: skip


def scored(text):
    return Document("d", [text]), Scores.from_probs([[0.3, 0.7]], ["O", "B-x"])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_to_python(pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = re.compile(pattern)
    for text in TEXTS:
        assert compiled(pattern).matches(text) == bool(expected.fullmatch(text)), text
        assert compiled(pattern).occurs_in(text) == bool(expected.search(text)), text


@pytest.mark.parametrize(
    "pattern",
    [
        *("(", "*a", "a{2,1}", r"\p{L}", "(?<x>a)", "(?|a|b)", "(?R)", r"\K", "(?<=a*)b", "[b-a]"),
        *("a{9999999}", "(?:(?:a{1000}){1000}){1000}", "(?:(?=a)){1000000}", "(?:a|b{999}){999}"),
        *("a{99999999999}", "(" * 900 + ")" * 900, "(?:" * 60 + "a" + ")?" * 60, r"(?i)(a)\1"),
    ],
)
def test_other_patterns_are_refused(pattern):
    with pytest.raises(RulesError, match="bad pattern"):
        compiled(pattern)


def test_the_engine_is_loaded_for_patterns_only():
    script = (
        "import lawful, sys; lawful.Rules([lawful.Field('a', 'a')], ['present(a)']);"
        "print('regex' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"False\n"


def test_patterns_have_a_length():
    assert compiled("a" * MAX_CHARACTERS)
    with pytest.raises(RulesError, match="10,001 characters, expected at most 10,000"):
        compiled("a" * (MAX_CHARACTERS + 1))


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk", "paths", "argmax"])
@pytest.mark.parametrize(
    ("rules", "where"),
    [
        (Rules([Field("x", "x", pattern=SLOW)]), "field 'x': "),
        (Rules([Field("x", "x")], [f"matches(x, '{SLOW}')"]), ""),
    ],
    ids=["field", "rule"],
)
def test_a_slow_pattern_is_an_error_of_its_document(monkeypatch, decoder, rules, where):
    monkeypatch.setattr("lawful.rules.language.patterns.SECONDS", 0.05)
    document, scores = scored(LONG)
    began = time.process_time()
    with pytest.raises(RuleFailure, match=f"document 'd'.*{where}pattern .* than 0.05 s on 'aa"):
        lawful.decode(document, scores, rules, decoder=decoder)
    assert time.process_time() - began < 2


def test_a_budget_of_time_holds_for_many_slow_matches():
    """Each match took half its limit, and the clock was read after every 64 of them."""
    words = [f"{'a' * 24}{i}!" for i in range(60)]
    scores = Scores.from_probs(np.full((60, 2), 0.5), ["O", "B-x"])
    rules = Rules([Field("x", "x", pattern=SLOW)], ["count(x) == 60"])
    began = time.process_time()
    lawful.decode(Document("d", words), scores, rules, budget=Budget(seconds=0.2))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("decoder", ["exact", "lazyk", "argmax"])
def test_slow_matches_of_one_document_have_a_second_together(monkeypatch, decoder):
    """Each match is within the limit, and there are as many as the document has words."""
    monkeypatch.setattr("lawful.rules.language.patterns.SECONDS", 0.3)
    words = [f"{'a' * 23}{i}!" for i in range(200)]
    scores = Scores.from_probs(np.tile([0.1, 0.9], (200, 1)), ["O", "B-x"])
    rules = Rules([Field("x", "x", pattern=SLOW)])
    document = Document("d", words)
    with pytest.raises(RuleFailure, match=r"than 0.3 s, together with slow matches before, on"):
        lawful.decode(document, scores, rules, decoder=decoder)
    document, scores = scored("a" * 23 + "!")  # the next one has its own time
    lawful.decode(document, scores, rules, decoder=decoder)


def test_many_quick_matches_are_not_slow(monkeypatch):
    monkeypatch.setattr("lawful.rules.language.patterns.SECONDS", 0.03)
    words = [f"{i}.00" for i in range(5000)]
    scores = Scores.from_probs(np.tile([0.1, 0.9], (5000, 1)), ["O", "B-x"])
    rules = Rules([Field("x", "x", pattern=r"[0-9]+\.[0-9][0-9]")])
    assert len(lawful.decode(Document("d", words), scores, rules).fields["x"]) == 5000


def test_a_slow_document_is_a_bad_line_of_a_batch(tmp_path):
    (tmp_path / "rules.yaml").write_text(f"fields: {{x: {{label: x, pattern: '{SLOW}'}}}}")
    documents = [lawful.Scored(*scored(text)) for text in ("aaa", LONG)]
    lawful.write_jsonl(tmp_path / "d.jsonl", documents)
    found = run("decode", tmp_path / "d.jsonl", "--rules", tmp_path / "rules.yaml")
    assert found.stdout.count('"id":"d"') == 1
    assert "document 'd', field 'x': pattern '(a|aa)+$' takes more than 1 s on 'aa" in found.stderr
