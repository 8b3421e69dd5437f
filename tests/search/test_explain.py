"""Corrections: what each label that changed costs, and which rules asked for it."""

from __future__ import annotations

import numpy as np
import pytest

import lawful
from lawful import Budget, Document, Field, Rules, Scores, decode
from tests.fixtures.slow import corrected


def test_corrections_have_prices_and_reasons():
    labels = ["O", "B-total", "B-cash", "B-change"]
    probs = [[0.1, 0.8, 0.05, 0.05], [0.1, 0.6, 0.25, 0.05], [0.1, 0.05, 0.05, 0.8]]
    rules = Rules(
        [Field(name, name, "money") for name in ("total", "cash", "change")],
        [lawful.Rule("cash == total + change", id="change")],
    )
    document = Document("d", ["44.000", "56.000", "12.000"])
    found = decode(document, Scores.from_probs(probs, labels), rules)
    assert found.status == "satisfied"
    assert found.labels == ("B-total", "B-cash", "B-change")
    (correction,) = found.corrections
    assert (correction.word, correction.old, correction.new) == (1, "B-total", "B-cash")
    assert correction.price == pytest.approx(np.log(0.6 / 0.25))
    assert correction.because == ("total:agrees",)
    text = str(found)
    assert "word 1 '56.000': B-total -> B-cash (0.88 nats, because of total:agrees)" in text
    html = found._repr_html_()
    assert "56.000" in html
    assert "total:agrees" in html


def test_reasons_are_what_gets_worse_and_legality_only_if_it_asked():
    # An amount of two words: putting one of them back is illegal, but that is nobody's reason.
    labels = ["O", "B-tax", "I-tax", "B-total", "B-sub"]
    sure = {"B-total": [0.02, 0.02, 0.02, 0.92, 0.02], "B-sub": [0.02, 0.02, 0.02, 0.02, 0.92]}
    probs = [
        sure["B-total"],
        sure["B-sub"],
        [0.5, 0.4, 0.04, 0.03, 0.03],
        [0.5, 0.04, 0.4, 0.03, 0.03],
    ]
    fields = [Field("total", "total", "money"), Field("sub", "sub", "money"),
              Field("tax", "tax", "money", default=0)]  # fmt: skip
    rules = Rules(fields, [lawful.Rule("total == sub + tax", id="sum"),
                           lawful.Rule("1 == 2", id="never")])  # fmt: skip
    document = Document("d", ["11", "10", "RM", "1"])
    found = decode(document, Scores.from_probs(probs, labels), rules)
    assert found.labels == ("B-total", "B-sub", "B-tax", "I-tax")
    first, second = found.corrections
    assert first.because == ("sum",)
    assert "sum" in second.because
    assert not {"legal", "never"} & {*first.because, *second.because}
    scores = Scores.from_probs([[0.1, 0.3, 0.6]], ["O", "B-total", "I-total"])
    (legal,) = decode(Document("d", ["5"]), scores, Rules([Field("total", "total")])).corrections
    assert legal.because == ("legal",)


def test_reasons_that_there_was_no_time_for_are_not_made_up():
    problem = corrected(5000)
    found = decode(*problem, budget=Budget(seconds=1e-6))
    assert any(correction.because is None for correction in found.corrections)
    assert "no time to find out why" in str(found)
    few = decode(*corrected(20))
    assert not any(correction.because is None for correction in few.corrections)
