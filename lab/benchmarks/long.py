"""Long documents from words to fields: the time of the model and of the search, by words.

    python -m lab.benchmarks.long [--words 500,2000,10000] [--alternatives 0]

Three kinds of documents of 40 pages: one bill with thousands of items, running text full of amounts
with a receipt at its end, and receipts one after the other. Scored by the model that comes with the
package, which knows single receipts only, under the rule pack ``receipt``. Times are those of the
processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from time import process_time

from lawful_models import RECEIPT as MODEL

from lab import receipts as demo
from lawful import Box, Document, decode, from_pretrained
from lawful.documents.reading_order import printed_lines
from lawful.rules.packs import rules_named

PAGES = 40
NAMES = ["Nasi", "Goreng", "Ayam", "Teh", "Manis", "Kopi", "Susu", "Mie", "Bakso", "Sate", "Roti"]
TEXT = [
    "the",
    "of",
    "agreement",
    "party",
    "shall",
    "period",
    "services",
    "under",
    "section",
    "notice",
    "payment",
    "terms",
]

Lines = list[list[str]]


def amount(value: int) -> str:
    return f"{value:,}".replace(",", ".")


def bill(words: int, rng: Random) -> Lines:
    """Items of four words, then the sums."""
    lines, total = [["TOKO", "MAJU"]], 0
    for _ in range((words - 13) // 4):
        price = rng.randint(5, 60) * 1000
        total += price
        lines.append(["1", *rng.sample(NAMES, 2), amount(price)])
    tax = total // 10
    paid = total + tax + 5000
    lines += [["Subtotal", amount(total)], ["PB1", "10%", amount(tax)]]
    lines += [["TOTAL", amount(total + tax)], ["CASH", amount(paid)], ["CHANGE", amount(5000)]]
    return lines


def receipts(words: int, rng: Random) -> Lines:
    """The lines of generated receipts."""
    lines: Lines = []
    for page in demo.generate(words // 20 + 1, seed=rng.randint(2, 1000)):
        by_line: dict[int | None, list[str]] = {}
        for word, line in zip(page.document.words, printed_lines(page.document), strict=True):
            by_line.setdefault(line, []).append(word)
        lines += by_line.values()
        if sum(map(len, lines)) >= words:
            break
    return lines


def text(words: int, rng: Random) -> Lines:
    """Running text in which one word in twelve is an amount, then a receipt."""
    last = receipts(1, rng)
    line = [
        amount(rng.randint(1, 900) * 1000) if rng.random() < 1 / 12 else rng.choice(TEXT)
        for _ in range(max(words - sum(map(len, last)), 0))
    ]
    return [line[i : i + 6] for i in range(0, len(line), 6)] + last


KINDS: dict[str, Callable[[int, Random], Lines]] = {
    "bill": bill,
    "text": text,
    "receipts": receipts,
}


def document(kind: str, words: int) -> Document:
    """A document of a kind, on 40 pages."""
    lines = KINDS[kind](words, Random(0))  # noqa: S311 - no secret
    per_page = -(-len(lines) // PAGES)

    def places() -> Iterator[tuple[str, Box, int]]:
        for number, line in enumerate(lines):
            page, row = divmod(number, per_page)
            x = 20
            for word in line:
                yield word, Box(x, 20 + 15 * row, x + 7 * len(word), 30 + 15 * row), page
                x += 7 * len(word) + 7

    texts, boxes, pages = zip(*islice(places(), words), strict=True)
    return Document(f"{kind}-{words}", texts, boxes, pages)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", default="500,2000,10000")
    parser.add_argument("--alternatives", type=int, default=0)
    arguments = parser.parse_args()
    tagger, rules = from_pretrained(str(MODEL)), rules_named("receipt")
    print("| document | words | model | decode | status | stopped by |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        for words in map(int, arguments.words.split(",")):
            made = document(kind, words)
            began = process_time()
            (scored,) = tagger.predict([made])
            read = process_time()
            found = decode(made, scored.scores, rules, alternatives=arguments.alternatives)
            ended = process_time()
            print(
                f"| {kind} | {len(made):,} | {read - began:.1f} s | {ended - read:.1f} s "
                f"| {found.status} | {found.stopped_by or ''} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
