"""Checkpoint directories: what lawful adds to the files of Hugging Face.

``lawful.json`` says how the model is to be run; a directory without one is a plain model of
transformers and is run as such. ``model.safetensors`` has all weights, so that a new state of them
replaces an old one at once; ``model.onnx`` is the same network for onnxruntime.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from lawful.chain import Chain
from lawful.errors import InputError, LawfulError
from lawful.io.atomic import atomic_path

OldTables: TypeAlias = tuple[list[list[float]], list[float], list[float]]
"""A chain in cards of version 0.1: between labels, at the start, at the end."""

CARD, WEIGHTS, ONNX = "lawful.json", "model.safetensors", "model.onnx"


class ChainTables(msgspec.Struct):
    """A CRF's scores of transitions."""

    start: list[float]
    between: list[list[float]]
    end: list[float]


class Card(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The settings that a model is run with."""

    labels: tuple[str, ...]
    window: int  # pieces at once, special tokens included
    boxes: bool = False  # whether it wants boxes at all
    own_boxes: bool = False  # whether the tables of boxes are ours, not its architecture's
    crf: bool = False
    chain: ChainTables | OldTables | None = None  # of the CRF, where the weights are in ONNX alone
    base: str = ""  # what it was trained from
    recipe: dict[str, Any] = {}  # how

    @property
    def learned(self) -> Chain | None:
        """The CRF's scores of transitions, where the card has them."""
        tables = self.chain
        if isinstance(tables, tuple):
            between, start, end = tables
            tables = ChainTables(start, between, end)
        if tables is None:
            return None
        return Chain(*map(np.array, (tables.start, tables.between, tables.end)))

    def save(self, folder: Path) -> None:
        """Writes the card, atomically."""
        with replaced(folder / CARD) as file:
            file.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


def read_card(folder: Path) -> Card | None:
    """The card of a checkpoint directory that has one."""
    file = folder / CARD
    if not file.is_file():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=Card)
    except (msgspec.DecodeError, OSError) as error:
        raise InputError(f"{file}: not a card of a model: {error}") from None


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary file that replaces ``path`` when the block succeeds.

    Temporary files of processes that were killed are removed: weights are large.
    """
    for left in path.parent.glob(f".{path.name}.*"):
        left.unlink(missing_ok=True)
    with atomic_path(path) as new:
        try:
            yield new
        except (LawfulError, OSError):
            raise
        except Exception as error:  # torch and safetensors say in their own words: disk full
            first = (str(error).strip().splitlines() or [repr(error)])[0]
            raise InputError(f"cannot write {path}: {first}") from None
