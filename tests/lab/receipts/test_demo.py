"""The demo: generated receipts are what their docstrings promise."""

from __future__ import annotations

import doctest
import gzip
import json
from decimal import Decimal
from itertools import islice, pairwise

import numpy as np
import pytest
from lawful_models import RECEIPT as MODEL

from lab import receipts as demo
from lab.receipts.__main__ import PAGES, text, write
from lab.receipts.printer import AMOUNTS, SMALLEST
from lawful.base.errors import InputError
from lawful.documents.labels import Scheme
from lawful.rules import Rules
from lawful.values import read


@pytest.fixture(scope="module")
def examples():
    return list(demo.generate(800, seed=5))


def same(one, other):
    return (
        one.document == other.document
        and one.gold == other.gold
        and np.array_equal(one.scores.log_probs, other.scores.log_probs)
    )


def spans(labels):
    """(field, start, end) of every span; labels are legal."""
    starts = [i for i, label in enumerate(labels) if label.startswith("B-")]
    for start in starts:
        end = start + 1
        while end < len(labels) and labels[end].startswith("I-"):
            end += 1
        yield labels[start][2:], start, end


def amounts(example):
    """The values of every money field, each by the most plausible reading."""
    found = {field: [] for field in AMOUNTS}
    for field, start, end in spans(example.gold):
        if field in found:
            found[field].append(read(example.document.text(start, end), "money")[0])
    return found


def one(values, default=None):
    assert len(set(values)) <= 1, "repeats of a field must agree"
    return values[0] if values else default


def broken_rules(example):
    """The rules of rules.yaml, by hand: those that can be checked and fail."""
    found = amounts(example)
    none = Decimal(0)
    total, subtotal, cash, change = (
        one(found[field]) for field in ("total", "subtotal", "cash", "change")
    )
    tax, service, discount = (one(found[field], none) for field in ("tax", "service", "discount"))
    broken = []
    if subtotal is not None and subtotal != sum(found["item.price"]):
        broken.append("items")
    if subtotal is not None and total != subtotal + tax + service - abs(discount):
        broken.append("total")
    if cash is not None and change is not None and cash != total + change:
        broken.append("change")
    return broken


def test_a_page_depends_on_the_seed_and_its_number_alone():
    ten = list(demo.generate(10))
    assert all(map(same, ten, demo.generate(10)))
    assert all(map(same, demo.generate(5), ten))
    assert [example.document.id for example in ten[:2]] == ["receipt-00000", "receipt-00001"]
    assert not any(map(same, ten, demo.generate(10, seed=1)))
    quiet = demo.generate(10, noise=0)
    assert all(one.document == other.document for one, other in zip(ten, quiet, strict=True))


def test_pages_are_made_when_they_are_asked_for():
    assert len(list(islice(demo.generate(10**12), 3))) == 3
    assert list(demo.generate(0)) == []


def test_gold_is_legal_and_everything_has_the_same_length(examples):
    scheme = Scheme.named("BIO", demo.LABELS)
    index = {label: i for i, label in enumerate(demo.LABELS)}
    for example in examples:
        words = len(example.document)
        assert scheme.allows([index[label] for label in example.gold])
        assert len(example.gold) == len(example.scores) == len(example.document.boxes) == words
        assert example.scores.labels == demo.LABELS


def test_rows_are_distributions_without_zeros(examples):
    for example in examples:
        probabilities = np.exp(example.scores.log_probs)
        assert probabilities.min() > 0
        assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-12)


def test_no_two_words_overlap(examples):
    for example in [*examples[:200], *demo.generate(5, words=(600, 900))]:
        x0, y0, x1, y1 = np.array(example.document.boxes).T
        page = np.array(example.document.pages or [0] * len(x0))
        overlap = (
            (page[:, None] == page)
            & (x0[:, None] < x1) & (x0 < x1[:, None])
            & (y0[:, None] < y1) & (y0 < y1[:, None])
        )  # fmt: skip
        assert overlap.sum() == len(x0), example.document.id
        assert min(x0.min(), y0.min()) >= 0


def test_reading_order_goes_down_the_page(examples):
    for example in examples[:200]:
        pages = example.document.pages or [0] * len(example.document)
        tops = [(page, box.y0) for page, box in zip(pages, example.document.boxes, strict=True)]
        jumps_up = [b for a, b in pairwise(tops) if b < (a[0], a[1] - 10)]
        assert not jumps_up


def test_every_amount_and_every_date_can_be_read(examples):
    for example in examples:
        for field, start, end in spans(example.gold):
            printed = example.document.text(start, end)
            if field in AMOUNTS:
                assert read(printed, "money"), printed
            elif field == "date":
                assert read(printed, "date"), printed


