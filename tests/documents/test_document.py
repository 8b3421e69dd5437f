"""Documents and word pieces."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import lawful
from lawful import Box, Document, DocumentError, Scored, Scores
from lawful.io.jsonl import document_line, parse_documents


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": ""}, "the document's id is ''"),
        ({"id": 3}, "the document's id is 3"),
        ({"words": "ab"}, "words is 'ab', expected a list"),
        ({"words": None}, r"has no words, expected Document\(id, words\) or Document\(words\)"),
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


def test_an_id_may_be_left_out():
    named = Document("document", ("a", "b"))
    assert Document(["a", "b"]) == Document(words=["a", "b"]) == named
    assert pickle.loads(pickle.dumps(Document(["a", "b"]))) == named
    assert replace(named, words=("c",)) == Document(("c",))
    assert Document([], boxes=[]).words == ()
    assert Document("a", []).id == "a"
    boxed = Document(["a"], boxes=[(0, 0, 1, 1)], pages=[0])
    assert (boxed.id, boxed.boxes) == ("document", (Box(0, 0, 1, 1),))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), r"has no words, expected Document\(id, words\) or Document\(words\)"),
        (("Total 5.00",), "document 'Total 5.00' has no words, .*Document.from_text makes words"),
        ((3,), "document 'document': words is 3, expected a list"),
        ((["a", 3],), "document 'document': word 1 is 3, expected a string"),
        ((["a"], ["b"]), r"the document's id is \['a'\], expected a name"),
    ],
)
def test_an_id_or_words_by_mistake_are_named(arguments, message):
    with pytest.raises(DocumentError, match=message):
        Document(*arguments)


def test_a_text_is_a_document():
    text = "Total  5.00\n\tCash\u00a010.00 "
    assert Document.from_text(text).words == ("Total", "5.00", "Cash", "10.00")
    assert Document.from_text("", "empty") == Document("empty", ())
    with pytest.raises(DocumentError, match="text is 3, expected a string"):
        Document.from_text(3)


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


PAGES = {"sizes": [(10, 20), (5, 5)], "images": ["a.pdf#page=1", None], "values": {"a": ["1", "2"]}}


def test_pages_have_sizes_and_images_and_values_may_be_known():
    document = Document("d", ["a"], pages=[1], **PAGES)
    assert document.sizes == ((10.0, 20.0), (5.0, 5.0))
    assert document.images == ("a.pdf#page=1", None)
    assert document.values == {"a": ("1", "2")}
    assert document.at_line(3).line == 3
    (line,) = parse_documents([(1, document_line(document).encode())])
    assert line == document


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sizes": 3}, "sizes is 3, expected a list"),
        ({"sizes": [(1, 2, 3)]}, r"size of page 0 is \(1, 2, 3\), expected \[width, height\]"),
        ({"sizes": [(1, float("nan"))]}, "size of page 0 is"),
        ({"sizes": [(1, 1)]}, "has words on page 1, but sizes of 1 pages"),
        ({"images": "a.png"}, "images is 'a.png', expected a list"),
        ({"images": [1]}, "image of page 0 is 1, expected a path"),
        ({"values": ["a"]}, r"values is \['a'\], expected labels and texts"),
        ({"values": {"a": "1"}}, "values of 'a' is '1', expected a list of texts"),
        ({"values": {"a": [1]}}, r"values of 'a' is \[1\], expected a list of texts"),
    ],
)
def test_pages_and_values_that_are_not_as_expected(given, said):
    with pytest.raises(DocumentError, match=said):
        Document("d", ["a"], pages=[1], **given)
