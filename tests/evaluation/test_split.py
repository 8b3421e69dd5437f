"""The paper's split: 60 % of the satisfying documents to train and validate on, 40 % to test."""

from __future__ import annotations

from collections import Counter

import pytest

from lab import receipts as demo
from lawful import InputError, Rules
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import gold_obeys
from lawful.evaluation.split import obedient, sample, split_documents

RULES = Rules.load(demo.RULES)
EXAMPLES = list(demo.generate(120))
PAGES = [Labelled(page.document, page.gold) for page in EXAMPLES]


def test_shares_are_the_papers_and_what_breaks_a_rule_is_trained_on():
    parts = split_documents(PAGES, RULES)
    good = {p.document.id for p, ok in zip(PAGES, obedient(PAGES, RULES), strict=True) if ok}
    counts = Counter(parts[name] for name in good)
    assert counts["test"] == round(0.4 * len(good))
    assert counts["validation"] == round(0.2 * (len(good) - counts["test"]))
    assert {parts[page.document.id] for page in PAGES if page.document.id not in good} == {"train"}


def test_it_does_not_depend_on_the_order_of_the_file():
    assert split_documents(PAGES[::-1], RULES) == split_documents(PAGES, RULES)
    assert split_documents(PAGES, RULES, seed=1) != split_documents(PAGES, RULES)


def test_the_filter_is_the_evaluations():
    scored = EXAMPLES
    assert obedient(PAGES, RULES) == [gold_obeys(page, RULES) for page in scored]


def test_there_may_be_too_few_for_three_parts():
    good = [page for page, ok in zip(PAGES, obedient(PAGES, RULES), strict=True) if ok]
    assert set(split_documents(good[:1], RULES).values()) == {"train"}
    assert sorted(split_documents(good[:2], RULES).values()) == ["test", "train"]
    assert sorted(split_documents(good[:3], RULES).values()) == ["test", "train", "validation"]
    assert split_documents([], RULES) == {}


def test_a_split_depends_on_ids_and_the_seed_alone():
    ids = [f"page-{i}" for i in range(100)]
    chosen = sample(ids, 0.3, seed=1)
    assert len(chosen) == 30
    assert chosen == sample([*reversed(ids), *ids], 0.3, seed=1)
    assert chosen != sample(ids, 0.3, seed=2)
    assert len(sample(["a", "b"], 0.99, 0)) == len(sample(["a", "b"], 0.01, 0)) == 1
    assert sample(["a"], 0.5, 0) == {"a"}
    with pytest.raises(InputError, match="share is 1, expected a number between 0 and 1"):
        sample(ids, 1, 0)
