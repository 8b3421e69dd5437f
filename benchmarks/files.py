"""From files to fields: pages per second and where the time goes; and how well files are read.

    python -m benchmarks.files              # speed, on generated receipts
    python -m benchmarks.files --real       # words, totals and reading order of ../shared/data

Speed is measured on receipts of the demo as PDF files and, if the ``ocr`` extra is there, on photos
of some of them. ``--real`` needs data sets that are not part of the project.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from lawful import Box, Document, Rules, decode, demo, from_pretrained
from lawful.demo.drawing import draw_pdf, photograph
from lawful.files import Reader, files_in
from lawful.files.ocr import Ocr
from lawful.lines import reading_order
from lawful.models.shipped import MODEL
from lawful.values import read
from tests.fixtures.outputs import SHARED

HAS_OCR = find_spec("rapidocr") is not None


def make_files(folder: Path, pdfs: int, photos: int) -> int:
    """Draws receipts as files; the number of pages."""
    pages = 0
    for number, page in enumerate(demo.generate(pdfs)):
        path = folder / "pdf" / f"{page.document.id}.pdf"
        draw_pdf(page.document, path)
        pages += 1 + max(page.document.pages or (0,))
        if number < photos:
            photograph(path, folder / "photo" / f"{page.document.id}.jpg", seed=number)
    return pages


class TimedOcr(Ocr):
    """OCR that adds up its CPU time."""

    seconds = 0.0

    def read(self, pixels, scale=1.0):  # noqa: ANN001, ANN201 - as in Ocr
        start = process_time()
        try:
            return super().read(pixels, scale)
        finally:
            self.seconds += process_time() - start


def stages(files: Sequence[Path]) -> dict[str, float]:
    """Seconds of CPU time in each stage, one file after the other in this process."""
    ocr = TimedOcr(threads=1)
    reader, tagger, rules = Reader(engine=ocr), from_pretrained(MODEL), Rules.load(demo.RULES)
    reader.read(files[0])  # loads libraries
    ocr.seconds = 0.0
    spent: Counter[str] = Counter()
    for file in files:
        times = [process_time()]
        document = reader.read(file)
        times.append(process_time())
        scored = next(iter(tagger.predict([document])))
        times.append(process_time())
        decode(scored.document, scored.scores, rules)
        times.append(process_time())
        for name, (start, end) in zip(("reading", "model", "search"), pairwise(times), strict=True):
            spent[name] += end - start
    spent["reading"] -= ocr.seconds
    return {"reading": spent["reading"], "OCR": ocr.seconds, **spent}


def extract(folder: Path, workers: int) -> float:
    """Seconds of ``lawful extract`` on a folder, with its start."""
    start = perf_counter()
    command = [sys.executable, "-m", "lawful", "extract", folder, "--workers", str(workers), "-q"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return perf_counter() - start


def speed(pdfs: int, photos: int) -> None:
    """Prints pages per second, by kind of file."""
    with TemporaryDirectory() as work:
        folder = Path(work)
        for kind in ("pdf", "photo"):
            (folder / kind).mkdir()
        pages = {"pdf": make_files(folder, pdfs, photos), "photo": photos}
        for kind, count in pages.items():
            files = list(files_in(folder / kind))
            if not files:
                continue
            spent = stages(files)
            total = sum(spent.values())
            print(
                f"{kind}: {len(files)} files, {count} pages, {count / total:.1f} pages a CPU second"
            )
            for name, seconds in spent.items():
                print(f"  {name:8} {1000 * seconds / count:8.1f} ms a page, {seconds / total:4.0%}")
            for workers in (1, 2):
                seconds = extract(folder / kind, workers)
                print(f"  lawful extract --workers {workers}: {count / seconds:.1f} pages/s")


# How well real files are read.


def amounts_of(document: Document) -> set[Decimal]:
    """The amounts that are printed, of up to three words."""
    found = set()
    for start in range(len(document)):
        for end in range(start + 1, min(start + 4, len(document) + 1)):
            found |= {abs(Decimal(v)) for v in read(document.text(start, end), "money")}
    return found


def totals() -> None:
    """How many totals of e-invoices' XML are printed, as far as the reader sees."""
    found = count = invoices = pages = 0
    start = perf_counter()
    documents = [Reader("never").read(f) for f in files_in(SHARED / "data" / "facturx" / "pdf")]
    seconds = perf_counter() - start
    for document in documents:
        pages += len(document.sizes or ())
        invoices += bool(document.values)
        amounts = amounts_of(document) if document.values else set()
        for label in ("net", "tax", "gross", "due"):
            for text in (document.values or {}).get(label, ()):
                count += 1
                found += abs(Decimal(text)) in amounts
    print(f"facturx: {len(documents)} files, {1000 * seconds / pages:.1f} ms a page")
    print(f"  {found} of {count} totals of the XML of {invoices} files are read")


