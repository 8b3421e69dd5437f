"""The quick model, taught on values of small invoices that are made here."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lawful import Document, Field, InputError, Rules, extract, from_pretrained
from lawful.candidates.grounding.matches import Occurrences
from lawful.documents.records import UNKNOWN
from lawful.learn.align import Truth
from lawful.models.linear import Example, fit
from lawful.models.quick import QuickTagger
from lawful.models.spans import SpanPage
from lawful.models.teaching import Teacher, align_all, carries
from tests.fixtures.invoices import hocr, invoice, made, rules
from tests.fixtures.pages import block


def text_of(found, name):
    return next((each.text for each in found.fields.get(name, ())), None)


def taught(count, checks=(), **how):
    teacher = Teacher(rules(checks))
    for number in range(count):
        teacher.add(*invoice(number, **how))
    return teacher.teach()


def test_a_model_taught_on_the_values_tells_which_of_their_places_is_meant():
    rng = random.Random(0)  # noqa: S311 - no secret
    totals = Rules([Field("total", label="total", type="money")], [])
    documents, truths = [], {}
    for number in range(30):
        total, other = (f"{rng.randint(10, 99)}.00" for _ in range(2))
        item = total if number % 6 == 0 else f"{rng.randint(10, 99)}.00"
        text = f"Item {item}\nOther {other}\nTotal {total}\nCash {rng.randint(100, 999)}.00"
        documents.append(Document(f"d{number}", *zip(*block(text), strict=True)))
        truths[f"d{number}"] = Truth(f"d{number}", {"total": (total,)})
    found = align_all(documents, truths, totals)
    assert Counter(each.labelled.gold[5] for each in found)["B-total"] == 30
    assert all(each.labelled.gold[1] in ("O", UNKNOWN) for each in found)


def test_few_documents_tell_nothing_about_places():
    document = Document("d", ["Total", "5.00", "Cash", "5.00"])
    totals = Rules([Field("total", label="total", type="money")], [])
    (found,) = align_all([document], {"d": Truth("d", {"total": ("5.00",)})}, totals)
    assert found.labelled.gold == ("O", UNKNOWN, "O", UNKNOWN)


@pytest.mark.parametrize("boxes", [True, False])
def test_new_documents_are_read_right(boxes):
    model = taught(20, boxes=boxes).tagger
    right = 0
    for number in range(100, 130):
        document, truth = invoice(number, boxes=boxes)
        (found,) = model.decode([document], rules())
        right += sum(text_of(found, name) == value for name, (value,) in truth.values.items())
    assert right >= 110 if boxes else right >= 95  # of 120


def test_a_saved_model_is_the_same(tmp_path):
    model = taught(10).tagger
    model.save(tmp_path)
    loaded = from_pretrained(tmp_path)
    assert isinstance(loaded, QuickTagger)
    assert loaded.labels == model.labels
    document, _ = invoice(50)
    (one,), (other,) = model.predict([document]), loaded.predict([document])
    assert one.scores.spans == other.scores.spans
    assert np.allclose(one.scores.log_odds, other.scores.log_odds, atol=0.02)


def test_a_damaged_model_is_refused(tmp_path):
    taught(10).tagger.save(tmp_path)
    weights = tmp_path / "quick.npz"
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(InputError, match="damaged or of another model"):
        from_pretrained(tmp_path)


def test_cross_validation_finds_a_wrong_truth():
    teacher = Teacher(rules(["total > 0"]))
    for number in range(16):
        document, truth = invoice(number)
        if number == 3:  # somebody took the freight for the total
            truth.values["total"] = ("7.00",)
        teacher.add(document, truth)
    found = teacher.teach()
    by_name = {each.name: each for each in found.fields}
    assert (by_name["total"].given, by_name["total"].found) == (16, 16)
    assert 13 <= by_name["total"].right <= 15
    assert by_name["total"].with_rules == by_name["total"].right
    doubt = next(each for each in found.doubts if each.field == "total")
    assert (doubt.id, doubt.value) == ("invoice-3", "7.00")


def test_a_field_that_is_printed_nowhere_is_left_out():
    teacher = Teacher(rules())
    for number in range(6):
        document, truth = invoice(number)
        truth.values["customer"] = ("Somebody Else",)
        teacher.add(document, truth)
    found = teacher.teach()
    assert found.left_out == ("customer",)
    assert "B-customer" not in found.tagger.labels


def test_nothing_to_learn():
    with pytest.raises(InputError, match="nothing to learn"):
        Teacher(rules()).tagger()


def test_of_one_document_there_is_no_test():
    assert [each.right for each in taught(1).fields] == [None] * 4


def test_values_that_are_all_equal_are_noticed():
    teacher = Teacher(rules())
    for number in range(6):
        document, truth = invoice(4 * number)
        teacher.add(document, truth)
    constant = {each.name: each.constant for each in teacher.teach().fields}
    assert constant == {"total": False, "day": False, "order": False, "customer": True}


def test_what_was_taught_can_be_taken_back():
    teacher = Teacher(rules())
    for number in range(8):
        teacher.add(*invoice(number))
    before = teacher.tagger()
    document, truth = invoice(60)
    teacher.add(document, Truth(document.id, {"total": ("7.00",)}))
    teacher.forget(document.id)
    after = teacher.tagger()
    for one, other in zip(before.models, after.models, strict=True):
        assert np.array_equal(one.weights, other.weights)
    teacher.add(document, truth)
    assert document.id in teacher.documents


def test_lists_are_learned_span_by_span():
    loaded = made({"fields": {"amounts": {"label": "amount", "type": "money",
                                                     "many": True}}})  # fmt: skip
    teacher = Teacher(loaded)
    for number in range(12):
        document, truth = invoice(number)
        net = f"{float(truth.values['total'][0]) - 7:.2f}"
        teacher.add(document, Truth(document.id, {"amounts": (net, "7.00")}))
    document, truth = invoice(40)
    (found,) = teacher.tagger().decode([document], loaded)
    texts = [each.text for each in found.fields["amounts"]]
    assert texts == [f"{float(truth.values['total'][0]) - 7:.2f}", "7.00"]


def test_probabilities_of_the_spans_of_a_value_add_up():
    document = Document("a", ["Total", "5.00", "Sum", "5.00", "Cash", "6.00"])
    teacher = Teacher(rules())
    teacher.add(document, Truth("a", {"total": ("5.00",)}))
    model = teacher.tagger().models[0]
    candidates = SpanPage(document).candidates("money")
    rows = teacher.pupils["total"].lessons["a"].rows
    scores = np.exp(model.scores(rows))
    probs = model.probs(rows, candidates.values, np.zeros(3, int))
    fives = scores[:2].sum() / (1 + scores.sum())
    assert probs[:2].max() == pytest.approx(fives)
    assert probs[2] == pytest.approx(scores[2] / (1 + scores.sum()))


@pytest.mark.parametrize(
    ("value", "right"), [("5.00", ["5.00", "-5.00"]), ("-5.00", ["-5.00"]), ("9.00", ["9.00-"])]
)
def test_values_without_signs_may_be_printed_with_them(value, right):
    document = Document("a", ["Sum", "5.00", "Paid", "-5.00", "Fee", "9.00-"])
    candidates = SpanPage(document).candidates("money")
    found = carries(candidates, Occurrences(document), value, rules().fields[0])
    places = zip(candidates.starts[found], candidates.ends[found], strict=True)
    assert [document.text(start, end) for start, end in places] == right


def test_a_caption_is_known_without_the_currency_after_it():
    """An amount is what the word before it says, also where a currency stands between."""

    def note(number, middle):
        words = ["Gesamtbetrag", *middle, f"{number}.10", "Kurs", *middle, f"{number + 40}.10"]
        return Document(f"note-{number}", words), Truth(
            f"note-{number}", {"total": (f"{number}.10",)}
        )

    teacher = Teacher(rules())
    for number in range(10, 20):
        teacher.add(*note(number, ["EUR"]))
    document, truth = note(30, [])
    total = made({"fields": {"total": {"label": "total", "type": "money"}}})
    (found,) = teacher.tagger().decode([document], total)
    assert text_of(found, "total") == truth.values["total"][0]


def test_the_fit_is_at_a_minimum():
    """The slope by differences is zero, on a small problem."""
    random = np.random.default_rng(1)
    examples = [
        Example(
            random.integers(0, 6, (4, 3)).astype(np.int32),
            np.arange(4) % 4 < number % 3,
            np.zeros(4, np.int64),
        )
        for number in range(5)
    ]

    def loss(weights):
        total = 0.05 * (weights**2).sum()
        for rows, right, _ in examples:
            odds = np.exp(weights[rows].sum(axis=1))
            good = odds[right].sum() if right.any() else 1.0
            total += np.log((1 + odds.sum()) / good)
        return total

    found = fit(examples, np.zeros(6), prior=0.1, steps=500)
    for at in range(6):
        for step in (-0.05, 0.05):
            moved = found.copy()
            moved[at] += step
            assert loss(moved) > loss(found)


def test_extract_takes_the_folder_of_a_quick_model(tmp_path):
    pytest.importorskip("PIL")
    page = tmp_path / "page.hocr"
    document, truth = invoice(41)
    page.write_text(hocr(document))
    taught(20).tagger.save(tmp_path / "model")
    found = extract(page, model=tmp_path / "model", rules=rules())
    assert text_of(found, "total") == truth.values["total"][0]
