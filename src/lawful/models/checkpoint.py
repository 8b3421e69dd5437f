"""Checkpoint directories: the files of Hugging Face, and ``lawful.json``.

``lawful.json`` has the settings to run the model with; a directory without it is a plain model of
transformers. ``model.safetensors`` has all weights in one file, so that they are replaced
atomically; ``model.onnx`` is the same network for onnxruntime. ``lawful.json`` also has checksums
of both and of the tokenizer, so that damaged files are noticed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from lawful.base.errors import InputError, LawfulError
from lawful.documents.chain import Chain
from lawful.documents.label_names import check_names
from lawful.io.atomic import atomic_path

OldTables: TypeAlias = tuple[list[list[float]], list[float], list[float]]
"""A chain in cards of version 0.1: the scores between labels, at the start, at the end."""

CARD, WEIGHTS, ONNX = "lawful.json", "model.safetensors", "model.onnx"
QUICK = "quick.json"  # of a model that ``lawful teach`` made, which has no card
CONFIG, TOKENIZER = "config.json", "tokenizer.json"

LONGEST_WINDOW = 2**20
"""Maximum window of a model, in word pieces."""


class ChainTables(msgspec.Struct):
    """A CRF's scores of transitions."""

    start: list[float]
    between: list[list[float]]
    end: list[float]


class Card(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The settings that a model is run with."""

    labels: tuple[str, ...]
    kinds: tuple[str, ...] = ()  # of documents; the scores of the first piece are of them, too
    window: int  # maximum number of word pieces, including special tokens
    boxes: bool = False  # whether the model takes boxes
    own_boxes: bool = False  # whether its box embeddings are lawful's, not the architecture's
    lines: bool = False  # whether these are of places in printed lines, not of boxes on a grid
    crf: bool = False
    chain: ChainTables | OldTables | None = None  # of the CRF, if the weights are only in ONNX
    base: str = ""  # the pretrained encoder
    recipe: dict[str, Any] = {}  # the hyperparameters of training
    sha256: dict[str, str] = {}  # checksums of files, by name; a file without one is not checked

    @property
    def outputs(self) -> int:
        """The number of scores per word piece."""
        return len(self.labels) + len(self.kinds)

    @property
    def learned(self) -> Chain | None:
        """The CRF's scores of transitions, if the card has them."""
        tables = self.chain
        if isinstance(tables, tuple):
            between, start, end = tables
            tables = ChainTables(start, between, end)
        if tables is None:
            return None
        return Chain.checked(
            len(self.labels), start=tables.start, between=tables.between, end=tables.end
        )

    def check(self) -> None:
        """Raises an ``InputError`` if the settings contradict each other, or make no sense."""
        check_names(self.labels)
        if not 1 <= self.window <= LONGEST_WINDOW:
            raise InputError(f"window is {self.window}, expected 1 to {LONGEST_WINDOW}")
        if self.learned is not None and not self.crf:
            raise InputError("there is a chain, but crf is false")
        if self.own_boxes and not self.boxes:
            raise InputError("own_boxes is true, but boxes is false")
        if self.lines and not self.own_boxes:
            raise InputError("lines is true, but own_boxes is false")

    def check_file(self, file: Path) -> None:
        """Raises an ``InputError`` if the file has another checksum than the card says."""
        expected = self.sha256.get(file.name)
        if expected is not None and (found := checksum(file)) != expected:
            raise InputError(
                f"{file} is damaged or of another model: its SHA-256 is {found}, expected "
                f"{expected} as in {CARD}"
            )

    def save(self, folder: Path) -> None:
        """Writes the card, atomically."""
        with replaced(folder / CARD) as file:
            file.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")

    @contextmanager
    def replacing(self, folder: Path, *names: str) -> Iterator[None]:
        """Writes the card before and after a block that replaces the files of these names.

        During the block, the card has no checksums of these files: a folder that is left by an
        interruption can be loaded, with the old files or with the new ones. Checksums of other
        files stay as they are.
        """
        before = read_card(folder)
        self.sha256 = {} if before is None else before.sha256
        for name in names:
            self.sha256.pop(name, None)
        self.save(folder)
        yield
        self.sha256 |= {name: checksum(folder / name) for name in names}
        self.save(folder)


def checksum(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    try:
        with file.open("rb") as data:
            return hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None


def read_card(folder: Path) -> Card | None:
    """The card of a checkpoint directory, or ``None`` if it has none."""
    file = folder / CARD
    if not file.is_file():
        return None
    try:
        card = msgspec.json.decode(file.read_bytes(), type=Card)
        card.check()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError, LawfulError) as error:
        raise InputError(f"{file}: not the card of a model: {error}") from None
    return card


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary file that replaces ``path`` if the block succeeds; errors of torch are ours."""
    with atomic_path(path) as new:
        try:
            yield new
        except (LawfulError, OSError):
            raise
        except Exception as error:  # those of torch and safetensors for a full disk
            raise InputError(f"cannot write {path}: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """The start of an exception's message, since those of torch and transformers are long."""
    first, *others = str(error).strip().splitlines() or [repr(error)]
    return (f"{first} {others[0].strip()}" if first.endswith(":") and others else first)[:500]