def annotated(file: Path) -> list[tuple[str, Box]]:
    """The words of a receipt's annotation, in its order; boxes of lines are cut by letters."""
    words = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        *corners, text = line.split(",", 8)
        if len(corners) == 8 and text.strip():
            xs, ys = ([float(edge) for edge in corners[i::2]] for i in (0, 1))
            unit, x = (max(xs) - min(xs)) / len(text), min(xs)
            for word in text.split(" "):
                if word:
                    words.append((word, Box(x, min(ys), x + unit * len(word), max(ys))))
                x += unit * (len(word) + 1)
    return words


def in_order(found: Sequence[int]) -> int:
    """How many words are followed by the next one."""
    return sum(after == before + 1 for before, after in pairwise(found))


def order() -> None:
    """The share of words that are followed by the right one, after they were shuffled."""
    right = by_top = count = 0
    for number, file in enumerate(sorted((SHARED / "data/receipt_images/box").glob("*.csv"))):
        boxes = [box for _, box in annotated(file)]
        shuffled = random.Random(number).sample(range(len(boxes)), len(boxes))  # noqa: S311
        right += in_order([shuffled[i] for i in reading_order([boxes[i] for i in shuffled])])
        by_top += in_order(sorted(shuffled, key=lambda i: (boxes[i].y0, boxes[i].x0)))
        count += max(len(boxes) - 1, 0)
    print(f"receipt_images: {right / count:.1%} of words before the right one in reading order, ")
    print(f"  {by_top / count:.1%} if sorted by their tops")


def letters(words: Sequence[str]) -> Counter[str]:
    return Counter("".join(words).upper())


def ocr(most: int | None) -> None:
    """Words, letters and totals that OCR reads on photographed receipts."""
    hits: Counter[str] = Counter()
    seconds = 0.0
    reader = Reader(engine=Ocr(threads=1))
    folder = SHARED / "data" / "receipt_images"
    files = sorted((folder / "img").glob("*.jpg"))[:most]
    for file in files:
        start = perf_counter()
        document = reader.read(file)
        seconds += perf_counter() - start
        truth = [word.upper() for word, _ in annotated(folder / "box" / f"{file.stem}.csv")]
        found = [word.upper() for word in document.words]
        hits["words"] += len(truth)
        hits["right words"] += (Counter(truth) & Counter(found)).total()
        hits["letters"] += letters(truth).total()
        hits["right letters"] += (letters(truth) & letters(found)).total()
        amounts = [word for word in truth if is_amount(word)]
        hits["amounts"] += len(amounts)
        hits["right amounts"] += (Counter(amounts) & Counter(found)).total()
        total = next(total_of(folder / "key" / f"{file.stem}.json"), None)
        hits["totals"] += total is not None
        hits["right totals"] += total in amounts_of(document)
    print(f"receipt_images: {len(files)} photos, {seconds / len(files):.1f} s each, one thread")
    for what in ("words", "letters", "amounts", "totals"):
        right, count = hits[f"right {what}"], hits[what]
        print(f"  {right:,} of {count:,} {what} read exactly ({right / count:.1%})")


def is_amount(word: str) -> bool:
    whole, point, cents = word.rpartition(".")
    return bool(point) and whole.replace(",", "").isdigit() and cents.isdigit() and len(cents) == 2


def total_of(file: Path) -> Iterator[Decimal]:
    import json

    text = json.loads(file.read_text(encoding="utf-8")).get("total", "")
    yield from (abs(Decimal(value)) for value in read(text, "money")[:1])


def main() -> None:
    """Prints the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--real", action="store_true", help="measure on ../shared/data instead")
    parser.add_argument("--pdfs", type=int, default=100)
    parser.add_argument("--photos", type=int, default=8 if HAS_OCR else 0)
    parser.add_argument("--most", type=int, help="photos of --real to read")
    arguments = parser.parse_args()
    if arguments.real:
        totals()
        order()
        if HAS_OCR:
            ocr(arguments.most)
    else:
        speed(arguments.pdfs, arguments.photos)


if __name__ == "__main__":
    main()
