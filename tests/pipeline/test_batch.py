"""Decoding many documents: order, failures, progress, and leaving early."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import exp

import numpy as np
import pytest

import lawful
from lab import receipts as demo
from lawful import (
    Budget,
    Decoding,
    Document,
    FailedDocument,
    Field,
    InputError,
    Rules,
    Scored,
    Scores,
    SpanScores,
    decode,
    decode_many,
    read_jsonl,
    write_jsonl,
)
from lawful.decoders import decode_checked
from lawful.io.jsonl import read_lines
from lawful.pipeline.batch import decode_lines, decode_records, score_records
from lawful.pipeline.call import Call, DecodeOptions, Options, decode_one
from lawful.pipeline.workers import FORKS

PAGES = list(demo.generate(40, seed=3, words=(24, 60)))
RULES = Rules.load(demo.RULES)

workers = pytest.mark.parametrize("workers", [1, 2])


@workers
def test_decodings_come_in_order_and_are_those_of_decode(workers):
    seen = []
    found = list(decode_many(PAGES, RULES, workers=workers, progress=seen.append))
    assert [d.id for d in found] == [page.document.id for page in PAGES]
    assert seen == list(range(1, len(PAGES) + 1))
    for page, decoding in zip(PAGES, found, strict=True):
        expected = decode(page.document, page.scores, RULES)
        assert decoding.labels == expected.labels
        assert decoding.worth == pytest.approx(expected.worth)


def test_a_list_is_not_sent_to_workers_and_an_iterator_gives_the_same(monkeypatch):
    def without_time(documents):
        found = decode_many(documents, RULES, workers=2)
        return [replace(decoding, seconds=0) for decoding in found]

    sent = without_time(iter(PAGES))

    def refuse(_):
        raise AssertionError("sent")

    if FORKS:
        monkeypatch.setattr(Scored, "__reduce__", refuse)
    assert without_time(PAGES) == without_time(tuple(PAGES)) == sent


@workers
def test_a_bad_document_is_reported_and_the_rest_go_on(workers):
    bad = Document("bad", ["one"]), PAGES[0].scores
    documents = [PAGES[0], bad, "nonsense", (PAGES[1].document, PAGES[1].scores)]
    found = list(decode_many(documents, RULES, workers=workers))
    assert [type(result) for result in found] == [
        Decoding,
        FailedDocument,
        FailedDocument,
        Decoding,
    ]
    assert found[1].id == "bad"
    assert "1 word," in found[1].message
    assert found[2].id is None
    assert "found str, expected a Scored" in found[2].message


@workers
def test_a_document_too_large_for_memory_is_reported_and_the_rest_go_on(workers, monkeypatch):
    def too_large(document, *rest, **options):
        if document == PAGES[1].document:
            raise MemoryError
        return decode_checked(document, *rest, **options)

    monkeypatch.setattr(lawful.pipeline.call, "decode_checked", too_large)
    found = list(decode_many(PAGES[:3], RULES, workers=workers))
    assert [type(result) for result in found] == [Decoding, FailedDocument, Decoding]
    assert found[1].message == "not enough memory to decode it"


def test_arguments_are_checked_once_per_call_and_not_per_document(monkeypatch):
    call = Call(RULES, "exact", Budget(candidates=500))
    monkeypatch.setattr(lawful.decoders, "check_call", None)
    assert [call.decode(page).decoder for page in PAGES[:3]] == ["exact"] * 3


@workers
def test_documents_are_taken_as_they_are_needed(workers):
    taken = []

    def endless():
        while True:
            taken.append(len(taken))
            yield PAGES[len(taken) % len(PAGES)]

    results = decode_many(endless(), RULES, workers=workers)
    for _ in range(5):
        assert isinstance(next(results), Decoding)
    results.close()
    assert len(taken) < 300


def test_rules_with_functions_go_to_the_workers():
    limit = 10**9

    def small(total):
        return total < limit

    rules = Rules(RULES.fields, [*RULES.rules, lawful.rule(reads="total")(small)])
    assert all(isinstance(d, Decoding) for d in decode_many(PAGES[:20], rules, workers=2))


def test_what_is_wrong_for_all_documents_is_said_at_once():
    with pytest.raises(InputError, match="rules is of type str, expected a Rules"):
        decode_many(PAGES, "rules.yaml")
    with pytest.raises(InputError, match="documents is None, expected an iterable"):
        decode_many(None, RULES)
    with pytest.raises(InputError, match="workers is 0, expected a count from 1 to 256"):
        decode_many(PAGES, RULES, workers=0)
    with pytest.raises(InputError, match="unknown decoder 'best'"):
        decode_many(PAGES, RULES, decoder="best")
    with pytest.raises(InputError, match="decoder paths finds no alternatives"):
        decode_many(PAGES, RULES, decoder="paths", alternatives=1)


@workers
def test_what_came_before_a_failing_iterable_is_not_lost(workers):
    def failing():
        yield from PAGES[:20]
        raise OSError("the disk is gone")

    results = decode_many(failing(), RULES, workers=workers)
    for page in PAGES[:20]:
        assert next(results).id == page.document.id
    with pytest.raises(OSError, match="the disk is gone"):
        next(results)


def test_bad_lines_of_a_file_say_what_is_wrong_with_them():
    (found,) = decode_many([FailedDocument(7, "no words")], RULES)
    assert found == FailedDocument(7, "no words")
    assert str(found) == "line 7: no words"


def test_alternatives_and_budgets_reach_the_decoder():
    (found,) = decode_many(PAGES[:1], RULES, alternatives=2, workers=1)
    assert len(found.alternatives) == 2
    unknown = Rules([Field("total", "total", "money")], ["total == -1"])
    (found,) = decode_many(PAGES[:1], unknown, budget=Budget(candidates=1), workers=1)
    assert found.tried == 1


def at_line(page, line):
    """The same page, read from that line of a file."""
    return replace(page, document=replace(page.document, line=line))


@workers
def test_records_keep_their_order_their_lines_and_their_ids(workers):
    pages = [at_line(page, line) for line, page in enumerate(PAGES[:9], 1)]
    scores = Scores.from_probs(np.ones((len(pages[4].document), 1)), ["O"])
    odd = Scored(pages[4].document, scores)
    records = [*pages[:3], FailedDocument(4, "no words"), odd, *pages[5:]]
    found = list(
        decode_records(records, Call(RULES, pool="mean", temperature=2.0), workers=workers)
    )
    lines = [each.line if isinstance(each, FailedDocument) else each[0].line for each in found]
    assert lines == list(range(1, 10))
    assert found[3] == FailedDocument(4, "no words")
    assert found[4].id == odd.document.id
    assert "which the model does not know" in found[4].message
    scored, decoding = found[0]
    hot = pages[0].scores.with_temperature(2.0)
    assert decoding.worth == pytest.approx(decode(scored.document, hot, RULES).worth)
    assert (scored.scores.log_probs == hot.log_probs).all()


def test_options_are_checked_when_a_call_is_made():
    with pytest.raises(InputError, match="unknown decoder 'best'"):
        Call(RULES, "best")
    with pytest.raises(InputError, match="temperature is 0"):
        Call(RULES, temperature=0)
    with pytest.raises(InputError, match="workers is 0"):
        decode_records(PAGES, Call(RULES), workers=0)


def test_bad_lines_keep_their_places_around_a_model():
    pages = {line: at_line(page, line) for line, page in zip((2, 3, 6), PAGES, strict=False)}
    bad = {line: FailedDocument(line, "bad") for line in (1, 4, 5, 7)}
    records = [record for _, record in sorted((pages | bad).items())]
    reads_ahead = list  # all documents before it yields the first
    assert list(score_records(lambda some: iter(reads_ahead(some)), records)) == records
    assert list(score_records(iter, records)) == records


ENDLESS = """
import itertools
from lab import receipts as demo
from lawful import Rules, Scored, decode_many
pages = list(demo.generate(8, seed=3, words=(24, 60)))
for done, _ in enumerate(decode_many(itertools.cycle(pages), Rules.load(demo.RULES), workers=2)):
    if done == 100:
        print("going", flush=True)
