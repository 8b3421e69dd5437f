"""Span scores: what they accept, and their costs as those of labels."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from lawful import ScoresError, SpanScores
from lawful.documents.labels import Span


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ("abc", "candidates is 'abc', expected a list"),
        ([(0, 1, "a")], r"candidate 0 is \(0, 1, 'a'\), expected \(start, end, type, probability"),
        ([7], r"candidate 0 is 7, expected \(start"),
        ([(0, 0, "a", 0.5)], "candidate 0 has words 0 to 0, expected start < end, both from 0 to"),
        ([(0, 1, "a", 0.5), (1, 4, "a", 0.5)], "candidate 1 has words 1 to 4, .* from 0 to 3"),
        ([(0.0, 1, "a", 0.5)], "candidate 0 has words 0.0 to 1"),
        ([(0, True, "a", 0.5)], "candidate 0 has words 0 to True"),
        ([(0, 1, " ", 0.5)], "candidate 0 has type ' ', expected a name such as 'total'"),
        ([(0, 1, "c", 0.5)], "a candidate has type 'c', which is not among the types: a, b"),
        ([(0, 1, "a", 1.5)], "candidate 0 has probability 1.5, expected one from 0 to 1"),
        ([(0, 1, "a", float("nan"))], "candidate 0 has probability nan"),
        ([(0, 1, "a", "1")], "candidate 0 has probability '1'"),
        (
            [(0, 1, "a", 0.5), (0, 1, "b", 0.5), (0, 1, "a", 0.1)],
            "candidates 0 and 2 are the same span: words 0 to 1 as 'a'",
        ),
    ],
)
def test_bad_candidates_are_named(candidates, message):
    with pytest.raises(ScoresError, match=message):
        SpanScores(candidates, words=3, types=["a", "b"])


@pytest.mark.parametrize("words", [-1, 1.0, True, None])
def test_a_bad_number_of_words_is_refused(words):
    with pytest.raises(ScoresError, match=r"words is .*, expected a count of 0 or more"):
        SpanScores([], words)


def test_bad_types_and_very_long_spans_are_refused():
    with pytest.raises(ScoresError, match="types is 'ab', expected a list of names"):
        SpanScores([], 1, "ab")
    with pytest.raises(ScoresError, match="type 1 is 'a', the same as type 0"):
        SpanScores([], 1, ["a", "a"])
    with pytest.raises(ScoresError, match=r"need 10,000 labels .*: a is up to 5000 words long"):
        SpanScores([(0, 5000, "a", 0.5)], 5000)


def test_a_path_costs_what_its_spans_say_and_only_candidates_are_paths():
    scores = SpanScores([(0, 2, "a", 0.75), (1, 2, "b", 0.5), (2, 3, "a", 0.25)], 3, ["b", "a"])
    scheme, costs = scores.scheme(), scores.costs
    found = {}
    for row in np.ndindex(*(len(scheme),) * 3):
        cost = costs[range(3), row].sum()
        if scheme.allows(row) and cost < np.inf:
            found[tuple(scheme.spans(np.array(row)))] = np.exp(-cost)
    a, b, c = Span("a", 0, 2), Span("b", 1, 2), Span("a", 2, 3)
    expected = {(): 9, (a,): 27, (b,): 9, (c,): 3, (a, c): 9, (b, c): 3}
    assert {spans: 96 * p for spans, p in found.items()} == pytest.approx(expected)


def test_an_array_holds_all_spans_up_to_a_length():
    probs = np.zeros((3, 2, 2))
    probs[0, 1, 1], probs[2, 0, 0], probs[2, 1, 0], probs[1, 0, 0] = 0.75, 0.5, 0.9, 1e-5
    scores = SpanScores.from_array(probs, ["a", "b"])
    assert scores.spans == (Span("b", 0, 2), Span("a", 2, 3))  # not beyond the last word
    assert scores.log_odds == pytest.approx([np.log(3), 0])
    assert (len(scores), scores.types) == (3, ("a", "b"))
    assert len(SpanScores.from_array(probs, ["a", "b"], least=0).spans) == 3
    for wrong in (probs[0], probs[:, :, :1], probs.astype(str)):
        with pytest.raises(ScoresError, match="expected real numbers: words x lengths x 2 types"):
            SpanScores.from_array(wrong, ["a", "b"])
    probs[1, 0, 0] = 2
    with pytest.raises(ScoresError, match=r"probs\[1, 0, 0\] is 2.0, expected a probability"):
        SpanScores.from_array(probs, ["a", "b"])


def test_span_scores_can_be_pickled():
    scores = SpanScores([(0, 2, "a", 1.0)], 3)
    again = pickle.loads(pickle.dumps(scores))
    assert np.array_equal(again.costs, scores.costs)
    assert repr(again) == "<SpanScores: 1 candidates over 3 words>"


def test_entities_of_a_text_are_spans_of_the_words_they_touch():
    text = "Total EUR 53.28 (net 48.00)"
    offsets = [(0, 5), (6, 9), (10, 15), (16, 20), (21, 27)]
    entities = [
        {"start": 6, "end": 15, "text": "EUR 53.28", "label": "total", "score": 0.8},
        {"start": 10, "end": 15, "text": "53.28", "label": "total", "score": 0.3},
        {"start": 21, "end": 26, "text": "48.00", "label": "net", "score": 0.6},
        {"start": 21, "end": 27, "text": "48.00)", "label": "net", "score": 0.7},
    ]
    assert text[slice(*offsets[4])] == "48.00)"
    scores = SpanScores.from_entities(entities, offsets, ["net", "total", "tax"])
    assert scores.spans == (Span("total", 1, 3), Span("total", 2, 3), Span("net", 4, 5))
    assert scores.log_odds == pytest.approx(np.log([4, 3 / 7, 7 / 3]))
    with pytest.raises(ScoresError, match="entity 0: no word is at characters 9 to 10"):
        SpanScores.from_entities([entities[0] | {"start": 9, "end": 10}], offsets)
    with pytest.raises(ScoresError, match=r"entity 0 is .*, expected start, end, label and sc"):
        SpanScores.from_entities([{"start": 1}], offsets)


def test_runs_of_a_model_without_scores_vote():
    offsets = [(0, 5), (6, 10), (11, 16)]
    total, other = ({"start": a, "end": b, "label": "total"} for a, b in ((6, 10), (11, 16)))
    scores = SpanScores.from_runs([[total, total], [total, other], []], offsets, ["total", "tax"])
    assert scores.spans == (Span("total", 1, 2), Span("total", 2, 3))
    assert 1 / (1 + np.exp(-scores.log_odds)) == pytest.approx([2.5 / 4, 1.5 / 4])
    with pytest.raises(ScoresError, match="no runs"):
        SpanScores.from_runs([], offsets)
    with pytest.raises(ScoresError, match="expected start, end and label"):
        SpanScores.from_runs([[{"start": 1}]], offsets)


class Group(list):
    """What a ``SpanGroup`` of spaCy has, as far as it is needed."""

    name, doc, attrs = "sc", ("a", "b", "c"), {}


def test_spans_of_a_spacy_categorizer():
    group = Group([SimpleNamespace(start=0, end=2, label_="x"),
                   SimpleNamespace(start=2, end=3, label_="y")])  # fmt: skip
    with pytest.raises(ScoresError, match="the spans 'sc' have no scores: expected those of a sp"):
        SpanScores.from_spacy(group)
    group.attrs = {"scores": np.array([0.75, 0.5], np.float32)}
    scores = SpanScores.from_spacy(group)
    assert scores.spans == (Span("x", 0, 2), Span("y", 2, 3))
    assert scores.log_odds == pytest.approx([np.log(3), 0])
    assert len(scores) == 3
