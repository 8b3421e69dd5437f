"""``python -m lab.invoices [COUNT] [KIND]`` prints generated pages as text, with their labels."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from lab.invoices.pages import Example, example
from lawful.documents.reading_order import printed_lines


def text(made: Example) -> Iterator[str]:
    """The printed lines of a page; labelled words are followed by their label."""
    document = made.page.document
    numbers = printed_lines(document) or [0] * len(document)
    last = -1
    line: list[str] = []
    for word, label, number in zip(document.words, made.page.gold, numbers, strict=True):
        if number != last and line:
            yield " ".join(line)
            line = []
        last = number
        mark = "" if label == "O" else f"\u27e8{'+' if label[0] == 'I' else ''}{label[2:]}\u27e9"
        line.append(word + mark)
    yield " ".join(line)


if __name__ == "__main__":
    count, kind = (*sys.argv[1:], *("3", "invoice")[len(sys.argv) - 1 :])[:2]
    for i in range(int(count)):
        print(f"--- {i}", *text(example(0, i, kind)), sep="\n")
