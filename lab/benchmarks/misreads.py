"""Misread characters: how many amounts of photos are right with repairs and without them.

    python -m lab.benchmarks.misreads [--generated N] [--keep FOLDER] [--show]

Reads photos once, with what else each word may be, and decodes them under the pack ``receipt``
twice: with ``misreads: 0``, and as it is. SROIE's and the German receipts, in ``../shared/data``,
have true totals; generated receipts are photographed at three resolutions, and all their amounts
are known. At the end, the repairs that were right, by price. ``--keep`` keeps what was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from lawful_models import RECEIPT as MODEL

from lab import receipts
from lab.benchmarks.data import DATA, GERMAN, PHOTOS, amount, records, true_total
from lab.benchmarks.study import study
from lab.receipts.drawing import draw_pdf, photograph
from lawful import Document, Rules, Scored, Scores, decode
from lawful.io.jsonl import document_line, parse_documents
from lawful.models.tagger import Tagger, from_pretrained
from lawful.readers import Reader
from lawful.rules.packs import PACKS
from lawful.values import read

AMOUNTS = ("total", "subtotal", "tax", "service", "discount", "cash", "change")
OF_ROWS = ("count", "unit_price", "price")
RESOLUTIONS = (84, 76, 70)
"""Dots per inch of generated photos: below 65, OCR loses words rather than characters."""

BINS = (1.5, 2, 3, 4, 5, 6)

Truth = Mapping[str, tuple[Decimal, ...]]
"""By field, its true values, where they are known."""


def shared_photos() -> Iterator[tuple[str, Path, Truth]]:
    """The photos of others: the name of their set, the file, and the true total."""
    for file in sorted((PHOTOS / "img").glob("*.jpg")):
        if (total := true_total(file)) is not None:
            yield "SROIE", file, {"total": (total,)}
    for page in records(GERMAN / "receipts.jsonl.gz"):
        total = amount(str(page["truth"]["total"]).replace(",", "."))
        if page.get("image") and total is not None:
            yield "German", GERMAN / page["image"], {"total": (total,)}


def generated_photos(count: int, folder: Path) -> Iterator[tuple[str, Path, Truth]]:
    """Photos of generated receipts and their true amounts."""
    fields = Rules(Rules.load(PACKS["receipt"]).fields)
    for number, page in enumerate(receipts.generate(count)):
        labels = page.word_scores.labels
        sure = np.eye(len(labels))[[labels.index(label) for label in page.gold or ()]]
        found = decode(page.document, Scores.from_probs(sure, labels), fields)
        draw_pdf(page.document, folder / "page.pdf")
        for dpi in RESOLUTIONS:
            path = folder / f"{number}-{dpi}.jpg"
            photograph(folder / "page.pdf", path, seed=number, dpi=dpi)
            yield f"{dpi} dpi", path, {n: v for n in (*AMOUNTS, *OF_ROWS) if (v := found.values(n))}


class Compared:
    """What repairs do to the pages of one set."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.made: list[tuple[float, bool]] = []  # price of a repair, and whether it was right

    def add(self, scored: Scored, truth: Truth, rules: Rules, *, show: bool) -> None:
        """Decodes a page with repairs and without them."""
        seconds = process_time()
        before = decode(scored.document, scored.scores, rules.with_defaults(misreads=0))
        self.count["us before"] += round(1e6 * (process_time() - seconds))
        seconds = process_time()
        after = decode(scored.document, scored.scores, rules)
        self.count["us after"] += round(1e6 * (process_time() - seconds))
        self.count["pages"] += 1
        self.count["checked"] += before.checked > 0
        self.count["repaired, satisfied"] += after.repaired > 0 and after.status == "satisfied"
        printed, nearly = readable(scored.document)
        for name in {*AMOUNTS} & {*truth}:
            value = truth[name][0]
            self.count["as printed"] += value in printed
            self.count["nearly read"] += value in nearly - printed
            found = [each.values(name)[:1] == truth[name][:1] for each in (before, after)]
            self.count["amounts"] += 1
            self.count["wrong before"] += not found[0]
            self.count["wrong after"] += not found[1]
            if before.checked:
                self.count["wrong before, checked"] += not found[0]
                self.count["wrong after, checked"] += not found[1]
        for name, values in after.repairs.items():
            for value in values:
                start, end = value.words
                prices = {each.text: each.price for each in scored.document.misread(start, end)}
                right = value.value in truth.get(name, ())
                if name in truth:
                    self.made.append((max(1.0, prices[value.read_as or ""]), right))
                    self.count["wrong repairs, satisfied"] += (
                        not right and after.status == "satisfied"
                    )
                if show:
                    said = (
                        "right" if right else f"true: {', '.join(map(str, truth.get(name, '?')))}"
                    )
                    print(f"{scored.document.id}: {name} {value.text} -> {value.read_as}, {said}")


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
    arguments = study(__doc__, DATA, generated=40, keep=Path, show=False)
    with TemporaryDirectory() as made:
        folder = arguments.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        photos = chain(shared_photos(), generated_photos(arguments.generated, folder))
        compare(from_pretrained(MODEL), photos, folder, show=arguments.show)


def compare(
    tagger: Tagger, photos: Iterable[tuple[str, Path, Truth]], folder: Path, *, show: bool
) -> None:
    """Reads, scores and decodes photos; prints a line per set."""
    rules, reader = Rules.load(PACKS["receipt"]), Reader()
    sets: dict[str, Compared] = {}
    for name, file, truth in photos:
        kept = folder / f"{name}-{file.stem}.jsonl"
        if not kept.exists():
            kept.write_text(f"{document_line(reader.read(file))}\n", encoding="utf-8")
        (document,) = parse_documents([(1, kept.read_bytes())])
        (scored,) = tagger.predict([document])
        sets.setdefault(name, Compared()).add(scored, truth, rules, show=show)
    for name, found in sets.items():
        count = found.count
        print(
            f"{name}: {count['pages']} photos, {count['amounts']} amounts; wrong without repairs "
            f"{count['wrong before']}, with {count['wrong after']}; "
            f"some word says {count['as printed']}, and OCR nearly read "
            f"{count['nearly read']} others; on the {count['checked']} "
            f"pages with a rule that can be checked {count['wrong before, checked']} and "
            f"{count['wrong after, checked']}; repaired and satisfied "
            f"{count['repaired, satisfied']}, of these with a wrong repair "
            f"{count['wrong repairs, satisfied']}; decoding "
            f"{count['us before'] / 1000 / count['pages']:.1f} and "
            f"{count['us after'] / 1000 / count['pages']:.1f} ms per page"
        )
    print_reliability([each for found in sets.values() for each in found.made])


if __name__ == "__main__":
    main()
