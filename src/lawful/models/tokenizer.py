"""Words split into a model's word pieces, and back, for every family of tokenizers.

Every word has at least one piece: one that the tokenizer drops (an empty word, a lone control
character) gets a piece that stands for the unknown. Pieces never cross words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lawful.document import Document
from lawful.errors import InputError, MissingExtraError
from lawful.labels import labels_of_pieces
from lawful.models.checkpoint import CARD, replaced

if TYPE_CHECKING:
    import tokenizers

COMPANIONS = ("tokenizer_config.json", "special_tokens_map.json")
"""Files that tell transformers how to use ``tokenizer.json``."""

GRID = 1000
"""Boxes are whole numbers from 0 to this, as LayoutLM and its kin have them."""


@dataclass(frozen=True, slots=True)
class WordPieces:
    """A document split into word pieces: arrays with one row per piece."""

    ids: NDArray[np.int64]  # in the model's vocabulary
    words: NDArray[np.int64]  # the word it is of: 0, 0, 1, …, none left out
    starts: NDArray[np.int64]  # where in its word it starts, in characters
    boxes: NDArray[np.int64]  # (pieces, 4), on the grid; all zero where there are none

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def joins(self) -> tuple[bool, ...]:
        """Whether a piece belongs to the same word as the one before it."""
        return tuple(np.diff(self.words, prepend=-1).__eq__(0).tolist())

    def document(self, document: Document) -> Document:
        """The document with pieces for words; joined, they read as the words did."""
        at, starts, joins = self.words.tolist(), self.starts.tolist(), self.joins
        glued = document.joins or (False,) * len(document)
        # A piece reaches to the next one of its word, the last to the word's end.
        ends = [start if join else None for start, join in zip(starts, joins, strict=True)][1:]
        texts = tuple(
            document.words[word][start:end]
            for word, start, end in zip(at, starts, [*ends, None], strict=False)
        )
        boxes, pages = document.boxes, document.pages
        return replace(
            document,
            words=texts,
            boxes=None if boxes is None else tuple(boxes[i] for i in at),
            pages=None if pages is None else tuple(pages[i] for i in at),
            joins=tuple(join or glued[i] for i, join in zip(at, joins, strict=True)),
        )

    def labels(self, gold: Sequence[str]) -> tuple[str, ...]:
        """The labels of words as labels of pieces: a word that begins goes on in its pieces."""
        return labels_of_pieces(gold, self.joins)


class Tokenizer:
    """Splits the words of a document into a model's word pieces, each word by itself."""

    def __init__(
        self, tokenizer: tokenizers.Tokenizer, companions: Mapping[str, bytes] | None = None
    ) -> None:
        """``companions``: other files that transformers wants with it, by name."""
        self._companions = companions or {}
        self._tokenizer = _for_words(tokenizer)
        self.opening, self.closing = _special(self._tokenizer)
        self._unknown = _unknown(self._tokenizer)

    @classmethod
    def load(cls, source: str | Path) -> Tokenizer:
        """From a folder with ``tokenizer.json``, or from whatever transformers can load."""
        files = (Path(source) / name for name in COMPANIONS)
        companions = {file.name: file.read_bytes() for file in files if file.is_file()}
        file = Path(source) / "tokenizer.json"
        configured = (Path(source) / "tokenizer_config.json").is_file()
        ours = (Path(source) / CARD).is_file()
        if file.is_file() and (ours or not configured):
            try:
                import tokenizers
            except ImportError:
                raise MissingExtraError(
                    "reading a tokenizer needs tokenizers: install the 'onnx' or the 'train' extra"
                ) from None
            try:
                return cls(tokenizers.Tokenizer.from_file(str(file)), companions)
            except Exception as error:
                raise InputError(f"{file}: not a tokenizer: {error}") from None
        from lawful.models.pretrained import load_tokenizer

        return cls(load_tokenizer(source), companions)

    def save(self, folder: Path) -> None:
        """Writes ``tokenizer.json`` and its companions."""
        with replaced(folder / "tokenizer.json") as file:
            self._tokenizer.save(str(file))
        for name, content in self._companions.items():
            with replaced(folder / name) as file:
                file.write_bytes(content)

    @property
    def padding(self) -> int:
        """The id for positions without a piece; they are masked, so any id will do."""
        return self._unknown

    def tokenize(self, document: Document) -> WordPieces:
        """The document's word pieces, without the model's special tokens at its ends."""
        encoding = self._tokenizer.encode(
            list(document.words), is_pretokenized=True, add_special_tokens=False
        )
        ids: list[list[int]] = [[] for _ in document.words]
        starts: list[list[int]] = [[] for _ in document.words]
        for id_, word, (start, _) in zip(
            encoding.ids, encoding.word_ids, encoding.offsets, strict=True
        ):
            if word is None:
                continue
            before = starts[word]
            # The first piece has what a tokenizer leaves out before it; none goes back.
            starts[word].append(max(start, before[-1]) if before else 0)
            ids[word].append(id_)
        counts = [len(of) or 1 for of in ids]
        words = np.repeat(np.arange(len(counts)), counts)
        grid = np.zeros((len(counts), 4), dtype=np.int64) if not counts else on_grid(document)
        return WordPieces(
            np.array([i for of in ids for i in of or [self._unknown]], dtype=np.int64),
            words,
            np.array([s for of in starts for s in of or [0]], dtype=np.int64),
            grid[words],
        )


