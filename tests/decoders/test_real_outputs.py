"""Decoders on outputs of real models for real receipts, where ``../shared`` has them."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

import lawful
from lab.datasets import RULES as THE_PAPERS
from lawful import Budget, Field, Rules, decode
from tests.fixtures import outputs
from tests.helpers import needs_shared

RULES = Rules(
    [
        Field("total", "total.total_price", "money"),
        Field("cash", "total.cashprice", "money"),
        Field("change", "total.changeprice", "money"),
        Field("subtotal", "sub_total.subtotal_price", "money"),
        Field("tax", "sub_total.tax_price", "money"),
        Field("service", "sub_total.service_price", "money", default=0),
        Field("discount", "sub_total.discount_price", "money", default=0),
    ],
    ["total == subtotal + tax + service - abs(discount)", "cash == total + change"],
)


@needs_shared
def test_half_precision_outputs_of_a_real_model_stream_and_decode():
    pages = list(outputs.read_outputs("cord-l2", 60))
    scheme = RULES.scheme_for(pages[0].scores.labels)
    for page in pages[:10]:
        found, log_probs = lawful.paths(page.scores.log_probs, scheme, kind="log_probs").take(500)
        assert scheme.allow(found).all()
        assert (np.diff(log_probs) <= 0).all()
        assert len(np.unique(found, axis=0)) == 500
    statuses = Counter()
    for page in pages:
        words = page.to_words()
        decoding = decode(words.document, words.scores, RULES, budget=Budget(candidates=2000))
        statuses[decoding.status] += 1
    assert statuses["satisfied"] + statuses["unchecked"] > 0.85 * len(pages)
    assert statuses["satisfied"] > 0.5 * len(pages)


@needs_shared
def test_words_do_better_than_pieces():
    right = Counter()
    for page in outputs.read_outputs("cord-l2", 40):
        for name, form in (("pieces", page), ("words", page.to_words())):
            found = decode(form.document, form.scores, RULES, budget=Budget(candidates=500))
            right[name] += found.labels == form.gold
    assert right["words"] >= right["pieces"] > 0


@needs_shared
@pytest.mark.parametrize("name", outputs.OUTPUTS)
def test_every_output_decodes_under_the_papers_rules(name):
    rules = Rules.load(THE_PAPERS[outputs.OUTPUTS[name]])
    statuses = Counter()
    for page in outputs.read_outputs(name, 40):
        words = page.to_words()
        found = decode(words.document, words.scores, rules, decoder="paths")
        statuses[found.status] += 1
        assert found.status != "infeasible"  # no rule is hard, and what is there may be kept
        assert found.optimal == (found.status != "exhausted")
        if found.optimal:
            assert bool(found.violations) == (found.status == "relaxed")
            assert found.bound == pytest.approx(found.worth)
        first = decode(words.document, words.scores, rules, budget=Budget(candidates=1))
        assert found.worth >= first.worth  # the best legal labelling is the first candidate
    assert statuses["satisfied"] + statuses["unchecked"] > sum(statuses.values()) / 2


def test_a_program_that_needs_them_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(outputs, "HERE", False)
    monkeypatch.setattr(sys, "argv", ["tests.fixtures.outputs"])
    with pytest.raises(SystemExit) as stopped:
        outputs.main()
    assert stopped.value.code == 2
    assert outputs.NEEDED in capsys.readouterr().err
