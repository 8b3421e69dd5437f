"""``lawful extract --split`` on PDF files made of several invoices: where documents begin.

    python -m lab.benchmarks.split [--part shown|chosen] [--files 200]

Needs ``../shared/data/facturx``, which is not part of the project. Three invoices, drawn at random,
follow each other as the pages of one file. Prices were chosen on layouts of odd numbers
(``chosen``), and are shown on the others.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from time import process_time

import numpy as np

from lab.benchmarks import invoices
from lab.benchmarks.data import FACTURX as DATA
from lab.benchmarks.study import study
from lawful import Document
from lawful.readers import Reader
from lawful.readers.parts import parts_of


def joined(documents: list[Document]) -> tuple[Document, list[int]]:
    """The pages of documents one after another, and the first page of each."""
    words, boxes, pages, firsts, first = [], [], [], [], 0
    for each in documents:
        numbers = sorted(set(each.pages or ()))
        firsts.append(first)
        words += each.words
        boxes += each.boxes or ()
        pages += [first + numbers.index(page) for page in each.pages or ()]
        first += len(numbers)
    return Document("file", words, boxes, pages), firsts


def main() -> None:
    options = study(__doc__, DATA, part=("shown", "chosen"), files=200)
    reader = Reader(ocr="never")
    known = [
        replace(reader.read(DATA / "pdf" / f"{truth['id']}.pdf"), id=truth["id"], values=None)
        for truth in invoices.documents(DATA, None)
        if truth["group"] % 2 == (options.part == "chosen")
    ]
    known = [each for each in known if len(each) > 20]
    pages = Counter(len(set(each.pages or ())) for each in known)
    print(f"{len(known)} invoices, by pages: {dict(sorted(pages.items()))}")
    rng, counts, began = np.random.default_rng(1), Counter[str](), process_time()
    for _ in range(options.files):
        file, firsts = joined([known[i] for i in rng.choice(len(known), 3, replace=False)])
        found = [min(part.pages or ()) for part in parts_of(file)]
        counts["files right"] += found == firsts
        counts["begin, right"] += len(set(found[1:]) & set(firsts[1:]))
        counts["begin, said"] += len(found) - 1
        counts["begin"] += len(firsts) - 1
        counts["pages"] += len(set(file.pages or ()))
    whole = sum(len(parts_of(each)) == 1 for each in known)
    print(f"files divided right: {counts['files right']} of {options.files}")
    print(
        f"beginnings found: {counts['begin, right']} of {counts['begin']}, "
        f"{counts['begin, said'] - counts['begin, right']} others"
    )
    print(f"single invoices left whole: {whole} of {len(known)}")
    print(f"{1000 * (process_time() - began) / counts['pages']:.2f} ms per page")


if __name__ == "__main__":
    main()
