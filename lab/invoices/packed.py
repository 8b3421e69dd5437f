"""What the invoice model learns from: windows of word pieces, packed into files of arrays.

Needs NumPy only, so that windows can be learned from where nothing else is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.invoices.labels import KINDS, LABELS

WINDOW = 512
"""Word pieces in a window, at most."""

OUTPUTS = (*LABELS, *KINDS)
"""What the model has scores of; targets are numbers of these."""

NO_TARGET = 255
"""The target of special pieces but the first, whose target is the kind of the page."""


class Windows(NamedTuple):
    """Windows behind each other: arrays with one row per piece, and how long each window is."""

    ids: NDArray[np.uint16]
    places: NDArray[np.int8]  # (pieces, 4)
    targets: NDArray[np.uint8]
    lengths: NDArray[np.uint16]

    @classmethod
    def joined(cls, parts: Sequence[Windows]) -> Windows:
        """All windows of several."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @classmethod
    def load(cls, files: Iterable[Path]) -> Windows:
        """Those of some files."""
        parts = []
        for file in files:
            with np.load(file) as arrays:
                parts.append(cls(*(arrays[name] for name in cls._fields)))
        return cls.joined(parts)

    def save(self, file: Path) -> None:
        """Writes a file, at once as a whole."""
        part = file.with_suffix(".part")
        with part.open("wb") as out:
            np.savez_compressed(out, **self._asdict())
        part.replace(file)