def on_grid(document: Document) -> NDArray[np.int64]:
    """Boxes as whole numbers from 0 to ``GRID``, on each page measured from its printed area.

    Neither the page's size nor the unit of its boxes matters then, nor how wide its margins are.
    """
    if document.boxes is None:
        return np.zeros((len(document), 4), dtype=np.int64)
    boxes = np.array(document.boxes, dtype=np.float64).reshape(-1, 2, 2)  # word, corner, axis
    pages = np.array(document.pages or [0] * len(document))
    for page in np.unique(pages):
        here = boxes[pages == page]
        low, high = here.min(axis=(0, 1)), here.max(axis=(0, 1))
        boxes[pages == page] = (here - low) / np.maximum(high - low, 1e-9) * GRID
    return np.rint(boxes).astype(np.int64).reshape(-1, 4)


def _for_words(tokenizer: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """The tokenizer without truncation or padding, and with a blank before every word.

    Byte-level tokenizers tell "total" at the start of a word from "total" within one by that blank.
    """
    state = json.loads(tokenizer.to_str())
    state["truncation"] = state["padding"] = None
    for part in _parts(state.get("pre_tokenizer")):
        if part.get("type") == "ByteLevel" and part.get("use_regex", True):
            part["add_prefix_space"] = True
        elif part.get("type") == "ByteLevel" and not part["add_prefix_space"]:
            # Something before it has cut words already: a blank goes before the whole word.
            blank = {"type": "Prepend", "prepend": " "}
            others = [state["normalizer"]] if state.get("normalizer") else []
            state["normalizer"] = {"type": "Sequence", "normalizers": [*others, blank]}
        if part.get("type") == "Metaspace":
            part["prepend_scheme"] = "always"
    made = type(tokenizer).from_str(json.dumps(state))
    made.encode_special_tokens = True  # "[SEP]" on a page is a word, not a special token
    return made


def _parts(part: Any) -> list[dict[str, Any]]:
    if not isinstance(part, dict):
        return []
    return [part, *(inner for each in part.get("pretokenizers", ()) for inner in _parts(each))]


def _special(tokenizer: tokenizers.Tokenizer) -> tuple[list[int], list[int]]:
    """The ids of special tokens before the first piece and after the last."""
    encoding = tokenizer.encode(["1"], is_pretokenized=True)
    own = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
    if not own:
        raise InputError("the tokenizer makes nothing of '1'")
    return encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]


def _unknown(tokenizer: tokenizers.Tokenizer) -> int:
    own = json.loads(tokenizer.to_str())["model"].get("unk_token")
    for name in (own, "[UNK]", "<unk>", "[PAD]", "<pad>", "<|endoftext|>", "</s>"):
        if name and (id_ := tokenizer.token_to_id(name)) is not None:
            return int(id_)
    return 0
