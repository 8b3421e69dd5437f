"""Reading order: tables by rows, blocks one after the other, whatever the order of the input."""

from __future__ import annotations

import gzip
import json
import random
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Box, Document
from lawful.documents.reading_order import (
    _lines,
    cell_starts,
    in_reading_order,
    printed_lines,
    reading_order,
)
from tests.fixtures.outputs import SHARED
from tests.fixtures.pages import block

RECEIPTS, CORD = SHARED / "data" / "receipt_images" / "box", SHARED / "data" / "cord"


def read(placed, seed=0, tilt=0.0):
    """The words in reading order, after they were shuffled and the page was turned a little."""
    shuffled = random.Random(seed).sample(placed, len(placed))  # noqa: S311 - no secret
    boxes = [
        Box(x0, y0 + tilt * (x0 + x1) / 2, x1, y1 + tilt * (x0 + x1) / 2)
        for _, (x0, y0, x1, y1) in shuffled
    ]
    return " ".join(shuffled[i][0] for i in reading_order(boxes))


LEFT = """the most probable labelling of
a document is not always one
that obeys the rules which a
person would check by hand so
the search goes on until one"""
RIGHT = """does and says what it changed
and why that was needed here
with the price of each of the
words whose label is another
than the first of the model"""
TABLE = """Item                 Count    Price
Green tea            2         8.00
Rice with vegetables 1        12.50
Water                3         6.00
Total                         26.50"""


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("tilt", [0.0, 0.04, -0.04])
@pytest.mark.parametrize("seed", range(3))
def test_tables_are_read_row_by_row(seed, tilt):
    assert read(block(TABLE), seed, tilt) == words(TABLE)


@pytest.mark.parametrize("tilt", [0.0, 0.03])
@pytest.mark.parametrize("shift", [0.0, 5.0, 7.0])
def test_columns_of_text_are_read_one_after_the_other(shift, tilt):
    title = block("A title over both of the columns of this page and more", y=-40)
    foot = block("a last line that is as wide as the page and crosses the gap", y=120)
    page = title + block(LEFT) + block(RIGHT, x=230, y=shift) + foot
    expected = " ".join(words(" ".join(w for w, _ in part)) for part in (title,))
    expected += f" {words(LEFT)} {words(RIGHT)} {words(' '.join(w for w, _ in foot))}"
    assert read(page, tilt=tilt) == expected


@pytest.mark.parametrize("columns", [2, 5, 8, 12])
def test_wide_tables_are_not_columns_of_text(columns):
    table = "\n".join(" ".join(f"{i}.{j:<9}" for j in range(columns)) for i in range(40))
    assert read(block(table)) == words(table)


def test_blocks_whose_lines_are_not_level_are_read_one_after_the_other():
    address = "Seller Ltd\n1 Main Street\nTown"
    facts = "Invoice 17\nDate 1.2.2024"
    page = block(address) + block(facts, x=300, y=6.5) + block(TABLE, y=80)
    assert read(page) == f"{words(address)} {words(facts)} {words(TABLE)}"


def test_a_cell_of_two_lines_is_read_before_the_numbers_in_its_middle():
    page = block("Long name of\nan article") + block("2 8.00", x=200, y=7) + block(TABLE, y=60)
    assert read(page) == f"Long name of an article 2 8.00 {words(TABLE)}"


def test_text_along_the_margin_comes_last():
    margin = [("Copyright", Box(-30, 0, -20, 60))]
    assert read(block(TABLE) + margin) == f"{words(TABLE)} Copyright"


def test_pages_stay_apart_and_all_that_belongs_to_words_is_sorted():
    box = Box(0, 0, 10, 10)
    document = Document(
        "d", list("dcba"), [box, Box(20, 0, 30, 10), box, box], [1, 1, 0, 0], rows=[1, 1, None, 0],
        sizes=[(30, 30)] * 2,
    )  # fmt: skip
    found = in_reading_order(document)
    assert found.words == ("b", "a", "d", "c")
    assert found.pages == (0, 0, 1, 1)
    assert found.rows == (None, 0, 1, 1)
    assert in_reading_order(Document("d", ["a", "b"])).words == ("a", "b")
    assert in_reading_order(Document("d", [], [])).words == ()


boxes = st.builds(
    lambda x, y, w, h: Box(x, y, x + w, y + h),
    *(st.integers(0, 60),) * 2, *(st.integers(0, 30),) * 2,
)  # fmt: skip


@given(st.lists(st.tuples(boxes, st.integers(0, 1)), max_size=14))
def test_every_word_comes_once(placed):
    order = reading_order([box for box, _ in placed], [page for _, page in placed])
    assert sorted(order) == list(range(len(placed)))
    pages = [placed[i][1] for i in order]
    assert pages == sorted(pages)


@pytest.mark.parametrize("step", [(20, 5), (20, -5), (0, 5), (5, 11), (11, 0)], ids=str)
def test_long_pages_take_neither_long_nor_deep_recursion(step):
    across, down = step
    stairs = [Box(i * across, i * down, i * across + 10, i * down + 10) for i in range(3000)]
    start = time.process_time()
    assert sorted(reading_order(stairs)) == list(range(3000))
    assert time.process_time() - start < 20


def followers(order, truth):
    """How many words are followed by the right one, and of how many."""
    after = set(pairwise(truth))
    return sum(pair in after for pair in pairwise(order)), len(after)


