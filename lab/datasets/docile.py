"""DocILE: business documents (Šimsa et al., 2023), in the layout of the data set's own toolkit.

A folder with ``annotations/<id>.json``, ``ocr/<id>.json`` and lists of ids: ``train.json``,
``val.json`` and others. By default, ``train`` and ``val``, whose annotations are public, are read,
or all lists if these are missing; a split may be any list. JSON lines (plain or gzipped) with
``{"id", "annotation", "ocr"}`` are read, too: one file, or a folder of files.

Words are those of the OCR, in its order, page by page. A word belongs to the first field of the
page whose box contains its centre; only ``field_extractions`` are used, not the line items. Boxes
are those of the OCR (``snapped_geometry`` if it has one), in pixels of its pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from lab.datasets.common import bio, box_around, choose, decode, lines_of
from lawful.base.errors import InputError
from lawful.documents.document import Box, Document
from lawful.documents.records import Labelled
from lawful.io.paths import check_there, not_found, read_bytes

_PUBLIC = ("train", "val")
_UNIONS = ("trainval",)
Corners = tuple[tuple[float, float], tuple[float, float]]  # left and top, right and bottom


class _Field(msgspec.Struct):
    bbox: tuple[float, float, float, float]  # relative to the size of the page
    fieldtype: str
    page: int

    def contains(self, x: float, y: float) -> bool:
        left, top, right, bottom = self.bbox
        return left <= x <= right and top <= y <= bottom


class _Annotation(msgspec.Struct):
    field_extractions: list[_Field]


class _Word(msgspec.Struct):
    value: str
    geometry: Corners
    snapped_geometry: Corners | None = None


class _Line(msgspec.Struct):
    words: list[_Word]


class _Block(msgspec.Struct):
    lines: list[_Line]


class _Page(msgspec.Struct):
    dimensions: tuple[float, float]  # height, then width
    blocks: list[_Block]


class _Ocr(msgspec.Struct):
    pages: list[_Page]


class _Whole(msgspec.Struct):
    id: str
    annotation: _Annotation
    ocr: _Ocr


_IDS = msgspec.json.Decoder(list[str])
_ANNOTATION = msgspec.json.Decoder(_Annotation)
_OCR = msgspec.json.Decoder(_Ocr)
_WHOLE = msgspec.json.Decoder(_Whole)


def read_docile(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """The documents of ``train`` and ``val``, or of one list of ids."""
    check_there(path)
    splits = _find(path)
    public = {name: splits[name] for name in _PUBLIC if name in splits}
    chosen = choose(splits, split, path)
    if split is None:
        rest = {name: read for name, read in splits.items() if name not in _UNIONS}
        chosen = public or rest or splits
    for name, read in chosen.items():
        for whole in read():
            yield _labelled(whole, name)


def _find(path: Path) -> Mapping[str, Callable[[], Iterator[_Whole]]]:
    """A function for each split that reads its documents."""
    if path.is_file():
        return {path.name.split(".")[0]: partial(_read_lines, path)}
    if (path / "annotations").is_dir() and (path / "ocr").is_dir():
        lists = {
            file.stem: partial(_read_listed, path, file) for file in sorted(path.glob("*.json"))
        }
        if not lists:
            raise InputError(
                f"no list of ids in {path}: looked for train.json, val.json and others"
            )
        return lists
    files = sorted([*path.glob("*.jsonl"), *path.glob("*.jsonl.gz")])
    if not files:
        raise not_found("DocILE", path, "annotations/ and ocr/ with train.json", "*.jsonl")
    return {file.name.split(".")[0]: partial(_read_lines, file) for file in files}


def _read_listed(path: Path, file: Path) -> Iterator[_Whole]:
    for id_ in decode(_IDS, read_bytes(file), str(file)):
        if Path(id_).name != id_:
            raise InputError(f"{file}: id {id_!r} leads to another folder, expected a name")
        annotation, ocr = (path / folder / f"{id_}.json" for folder in ("annotations", "ocr"))
        yield _Whole(
            id_,
            decode(_ANNOTATION, read_bytes(annotation), str(annotation)),
            decode(_OCR, read_bytes(ocr), str(ocr)),
        )


def _read_lines(file: Path) -> Iterator[_Whole]:
    for where, text in lines_of(file):
        yield decode(_WHOLE, text, where)


def _labelled(whole: _Whole, split: str) -> Labelled:
    words: list[str] = []
    boxes: list[Box] = []
    pages: list[int] = []
    entities: list[tuple[int, str] | None] = []
    for number, page in enumerate(whole.ocr.pages):
        height, width = page.dimensions
        fields = [
            (i, field)
            for i, field in enumerate(whole.annotation.field_extractions)
            if field.page == number
        ]
        for word in (w for block in page.blocks for line in block.lines for w in line.words):
            if not word.value.strip():
                continue
            (x0, y0), (x1, y1) = word.snapped_geometry or word.geometry
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            xs, ys = (
                (round(x0 * width), round(x1 * width)),
                (round(y0 * height), round(y1 * height)),
            )
            words.append(word.value)
            boxes.append(box_around(xs, ys, width, height))
            pages.append(number)
            entities.append(next(((i, f.fieldtype) for i, f in fields if f.contains(x, y)), None))
    return Labelled(
        Document(whole.id, tuple(words), tuple(boxes), tuple(pages)), bio(entities), split
    )
