"""Documents and word pieces."""

from __future__ import annotations

import numpy as np
import pytest

import lawful
from lawful import Box, Document, Scored, Scores


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": ""}, "the document's id is ''"),
        ({"id": 3}, "the document's id is 3"),
        ({"words": "ab"}, "words is 'ab', expected a list"),
        ({"words": None}, "words is None, expected a list"),
        ({"boxes": [(0, 0, 10**400, 1), (0, 0, 1, 1)]}, "box of word 0"),
        ({"words": ["a", 3]}, "document 'd': word 1 is 3, expected a string"),
        ({"boxes": [(0, 0, 1, 1)]}, "document 'd' has 2 words, but 1 box"),
        ({"boxes": [(0, 0, 1, 1), (2, 0, 1, 1)]}, r"box of word 1 is \(2, 0, 1, 1\), expected"),
        ({"boxes": [(0, 0, 1), (0, 0, 1, 1)]}, "box of word 0"),
        ({"boxes": [(0, 0, float("nan"), 1), (0, 0, 1, 1)]}, "box of word 0"),
        ({"boxes": [None, (0, 0, 1, 1)]}, "box of word 0 is None"),
        ({"pages": [0, -1]}, "page of word 1 is -1"),
        ({"pages": [0, True]}, "page of word 1 is True"),
        ({"joins": [False, 1]}, "joins of word 1 is 1, expected true or false"),
    ],
)
def test_bad_documents_are_named(options, message):
    with pytest.raises(lawful.DocumentError, match=message):
        Document(**{"id": "d", "words": ["a", "b"], **options})


def test_text_and_box_of_a_span():
    document = Document(
        "d",
        ["Rp", "56", ".", "000"],
        boxes=[(0, 0, 5, 5), (6, 1, 8, 6), (8, 1, 9, 6), (9, 1, 12, 4)],
        pages=[0, 0, 0, 1],
        joins=[False, False, True, True],
    )
    assert document.text(0, 4) == "Rp 56.000"
    assert document.text(1, 4) == "56.000"
    assert document.text(2, 2) == ""
    assert document.box(0, 3) == Box(0, 0, 9, 6)
    assert document.box(0, 4) == Box(0, 0, 9, 6)  # the last word is on another page
    assert document.box(1, 1) is None
    assert document.page(3) == 1


def pieces():
    labels = ["O", "B-a", "I-a", "B-b"]
    probs = [[0.1, 0.6, 0.1, 0.2], [0.2, 0.1, 0.5, 0.2], [0.4, 0.2, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]]
    document = Document("d", ["56", ".", "000", "x"], boxes=[(i, 0, i + 1, 1) for i in range(4)],
                        joins=[False, True, True, False])  # fmt: skip
    return Scored(document, Scores.from_probs(probs, labels), gold=("B-a", "I-a", "I-a", "O"))


def test_a_word_takes_its_inside_pieces_from_the_inside_label():
    # B-a is B-a then I-a, I-a is I-a throughout; O and B-b (which has no I-b) speak for all pieces.
    expected = np.array([0.1 * 0.2 * 0.4, 0.6 * 0.5 * 0.3, 0.1 * 0.5 * 0.3, 0.2 * 0.2 * 0.1])
    product = pieces().to_words("product")
    assert np.exp(product.scores.log_probs[0]) == pytest.approx(expected / expected.sum())
    mean = pieces().to_words()
    roots = expected ** (1 / 3)
    assert np.exp(mean.scores.log_probs[0]) == pytest.approx(roots / roots.sum())
    first = pieces().to_words("first")
    assert np.exp(first.scores.log_probs[0]) == pytest.approx([0.1, 0.6, 0.1, 0.2])
    for words in (product, mean, first):
        assert words.document.words == ("56.000", "x")
        assert words.document.boxes == (Box(0, 0, 3, 1), Box(3, 0, 4, 1))
        assert words.gold == ("B-a", "O")
        assert np.exp(words.scores.log_probs[1]) == pytest.approx([0.7, 0.1, 0.1, 0.1])


def test_pieces_that_contradict_each_other_forbid_nothing():
    scores = Scores.from_probs([[0, 1, 0], [1, 0, 0], [0, 0, 1]], ["O", "B-a", "I-a"])
    pooled = scores.to_words([False, True, False])
    assert np.isfinite(pooled.log_probs[0]).all()
    assert np.exp(pooled.log_probs[1]).tolist() == [0, 0, 1]
    chunks = Scores.from_probs([[0.5, 0.5]] * 2, ["O", "S-a"])
    with pytest.raises(lawful.ScoresError, match="knows only B- and I-"):
        chunks.to_words([False, True])


def test_pieces_that_cannot_be_pooled_are_named():
    scores = pieces().scores
    with pytest.raises(lawful.ScoresError, match="unknown pooling 'max'; poolings: mean"):
        scores.to_words([False] * 4, "max")
    with pytest.raises(lawful.ScoresError, match="joins has length 3, expected 4"):
        scores.to_words([False] * 3)
    with pytest.raises(lawful.ScoresError, match="piece 0 joins the word before it"):
        scores.to_words([True] * 4)
