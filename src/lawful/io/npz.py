"""Scores as arrays, in an ``.npz`` file next to the JSON lines and of the same name.

The file has an array ``scores/<id>`` for every document. ``labels``, ``kind`` and, for a CRF,
``chain/start``, ``chain/between`` and ``chain/end`` are shared by all documents.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.chain import Chain
from lawful.document import Scored
from lawful.errors import InputError
from lawful.io.atomic import atomic_bytes

UNREADABLE = (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile)
"""Exceptions that NumPy raises for a damaged array or file."""


def npz_path(path: Path) -> Path:
    """The ``.npz`` file that belongs to a file of JSON lines."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".jsonl") + ".npz")


class NpzReader:
    """The arrays of an ``.npz`` file, each read on access."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays

    @classmethod
    def next_to(cls, path: Path) -> NpzReader | None:
        """The arrays of a file of JSON lines, or ``None`` if it has no ``.npz`` file."""
        if path.is_dir():
            raise InputError(f"cannot read {path}: it is a folder, expected a file")
        file = npz_path(path)
        if not file.exists():
            return None
        try:
            return cls(np.load(file, allow_pickle=False))
        except UNREADABLE as error:
            raise InputError(f"{file}: cannot be read: {error}") from None

    @property
    def labels(self) -> list[str] | None:
        """The label names of all documents."""
        found = self._arrays
        return [str(name) for name in found["labels"]] if "labels" in found else None

    @property
    def kind(self) -> str:
        """The kind of scores: ``probs``, ``log_probs`` or ``logits``."""
        return str(self._arrays["kind"]) if "kind" in self._arrays else "log_probs"

    @property
    def chain(self) -> dict[str, Any] | None:
        """The CRF's scores of transitions, by the names of ``Chain``."""
        if "chain/between" not in self._arrays:
            return None
        names = (name for name in Chain._fields if f"chain/{name}" in self._arrays)
        return {name: self._arrays[f"chain/{name}"] for name in names}

    def scores(self, id_: str) -> NDArray[Any] | None:
        """The scores of a document, or ``None`` if the file has none."""
        name = f"scores/{id_}.npy"  # with the suffix, so that "x.npy" is not taken for "x"
        return self._arrays.get(name)


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
        scores, id_ = scored.scores, scored.document.id
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
