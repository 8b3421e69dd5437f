"""Trust: true where the truth of it is known, monotone, honest about few documents, repeatable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Document, Field, Rules, Scores, decode
from lawful.document import Scored
from lawful.errors import InputError
from lawful.evaluation import right_fields
from lawful.learning.automation import Outcome, automate, documents_to_show, threshold_for
from lawful.learning.shares import Share
from lawful.learning.trust import DOUBTS, Trust, doubts_of
from tests.fixtures.confusable import LABELS, RULES, confusable_pages

TRUE = np.array([0.9, 0.4, 1.5, 0.8, 0.2, 2.0, 0.3])


def odds_of(doubts, intercept):
    return intercept - (doubts + np.array([9.0, 9.0, 0, 0, 0, 0, 3.0])) @ TRUE


def imagined(count, seed=0, intercept=8.0):
    """Documents whose doubts are random and whose trust is known, and that trust."""
    random = np.random.default_rng(seed)
    doubts = np.column_stack(
        [
            random.uniform(-9, 1, count),
            random.uniform(-9, 0, count),
            np.log1p(random.integers(0, 3, count)),
            random.integers(0, 5, count) / 4,
            random.exponential(0.5, count),
            random.random(count) < 0.05,
            random.uniform(-3, 3, count),
        ]
    )
    true = 1 / (1 + np.exp(-odds_of(doubts, intercept)))
    right = random.random(count) < true
    found = [Outcome(f"d{i}", doubts[i], bool(right[i])) for i in range(count)]
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


@pytest.mark.parametrize("wanted", [0.01, 0.05])
def test_the_wanted_error_rate_is_kept_over_many_seeds(wanted):
    errors, automated = [], []
    for seed in range(10):
        outcomes, true = imagined(1500, seed, 12.0)
        truth = dict(zip((each.id for each in outcomes), true, strict=True))
        found = automate(outcomes, ["total"], wanted=wanted, seed=seed)
        ids = [o.id for o in outcomes if found.trust.of(o.doubts) >= found.threshold]
        errors.append(1 - np.mean([truth[name] for name in ids]))
        automated.append(found.point.automated)
    assert np.mean(errors) < 1.25 * wanted
    assert max(errors) < 2.5 * wanted
    assert min(automated) > 0.2


def test_outcomes_that_have_nothing_to_do_with_doubts_are_not_automated():
    random = np.random.default_rng(12345)
    for seed in range(10):
        outcomes, _ = imagined(300, seed)
        noise = [each._replace(right=bool(random.random() < 0.7)) for each in outcomes]
        found = automate(noise, ["total"], wanted=0.05, seed=seed)
        assert found.point.automated < 0.02
        assert found.mean_trust == pytest.approx(0.7, abs=0.1)


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
    same = np.array([-2.0, -3.0, 0, 0, 0, 0, 0])
    model = Trust.fitted([same] * count, [True] * count, ["total"])
    assert model.of(same) == pytest.approx((count + 1) / (count + 2), abs=0.002)
    none = Trust.fitted([same] * count, [False] * count, ["total"])
    assert none.of(same) == pytest.approx(1 / (count + 2), abs=0.002)
    unproven = same + np.eye(7)[5]
    assert model.of(unproven) < model.of(same)  # by its prior: none of these was unproven


def test_nothing_of_the_held_out_half_is_in_the_model():
    outcomes, _ = imagined(200, 3)
    found = automate(outcomes, ["total"], wanted=0.1, seed=4)
    held_out = {o.id for o in outcomes}
    changed = 0
    for each in list(outcomes):
        other = each._replace(doubts=each.doubts + 1, right=not each.right)
        now = automate(
            [other if o.id == each.id else o for o in outcomes], ["total"], wanted=0.1, seed=4
        )
        same = now.trust == found.trust and now.threshold == found.threshold
        changed += not same
        assert same == (now.fitted_right == found.fitted_right)
        assert same == (now.tested != found.tested and now.tested_right != found.tested_right)
    assert changed == len(held_out) / 2


def test_documents_of_one_id_stay_together():
    outcomes, _ = imagined(100, 5)
    twice = [*outcomes, *outcomes]
    found = automate(twice, ["total"], wanted=0.1)
    assert len(found.tested) == 100
    trusts = [trust for trust, _ in found.tested]
    assert trusts[::2] == trusts[1::2]


def test_the_seed_decides_and_the_order_does_not():
    outcomes, _ = imagined(150, 6)
    first = automate(outcomes, ["total"], seed=1)
    assert automate(outcomes[::-1], ["total"], seed=1) == first
    assert automate(outcomes, ["total"], seed=2).trust != first.trust


def test_few_documents_are_refused():
    outcomes, _ = imagined(29)
    with pytest.raises(InputError, match="29 documents with true labels, expected at least 30"):
        automate(outcomes, ["total"])
    with pytest.raises(InputError, match="expected at least 30"):
        automate(outcomes * 2, ["total"])  # the same documents again
    assert automate(imagined(30)[0], ["total"]).trust.documents == 15


@pytest.mark.parametrize("wanted", [0, 1, -0.1, 1.5, float("nan"), float("inf")])
def test_an_error_rate_is_a_share(wanted):
    with pytest.raises(InputError, match="wanted error rate is"):
        automate(imagined(40)[0], ["total"], wanted=wanted)


@given(
    st.lists(st.sampled_from([0.2, 0.5, 0.75, 0.875, 0.9375, 1.0]), max_size=12),
    st.sampled_from([0.0625, 0.125, 0.25, 0.3]),
)
def test_the_threshold_is_the_lowest_that_keeps_the_mean(trusts, wanted):
    fine = [
        t for t in trusts
        if np.mean([1 - other for other in trusts if other >= t]) <= wanted
    ]  # fmt: skip
    assert threshold_for(wanted, trusts) == (min(fine) if fine else None)


@pytest.mark.parametrize("wanted", [0.001, 0.01, 0.05, 0.3])
def test_how_many_documents_show_an_error_rate(wanted):
    needed = documents_to_show(wanted)
    assert 1 - Share(needed, needed).interval()[0] <= wanted
    assert 1 - Share(needed - 1, needed - 1).interval()[0] > wanted


def test_the_curve_is_what_counting_gives():
    outcomes, _ = imagined(200, 7)
    found = automate(outcomes, ["total"], wanted=0.05)
    assert found.curve[-1].automated == 1
    for point in found.curve:
        chosen = [right for trust, right in found.tested if trust >= point.threshold]
        assert (point.right.of, point.right.holds) == (len(chosen), sum(chosen))
        assert point.interval[0] <= point.error <= point.interval[1]
    assert [p.automated for p in found.curve] == sorted(p.automated for p in found.curve)


def test_a_model_is_read_as_it_was_written(tmp_path):
    model = fitted(imagined(60)[0])
    model.save(tmp_path / "trust.json")
    assert Trust.load(tmp_path / "trust.json") == model


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lawful trust 1", "lawful trust 9", "format is 'lawful trust 9'"),
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


def test_doubts_are_those_of_the_decoding():
    for page in confusable_pages(20, sure=1.0):
        decoding = decode(page.document, page.scores, RULES)
        doubts = dict(zip(DOUBTS, doubts_of(page, decoding, RULES), strict=True))
        probs = np.exp(page.scores.log_probs)
        wrong = [1 - row[LABELS.index(x)] for row, x in zip(probs, decoding.labels, strict=True)]
        assert doubts["words"] == pytest.approx(np.log(sum(wrong)))
        assert doubts["word"] == pytest.approx(np.log(max(wrong)))
        assert doubts["violated"] == np.log1p(len(decoding.violations))
        assert doubts["vacuous"] == 1 - decoding.checked
        paid = sum(each.price for each in decoding.corrections)
        assert doubts["corrections"] == pytest.approx(np.log1p(paid))
        assert doubts["unproven"] == doubts["margin"] == 0
        ranked = decode(page.document, page.scores, RULES, alternatives=1)
        *others, margin = doubts_of(page, ranked, RULES)
        assert others == list(doubts.values())[:-1]
        assert margin == pytest.approx(-np.log(np.clip(ranked.margin, 0.001, 20)))


def test_doubts_about_labels_of_no_field_do_not_count():
    names = ("O", "B-total", "B-shop", "B-street")
    scores = Scores.from_probs([[0.3, 0.01, 0.35, 0.34], [0.02, 0.97, 0.01, 0.0]], names)

    rules = Rules([Field("total", "total", "money")])
    page = Scored(Document("a", ("Main", "7.00")), scores)
    found = doubts_of(page, decode(page.document, scores, rules), rules)
    assert found[0] == pytest.approx(np.log(0.01 + 0.03))
    assert found[1] == pytest.approx(np.log(0.03))


def test_doubts_are_numbers_in_every_corner():
    empty = Scored(Document("empty", ()), Scores.from_probs(np.zeros((0, 4)), LABELS))
    sure = Scored(Document("sure", ("7",)), Scores.from_probs([[0.0, 0.0, 0.0, 1.0]], LABELS))
    for page in (empty, sure):
        for more in (0, 1):
            decoding = decode(page.document, page.scores, RULES, alternatives=more)
            assert np.isfinite(doubts_of(page, decoding, RULES)).all()


def test_fields_are_right_if_all_their_values_are():
    (page,) = confusable_pages(1, sure=9.0)
    assert right_fields(page, page.gold, RULES) == {"net": True, "tax": True, "total": True}
    wrong = tuple("O" if label == "B-tax" else label for label in page.gold)
    assert right_fields(page, wrong, RULES) == {"net": True, "tax": False, "total": True}
    with pytest.raises(InputError, match="no gold labels"):
        right_fields(replace(page, gold=None), wrong, RULES)


def test_real_decodings_are_trusted_as_often_as_they_are_right():
    outcomes = []
    for page in confusable_pages(600, seed=1, sure=2.0):
        decoding = decode(page.document, page.scores, RULES)
        right = all(right_fields(page, decoding.labels, RULES).values())
        outcomes.append(Outcome(page.document.id, doubts_of(page, decoding, RULES), right))
    found = automate(outcomes, ["net", "tax", "total"], wanted=0.03)
    assert found.mean_trust == pytest.approx(found.tested_right.value, abs=0.06)
    assert found.point.automated > 0.2
    assert found.point.error < 0.06
    assert found.curve[-1].error > 0.12
