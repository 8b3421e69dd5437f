"""Misread characters: how many amounts of photos are right with repairs and without them.

    python -m lab.benchmarks.misreads [--generated N] [--choose] [--keep FOLDER] [--show]

Reads every second photo, with what else each word may be, and decodes it under the pack
``receipt`` twice: with ``misreads: 0``, and as it is. SROIE's and the German receipts, in
``../shared/data``, have true totals; generated receipts are photographed at three resolutions, and
all their amounts are known. At the end, the repairs that were right, by price. ``--choose`` decodes
the other half under several limits of what is kept. ``--keep`` keeps what was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from lawful_models import RECEIPT as MODEL

from lab import receipts
from lab.benchmarks.data import DATA, GERMAN, PHOTOS, amount, records, true_total
from lab.benchmarks.study import study
from lab.receipts.drawing import draw_pdf, photograph
from lawful import Decoding, Document, Rules, Scored, Scores, decode
from lawful.io.jsonl import document_line, parse_documents
from lawful.models.tagger import from_pretrained
from lawful.readers import Reader
from lawful.readers import misreads as lattice
from lawful.readers import page as pages
from lawful.readers.ocr import Ocr
from lawful.rules.packs import PACKS
from lawful.values import read

AMOUNTS = ("total", "subtotal", "tax", "service", "discount", "cash", "change")
OF_ROWS = ("count", "unit_price", "price")
RESOLUTIONS = (84, 76, 70)
"""Dots per inch of generated photos: below 65, OCR loses words rather than characters."""

BINS = (1.5, 2, 3, 4, 5, 6)

Truth = Mapping[str, tuple[Decimal, ...]]
"""By field, its true values, where they are known."""


def shared_photos(part: int) -> Iterator[tuple[str, Path, Truth]]:
    """Every second photo of others: the name of their set, the file, and the true total."""
    for file in sorted((PHOTOS / "img").glob("*.jpg"))[part::2]:
        if (total := true_total(file)) is not None:
            yield "SROIE", file, {"total": (total,)}
    pictured = (page for page in records(GERMAN / "receipts.jsonl.gz") if page.get("image"))
    for page in islice(pictured, part, None, 2):
        if (total := amount(str(page["truth"]["total"]).replace(",", "."))) is not None:
            yield "German", GERMAN / page["image"], {"total": (total,)}


def generated_photos(numbers: range, folder: Path) -> Iterator[tuple[str, Path, Truth]]:
    """Photos of some generated receipts and their true amounts."""
    fields = Rules(Rules.load(PACKS["receipt"]).fields)
    for number, page in enumerate(receipts.generate(numbers.stop)):
        if number not in numbers or any(page.document.pages or ()):
            continue  # only the first page is photographed
        labels = page.word_scores.labels
        sure = np.eye(len(labels))[[labels.index(label) for label in page.gold or ()]]
        found = decode(page.document, Scores.from_probs(sure, labels), fields)
        draw_pdf(page.document, folder / "page.pdf")
        for dpi in RESOLUTIONS:
            path = folder / f"{number}-{dpi}.jpg"
            photograph(folder / "page.pdf", path, seed=number, dpi=dpi)
            yield f"{dpi} dpi", path, {n: v for n in (*AMOUNTS, *OF_ROWS) if (v := found.values(n))}


class Limits(NamedTuple):
    """How many other texts of words are kept, and up to which price."""

    price: float
    of_word: int
    of_page: int

    def of(self, document: Document) -> Document:
        """A document that was read widely, with what these limits keep."""
        kept = [
            lattice.cheapest_of_word([e for e in some if e.price <= self.price], self.of_word)
            for some in document.misreads or ((),) * len(document)
        ]
        words = list(map(lattice.with_its_marks, document.words, kept))
        kept = lattice.cheapest_of_page(list(zip(words, kept, strict=True)), self.of_page)
        return replace(document, words=words, misreads=kept)


SHIPPED = Limits(lattice.MAX_PRICE, lattice.MAX_MISREADS, lattice.MAX_OF_PAGE)
WIDE = Limits(8.0, 12, 10_000)
GRID = (
    SHIPPED,
    SHIPPED._replace(price=3.0),
    SHIPPED._replace(price=5.0),
    SHIPPED._replace(of_word=2),
    SHIPPED._replace(of_page=10),
    SHIPPED._replace(of_page=30),
    Limits(5.0, 4, 30),
)
WHY = ("label", "kept", "beyond", "nowhere")
"""Of wrong amounts: some words say the true one; it was kept; it was beyond the limits; neither."""


class Compared:
    """What repairs do to the pages of one set."""

    def __init__(self, limits: Limits = SHIPPED) -> None:
        self.limits = limits
        self.count: Counter[str] = Counter()
        self.why: Counter[str] = Counter()
        self.seconds: tuple[list[float], list[float]] = [], []  # without repairs, and with them
        self.made: list[tuple[float, bool]] = []  # price of a repair, and whether it was right

    def add(self, wide: Scored, truth: Truth, rules: Rules, *, show: bool) -> None:
        """Decodes a page, which was read widely, with repairs and without them."""
        document = self.limits.of(wide.document)
        pair = []
        for which, spent in zip(
            (rules.with_defaults(misreads=0), rules), self.seconds, strict=True
        ):
            start = process_time()
            pair.append(decode(document, wide.scores, which))
            spent.append(process_time() - start)
        before, after = pair
        self.count["pages"] += 1
        self.count["checked"] += before.checked > 0
        self.count["satisfied"] += after.status == "satisfied"
        self.count["repaired, satisfied"] += after.repaired > 0 and after.status == "satisfied"
        printed, kept = readable(document)
        _, beyond = readable(wide.document)
        for name in {*AMOUNTS} & {*truth}:
            value = truth[name][0]
            found = [each.values(name)[:1] == truth[name][:1] for each in pair]
            places = (value in printed, value in kept, value in beyond, True)
            self.count["amounts"] += 1
            self.count["as printed"] += places[0]
            self.count["nearly read"] += places[1] and not places[0]
            self.count["wrong before"] += not found[0]
            self.count["wrong after"] += not found[1]
            if before.checked:
                self.count["wrong before, checked"] += not found[0]
                self.count["wrong after, checked"] += not found[1]
                if not found[1]:
                    why = WHY[places.index(True)]
                    self.why[why] += 1
                    if show and why != "label":
                        said = after.values(name)[:1]
                        print(
                            f"{document.id}: {name} {value} is {why}; found {said}, {after.status}"
                        )
        self._add_repairs(after, document, truth, show=show)

    def _add_repairs(
        self, after: Decoding, document: Document, truth: Truth, *, show: bool
    ) -> None:
        for name, values in after.repairs.items():
            for value in values:
                prices = {each.text: each.price for each in document.misread(*value.words)}
                right = value.value in truth.get(name, ())
                if name in truth:
                    self.made.append((max(1.0, prices[value.read_as or ""]), right))
                    self.count["wrong repairs, satisfied"] += (
                        not right and after.status == "satisfied"
                    )
                if show:
                    true = ", ".join(map(str, truth.get(name, "?")))
                    said = "right" if right else f"true: {true}"
                    print(f"{document.id}: {name} {value.text} -> {value.read_as}, {said}")

    def __str__(self) -> str:
        count = self.count
        times = (
            f"{1000 * median(s):.1f} / {1000 * max(s[: -(len(s) // 100) or None]):.1f}"
            for s in map(sorted, self.seconds)
        )
        return (
            f"{count['pages']} photos, {count['amounts']} amounts; wrong without repairs "
            f"{count['wrong before']}, with {count['wrong after']}; "
            f"some word says {count['as printed']}, and OCR nearly read {count['nearly read']} "
            f"others; on the {count['checked']} pages with a rule that can be checked "
            f"{count['wrong before, checked']} and {count['wrong after, checked']} "
            f"({', '.join(f'{why} {self.why[why]}' for why in WHY)}); satisfied "
            f"{count['satisfied']}, of these repaired {count['repaired, satisfied']}, "
            f"with a wrong repair {count['wrong repairs, satisfied']}; "
            f"decoding {' and '.join(times)} ms (median / 99 %)"
        )


def readable(document: Document) -> tuple[set[Decimal], set[Decimal]]:
    """The amounts that up to three words print, and those that OCR nearly read."""
    spans = (
        (i, j) for i in range(len(document)) for j in range(i + 1, min(i + 4, len(document) + 1))
    )
    printed = {value for span in spans for value in read(document.text(*span), "money")}
    others = (each.text for some in document.misreads or () for each in some)
    return printed, {value for text in others for value in read(text, "money")[:1]}


def print_reliability(made: list[tuple[float, bool]]) -> None:
    """How many repairs of needed amounts were right, by price."""
    print("\nprice of a repair   right")
    least = 0.0
    for most in BINS:
        some = [right for price, right in made if least < price <= most]
        print(f"{least:4.1f} to {most:4.1f} nats   {sum(some)} of {len(some)}")
        least = most


def main() -> None:
    """Prints the figures by set of photos."""
    arguments = study(__doc__, DATA, generated=40, choose=False, keep=Path, show=False)
    with TemporaryDirectory() as made:
        folder = arguments.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        part = 0 if arguments.choose else 1
        photos = chain(
            shared_photos(part),
            generated_photos(range(part, arguments.generated, 2), folder),
        )
        compare(photos, folder, GRID if arguments.choose else (SHIPPED,), show=arguments.show)


def read_widely(reader: Reader, file: Path, kept: Path) -> Document:
    """The document of a photo with all that OCR nearly read, from a file that keeps it."""
    if not kept.exists():
        wide = dict(zip(("MAX_PRICE", "MAX_MISREADS", "MAX_OF_PAGE"), WIDE, strict=True))
        as_read = patch.object(pages, "with_its_marks", lambda text, _: text)
        with patch.multiple(lattice, **wide), as_read:
            document = reader.read(file)
        kept.write_text(f"{document_line(document)}\n", encoding="utf-8")
    (document,) = parse_documents([(1, kept.read_bytes())])
    return document


def compare(
    photos: Iterable[tuple[str, Path, Truth]], folder: Path, grid: Sequence[Limits], *, show: bool
) -> None:
    """Reads, scores and decodes photos; prints a line per set and limits."""
    rules, tagger = Rules.load(PACKS["receipt"]), from_pretrained(MODEL)
    reader = Reader(engine=Ocr(threads=1))
    sets: dict[str, list[Compared]] = {}
    for name, file, truth in photos:
        document = read_widely(reader, file, folder / f"{name}-{file.stem}.jsonl")
        (scored,) = tagger.predict([document])
        for found in sets.setdefault(name, [Compared(limits) for limits in grid]):
            found.add(scored, truth, rules, show=show)
    for number, limits in enumerate(grid):
        print(f"\n{limits}")
        for name, each in sets.items():
            print(f"{name}: {each[number]}")
        print_reliability([made for each in sets.values() for made in each[number].made])


if __name__ == "__main__":
    main()
