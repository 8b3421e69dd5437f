"""``lawful.evaluate``: the same figures as the command and the scoreboard."""

from __future__ import annotations

from dataclasses import replace

import pytest

import lawful
from lab import receipts as demo
from lawful import Document, FailedDocument, InputError, Report, Rules, Scored, Scores
from lawful.evaluation.report import BASELINE
from lawful.evaluation.scoreboard import Scoreboard, best_legal

RULES = Rules.load(demo.RULES)


@pytest.fixture(scope="module")
def pages():
    return list(demo.generate(12, seed=3))


@pytest.fixture(scope="module")
def report(pages):
    return lawful.evaluate(pages, RULES)


def test_the_figures_are_those_of_the_scoreboard(pages, report):
    board, baseline = Scoreboard(RULES), Scoreboard(RULES)
    for page in pages:
        board.add(page, lawful.decode(page.document, page.scores, RULES))
        baseline.add_labels(page, best_legal(page, RULES))
    assert report == Report(board, baseline, "auto")
    assert (report.pages, report.pages_right) == (12, sum(board.right_pages))
    assert (report.value_f1, report.entity_f1) == (board.values.f1, board.entities.f1)
    assert (report.fixed, report.broken) == board.against(baseline)
    assert report.fixed > 0
    record = report.to_dict()
    assert list(record["results"]) == [BASELINE, "auto"]
    assert record["results"]["auto"]["against"] == BASELINE
    assert (record["failed"], record["without_gold"]) == (0, 0)


def test_it_prints_as_a_table(report):
    lines = str(report).splitlines()
    assert lines[0].split() == ["12", "pages", "best", "legal", "labelling", "auto"]
    assert lines[1].split()[-1] == f"{100 * report.value_f1:.1f}"
    assert lines[4].split() == ["pages", "fixed", "/", "broken", "-", f"{report.fixed}", "/",
                                f"{report.broken}"]  # fmt: skip
    assert len({len(line) for line in lines}) == 1
    assert repr(report).startswith("<Report: 12 pages, value F1 ")


def test_workers_and_options_are_those_of_decode_many(pages, report):
    assert lawful.evaluate(iter(pages), RULES, workers=2) == report
    argmax = lawful.evaluate(pages, RULES, decoder="argmax")
    assert argmax.decoder == "argmax"
    assert argmax.value_f1 < report.value_f1
    with pytest.raises(InputError, match="unknown decoder 'best'"):
        lawful.evaluate(pages, RULES, decoder="best")


def test_what_cannot_be_compared_is_counted(pages, report):
    ungold = replace(pages[0], gold=None)
    unknown = Scored(Document("u", ["a"]), Scores.from_probs([[1.0]], ["O"]), gold=("O",))
    found = lawful.evaluate([ungold, FailedDocument(3, "no JSON"), *pages, unknown], RULES)
    assert (found.scores, found.baseline) == (report.scores, report.baseline)
    assert found.without_gold == 1
    assert [bad.message for bad in found.failed][:1] == ["no JSON"]
    assert [bad.id for bad in found.failed] == [None, "u"]
    assert "2 failed, the first: no JSON\n1 without gold labels" in str(found)
    with pytest.raises(InputError, match="nothing to evaluate: 1 documents without gold labels"):
        lawful.evaluate([ungold], RULES)
    with pytest.raises(InputError, match="found 3 in scored, expected documents with scores"):
        lawful.evaluate([3], RULES)


def test_answers_that_people_gave_do_not_count(pages, report):
    number, page = next((i, p) for i, p in enumerate(pages) if set(p.gold) != {"O"})
    word = next(i for i, label in enumerate(page.gold) if label != "O")
    pinned = replace(page.document, pins=[{"words": [word, word + 1], "field": None}])
    others = [*pages[:number], replace(page, document=pinned), *pages[number + 1 :]]
    assert lawful.evaluate(others, RULES) == report
