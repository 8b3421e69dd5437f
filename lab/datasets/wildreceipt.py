"""WildReceipt: receipts in the wild (Sun et al., 2021), as distributed with MMOCR.

A folder with ``train.txt`` and ``test.txt``, which have one JSON object per line, and
``class_list.txt``; or one of these two files, plain or gzipped, with ``class_list.txt`` in its
folder or the folder above.

An annotation is a text with a class, such as Total_key or Total_value. It is cut at blanks; its
words are B-, then I-, and have its box. The classes Ignore and Others are O. Annotations without
text are left out. An address of several lines is several annotations, and so several entities.

Annotations are in no particular order. They are arranged in rows from top to bottom, and from left
to right within a row. Sorted by its middle, an annotation continues a row if its middle is less
than half its own height below the middle of the row's first annotation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from lab.datasets.common import bio, box_around, choose, decode, lines_of
from lawful.base.errors import InputError
from lawful.documents.document import Box, Document
from lawful.documents.records import Labelled
from lawful.io.paths import check_there, not_found

CLASSES = "class_list.txt"
_NO_ENTITY = ("Ignore", "Others")


class _Annotation(msgspec.Struct):
    box: list[float]
    text: str
    label: int


class _Receipt(msgspec.Struct):
    file_name: str
    height: float
    width: float
    annotations: list[_Annotation]


_DECODER = msgspec.json.Decoder(_Receipt)


def read_wildreceipt(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """The receipts of both splits, or of one: ``train`` or ``test``."""
    check_there(path)
    splits = choose(_find(path), split, path)
    classes = _read_classes(path)
    for name, file in splits.items():
        for where, text in lines_of(file):
            yield _labelled(decode(_DECODER, text, where), classes, name, where)


def _find(path: Path) -> Mapping[str, Path]:
    if path.is_file():
        return {path.name.split(".")[0]: path}
    files = (path / f"{split}{end}" for split in ("train", "test") for end in (".txt", ".txt.gz"))
    found = {file.name.split(".")[0]: file for file in files if file.is_file()}
    if not found:
        raise not_found("WildReceipt", path, "train.txt", "test.txt")
    return found


def _read_classes(path: Path) -> Mapping[int, str]:
    """Classes by number, from lines with a number and a name."""
    folders = [path] if path.is_dir() else [path.parent, path.resolve().parent.parent]
    file = next((folder / CLASSES for folder in folders if (folder / CLASSES).is_file()), None)
    if file is None:
        raise InputError(
            f"no {CLASSES}, which names the classes, in {' or '.join(map(str, folders))}"
        )
    classes = {}
    for where, line in lines_of(file):
        code, _, name = line.decode("utf-8", "replace").strip().partition(" ")
        if not code.isdecimal() or len(code) > 9 or not name.strip():
            found = line[:100].decode("utf-8", "replace").strip()
            raise InputError(f"{where}: {found!r}, expected a number and a name")
        classes[int(code)] = name.strip()
    return classes


def _labelled(receipt: _Receipt, classes: Mapping[int, str], split: str, where: str) -> Labelled:
    printed, boxes = [], []
    for i, annotation in enumerate(receipt.annotations):
        if annotation.label not in classes:
            raise InputError(
                f"{where}: label of annotation {i} is {annotation.label}, which is not in {CLASSES}"
            )
        if len(annotation.box) != 8:
            raise InputError(
                f"{where}: box of annotation {i} has {len(annotation.box)} numbers, "
                "expected 8: x and y of four corners"
            )
        if annotation.text.strip():
            xs, ys = annotation.box[::2], annotation.box[1::2]
            printed.append(annotation)
            boxes.append(box_around(xs, ys, receipt.width, receipt.height))
    words = [
        (i, classes[printed[i].label], word)
        for i in reading_order(boxes)
        for word in printed[i].text.split()
    ]
    return Labelled(
        Document(
            receipt.file_name,
            tuple(word for _, _, word in words),
            tuple(boxes[i] for i, _, _ in words),
        ),
        bio(None if name in _NO_ENTITY else (i, name) for i, name, _ in words),
        split,
    )


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """Indices of boxes in reading order, row by row."""
    middles = [(box.y0 + box.y1) / 2 for box in boxes]
    rows: list[list[int]] = []
    for i in sorted(range(len(boxes)), key=middles.__getitem__):
        half = (boxes[i].y1 - boxes[i].y0) / 2
        if rows and middles[i] - middles[rows[-1][0]] < half:
            rows[-1].append(i)
        else:
            rows.append([i])
    return [i for row in rows for i in sorted(row, key=lambda i: boxes[i].x0)]
