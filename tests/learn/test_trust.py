"""Trust: true where the truth of it is known, monotone, never certain; and what passes by it."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Candidates, Document, Field, Rules, Scores
from lawful.base.errors import InputError
from lawful.candidates.choose import laid_out
from lawful.documents.records import Scored
from lawful.documents.span_scores import SpanScores
from lawful.evaluation.scoreboard import right_fields
from lawful.learn.promise import Reviewed
from lawful.learn.trust import DOUBTS, Trust, bar_to, doubts_of
from lawful.pipeline.call import Call
from lawful.results.promise import Promise, share_in_words
from tests.fixtures.confusable import LABELS, RULES, confusable_pages

TRUE = np.array([0.9, 0.4, 1.5, 0.8, 1.0, 0.7, 0.2, 2.0])


def odds_of(doubts, intercept):
    return intercept - (doubts + np.array([9.0, 9.0, 0, 0, 0, 0, 0, 0])) @ TRUE


def imagined(count, seed=0, intercept=8.0):
    """Documents whose doubts are random and whose trust is known, and that trust."""
    random = np.random.default_rng(seed)
    doubts = np.column_stack(
        [
            random.uniform(-9, 1, count),
            random.uniform(-9, 0, count),
            np.log1p(random.integers(0, 3, count)),
            np.log1p(random.integers(0, 2, count)),
            random.integers(0, 3, count) / 2,
            random.random(count) < 0.05,
            random.exponential(0.5, count),
            random.random(count) < 0.05,
        ]
    )
    true = 1 / (1 + np.exp(-odds_of(doubts, intercept)))
    right = random.random(count) < true
    found = [Reviewed(f"d{i}", doubts[i], bool(right[i])) for i in range(count)]
    return found, true


def fitted(outcomes):
    return Trust.fitted([o.doubts for o in outcomes], [o.right for o in outcomes], ["total"])


@pytest.mark.parametrize("intercept", [4.0, 8.0, 14.0])
def test_trust_is_the_true_probability(intercept):
    outcomes, _ = imagined(4000, 1, intercept)
    model = fitted(outcomes)
    others, true = imagined(2000, 2, intercept)
    trust = np.array([model.of(each.doubts) for each in others])
    assert np.abs(trust - true).mean() < 0.02
    for low, high in ((0, 0.2), (0.4, 0.6), (0.8, 0.95), (0.98, 1)):
        here = (trust >= low) & (trust <= high)
        if here.sum() > 50:
            assert true[here].mean() == pytest.approx(trust[here].mean(), abs=0.04)


@given(st.integers(0, 10**6), st.integers(30, 80), st.floats(0, 16))
@settings(max_examples=60, deadline=None)
def test_more_doubt_never_means_more_trust(seed, count, intercept):
    outcomes, _ = imagined(count, seed, intercept)
    model = fitted(outcomes)
    random = np.random.default_rng(seed)
    for each in outcomes[:10]:
        more = each.doubts + random.exponential(1, len(DOUBTS)) * random.integers(0, 2, len(DOUBTS))
        assert 0 < model.of(more) <= model.of(each.doubts) < 1
    least = np.min([each.doubts for each in outcomes], axis=0)
    assert model.of(least - 100) == model.of(least)


@pytest.mark.parametrize("count", [30, 100, 1000])
def test_no_number_of_right_documents_makes_a_certainty(count):
    same = np.array([-2.0, -3.0, 0, 0, 0, 0, 0, 0])
    model = Trust.fitted([same] * count, [True] * count, ["total"])
    assert model.of(same) == pytest.approx((count + 1) / (count + 2), abs=0.002)
    none = Trust.fitted([same] * count, [False] * count, ["total"])
    assert none.of(same) == pytest.approx(1 / (count + 2), abs=0.002)
    unproven = same + np.eye(8)[7]
    assert model.of(unproven) < model.of(same)  # by its prior: none of these was unproven


def test_a_model_is_read_as_it_was_written(tmp_path):
    model = fitted(imagined(60)[0])
    model.save(tmp_path / "trust.json")
    assert Trust.load(tmp_path / "trust.json") == model


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lawful trust 2", "lawful trust 9", "format is 'lawful trust 9'"),
        ('"intercept"', '"other"', "missing required field `intercept`"),
        ('"violated"', '"other"', "weights are of"),
        ("{", "", "is no model of trust"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, old, new, message):
    path = tmp_path / "trust.json"
    fitted(imagined(60)[0]).save(path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        Trust.load(path)
    with pytest.raises(InputError, match="cannot read"):
        Trust.load(tmp_path / "nothing.json")


NEEDS = replace(RULES, needs=("total",))


def decoded(page, rules=NEEDS, **options):
    return Call(rules, **options).decode(page)


def test_doubts_are_those_of_the_decoding():
    total = LABELS.index("B-total")
    for page in confusable_pages(20, sure=1.0):
        decoding = decoded(page)
        doubts = dict(zip(DOUBTS, doubts_of(page, decoding, NEEDS), strict=True))
        probs = np.exp(page.scores.log_probs)[:, total]
        wrong = [abs((x == "B-total") - p) for p, x in zip(probs, decoding.labels, strict=True)]
        assert doubts["words"] == pytest.approx(np.log(sum(wrong)))
        unsure = 1 - decoding.confidence["total"].low
        assert doubts["values"] == pytest.approx(np.log(max(unsure, 1e-6)))
        (check,) = decoding.rule_checks
        assert doubts["unsupported"] == (check.state != "satisfied")
        assert doubts["violated"] + doubts["elsewhere"] == np.log1p(len(decoding.violations))
        assert doubts["missing"] == (not decoding.fields.get("total"))
        paid = sum(each.price for each in decoding.corrections)
        assert doubts["corrections"] == pytest.approx(np.log1p(paid))
        assert doubts["unproven"] == 0


def test_a_broken_rule_counts_where_it_reads_a_needed_value():
    rules = Rules(
        [Field("total", "total", "money"), Field("count", "count", "integer")],
        ["total > 5", "count < 3"], needs=["total"],
    )  # fmt: skip
    labels = ("O", "B-total", "B-count")
    for words, violated, elsewhere in (
        (("7.00", "2"), 0, 0), (("3.00", "2"), 1, 0), (("7.00", "9"), 0, 1),
    ):  # fmt: skip
        scores = Scores.from_probs([[1e-9, 1 - 2e-9, 1e-9], [1e-9, 1e-9, 1 - 2e-9]], labels)
        page = Scored(Document("a", words), scores)
        found = dict(zip(DOUBTS, doubts_of(page, decoded(page, rules), rules), strict=True))
        assert found["violated"] == pytest.approx(np.log1p(violated))
        assert found["elsewhere"] == pytest.approx(np.log1p(elsewhere))


def test_a_value_whose_confidence_is_not_known_is_doubtful():
    page = confusable_pages(1, sure=9.0)[0]
    decoding = decoded(page)
    assert doubts_of(page, decoding, NEEDS)[0] < -5
    assert doubts_of(page, replace(decoding, confidence={}), NEEDS)[0] == 0


def test_doubts_are_numbers_in_every_corner():
    empty = Scored(Document("empty", ()), Scores.from_probs(np.zeros((0, 4)), LABELS))
    sure = Scored(Document("sure", ("7",)), Scores.from_probs([[0.0, 0.0, 0.0, 1.0]], LABELS))
    spans = SpanScores([(0, 1, "total", 0.1)], 1, ["net", "tax", "total"])
    for page in (empty, sure, Scored(Document("spans", ("7",)), spans)):
        for more in (0, 1):
            decoding = decoded(page, alternatives=more)
            assert np.isfinite(doubts_of(page, decoding, NEEDS)).all()


def test_what_is_printed_nowhere_is_in_doubt_though_all_answers_agree():
    """A total that five answers had, and the page had not, passed like a printed one."""
    page = Document.from_text("Net 40.00 Tax 5.28 Total 45.28")
    rules = Rules([Field("total", label="total", type="money")], needs=("total",))
    doubts = []
    for said in (45.28, 2):
        candidates = Candidates.from_samples([{"total": said}] * 5)
        found = laid_out(candidates, rules, page)
        scored = Scored(found.document, found.scores)
        decoding = Call(found.rules, confidence=True).decode(scored)
        doubts.append(doubts_of(scored, decoding, rules)[0])
    assert np.exp(doubts[0]) < 0.1
    assert np.exp(doubts[1]) > 0.7


def test_what_a_person_must_see_does_not_pass():
    rules = replace(RULES, needs=("total",))
    page = confusable_pages(1, sure=9.0)[0]
    decoding = decoded(page, rules)
    assert bar_to(decoding.repairs, ("total",)) is None
    (total,) = decoding.fields["total"]
    repaired = replace(decoding, fields={"total": [replace(total, read_as="8")]})
    assert bar_to(repaired.repairs, ("total",)) == "total has a character that OCR read otherwise"
    assert bar_to(repaired.repairs, ("net",)) is None
    model = Trust.fitted([doubts_of(page, decoding, rules)] * 9, [True] * 9, ["total"])
    made = promised(threshold=0.0)
    model = msgspec.structs.replace(model, labels=sorted(LABELS), promise=made)
    assert model.applied(page, decoding, rules).passes
    found = model.applied(page, repaired, rules)
    assert (found.passes, found.passes_because) == (False, bar_to(repaired.repairs, ("total",)))


def promised(**changes):
    values = {
        "error": 0.01, "confidence": 0.95, "threshold": 0.9, "documents": 500, "passed": 400,
        "wrong": 0,
    }  # fmt: skip
    return Promise(**values | changes)


def test_the_threshold_and_the_promise_decide():
    page = confusable_pages(1, sure=9.0)[0]
    decoding = decoded(page)
    assert (decoding.passes, decoding.passes_because) == (False, "no promise")
    assert decoded(page, RULES).passes is None
    model = Trust.fitted([doubts_of(page, decoding, NEEDS)] * 9, [True] * 9, ["total"])
    model = msgspec.structs.replace(model, labels=sorted(LABELS))
    assert model.applied(page, decoding, NEEDS).passes_because == "no promise"
    for threshold, passes, why in (
        (0.5, True, "trust of at least 0.5: at most 1 in 100 wrong (95 % sure)"),
        (0.99, False, "trust below 0.99"),
    ):
        with_promise = msgspec.structs.replace(model, promise=promised(threshold=threshold))
        found = with_promise.applied(page, decoding, NEEDS)
        assert (found.passes, found.passes_because) == (passes, why)
    other = msgspec.structs.replace(model, labels=["O", "B-sum"])
    with pytest.raises(InputError, match="the scores have 4 labels, others than the 2"):
        other.applied(page, decoding, NEEDS)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.01, "1 in 100"), (0.001, "1 in 1,000"), (0.025, "25 in 1,000"), (0.5, "50 in 100"),
        (1 / 3, "33.33 in 100"),
    ],
)  # fmt: skip
def test_shares_in_words(share, words):
    assert share_in_words(share) == words


def test_a_headline_promises_only_where_something_passes():
    made = promised()
    assert made.headline(112, 160) == "112 of 160 pass, at most 1 in 100 wrong (95 % sure)"
    assert made.headline(0, 160) == "0 of 160 pass"


def test_fields_are_right_if_all_their_values_are():
    (page,) = confusable_pages(1, sure=9.0)
    assert right_fields(page, page.gold, RULES) == {"net": True, "tax": True, "total": True}
    wrong = tuple("O" if label == "B-tax" else label for label in page.gold)
    assert right_fields(page, wrong, RULES) == {"net": True, "tax": False, "total": True}
    with pytest.raises(InputError, match="no gold labels"):
        right_fields(replace(page, gold=None), wrong, RULES)