def test_the_gold_of_some_pages_breaks_exactly_one_rule(examples):
    broken = [broken_rules(example) for example in examples]
    assert max(map(len, broken)) == 1
    assert 0.23 < np.mean([len(rules) == 1 for rules in broken]) < 0.33
    assert {rules[0] for rules in broken if rules} == {"items", "total", "change"}


def test_pages_are_as_varied_as_real_ones(examples):
    sizes = [len(example.document) for example in examples]
    assert min(sizes) < 40
    assert 60 < np.mean(sizes) < 130
    assert max(sizes) > 250
    assert any(example.document.pages for example in examples)
    seen = {label for example in examples for label in example.gold}
    assert {f"B-{field}" for field in AMOUNTS} < seen
    repeated = [example.gold.count("B-total") > 1 for example in examples]
    assert 0.1 < np.mean(repeated) < 0.4


def test_the_tagger_errs_about_as_often_as_a_model(examples):
    wrong_words = words = wrong_pages = 0
    for example in examples:
        best = [demo.LABELS[i] for i in example.scores.log_probs.argmax(axis=1)]
        wrong = [pair for pair in zip(best, example.gold, strict=True) if pair[0] != pair[1]]
        words += len(best)
        wrong_words += len(wrong)
        wrong_pages += any(label[2:] in AMOUNTS for pair in wrong for label in pair)
    assert 0.02 < wrong_words / words < 0.06
    assert 0.35 < wrong_pages / len(examples) < 0.5


def test_noise_makes_mistakes_and_without_it_there_are_none():
    def share_wrong(noise):
        return np.mean(
            [
                demo.LABELS[best] != label
                for example in demo.generate(60, noise=noise)
                for best, label in zip(
                    example.scores.log_probs.argmax(axis=1), example.gold, strict=True
                )
            ]
        )

    assert share_wrong(0) == 0
    assert 0 < share_wrong(0.5) < share_wrong(1) < share_wrong(3)


@pytest.mark.parametrize(
    ("words", "count"),
    [((1, SMALLEST), 100), ((40, 40), 100), ((90, 120), 50), ((500, 520), 10), ((4000, 5000), 2)],
)
def test_pages_are_as_large_as_asked(words, count):
    low, high = words
    for example in demo.generate(count, words=words):
        assert low <= len(example.document) <= high
        assert len(broken_rules(example)) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": -1}, "count is -1, expected a whole number of 0 or more"),
        ({"count": 1, "seed": 0.5}, "seed is 0.5"),
        ({"count": 1, "words": (50, 40)}, r"words is \(50, 40\), expected \(smallest, largest\)"),
        ({"count": 1, "words": (1, 2)}, "the largest at least 24"),
        ({"count": 1, "noise": -1}, "noise is -1, expected a number of 0 or more"),
        ({"count": 1, "noise": float("nan")}, "noise is nan"),
    ],
)
def test_what_cannot_be_generated_is_refused_at_once(arguments, message):
    with pytest.raises(InputError, match=message):
        demo.generate(**arguments)


def test_the_shipped_file_is_what_the_module_writes(tmp_path):
    # Its text, not its bytes: other builds of zlib compress the same text differently.
    assert gzip.decompress(demo.shipped().read_bytes()).decode() == text()
    for name in ("one", "two"):
        write(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert demo.shipped().stat().st_size < 400_000


def test_the_shipped_file_holds_the_generated_pages():
    with gzip.open(demo.shipped(), "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    assert len(documents) == PAGES
    for document, example in zip(documents, demo.generate(PAGES), strict=True):
        assert document["id"] == example.document.id
        assert tuple(document["words"]) == example.document.words
        assert document["boxes"] == [list(box) for box in example.document.boxes]
        assert document.get("pages") == (
            None if example.document.pages is None else list(example.document.pages)
        )
        assert tuple(document["labels"]) == demo.LABELS
        assert tuple(document["gold"]) == example.gold
        probabilities = np.array(document["probs"])
        assert probabilities.min() > 0
        assert np.allclose(probabilities, np.exp(example.scores.log_probs), atol=2e-5)
        assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-3)


def test_the_rules_are_about_the_labels():
    rules = Rules.load(demo.RULES)
    assert [rule.id for rule in rules.rules] == ["items", "total", "change"]
    assert {f"B-{field.label}" for field in rules.fields} <= set(demo.LABELS)


def test_the_docstring_tells_the_truth():
    assert doctest.testmod(demo).failed == 0


def test_the_shipped_model_names_no_file_of_another_machine():
    """It had the paths of the machine that trained it."""
    assert b"site-packages" not in (MODEL / "model.onnx").read_bytes()
