"""Answers of language models as JSON: whole ones as they are, others as far as they go."""

from __future__ import annotations

import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Candidates, InputError
from lawful.candidates import read_answer

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(min_size=1), json_values, min_size=1, max_size=5)


@given(objects, st.sampled_from(["{}", "```json\n{}\n```", "Here it is:\n{}\nIs it right?"]))
def test_strict_json_is_read_as_it_is(value, around):
    text = around.replace("{}", json.dumps(value, indent=1))
    answer = read_answer(text)
    assert (answer.value, answer.problem, answer.cut) == (value, None, False)


@given(objects, st.integers(0, 10_000), st.booleans())
def test_a_cut_answer_gives_part_of_its_values_and_nothing_else(value, end, plain):
    text = json.dumps(value, ensure_ascii=plain)
    end %= len(text)
    answer = read_answer(text[:end])
    if end == 0:
        assert answer.problem == "an empty answer"
    else:
        assert answer.cut
        assert part_of(answer.value, value)


def part_of(some, whole):
    match some:
        case dict():
            return isinstance(whole, dict) and all(
                name in whole and part_of(each, whole[name]) for name, each in some.items()
            )
        case list():
            pairs = zip(some, whole, strict=False)
            return len(some) <= len(whole) and all(part_of(a, b) for a, b in pairs)
    return some == whole


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
        ("{'a': None, 'b': True, c: 1.5}", {"a": None, "b": True, "c": 1.5}),
        ('{"a": 1, // one\n "b": 2 /* two */, # more\n "c": 3}', {"a": 1, "b": 2, "c": 3}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "x"\n "b": "y"}', {"a": "x", "b": "y"}),
        ('{"a": "5" pipe", "b": "it\'s",}', {"a": '5" pipe', "b": "it's"}),
        ("{'a': 'it's'}", {"a": "it's"}),
        ('{"a": 1 + 2, "b": 03-7932 1023,}', {"a": "1 + 2", "b": "03-7932 1023"}),
        ('{"a": 36,364, "b": 19,80}', {"a": "36,364", "b": "19,80"}),
        ('{"a": [1,2,...], "b": NaN, "c": 1e999}', {"a": [1, 2], "b": None, "c": "1e999"}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": "change": 0, "b": 1}', {"a": "change", "b": 1}),
        ('{"a": "caf\\u00e9 \\q", }', {"a": "café q"}),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
        ('<think>{"a": 1, "c": 2}</think>{"b": 2}', {"b": 2}),
        ('{"</think>": {"a": 1}}', {"</think>": {"a": 1}}),
        ('<think>[so {"a": 1}? [</think>{"b": "</think>"}', {"b": "</think>"}),
        ('The {form} is filled in: {"a": 1}', {"a": 1}),
        ('[1]: see {"a": 1, "b": [{}]}', {"a": 1, "b": [{}]}),
        (b'{"a": 1}', {"a": 1}),
    ],
)
def test_what_models_make_of_json_is_read(text, value):
    answer = read_answer(text)
    assert (answer.value, answer.problem, answer.cut) == (value, None, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": {"c": [1, {"d": "x", "e": "y', {"a": 1, "b": {"c": [1, {"d": "x"}]}}),
        ('```\n{"a": "x", "b": 12\n```', {"a": "x", "b": 12}),
        ('{"a": 1\n\nI hope that this helps.', {"a": 1}),
        ('{"a": 12', {}),
    ],
)
def test_a_cut_answer_gives_what_it_has(text, value):
    answer = read_answer(text)
    assert (answer.value, answer.problem, answer.cut) == (value, None, True)


@pytest.mark.parametrize(
    ("given_answer", "problem"),
    [
        (None, "no answer"),
        (TimeoutError("30 s"), "TimeoutError: 30 s"),
        ("", "an empty answer"),
        ("I cannot read this.", "no object of JSON: 'I cannot read this.'"),
        ("null", "no object of JSON: 'null'"),
        ("x" * 2_000_001, "the answer has 2,000,001 characters, over 2,000,000"),
    ],
)
def test_an_answer_without_json_has_a_problem(given_answer, problem):
    answer = read_answer(given_answer)
    assert (answer.value, answer.problem) == (None, problem)


def test_notes_say_what_was_no_json():
    assert read_answer('{a: 1}\n{"b": 1}').notes == ("the longest of 2 values of JSON",)
    assert read_answer("{a: [1, ...}").notes == (
        "names without quotes", "values left out: ...", "a missing ]",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[",
        '{"a":',
        '{"a":1,',
        '{"a":1, b ',
        '{"a" ',
        "[1,",
        '{"a": "x" y',
        "{/*",
        "\"[{'",
        "{ ",
    ],
    ids=repr,
)
def test_time_is_linear_in_the_length(text):
    began = perf_counter()
    read_answer(text * (200_000 // len(text)))
    assert perf_counter() - began < 5  # some 0.5 s; many minutes if it were quadratic


def test_samples_may_be_answers_of_which_some_failed():
    answers = [
        '```json\n{"a": "x", "b": 1}\n```',
        None,
        "Sorry.",
        {"a": "y"},
        '[{"a": "x"}]',
        "[1]",
    ]
    found = Candidates.from_samples(answers, [0.0] * 6)
    assert found.failed == (
        "sample 1: no answer",
        "sample 2: no object of JSON: 'Sorry.'",
        "sample 5 is 1, expected an object",
    )
    assert {slot.path: set(slot.log_probs) for slot in found.slots} == {
        ("a",): {"x", "y"}, ("b",): {"1"},
    }  # fmt: skip
    with pytest.raises(InputError, match="no sample can be read: sample 0: no answer"):
        Candidates.from_samples([None, ""])


def test_what_a_cut_answer_did_not_reach_is_not_missing():
    whole = {"a": "x", "lines": [{"n": "1", "p": "2"}, {"n": "3", "p": "4"}], "b": "y"}
    cut = '{"a": null, "lines": [{"n": "1", "p": "2"}, {"n": '
    slots = Candidates.from_samples([whole, whole, cut]).slots
    assert [(slot.path[-1], slot.item) for slot in slots if slot.absent_in] == [("a", None)]
    short = {"a": "x", "lines": [{"n": "1", "p": "2"}], "b": "y"}
    slots = Candidates.from_samples([whole, whole, short]).slots
    assert [(slot.path[-1], slot.item) for slot in slots if slot.absent_in] == [("n", 1), ("p", 1)]