"""


def test_ctrl_c_ends_it_and_its_workers():
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "going\n"
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    for _ in range(50):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("workers are left")


def test_scores_of_spans_are_decoded_like_scores_of_words():
    rules = Rules([Field("total", "total", "money")])
    document = Document("spans", ["Total", "5.00"])
    scores = SpanScores([(1, 2, "total", 0.9)], words=2)
    short = SpanScores([], words=1, types=["total"])
    items = [(document, scores), (document, short), PAGES[0], Scored(document, scores)]
    found = list(decode_many(items, rules.with_defaults(presence="free"), workers=2))
    assert [type(each).__name__ for each in found[:2]] == ["Decoding", "FailedDocument"]
    assert found[1].message == "document 'spans' has 2 words, but 1 word with span scores"
    assert found[0].labels == found[3].labels == ("O", "B-total")


def test_lines_with_spans_are_read_and_decoded(tmp_path):
    path = tmp_path / "spans.jsonl"
    line = {"id": "a", "words": ["Total", "5.00"], "spans": [[1, 2, "total", 0.8]]}
    lines = [line, line | {"id": "b", "types": ["x"]}, line | {"id": "c", "logits": [[0], [0]]}]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    rules = Rules([Field("total", "total", "money")])
    call = Call(rules, alternatives=1, temperature=2.0)
    first, *rest = decode_lines(str(path), read_lines(path), call)
    _, decoding = first
    assert decoding.labels == ("O", "B-total")
    assert exp(decoding.log_prob) == pytest.approx(2 / 3)  # odds of 4 at a temperature of 2
    assert [each.message for each in rest] == [
        "a candidate has type 'total', which is not among the types: x",
        "document 'c' has spans and logits, expected one of them",
    ]
    [read, *_] = read_jsonl(path, on_error="yield")
    assert read.scores.spans == (("total", 1, 2),)
    assert write_jsonl(tmp_path / "again.jsonl", [read]) == 1
    [again] = read_jsonl(tmp_path / "again.jsonl")
    assert again.scores.spans == read.scores.spans
    assert again.scores.log_odds == pytest.approx(read.scores.log_odds)
    pieces = Document("p", ["5", "00"], joins=[False, True])
    pooled = Scored(pieces, SpanScores([(0, 2, "total", 0.5)], 2))
    with pytest.raises(InputError, match="of word pieces, which cannot be merged"):
        Call(rules, pool="mean").given(pooled)


def test_an_option_of_a_call_has_a_name_in_python_and_on_the_command_line():
    named = {each.name for each in dataclasses.fields(Call) if each.init} - {"rules"}
    assert named == {*Options.__annotations__, "pool"}
    limits = {each.name for each in dataclasses.fields(Budget)}
    plain = set(DecodeOptions.__struct_fields__)
    assert plain - {"needs"} == (named - {"budget"}) | (limits & plain)  # rules have needs
    assert plain & limits == {"candidates", "seconds", "mass", "max_cost"}


def test_options_of_the_command_line_and_of_http_make_the_call_that_python_makes():
    given = DecodeOptions(decoder="exact", candidates=9, mass=0.5, alternatives=2, by_field=True,
                          temperature=2.0, pool="first")  # fmt: skip
    budget = Budget(candidates=9, mass=0.5)
    assert given.call(RULES) == Call(
        RULES, "exact", budget, alternatives=2, by_field=True, temperature=2.0, pool="first"
    )


def test_many_documents_are_decoded_by_field_and_at_a_temperature():
    how = {"by_field": True, "temperature": 2.0, "alternatives": 1}
    found = list(decode_many(PAGES[:2], RULES, workers=1, **how))
    same = [decode_one(page, Call(RULES, **how))[1] for page in PAGES[:2]]
    other = list(decode_many(PAGES[:2], RULES, workers=1, alternatives=1))
    assert [each.margin for each in found] == [each.margin for each in same]
    assert [each.margin for each in found] != [each.margin for each in other]
