"""Whether receipts and invoices of others are told apart, and what that costs on receipts.

    python -m lab.benchmarks.kinds

Needs the data sets in ``../shared/data``. The models have seen nothing of them, but the training
pages of CORD. Words of receipts are in reading order by their boxes.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from time import perf_counter

from lab.benchmarks.receipts import sorted_page
from lab.datasets.cord import read_cord
from lab.datasets.wildreceipt import read_wildreceipt
from lawful import Document, Labelled, Rules, decode
from lawful.models.kinds import INVOICE, CallByKind, KindTagger, kind_of
from lawful.models.tagger import Tagger
from lawful.pipeline.call import Call, decode_one
from lawful.readers import Reader
from lawful.rules.packs import PACKS
from tests.fixtures.outputs import SHARED


def german(folder: Path) -> Iterator[tuple[Document, Decimal]]:
    """German receipts with the words of Textract, and their true totals."""
    with gzip.open(folder / "receipts.jsonl.gz") as lines:
        for line in lines:
            one = json.loads(line)
            document = Document(one["id"], one["words"], boxes=one["boxes"])
            page = Labelled(document, ("O",) * len(document))
            yield sorted_page(page).document, Decimal(str(one["truth"]["total"]))


def sroie(folder: Path) -> Iterator[Document]:
    """Receipts of SROIE; its boxes are of lines, which are divided by letters."""
    for file in sorted((folder / "box").iterdir()):
        words, boxes = [], []
        for line in file.read_text(errors="replace").splitlines():
            *corners, text = line.split(",", 8)
            if len(corners) < 8:
                continue
            xs, ys = [float(x) for x in corners[::2]], [float(y) for y in corners[1::2]]
            wide, at = (max(xs) - min(xs)) / max(len(text), 1), 0
            for word in text.split():
                at = text.index(word, at)
                left = min(xs) + wide * at
                words.append(word)
                boxes.append((left, min(ys), left + wide * len(word), max(ys)))
                at += len(word)
        page = Labelled(Document(file.stem, words, boxes=boxes), ("O",) * len(words))
        yield sorted_page(page).document


def invoices(folder: Path) -> Iterator[Document]:
    """The PDF files with invoices inside, as they are printed."""
    reader = Reader()
    for file in sorted((folder / "pdf").glob("*.pdf")):
        yield reader.read(file)


def kinds(name: str, documents: Iterable[Document], tagger: KindTagger) -> None:
    """Prints what documents are taken for, by the model alone and with the width of paper."""
    alone: Counter[str | None] = Counter()
    found: Counter[str | None] = Counter()
    every = list(documents)
    invoice_model = Tagger(tagger.tokenizer, tagger.runner, tagger.card)
    alone.update(kind_of(each.document) for each in invoice_model.predict(every))
    began = perf_counter()
    found.update(kind_of(each.document) for each in tagger.predict(every, batch=1))
    seconds = (perf_counter() - began) / len(every)
    print(f"{name}: {len(every)} pages; by the model {dict(alone)}, with the width {dict(found)}; "
          f"{1000 * seconds:.0f} ms a page for both models")  # fmt: skip


def totals(tagger: KindTagger, folder: Path) -> None:
    """Prints how many totals of German receipts are right, told apart and known to be receipts."""
    call, rules = CallByKind.of_packs(Call), Rules.load(PACKS["receipt"])
    right: Counter[str] = Counter()
    pages = list(german(folder))
    for document, total in pages:
        [scored] = tagger.predict([document])
        result = decode_one(scored, call)
        field = "gross" if kind_of(scored.document) == INVOICE else "total"
        if isinstance(result, tuple):
            right["told apart"] += result[1].values(field)[:1] == (total,)
        [scored] = tagger.receipts.predict([document])
        found = decode(scored.document, scored.scores, rules)
        right["receipts by themselves"] += found.values("total")[:1] == (total,)
    print(f"German receipts: total right of {len(pages)}: {dict(right)}")


def main() -> None:
    """Prints all of it."""
    data, tagger = SHARED / "data", KindTagger.shipped()
    kinds("German receipts", (d for d, _ in german(data / "german_receipts")), tagger)
    kinds("SROIE", sroie(data / "receipt_images"), tagger)
    wild = read_wildreceipt(data / "wildreceipt/raw/part.txt.gz")
    kinds("WildReceipt", (sorted_page(page).document for page in wild), tagger)
    cord = read_cord(data / "cord/raw", "test")
    kinds("CORD, test pages", (sorted_page(page).document for page in cord), tagger)
    kinds("invoices", invoices(data / "facturx"), tagger)
    totals(tagger, data / "german_receipts")


if __name__ == "__main__":
    main()
