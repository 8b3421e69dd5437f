"""What a recogniser may have read besides its text: edits of its lattice, by word."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lawful.documents.document import Box
from lawful.documents.misreads import Misread
from lawful.readers import misreads
from lawful.readers.misreads import (
    MAX_PRICE,
    Edit,
    Line,
    by_word,
    cheapest_of_page,
    edits_of,
    likely_misreads,
    misreads_of,
    with_its_marks,
)  # fmt: skip
from lawful.readers.ocr import split_word
from lawful.readers.page import Page, Word, make_document

CHARACTERS = ["", "0", "1", "4", ".", "a"]  # the first one is none


def text_of(path) -> str:
    """The text of a path of columns: adjacent columns of one character are one."""
    return "".join(CHARACTERS[c] for i, c in enumerate(path) if c and (i == 0 or path[i - 1] != c))


@pytest.mark.parametrize("seed", range(150))
def test_an_edit_has_a_path_of_its_price_and_none_of_one_change_is_cheaper(seed):
    random = np.random.default_rng(seed)
    columns = random.dirichlet(np.full(len(CHARACTERS), 0.3), size=random.integers(1, 6))
    best = columns.argmax(axis=1)
    text = text_of(best)
    log = np.log(np.maximum(columns, 1e-7))
    cheapest: dict[str, float] = {}
    for path in product(range(len(CHARACTERS)), repeat=len(columns)):
        price = float(
            sum(log[i, b] - log[i, c] for i, b, c in zip(range(len(path)), best, path, strict=True))
        )
        other = text_of(path)
        cheapest[other] = min(price, cheapest.get(other, np.inf))
    for edit in edits_of(columns, CHARACTERS, text):
        other = text[: edit.at] + edit.new + text[edit.at + edit.cut :]
        if other != text:
            assert other in cheapest
            assert edit.price >= cheapest[other] - 1e-3
            assert edit.price <= MAX_PRICE + 1e-3
    if any(map(str.isdigit, text)):
        found = misreads_of_line(text, columns)
        for i, column in product(range(len(columns)), range(1, len(CHARACTERS))):
            path = [*best[:i], column, *best[i + 1 :]]  # one column reads another character
            price = float(log[i, best[i]] - log[i, column])
            other = text_of(path)
            if CHARACTERS[column] != "a" and price < MAX_PRICE - 1e-3 and one_edit(text, other):
                assert found.get(other, np.inf) <= price + 2e-3, (text, other)


def one_edit(text: str, other: str) -> bool:
    """Whether one character is put in, or put in place of another one."""
    if len(other) == len(text):
        return sum(a != b for a, b in zip(text, other, strict=True)) == 1
    return len(other) == len(text) + 1


def misreads_of_line(text: str, columns) -> dict[str, float]:
    found: dict[str, float] = {}
    for edit in edits_of(columns, CHARACTERS, text):
        other = text[: edit.at] + edit.new + text[edit.at + edit.cut :]
        found[other] = min(edit.price, found.get(other, np.inf))
    return found


def test_a_line_without_digits_has_no_edits():
    columns = np.array([[0.1, 0.3, 0.1, 0.1, 0.0, 0.4]])
    assert edits_of(columns, CHARACTERS, "a") == []


def test_edits_belong_to_the_word_that_they_change():
    line = Line("a 1.40 4")
    line.edits = [Edit(2, 1, "4", 1.0), Edit(6, 0, "0", 2.0), Edit(7, 1, "1", 3.0)]
    words = list(by_word(line, ["a", "1.40", "4"]))
    assert words == [[], [Edit(0, 1, "4", 1.0), Edit(4, 0, "0", 2.0)], [Edit(0, 1, "1", 3.0)]]
    assert list(by_word("a 1.40", ["a", "1.40"])) == [[], []]  # no text of the recogniser
    assert next(by_word(line, ["b", "1.40"])) == []


def test_a_sign_of_money_may_be_read_as_a_digit_and_a_point_is_not_lost():
    assert misreads_of("83.35", [Edit(0, 1, "$", 2.0)]) == (Misread("$3.35", 2.0),)
    assert misreads_of("12.00", [Edit(2, 1, "", 1.0)]) == ()
    assert misreads_of("$12.00", [Edit(0, 1, "5", 1.0)]) == ()
    assert misreads_of("1200", [Edit(2, 0, ".", 1.0)]) == (Misread("12.00", 1.0),)


def test_only_readings_of_another_value_are_kept_the_cheapest_first():
    edits = [Edit(0, 1, "4", 2.0), Edit(3, 1, "1", 1.0), Edit(1, 1, ",", 0.5), Edit(0, 1, "", 6.5)]
    found = misreads_of("1.40", edits)
    wanted = Misread("1.41", 1.0), Misread("4.40", 2.0), Misread("4.41", 3.0)
    assert found == wanted, "1,40 and 1,41 tell no more"
    assert misreads_of("total", [Edit(0, 1, "0", 1.0)]) == ()


def test_the_cheapest_sign_of_money_is_kept_beside_three_digits():
    edits = [Edit(0, 1, new, 0.5 * i) for i, new in enumerate("2345€$", 1)]
    found = misreads_of("83.35", edits)
    assert [each.text for each in found] == ["23.35", "33.35", "43.35", "€3.35"]
    assert [each.text for each in misreads_of("83.35", edits[3:])] == ["53.35", "€3.35"]


def test_two_edits_cost_as_much_as_both(monkeypatch):
    monkeypatch.setattr(misreads, "MAX_MISREADS", 6)
    found = misreads_of("1.40", [Edit(0, 1, "4", 0.5), Edit(3, 1, "1", 0.25)])
    assert found == (("1.41", 0.25), ("4.40", 0.5), ("4.41", 0.75))


def test_a_page_keeps_only_its_cheapest_misreads(monkeypatch):
    monkeypatch.setattr(misreads, "MAX_OF_PAGE", 6)
    words = [(Misread("1", 0.1 * i), Misread("2", 0.1 * i + 0.55)) for i in range(10)]
    kept = cheapest_of_page([("1.00", some) for some in words])
    assert [len(some) for some in kept] == [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    page = Page(
        [Word(f"w{i}", Box(0, 20 * i, 9, 20 * i + 9), some) for i, some in enumerate(words)],
        (99, 999),
    )
    document = make_document("d", [page, page])
    assert [sum(map(len, document.misreads[i : i + 10])) for i in (0, 10)] == [6, 6]


def test_amounts_come_before_short_numbers_and_these_before_codes(monkeypatch):
    monkeypatch.setattr(misreads, "MAX_OF_PAGE", 3)
    texts = ["0479017994558", "16/07/2021", "716", "43.500", "$8.88"]
    words = [(text, [Misread("1", 0.1 * i)]) for i, text in enumerate(texts)]
    assert [len(some) for some in cheapest_of_page(words)] == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "other", "found"),
    [
        ("13.788,420.00", "13,788,420.00", "13,788,420.00"),  # no amount, and one
        ("p13.800.000.00", "p13,800,000.00", "p13.800.000.00"),  # neither is
        ("1.987,000", "1,987,000", "1.987,000"),  # is an amount, with three decimals
        ("13.788,420.00", "13,738,420.00", "13.788,420.00"),  # another digit needs a rule
        ("13,788.42", "13.788,42", "13,788.42"),  # is an amount already
        ("12.03.2021", "12,032021", "12.03.2021"),  # is no amount in groups of three
    ],
)
def test_marks_that_make_no_amount_are_those_that_do(text, other, found):
    assert with_its_marks(text, [Misread(other, 0.5)]) == found


def test_parts_of_a_word_keep_their_own_edits():
    parts = list(split_word("EUR18.00", Box(0, 0, 80, 10), [Edit(3, 1, "4", 1.5)]))
    assert [(part.text, part.misreads) for part in parts] == [
        ("EUR", ()),
        ("18.00", (Misread("48.00", 1.5),)),
    ]


def test_without_a_lattice_the_confidence_says_how_likely_a_misread_is():
    found = likely_misreads("12.46", 0.8)
    assert found[0] == ("32.46", pytest.approx(np.log(4 * 484 / 130), abs=0.01))
    assert [each.price for each in found] == sorted(each.price for each in found)
    sure = likely_misreads("12.46", 0.83)
    assert sure
    assert all(a.price > b.price for a, b in zip(sure, found, strict=False))
    assert likely_misreads("12.46", 0.9999) == likely_misreads("Total", 0.2) == ()


@pytest.mark.parametrize("sure", [-1, 0, 0.0, 1, 2.5])
def test_a_confidence_out_of_range_is_none(sure):
    assert all(each.price >= 0 for each in likely_misreads("12.46", sure))
