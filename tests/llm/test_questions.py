"""The smallest question: which fields are asked for again, and what an answer changes."""

import json

import pytest

from lawful import Candidates, InputError, Rules
from lawful.candidates.choose import laid_out
from lawful.documents.records import Scored
from lawful.llm import Client
from lawful.llm.extraction import Asking, settle_each
from lawful.llm.page_text import Line
from lawful.llm.questions import _pinned, crop, doubts_of, partial
from lawful.pipeline.call import Call
from tests.llm.bills import GOOD, RULES, SCHEMA, document, texts, values
from tests.llm.scripted import Raw, completion, serving

SURE = {"total": 53.28, "net": 48, "tax": 5.28}


def doubts(samples, rules=RULES, page=None, known=()):
    candidates = Candidates.from_samples(samples)
    found = laid_out(candidates, rules, page)
    call = Call(found.rules)
    decoding = call.decode(Scored(found.document, found.scores))
    return doubts_of(found, decoding, call, len(samples), known)


def test_a_field_whose_answer_changes_others_comes_first():
    rules = Rules.from_json_schema(SCHEMA, ["total == net + tax"]).with_defaults(weight=2)
    two = [SURE, {"total": 63.28, "net": 48, "tax": 15.28}]
    first, second, *_ = doubts(two, rules)
    assert {first.field, second.field} == {"total", "tax"}
    assert first.worth > 0.5
    assert any(f"{first.field} '" in why for why in first.why)


def test_what_contradicts_what_is_said():
    rules = RULES.with_defaults(weight=1)
    found = {d.field: d for d in doubts([SURE, {**SURE, "total": 5.28}], rules)}
    assert found["total"].why == (
        "an answer has total '53.28'",
        "an answer has total '5.28', but total is 5.28, net + tax is 53.28",
    )


def test_a_rule_that_no_answer_obeys_puts_its_fields_in_doubt():
    wrong = {**SURE, "tax": 6}
    found = doubts([wrong] * 5, RULES.with_defaults(weight=2))
    assert {d.field for d in found} == {"total", "net", "tax"}
    assert "total == net + tax" in found[0].why[0]


def test_answers_that_agree_and_hold_are_in_no_doubt():
    assert doubts([SURE] * 3) == []
    assert doubts([SURE]) == []


def test_one_answer_with_nothing_to_check_it_is_in_doubt():
    alone = Rules.from_json_schema(SCHEMA)
    assert {d.field for d in doubts([SURE], alone)} == {"total", "net", "tax"}
    assert doubts([SURE] * 5, alone) == []
    assert {d.field for d in doubts([SURE], alone, known={"tax"})} == {"total", "net"}


def test_a_value_that_is_printed_nowhere_is_in_doubt():
    alone = Rules.from_json_schema(SCHEMA)
    [found] = doubts([{**SURE, "tax": 9.99}] * 5, alone, document())
    assert (found.field, found.why) == ("tax", ("'9.99' is printed nowhere",))


@pytest.mark.parametrize("name", ["total", "net", "tax"])
def test_pinning_is_choosing_with_this_candidate_alone(name):
    samples = [SURE, {**SURE, "total": 5.28, "tax": None}, {**SURE, "net": 5.28}]
    candidates = Candidates.from_samples(samples)
    found = laid_out(candidates, RULES)
    call = Call(found.rules)
    decoding = call.decode(Scored(found.document, found.scores))
    tried = list(_pinned(name, found, decoding))
    assert len(tried) == 1
    for text, scores in tried:
        alone = candidates.with_slots(
            slot if slot.path != (name,)
            else slot._replace(log_probs={}) if text == "missing"
            else slot._replace(log_probs={t: p for t, p in slot.log_probs.items()
                                          if repr(t) == text}, log_missing=float("-inf"))
            for slot in candidates.slots
        )  # fmt: skip
        expected = laid_out(alone, RULES)
        best = call.decode(Scored(expected.document, expected.scores))
        pinned = call.decode(Scored(found.document, scores))
        missing = [slot.log_missing for slot in candidates.slots if slot.path == (name,)]
        less = missing[0] if text == "missing" else 0.0  # a slot without texts is left out
        assert pinned.worth == pytest.approx(best.worth + less)
        assert pinned.values(name) == best.values(name)


def test_a_part_of_an_answer_has_no_vote_about_the_rest():
    said = partial('```json\n{"total": 1, "tax": null, "net": 3}\n```', [("total",), ("tax",)])
    one, two = Candidates.from_samples([SURE, said]).slots[:2]
    assert set(one.log_probs) == {"53.28", "1"}
    assert (two.path, set(two.log_probs), two.log_missing) == (("net",), {"48"}, float("-inf"))
    nested = partial('{"a": {"b": 1, "c": 2}, "d": [{"e": 3}]}', [("a", "b"), ("d",)])
    assert nested == '{"a": {"b": 1}, "d": [{"e": 3}],'
    assert [partial(bad, [("a",)]) for bad in (None, "no", "[1, 2]", '{"b": 1}')] == [None] * 4


def test_a_question_shows_the_lines_around_its_fields():
    page = document()
    found = laid_out(Candidates.from_samples([GOOD]), RULES, page)
    lines = [Line(0, "x" * 99, (i,)) for i in range(len(page))]
    shown = [line.words[0] for line in crop(lines, found, {"total"})]
    assert shown == [7, 8, 9]  # the total is the last word
    assert crop(lines[:3], found, {"total"}) == lines[:3]


def run(script, questions, samples=2):
    with serving(script) as server, Client(server.url, model="m", retries=0) as client:
        asking = Asking(client, SCHEMA, Call(RULES.with_defaults(weight=2)), samples, questions)
        [found] = settle_each([document()], asking)
        return found, server.requests


def model(body):
    """A model that reads well only what it is asked for alone."""
    asked = body["response_format"]["json_schema"]["schema"]["properties"]
    good = {name: GOOD[name] for name in asked}
    bad = {**good, "total": 8, "tax": 40}
    return texts(*[good if len(asked) < 4 else bad] * body.get("n", 1))


def test_fields_in_doubt_are_asked_for_again_and_nothing_else():
    found, requests = run(model, 2)
    assert values(found.result)["total"] == ["53.28"]
    assert values(found.result)["tax"] == ["5.28"]
    first, second = requests
    wanted = second["response_format"]["json_schema"]["schema"]["properties"]
    assert set(wanted) == {"total", "net", "tax"}
    said = second["messages"][1]["content"]
    assert "total == net + tax" in said
    assert len(json.dumps(second["messages"])) < len(json.dumps(first["messages"]))


def test_no_more_questions_are_asked_than_allowed():
    def stubborn(body):
        return texts(*[{**GOOD, "total": 8, "tax": 40}] * body.get("n", 1))

    for questions in (0, 1, 2):
        _, requests = run(stubborn, questions)
        assert len(requests) <= 1 + questions


@pytest.mark.parametrize("bad", [Raw("no", status=400), Raw("<html>"), completion("no")])
def test_a_question_that_fails_leaves_what_is_known(bad):
    def script(body):
        whole = len(body["response_format"]["json_schema"]["schema"]["properties"]) == 4
        return model(body) if whole else bad

    found, requests = run(script, 2)
    assert values(found.result)["net"] == ["48"]
    assert len(requests) > 1


def test_questions_out_of_range_are_refused():
    with pytest.raises(InputError, match="questions is 11, expected 0 to 10"):
        run(model, 11)
