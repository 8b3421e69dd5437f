"""Whether receipts and invoices of others are told apart, and what that costs on receipts.

    python -m lab.benchmarks.kinds

Needs the data sets in ``../shared/data``. The models have seen nothing of them, but the training
pages of CORD. Words of receipts are in reading order by their boxes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from time import perf_counter

from lab.benchmarks.data import (
    DATA,
    FACTURX,
    GERMAN,
    PHOTOS,
    annotated,
    page_of,
    records,
    sorted_page,
)
from lab.benchmarks.study import Study
from lab.datasets.cord import read_cord
from lab.datasets.wildreceipt import read_wildreceipt
from lawful import Document, Rules, decode
from lawful.documents.reading_order import in_reading_order
from lawful.models.kinds import INVOICE, CallByKind, KindTagger, kind_of
from lawful.models.tagger import Tagger
from lawful.pipeline.call import Call, decode_one
from lawful.readers import Reader
from lawful.rules.packs import PACKS


def german() -> Iterator[tuple[Document, Decimal]]:
    """German receipts with the words of Textract, and their true totals."""
    for one in records(GERMAN / "receipts.jsonl.gz"):
        yield page_of(one), Decimal(str(one["truth"]["total"]))


def sroie() -> Iterator[Document]:
    """Receipts of SROIE."""
    for file in sorted((PHOTOS / "box").iterdir()):
        words, boxes = zip(*annotated(file), strict=True)
        yield in_reading_order(Document(file.stem, words, boxes=boxes))


def invoices() -> Iterator[Document]:
    """The PDF files with invoices inside, as they are printed."""
    return map(Reader().read, sorted((FACTURX / "pdf").glob("*.pdf")))


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


def totals(tagger: KindTagger) -> None:
    """Prints how many totals of German receipts are right, told apart and known to be receipts."""
    call, rules = CallByKind.of_packs(Call), Rules.load(PACKS["receipt"])
    right: Counter[str] = Counter()
    pages = list(german())
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
    Study(__doc__, DATA).parse_args()
    tagger = KindTagger.shipped()
    kinds("German receipts", (d for d, _ in german()), tagger)
    kinds("SROIE", sroie(), tagger)
    wild = read_wildreceipt(DATA / "wildreceipt/raw/part.txt.gz")
    kinds("WildReceipt", (sorted_page(page).document for page in wild), tagger)
    cord = read_cord(DATA / "cord/raw", "test")
    kinds("CORD, test pages", (sorted_page(page).document for page in cord), tagger)
    kinds("invoices", invoices(), tagger)
    totals(tagger)


if __name__ == "__main__":
    main()
