"""Real documents to measure on, in ``../shared``, which is not part of the project."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from lab.datasets import RULES
from lawful import Box, Document, Labelled, Rules, Scored
from lawful.documents.reading_order import in_reading_order, reading_order
from tests.fixtures.outputs import OUTPUTS, SHARED, read_outputs

DATA = SHARED / "data"
FACTURX, ANSWERS = DATA / "facturx", DATA / "llm_samples"
PHOTOS, GERMAN = DATA / "receipt_images", DATA / "german_receipts"


def records(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped file of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def outputs_of(name: str, count: int | None = None) -> list[Scored]:
    """A model's outputs, in words."""
    return [page.to_words() for page in read_outputs(name, count)]


def rules_of(name: str, **defaults: Any) -> Rules:
    """The paper's rules for a model's outputs."""
    return Rules.load(RULES[OUTPUTS[name]]).with_defaults(**defaults)


def amount(text: Any) -> Decimal | None:
    """An amount, as the truths of receipts and answers have them."""
    try:
        return None if text is None else Decimal(str(text).strip("$RM ").replace(",", ""))
    except InvalidOperation:
        return None


def page_of(record: Mapping[str, Any]) -> Document:
    """The document of a record, in reading order."""
    return in_reading_order(
        Document(record["id"], record["words"], record["boxes"], record.get("pages"))
    )


def sorted_page(page: Labelled) -> Labelled:
    """The page with its words and labels in reading order."""
    document = page.document
    if document.boxes is None:
        return page
    gold = [page.gold[i] for i in reading_order(document.boxes, document.pages)]
    # A field of several words may be torn apart: its parts then begin anew.
    legal = (
        f"B{label[1:]}" if label[0] == "I" and (i == 0 or gold[i - 1][1:] != label[1:]) else label
        for i, label in enumerate(gold)
    )
    return replace(page, document=in_reading_order(document), gold=tuple(legal))


def annotated(file: Path) -> list[tuple[str, Box]]:
    """The words of a receipt of SROIE, in its order; boxes of lines are cut by letters."""
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


def true_total(file: Path) -> Decimal | None:
    """The total of a photo of SROIE, or of its annotation."""
    return amount(json.loads((PHOTOS / f"key/{file.stem}.json").read_text())["total"])


def answers(name: str, part: str | None = None) -> list[dict[str, Any]]:
    """Documents with seven answers of a small language model; parts are every other one."""
    found = list(records(ANSWERS / f"{name}.jsonl.gz"))
    return found if part is None else found[part == "shown" :: 2]


def texts_of(record: Mapping[str, Any]) -> list[str]:
    """The answers of a document, the greedy one first."""
    return [record["greedy"]["text"], *(each["text"] for each in record["samples"])]
