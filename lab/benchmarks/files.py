"""How well files are read: words, totals and reading order of ../shared/data, and PDF text's time.

    python -m lab.benchmarks.files

It needs data sets that are not part of the project; ``end_to_end`` measures speed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from itertools import pairwise
from statistics import median
from time import perf_counter, process_time

from lab.benchmarks.data import DATA, FACTURX, PHOTOS, annotated, true_total
from lab.benchmarks.study import study
from lawful import Document
from lawful.documents.reading_order import reading_order
from lawful.readers import Limits, Reader, files_in
from lawful.readers.ocr import Ocr
from lawful.readers.page import Page, make_document
from lawful.readers.pdf import open_pdf
from lawful.values import read

HAS_OCR = find_spec("rapidocr") is not None


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
    documents = [Reader("never").read(f) for f in files_in(FACTURX / "pdf")]
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


def pdf_text() -> None:
    """CPU time of the text of PDF pages: of PDFium alone, of words, and of their order."""
    spent: list[list[float]] = []
    limits = Limits()
    for file in files_in(DATA / "adbuy" / "pdf"):
        with open_pdf(file, limits) as pdf:
            for number in range(len(pdf)):
                times = [process_time()]
                with pdf.page(number) as page:
                    text = page.page.get_textpage()
                    text.get_text_range()
                    text.close()
                times.append(process_time())
                with pdf.page(number) as page:
                    made = Page(page.words(limits), page.size)
                times.append(process_time())
                make_document("page", [made])
                times.append(process_time())
                spent.append([end - start for start, end in pairwise(times)])
    raw, words, order = (1000 * median(each) for each in zip(*spent, strict=True))
    whole = 1000 * median(words + order for _, words, order in spent)
    print(f"adbuy: {len(spent)} pages, {whole:.1f} ms a page in the median: {words:.1f} for words")
    print(f"  with boxes, {order:.1f} for their order; PDFium alone takes {raw:.1f} ms")


def in_order(found: Sequence[int]) -> int:
    """How many words are followed by the next one."""
    return sum(after == before + 1 for before, after in pairwise(found))


def order() -> None:
    """The share of words that are followed by the right one, after they were shuffled."""
    right = by_top = count = 0
    for number, file in enumerate(sorted((PHOTOS / "box").glob("*.csv"))):
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
    files = sorted((PHOTOS / "img").glob("*.jpg"))[:most]
    for file in files:
        start = perf_counter()
        document = reader.read(file)
        seconds += perf_counter() - start
        truth = [word.upper() for word, _ in annotated(PHOTOS / "box" / f"{file.stem}.csv")]
        found = [word.upper() for word in document.words]
        hits["words"] += len(truth)
        hits["right words"] += (Counter(truth) & Counter(found)).total()
        hits["letters"] += letters(truth).total()
        hits["right letters"] += (letters(truth) & letters(found)).total()
        amounts = [word for word in truth if is_amount(word)]
        hits["amounts"] += len(amounts)
        hits["right amounts"] += (Counter(amounts) & Counter(found)).total()
        total = true_total(file)
        hits["totals"] += total is not None
        hits["right totals"] += total in amounts_of(document)
    print(f"receipt_images: {len(files)} photos, {seconds / len(files):.1f} s each, one thread")
    for what in ("words", "letters", "amounts", "totals"):
        right, count = hits[f"right {what}"], hits[what]
        print(f"  {right:,} of {count:,} {what} read exactly ({right / count:.1%})")


def is_amount(word: str) -> bool:
    whole, point, cents = word.rpartition(".")
    return bool(point) and whole.replace(",", "").isdigit() and cents.isdigit() and len(cents) == 2


def main() -> None:
    """Prints the measurements."""
    arguments = study(__doc__, DATA, most=int)
    totals()
    pdf_text()
    order()
    if HAS_OCR:
        ocr(arguments.most)


if __name__ == "__main__":
    main()
