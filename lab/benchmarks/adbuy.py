"""Ad orders: real documents with five values each, and no labels.

Those of ``../shared/data/adbuy``. A value is right if it is the one that a person read, wherever it
stands: amounts and dates by value, names without regard to case, punctuation, blanks, an account
number in parentheses (people wrote it down or left it out), and one wrong letter in ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from lab.benchmarks.data import DATA as SHARED
from lab.benchmarks.data import records
from lawful import Box, Document, Field, Rules
from lawful.candidates.grounding.matches import distance, fold
from lawful.learn.align import Truth
from lawful.readers.page import Page, Word, make_document
from lawful.rules.packs import PACKS
from lawful.values import read

DATA = SHARED / "adbuy" / "documents.jsonl.gz"

COLUMNS = {
    "gross": "gross_amount",
    "contract": "contract_num",
    "flight_from": "flight_from",
    "flight_to": "flight_to",
    "advertiser": "advertiser",
}
_NUMBER = re.compile(r"\(\s*\d+\s*\)")


@cache
def ad_rules() -> Rules:
    """The rule pack, whose five fields every document has."""
    rules = Rules.load(PACKS["ad-order"])
    fields = (
        replace(f, optional=False, presence="required") if f.name in COLUMNS else f
        for f in rules.fields
    )
    return replace(rules, fields=tuple(fields))


def read_ads(path: Path) -> Iterator[tuple[Document, Truth]]:
    """The documents that have words, in reading order, with their true values."""
    for line in records(path):
        if line["words"]:
            pages = [Page([], (612.0, 792.0)) for _ in range(max(line["pages"]) + 1)]
            for word, box, page in zip(line["words"], line["boxes"], line["pages"], strict=True):
                pages[page].words.append(Word(word, Box(*box)))
            values = {
                name: (line["label"][column],)
                for name, column in COLUMNS.items()
                if line["label"][column]
            }
            yield make_document(line["id"], pages), Truth(line["id"], values)


def half_of(document: Document) -> int:
    """The half that a document belongs to, by its id."""
    return sha256(document.id.encode()).digest()[0] % 2


def is_right(found: Any, text: str, f: Field) -> bool:
    """Whether a value is the true one; dates with the month first."""
    if f.type == "text":
        one, other = (fold(_NUMBER.sub("", each)) for each in (str(found), text))
        return distance(one, other, len(other) // 10) <= len(other) // 10
    return found in read(text, f.type)[:1]
