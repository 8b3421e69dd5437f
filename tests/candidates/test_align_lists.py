"""Alignment of lists by what their items say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lawful.candidates.align_lists import align


def rows(*texts):
    """Items of several fields, one letter each; a dot is a field that is missing."""
    return [{(str(i),): c for i, c in enumerate(text) if c != "."} for text in texts]


def shown(columns):
    """The columns as texts, list by list."""
    return [["".join(item.values()) if item else "-" for item in column] for column in columns]


def test_rows_are_found_again_in_any_order():
    lists = [rows("1ax", "2bx", "3cx", "4dx"), rows("4dx", "3cy", "2bx", "1ax")]
    assert shown(align(lists, [1, 1])) == [
        ["1ax", "1ax"], ["2bx", "2bx"], ["3cx", "3cy"], ["4dx", "4dx"],
    ]  # fmt: skip


def test_what_many_rows_say_aligns_none():
    lists = [rows("1xy", "2xy", "3xy", "4xy"), rows("1xy", "5xy", "2xy", "3xy", "4xy")]
    columns = shown(align(lists, [1, 1]))
    assert columns == [["1xy", "1xy"], ["-", "5xy"], ["2xy", "2xy"], ["3xy", "3xy"], ["4xy", "4xy"]]


def test_equal_rows_keep_their_order_and_their_number():
    lists = [rows("aa", "bb", "aa"), rows("aa", "bb", "aa", "aa")]
    columns = shown(align(lists, [1, 1]))
    assert sorted(columns) == [["-", "aa"], ["aa", "aa"], ["aa", "aa"], ["bb", "bb"]]
    assert [column[0] for column in columns if column[0] != "-"] == ["aa", "bb", "aa"]


ITEMS = st.lists(st.text("abc.", min_size=1, max_size=3), max_size=6)


@given(st.lists(ITEMS, max_size=4))
def test_every_item_has_one_column_and_every_column_an_item(texts):
    lists = [rows(*each) for each in texts]
    columns = align(lists, [1.0] * len(lists))
    for number, items in enumerate(lists):
        found = [column[number] for column in columns if column[number] is not None]
        assert sorted(map(str, found)) == sorted(map(str, items))
    assert all(any(item is not None for item in column) for column in columns)


@given(ITEMS, st.randoms())
def test_shuffled_rows_are_the_same_rows(texts, dice):
    items = rows(*texts)
    others = dice.sample(items, len(items))
    for one, other in align([items, others], [1, 1]):
        assert one == other
