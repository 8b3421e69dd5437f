"""From files to fields: pages per second, and the share of each stage.

    python -m lab.benchmarks.end_to_end             # receipts that it draws
    python -m lab.benchmarks.end_to_end --folder ../shared/data/adbuy/pdf --rules receipt

PDF files, photos (with the extra ``ocr``) and their words as JSON lines are read, scored and
decoded, one after the other in this process, and by ``lawful extract`` with one worker and two.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from lawful_models import RECEIPT as MODEL

from lab import receipts as demo
from lab.benchmarks.study import study
from lab.receipts.drawing import draw_pdf, photograph
from lawful import Document, InputError, decode, from_pretrained
from lawful.io.jsonl import parse_documents, read_lines, write_documents
from lawful.readers import Reader, files_in
from lawful.readers.ocr import Ocr
from lawful.rules.packs import rules_named

HAS_OCR = find_spec("rapidocr") is not None


def draw(folder: Path, pdfs: int, photos: int) -> None:
    """Draws receipts as files, the first ones as photos, too."""
    for number, page in enumerate(demo.generate(pdfs)):
        path = folder / "pdf" / f"{page.document.id}.pdf"
        draw_pdf(page.document, path)
        if number < photos:
            photograph(path, folder / "photo" / f"{page.document.id}.jpg", seed=number)


class TimedOcr(Ocr):
    """OCR that adds up its CPU time."""

    seconds = 0.0

    def read(self, pixels, scale=1.0):  # noqa: ANN001, ANN201 - as in Ocr
        start = process_time()
        try:
            return super().read(pixels, scale)
        finally:
            self.seconds += process_time() - start


def pages_of(document: Document) -> int:
    return len(document.sizes or ()) or 1 + max(document.pages or (0,))


def stages(files: Sequence[Path], rules_name: str) -> tuple[Counter[str], list[Document]]:
    """CPU time of each stage, one file after the other in this process; what was read."""
    ocr = TimedOcr(threads=1)
    reader, tagger, rules = Reader(engine=ocr), from_pretrained(MODEL), rules_named(rules_name)
    next(iter(tagger.predict([reader.read(files[0])])))  # loads libraries
    ocr.seconds = 0.0
    spent: Counter[str] = Counter()
    documents = []
    for file in files:
        times = [process_time()]
        try:
            document = reader.read(file)
        except InputError as error:
            print(f"  left out: {error}")
            continue
        documents.append(document)
        times.append(process_time())
        scored = next(iter(tagger.predict([document])))
        times.append(process_time())
        decode(scored.document, scored.scores, rules)
        times.append(process_time())
        for name, (start, end) in zip(("reading", "model", "search"), pairwise(times), strict=True):
            spent[name] += end - start
    spent["reading"] -= ocr.seconds
    spent["OCR"] = ocr.seconds
    return spent, documents


def by_command(inputs: Path, rules: str, workers: int) -> float:
    """Seconds on the clock of ``lawful extract``, with its start and without a cache."""
    start = perf_counter()
    command = [sys.executable, "-m", "lawful", "extract", inputs, "--rules", rules, "--quiet"]
    subprocess.run(
        [*command, "--no-cache", "--workers", str(workers)], stdout=subprocess.DEVNULL, check=False
    )
    return perf_counter() - start


def measure(kind: str, files: Sequence[Path], folder: Path, rules: str) -> None:
    """Prints what files of a kind take, and their words as JSON lines."""
    spent, documents = stages(files, rules)
    pages, total = sum(map(pages_of, documents)), sum(spent.values())
    print(f"{kind}: {len(files)} files, {pages} pages, {pages / total:.1f} pages a CPU second")
    for name, seconds in spent.items():
        print(f"  {name:8} {1000 * seconds / pages:8.1f} ms a page, {seconds / total:4.0%}")
    seconds = [by_command(folder, rules, workers) for workers in (1, 2)]
    for workers, each in enumerate(seconds, 1):
        print(f"  lawful extract --workers {workers}: {pages / each:.1f} pages/s")
    lines = folder / "words.jsonl"
    write_documents(lines, documents)
    start = process_time()
    count = sum(1 for _ in parse_documents(read_lines(lines)))
    print(
        f"  as JSON lines: {1000 * (process_time() - start) / pages:.2f} ms a page ({count} lines)"
    )
    lines.unlink()


def main() -> None:
    """Prints the measurements."""
    arguments = study(__doc__, folder=Path, rules="receipt", pdfs=100, photos=8 if HAS_OCR else 0)
    with TemporaryDirectory() as work:
        folder = Path(work)
        for kind in ("pdf", "photo"):
            (folder / kind).mkdir()
        if arguments.folder is None:
            draw(folder, arguments.pdfs, arguments.photos)
        else:
            for file in files_in(arguments.folder):
                (folder / "pdf" / file.name).symlink_to(file.resolve())
        for kind in ("pdf", "photo"):
            if files := list(files_in(folder / kind)):
                measure(kind, files, folder / kind, arguments.rules)


if __name__ == "__main__":
    main()
