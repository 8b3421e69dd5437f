"""Scores as arrays, in an ``.npz`` file next to the JSON lines and of the same name.

The file has an array ``scores/<id>`` for every document. ``labels``, ``kind`` and, for a CRF,
``chain/start``, ``chain/between`` and ``chain/end`` are shared by all documents.
"""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.documents.chain import Chain
from lawful.documents.records import Scored
from lawful.io.atomic import atomic_bytes

LARGEST_ARRAY = 2**28
"""Maximum size of an array of scores in an ``.npz`` file, unpacked: 256 MiB."""

LARGEST_TEXT = 2**24
"""Maximum size of ``labels`` and of ``kind`` in an ``.npz`` file, unpacked: 16 MiB."""

_LONGEST_HEADER = 2**14  # in bytes; its own claim may be absurd, and NumPy reads as much
_NUMBERS, _TEXT = "fiub", "U"  # kinds of NumPy's types

_UNREADABLE = (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)
"""Exceptions that zipfile raises for a damaged, encrypted or unsupported file."""


def npz_path(path: Path) -> Path:
    """The ``.npz`` file that belongs to a file of JSON lines."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".jsonl") + ".npz")


class NpzReader:
    """The arrays of an ``.npz`` file.

    What the header of an array says is checked before the array is read, so that a small file
    cannot fill the memory. Whatever is wrong with an array is an ``InputError``.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    @classmethod
    def next_to(cls, path: Path) -> NpzReader | None:
        """The arrays of a file of JSON lines, or ``None`` if it has no ``.npz`` file."""
        if path.is_dir():
            raise InputError(f"cannot read {path}: it is a folder, expected a file")
        file = npz_path(path)
        if not file.exists():
            return None
        try:
            return cls(zipfile.ZipFile(file))
        except _UNREADABLE as error:
            raise InputError(f"{file}: cannot be read: {error}") from None

    def __contains__(self, name: str) -> bool:
        """Whether there is an array of this name, such as ``scores/<id>``."""
        return f"{name}.npy" in self._archive.NameToInfo

    @cached_property
    def labels(self) -> list[str] | None:
        """The label names of all documents."""
        return self._texts("labels", (None,)) if "labels" in self else None

    @cached_property
    def kind(self) -> str:
        """The kind of scores: ``probs``, ``log_probs`` or ``logits``."""
        return self._texts("kind", ())[0] if "kind" in self else "log_probs"

    @cached_property
    def chain(self) -> dict[str, NDArray[Any]] | None:
        """The CRF's scores of transitions, by the names of ``Chain``."""
        if "chain/between" not in self:
            return None
        names = (name for name in Chain._fields if f"chain/{name}" in self)
        return {name: self._read(f"chain/{name}", _NUMBERS, None) for name in names}

    def scores(self, id_: str, words: int, labels: int) -> NDArray[Any]:
        """The scores of a document; a document without words may have any empty array."""
        return self._read(f"scores/{id_}", _NUMBERS, (words, labels) if words else None)

    def _texts(self, name: str, shape: tuple[int | None, ...]) -> list[str]:
        found = self._read(name, _TEXT, shape).reshape(-1)
        if found.nbytes:
            codes = found.view(np.dtype(np.uint32).newbyteorder(found.dtype.byteorder))
            if codes.max() > sys.maxunicode:
                raise InputError(f"{name} in the .npz file is not valid Unicode")
        return [str(text) for text in found]

    def _read(self, name: str, kinds: str, shape: tuple[int | None, ...] | None) -> NDArray[Any]:
        """An array whose type is one of ``kinds``; in ``shape``, ``None`` is any number."""
        info = self._archive.getinfo(f"{name}.npy")
        if info.flag_bits & 1:
            raise InputError(f"{name} in the .npz file is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(
                f"{name} in the .npz file has compression method {info.compress_type}, "
                "expected none or deflate"
            )
        try:
            with self._archive.open(info) as file:
                head = BytesIO(file.read(_LONGEST_HEADER))
                found = _read_header(head)
                _check_header(name, found, info.file_size, kinds, shape)
                data = head.read()
                data += file.read(found.size - len(data))
                if len(data) == found.size:
                    return np.ndarray(found.shape, found.dtype, data, order=found.order)
        except InputError:
            raise
        except _UNREADABLE as error:
            raise InputError(f"{name} in the .npz file cannot be read: {error}") from None
        raise InputError(f"{name} in the .npz file has {len(data)} bytes, expected {found.size}")


