"""Documents as text: lines with their blanks, and windows of them."""

from lawful import Box, Document
from lawful.llm.page_text import Line, lines_of, text_of, windows


def page(*cells, **more):
    """A document of words at columns and lines; a letter is 10 wide and 10 high."""
    boxes = [Box(10 * x, 20 * y, 10 * (x + len(word)), 20 * y + 10) for word, x, y, *_ in cells]
    return Document("d", [cell[0] for cell in cells], boxes=boxes, **more)


def test_words_are_as_far_apart_as_on_the_page():
    found = page(("Tea", 0, 0), ("8.00", 20, 0), ("Iced", 0, 1), ("Tea", 5, 1), ("16.00", 19, 1))
    assert text_of(lines_of(found)).split("\n") == [
        "Tea                 8.00",
        "Iced Tea           16.00",
    ]


def test_what_is_left_of_all_begins_a_line_and_pages_have_marks():
    found = page(("a", 7, 0), ("bb", 9, 1), ("c", 50, 0), pages=[0, 0, 2])
    assert text_of(lines_of(found)) == "a\n  bb\n--- page 3 ---\nc"


def test_words_that_overlap_are_still_apart():
    assert text_of(lines_of(page(("abc", 0, 0), ("def", 2, 0)))) == "abc def"


def test_a_document_without_boxes_is_wrapped():
    found = lines_of(Document.from_text("word " * 100))
    assert {len(line.text) for line in found[:-1]} == {119}
    assert [w for line in found for w in line.words] == list(range(100))


def test_documents_without_words_have_no_lines():
    assert lines_of(Document("d", [])) == lines_of(Document("d", [], boxes=[])) == []
    assert windows([]) == [[]]


def line(page, length):
    return Line(page, "x" * length, ())


def test_windows_have_all_lines_in_order_and_are_small_enough():
    lines = [line(0, 7) for _ in range(10)]
    found = windows(lines, 24)
    assert [len(run) for run in found] == [3, 3, 3, 1]
    assert [each for run in found for each in run] == lines


def test_windows_end_with_a_page_if_they_are_half_full():
    pages = [0, 0, 0, 1, 1, 1, 2]
    found = windows([line(number, 9) for number in pages], 40)
    assert [[each.page for each in run] for run in found] == [[0, 0, 0], [1, 1, 1, 2]]
    late = windows([line(number, 9) for number in [0, 1, 1, 1, 1, 1]], 40)
    assert [[each.page for each in run] for run in late] == [[0, 1, 1, 1], [1, 1]]


def test_a_line_that_is_too_long_is_a_window_by_itself():
    assert [len(run) for run in windows([line(0, 5), line(0, 99), line(0, 5)], 20)] == [1, 1, 1]