def right_share(pages):
    """Of pages in the right order, the share of words that are followed by the right one."""
    right = count = 0
    for number, page in enumerate(pages):
        shuffled = random.Random(number).sample(range(len(page)), len(page))  # noqa: S311
        order = [shuffled[i] for i in reading_order([page[i] for i in shuffled])]
        found = followers(order, range(len(page)))
        right, count = right + found[0], count + found[1]
    return right / count


@pytest.mark.skipif(not RECEIPTS.is_dir(), reason="needs ../shared/data/receipt_images")
def test_real_receipts_in_the_order_of_their_annotation():
    pages = []
    for file in sorted(RECEIPTS.glob("*.csv")):
        page = []
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            *corners, text = line.split(",", 8)
            if len(corners) == 8 and text.strip():
                x, y = ([float(edge) for edge in corners[i::2]] for i in (0, 1))
                letter = (max(x) - min(x)) / len(text)
                page += [box for _, box in block(text, min(x), min(y), 0, letter, max(y) - min(y))]
        pages.append(page)
    assert right_share(pages) > 0.94


@pytest.mark.skipif(not CORD.is_dir(), reason="needs ../shared/data/cord")
def test_real_receipts_whose_rows_are_known():
    pages = []
    with gzip.open(CORD / "test.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            rows = {}
            for box, row in zip(line["boxes"], line["row_id"], strict=True):
                rows.setdefault(row, []).append(box)
            by_height = sorted(rows.values(), key=lambda row: np.mean([b[1] + b[3] for b in row]))
            pages.append([Box(*box) for row in by_height for box in sorted(row)])
    assert right_share(pages) > 0.97


def on_its_side(placed, *, up):
    """The page turned by a right angle: text runs up, or down."""
    if up:
        return [(text, Box(y0, 600 - x1, y1, 600 - x0)) for text, (x0, y0, x1, y1) in placed]
    return [(text, Box(600 - y1, x0, 600 - y0, x1)) for text, (x0, y0, x1, y1) in placed]


@pytest.mark.parametrize("up", [True, False])
def test_a_page_that_lies_on_its_side_is_turned(up):
    placed = block(TABLE)
    turned = on_its_side(placed, up=up)
    boxes = [box for _, box in turned]
    assert " ".join(turned[i][0] for i in reading_order(boxes)) == " ".join(TABLE.split())
    document = Document("d", [text for text, _ in turned], boxes)
    upright = Document("d", [text for text, _ in placed], [box for _, box in placed])
    assert printed_lines(document) == printed_lines(upright)


def test_only_the_page_that_lies_on_its_side_is_turned():
    placed = block(TABLE)
    boxes = [box for _, box in placed] + [box for _, box in on_its_side(placed, up=True)]
    pages = [0] * len(placed) + [1] * len(placed)
    assert reading_order(boxes, pages) == list(range(2 * len(placed)))


def test_words_in_random_order_on_a_page_on_its_side_are_read_upwards():
    assert read(on_its_side(block(TABLE), up=True), seed=3) == " ".join(TABLE.split())


def test_a_page_of_single_digits_is_upright():
    assert read(block("1   2   3\n4   5   6\n7   8   9")) == "1 2 3 4 5 6 7 8 9"


def test_cells_end_at_gaps_lines_and_captions():
    words = ["Order", "#", "123", "Blue", "Sky", "Inc", "Total:", "5.00", "x"]
    lefts = [0, 28, 36, 90, 113, 200, 0, 35, 46]  # the last one lies over its neighbour
    boxes = [
        Box(x, 20 * (i > 5), x + 5 * len(word), 20 * (i > 5) + 10)
        for i, (x, word) in enumerate(zip(lefts, words, strict=True))
    ]
    starts = cell_starts(Document("d", words, boxes=tuple(boxes)))
    assert np.flatnonzero(starts).tolist() == [0, 2, 3, 5, 6, 7, 8, 9]


def test_without_boxes_all_words_are_one_cell():
    assert cell_starts(Document("d", ["a", "b", "c"])).tolist() == [True, False, False, True]
    assert cell_starts(Document("d", [])).tolist() == [True]


def slow_lines(boxes):
    """By word, from left to right: the line whose last word overlaps most with it, or a new one."""
    lines, lasts = [0] * len(boxes), []
    for i in sorted(range(len(boxes)), key=lambda i: (boxes[i][0], boxes[i][1])):
        _, top, _, bottom = boxes[i]
        shares = [
            (min(bottom, low) - max(top, high)) / max(min(bottom - top, low - high), 1e-9)
            for _, high, _, low in lasts
        ]
        if max(shares, default=0) >= 0.3:
            lines[i] = shares.index(max(shares))
            lasts[lines[i]] = boxes[i]
        else:
            lines[i] = len(lasts)
            lasts.append(boxes[i])
    return lines


@given(st.lists(st.tuples(*[st.integers(0, 12)] * 2, *[st.integers(0, 6)] * 2), max_size=20))
def test_words_join_the_line_that_is_most_level_with_them(places):
    boxes = [(x, y, x + wide, y + high) for x, y, wide, high in places]
    found = _lines(np.array(boxes, float).reshape(-1, 4))
    assert found.tolist() == slow_lines(boxes)