class _Header(NamedTuple):
    """The header of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    start: int  # where the data starts

    @property
    def size(self) -> int:
        """The size of the data in bytes, which the header may only claim."""
        return prod(self.shape) * self.dtype.itemsize


def _read_header(head: BytesIO) -> _Header:
    try:
        version = np.lib.format.read_magic(head)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"version {version}, expected (1, 0) or (2, 0)")
        shape, is_fortran, dtype = read(head)
    except Exception as error:  # of NumPy's and Python's parsers
        raise ValueError(f"not a header of an array: {str(error)[:200]}") from None
    return _Header(shape, dtype, "F" if is_fortran else "C", head.tell())


def _check_header(
    name: str, found: _Header, stored: int, kinds: str, shape: tuple[int | None, ...] | None
) -> None:
    """Checks the type, the shape and the size, of which ``stored`` is that in the zip file."""
    where = f"{name} in the .npz file"
    if found.dtype.kind not in kinds:
        expected = "text" if kinds == _TEXT else "real numbers"
        raise InputError(f"{where} holds {found.dtype}, expected {expected}")
    if shape is not None and not (
        len(found.shape) == len(shape)
        and all(want in (None, size) for want, size in zip(shape, found.shape, strict=True))
    ):
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise InputError(f"{where} has shape {found.shape}, expected ({wanted})")
    if min(found.shape, default=0) < 0 or found.start + found.size != stored:
        raise InputError(
            f"{where} has {stored} bytes, expected {found.start + found.size} for {found.dtype} "
            f"of shape {found.shape}"
        )
    largest = LARGEST_TEXT if kinds == _TEXT else LARGEST_ARRAY
    if found.size > largest:
        raise InputError(f"{where} has {found.size} bytes, expected at most {largest}")


class NpzWriter:
    """Writes the scores of documents to an ``.npz`` file, one document at a time."""

    def __init__(self, arrays: zipfile.ZipFile) -> None:
        self._arrays = arrays
        self._labels: tuple[str, ...] | None = None
        self._chain: Chain | None = None
        self._seen: set[str] = set()

    @classmethod
    @contextmanager
    def next_to(cls, path: Path) -> Iterator[NpzWriter]:
        """A writer of the ``.npz`` file of a file of JSON lines, which is written atomically."""
        with (
            atomic_bytes(npz_path(path)) as raw,
            zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as arrays,
        ):
            yield cls(arrays)

    def add(self, scored: Scored) -> None:
        """Adds a document's scores; labels and chain must be those of the first document."""
        scores, id_ = scored.word_scores, scored.document.id
        self._check_key(id_)
        if self._labels is None:
            self._labels, self._chain = scores.labels, scores.chain
            self._put("labels", np.array(scores.labels))
            self._put("kind", np.array("log_probs"))
            for name, part in ({} if scores.chain is None else scores.chain._asdict()).items():
                self._put(f"chain/{name}", part)
        if scores.labels != self._labels or not _same(scores.chain, self._chain):
            raise InputError(
                f"document {id_!r} has other labels or another chain than the first document, but "
                "an .npz file has one of each"
            )
        self._put(f"scores/{id_}", scores.log_probs.astype(np.float32))

    def _check_key(self, id_: str) -> None:
        if id_ in self._seen:
            raise InputError(
                f"two documents have the id {id_!r}, expected unique ids in an .npz file"
            )
        if "\0" in id_ or len(id_.encode(errors="replace")) > 60_000:
            raise InputError(f"the id {id_[:50]!r} cannot name scores in an .npz file")
        self._seen.add(id_)

    def _put(self, name: str, array: NDArray[Any]) -> None:
        """Adds an array in the format of ``np.savez``."""
        with self._arrays.open(f"{name}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, array, allow_pickle=False)


def _same(one: Chain | None, other: Chain | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(map(np.array_equal, one, other))
