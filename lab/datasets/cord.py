"""CORD: Indonesian receipts (Park et al., 2019), as published or from Hugging Face.

A folder is searched, in this order, for the published ``{train,dev,test}/json/*.json``; for Parquet
files whose column ``ground_truth`` has the same JSON; for ``{train,dev,test}.jsonl`` (or ``.gz``)
with one such object per line. The path may also be the folder of one split, or one file.

A ``valid_line`` is an entity: words of one category that belong together. Key words ("TOTAL",
"Cash") are O, so that an entity of an amount has only the amount; other words are B-, then I-. The
words of a menu item have its ``group_id`` as row id. Blank words are left out. Words are in file
order, entity by entity, as in other loaders. Only on a third of the receipts is this the reading
order; but in reading order, one receipt in eight has an entity that is interrupted by other words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from lab.datasets.common import bio, box_around, choose, decode, lines_of
from lawful.base.errors import InputError, MissingExtraError
from lawful.documents.document import Document
from lawful.documents.records import Labelled
from lawful.io.paths import check_there, not_found, read_bytes

SPLITS = ("train", "dev", "test")
_ALSO_CALLED = {"valid": "dev", "validation": "dev"}


class _Quad(msgspec.Struct):
    x1: float
    y1: float
    x2: float
    y2: float
    x3: float
    y3: float
    x4: float
    y4: float


class _Word(msgspec.Struct):
    text: str
    quad: _Quad
    is_key: int | bool = 0


class _Line(msgspec.Struct):
    category: str
    words: list[_Word]
    group_id: int | None = None


class _Size(msgspec.Struct):
    width: float
    height: float


class _Meta(msgspec.Struct):
    image_size: _Size
    image_id: int | str | None = None
    split: str | None = None


class _Receipt(msgspec.Struct):
    valid_line: list[_Line]
    meta: _Meta
    id: str | None = None


_DECODER = msgspec.json.Decoder(_Receipt)


def read_cord(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """The receipts of all splits, or of one: ``train``, ``dev`` or ``test``."""
    check_there(path)
    for name, files in choose(_find(path), split, path).items():
        for file in files:
            yield from _read_file(file, name)


def _find(path: Path) -> Mapping[str, list[Path]]:
    """The files of every split."""
    if path.is_file():
        return {_split_of(path): [path]}
    if (path / "json").is_dir():
        return {path.name: sorted((path / "json").glob("*.json"))}
    published = {split: sorted((path / split / "json").glob("*.json")) for split in SPLITS}
    tables: dict[str, list[Path]] = {}
    for file in sorted([*path.glob("*.parquet"), *path.glob("*/*.parquet")]):
        tables.setdefault(_split_of(file), []).append(file)
    lines = {
        split: [file]
        for split in SPLITS
        for file in (path / f"{split}.jsonl", path / f"{split}.jsonl.gz")
        if file.is_file()
    }
    for layout in (published, tables, lines):
        found = {split: layout[split] for split in (*SPLITS, *layout) if layout.get(split)}
        if found:
            return found
    raise not_found(
        "CORD", path, "{train,dev,test}/json/*.json", "*.parquet", "{train,dev,test}.jsonl"
    )


def _split_of(file: Path) -> str:
    """The split of ``train-00000-of-00004.parquet`` or ``train/0000.parquet`` is ``train``."""
    name = file.name.split(".")[0].split("-")[0]
    if name.isdecimal():
        name = file.parent.name
    return _ALSO_CALLED.get(name, name)


def _read_file(file: Path, split: str) -> Iterator[Labelled]:
    if file.suffix == ".json":
        receipt = decode(_DECODER, read_bytes(file), str(file))
        receipt.id = f"{split}/{file.stem}"
        yield _labelled(receipt, split)
        return
    rows = _read_table(file) if file.suffix == ".parquet" else lines_of(file)
    for where, text in rows:
        receipt = decode(_DECODER, text, where)
        if receipt.id is None and receipt.meta.image_id is None:
            raise InputError(f"{where}: the receipt has no id, expected id or meta.image_id")
        yield _labelled(receipt, split)


def _read_table(file: Path) -> Iterator[tuple[str, str]]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(
            f"{file} is a Parquet file, and reading it needs pyarrow: install the 'arrow' extra"
        ) from None
    number = 0
    try:
        with parquet.ParquetFile(file) as table:
            if "ground_truth" not in table.schema_arrow.names:
                columns = ", ".join(table.schema_arrow.names)
                raise InputError(f"{file} has no column 'ground_truth'; columns: {columns}")
            # Skips the column of images, which is nearly all of the file.
            for batch in table.iter_batches(64, columns=["ground_truth"]):
                for text in batch.column(0).to_pylist():
                    number += 1
                    if not isinstance(text, str):
                        found = type(text).__name__
                        raise InputError(
                            f"{file}, row {number}: ground_truth is of type {found}, expected text"
                        )
                    yield f"{file}, row {number}", text
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{file}: unreadable after row {number}: {error}") from None


def _labelled(receipt: _Receipt, split: str) -> Labelled:
    meta = receipt.meta
    words = [
        (entity, line, word)
        for entity, line in enumerate(receipt.valid_line)
        for word in line.words
        if word.text.strip()
    ]
    number = meta.image_id
    name = f"receipt_{number:05d}" if isinstance(number, int) else str(number)
    quads = (word.quad for _, _, word in words)
    corners = (((q.x1, q.x2, q.x3, q.x4), (q.y1, q.y2, q.y3, q.y4)) for q in quads)
    width, height = meta.image_size.width, meta.image_size.height
    return Labelled(
        Document(
            receipt.id or f"{split}/{name}",
            tuple(word.text for _, _, word in words),
            tuple(box_around(xs, ys, width, height) for xs, ys in corners),
            rows=_rows([line for _, line, _ in words]),
        ),
        bio(None if word.is_key else (entity, line.category) for entity, line, word in words),
        split,
    )


def _rows(lines: list[_Line]) -> tuple[int | None, ...] | None:
    """By word, the menu item that it belongs to; ``None`` if the file has no groups."""
    if all(line.group_id is None for line in lines):
        return None
    return tuple(line.group_id if line.category.startswith("menu.") else None for line in lines)
