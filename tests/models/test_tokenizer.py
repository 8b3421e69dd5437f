"""Words and their pieces: every word has some, and none is lost, whatever it is made of."""

import numpy as np
import pytest

from lawful import Document
from lawful.models.tokenizer import GRID, LINE_STEPS, Tokenizer, in_lines, on_grid
from tests.fixtures.small_models import ODD, WORDS, tokenizer

pytest.importorskip("tokenizers")

FAMILIES = ("wordpiece", "bytes", "unigram")


@pytest.fixture(params=FAMILIES, scope="module")
def word_tokenizer(request):
    return Tokenizer(tokenizer(request.param))


def test_every_word_has_pieces_and_they_read_as_the_words_did(word_tokenizer):
    document = Document("d", ODD)
    pieces = word_tokenizer.tokenize(document)
    assert np.unique(pieces.words).tolist() == list(range(len(ODD)))
    assert (np.diff(pieces.words) >= 0).all()
    cut = pieces.document(document)
    assert len(cut) == len(pieces)
    texts = [""] * len(ODD)
    for word, text in zip(pieces.words.tolist(), cut.words, strict=True):
        texts[word] += text
    assert tuple(texts) == ODD


def test_pins_are_about_the_pieces_of_their_words(word_tokenizer):
    pins = [{"words": (1, 3), "field": "total"}, {"field": "tip", "value": None}]
    document = Document("d", ODD, pins=pins)
    pieces = word_tokenizer.tokenize(document)
    (start, end), nothing = (pin.words for pin in pieces.document(document).pins)
    assert set(pieces.words[start:end].tolist()) == {1, 2}
    assert (pieces.words == 1).sum() + (pieces.words == 2).sum() == end - start
    assert nothing is None


@pytest.mark.parametrize("word", ODD)
def test_a_word_is_cut_alike_wherever_it_stands(word_tokenizer, word):
    alone = word_tokenizer.tokenize(Document("d", (word,)))
    among = word_tokenizer.tokenize(Document("d", ("Total", word, "Tax")))
    assert among.ids[among.words == 1].tolist() == alone.ids.tolist()


def test_words_are_cut_as_words_and_not_as_what_follows_others():
    made = tokenizer("bytes")
    inside = made.encode("xTotal").ids
    first = Tokenizer(made).tokenize(Document("d", ("Total",))).ids.tolist()
    assert first == made.encode(" Total").ids[1:-1]
    assert first != inside[2:-1]


def test_an_empty_document_has_no_pieces(word_tokenizer):
    pieces = word_tokenizer.tokenize(Document("d", ()))
    assert len(pieces) == 0
    assert len(pieces.document(Document("d", ()))) == 0


def test_labels_of_pieces_go_on_where_words_begin(word_tokenizer):
    document = Document("d", ("Total", "1,250.00", "x"))
    pieces = word_tokenizer.tokenize(document)
    labels = pieces.labels(("O", "B-total", "I-total"))
    for word, joins, label in zip(pieces.words, pieces.joins, labels, strict=True):
        expected = {0: "O", 1: "I-total" if joins else "B-total", 2: "I-total"}[int(word)]
        assert label == expected
    assert sum(label == "B-total" for label in labels) == 1


def test_marks_of_beginning_and_end_are_the_tokenizers_own(word_tokenizer):
    assert len(word_tokenizer.opening) == 1
    assert len(word_tokenizer.closing) == 1
    assert word_tokenizer.opening != word_tokenizer.closing


def test_a_tokenizer_that_truncates_or_pads_does_not_here():
    made = tokenizer("wordpiece")
    made.enable_truncation(4)
    made.enable_padding(length=8)
    assert len(Tokenizer(made).tokenize(Document("d", WORDS))) >= len(WORDS)


def test_a_tokenizer_is_saved_and_loaded(word_tokenizer, tmp_path):
    word_tokenizer.save(tmp_path)
    document = Document("d", ODD)
    assert (
        Tokenizer.load(tmp_path).tokenize(document).ids.tolist()
        == word_tokenizer.tokenize(document).ids.tolist()
    )


def test_boxes_are_measured_from_the_printed_area_of_each_page():
    boxes = ((100, 50, 200, 60), (300, 150, 500, 250), (0, 0, 10, 10), (10, 10, 20, 20))
    grid = on_grid(Document("d", ("a", "b", "c", "d"), boxes, pages=(0, 0, 1, 1)))
    assert grid.tolist() == [
        [0, 0, 250, 50],
        [500, 500, GRID, GRID],
        [0, 0, 500, 500],
        [500, 500, GRID, GRID],
    ]


def test_places_in_lines_do_not_depend_on_the_unit_or_on_the_length_of_the_page():
    boxes = [(0, 0, 40, 10), (50, 1, 80, 11), (300, 0, 320, 10), (0, 30, 20, 50), (0, 60, 9, 70)]
    words = ("Total", "due", "5.00", "Big", "x")
    places = in_lines(Document("d", words, boxes))
    assert places[:, 0].tolist() == [1, 6, 31, 1, 1]  # 32nds of the width of 320, from 1
    assert places[:, 2].tolist() == [1, 4, 17, 1, 1]  # first words; gaps of 1 and of 22 heights
    assert places[:, 3].tolist() == [9, 9, 10, 14, 10]  # last words of lines are even
    assert (places > 0).all()
    assert (places < LINE_STEPS).all()
    larger = [tuple(7 * at + 3 for at in box) for box in boxes]
    assert (in_lines(Document("d", words, larger)) == places).all()
    longer = Document("d", (*words, "more"), [*boxes, (0, 500, 9, 510)])
    assert (in_lines(longer)[:5] == places).all()


def test_places_in_lines_are_unknown_without_boxes():
    assert not in_lines(Document("d", ("a", "b"))).any()
    assert in_lines(Document("d", ())).shape == (0, 4)
    flat = in_lines(Document("d", ("a", "b"), ((5, 5, 5, 5), (5, 5, 5, 5))))
    assert ((flat >= 0) & (flat < LINE_STEPS)).all()


def test_a_page_of_one_point_and_a_page_without_boxes_stay_on_the_grid():
    grid = on_grid(Document("d", ("a", "b"), ((5, 5, 5, 5), (5, 5, 5, 5))))
    assert ((grid >= 0) & (grid <= GRID)).all()
    assert not on_grid(Document("d", ("a", "b"))).any()


def test_a_mark_of_the_model_on_a_page_is_a_word_like_others():
    word_tokenizer = Tokenizer(tokenizer("wordpiece"))
    pieces = word_tokenizer.tokenize(Document("d", ("Total", "[SEP]", "12")))
    assert not {*word_tokenizer.opening, *word_tokenizer.closing} & set(pieces.ids.tolist())


def test_words_that_join_still_do_in_pieces(word_tokenizer):
    document = Document("d", ("56", ".", "000", "Tax"), joins=(False, True, True, False))
    cut = word_tokenizer.tokenize(document).document(document)
    assert cut.text(0, len(cut)) == document.text(0, 4) == "56.000 Tax"
