"""Tokenization of words into a model's word pieces, and back, for all families of tokenizers.

Every word has at least one piece: a word that the tokenizer drops (an empty one, a lone control
character) gets the unknown token. A piece never spans two words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError, MissingExtraError
from lawful.documents.document import Document
from lawful.documents.label_names import labels_of_pieces
from lawful.documents.reading_order import page_numbers, printed_lines
from lawful.models.checkpoint import TOKENIZER, read_card, replaced

if TYPE_CHECKING:
    import tokenizers

COMPANIONS = ("tokenizer_config.json", "special_tokens_map.json")
"""Files that transformers needs in addition to ``tokenizer.json``."""

GRID = 1000
"""Boxes are whole numbers from 0 to this, as in LayoutLM."""

LINE_STEPS = (34, 34, 18, 18)
"""How many values each number of a place in a printed line can have; 0 is unknown."""


@dataclass(frozen=True, slots=True)
class WordPieces:
    """The word pieces of a document: arrays with one row per piece."""

    ids: NDArray[np.int64]  # in the model's vocabulary
    words: NDArray[np.int64]  # index of the piece's word: 0, 0, 1, …, without gaps
    starts: NDArray[np.int64]  # offset of the piece in its word, in characters
    boxes: NDArray[np.int64]  # (pieces, 4), places on the grid or in lines; zeros if unknown

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def joins(self) -> tuple[bool, ...]:
        """Whether each piece belongs to the same word as the previous one."""
        return tuple(np.diff(self.words, prepend=-1).__eq__(0).tolist())

    def document(self, document: Document) -> Document:
        """The document with its pieces as words; joined, they give the original words."""
        at, starts, joins = self.words.tolist(), self.starts.tolist(), self.joins
        glued = document.joins or (False,) * len(document)
        # A piece extends to the next piece of its word, the last one to the word's end.
        ends = [start if join else None for start, join in zip(starts, joins, strict=True)][1:]
        texts = tuple(
            document.words[word][start:end]
            for word, start, end in zip(at, starts, [*ends, None], strict=False)
        )
        return document.taking(
            at,
            words=texts,
            joins=tuple(join or glued[i] for i, join in zip(at, joins, strict=True)),
            misreads=None,
            pins=tuple(
                pin
                if pin.words is None
                else pin.about(*np.searchsorted(self.words, pin.words).tolist())
                for pin in document.pins
            ),
        )

    def labels(self, gold: Sequence[str]) -> tuple[str, ...]:
        """The labels of words as labels of pieces: after ``B-x``, further pieces are ``I-x``."""
        return labels_of_pieces(gold, self.joins)


class Tokenizer:
    """Tokenizes the words of a document, each word separately."""

    def __init__(
        self, tokenizer: tokenizers.Tokenizer, companions: Mapping[str, bytes] | None = None
    ) -> None:
        """``companions``: contents of further files for transformers, by name."""
        self._companions = companions or {}
        self._tokenizer = _for_words(tokenizer)
        self.opening, self.closing = _special(self._tokenizer)
        self._unknown = _unknown(self._tokenizer)

    @classmethod
    def load(cls, source: str | Path) -> Tokenizer:
        """From a folder with ``tokenizer.json``, or a folder or name that transformers can load."""
        files = (Path(source) / name for name in COMPANIONS)
        companions = {file.name: file.read_bytes() for file in files if file.is_file()}
        file = Path(source) / TOKENIZER
        configured = (Path(source) / "tokenizer_config.json").is_file()
        card = read_card(Path(source))
        if file.is_file() and (card is not None or not configured):
            if card is not None:
                card.check_file(file)
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
        with replaced(folder / TOKENIZER) as file:
            self._tokenizer.save(str(file))
        for name, content in self._companions.items():
            with replaced(folder / name) as file:
                file.write_bytes(content)

    @property
    def padding(self) -> int:
        """The id for padding, which is masked, so any id is valid."""
        return self._unknown

    def tokenize(self, document: Document, *, lines: bool = False) -> WordPieces:
        """The word pieces of a document, without special tokens.

        Their boxes are on the grid; with ``lines``, they are places in printed lines.
        """
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
            # The first piece includes characters skipped before it; offsets never decrease.
            starts[word].append(max(start, before[-1]) if before else 0)
            ids[word].append(id_)
        counts = [len(of) or 1 for of in ids]
        words = np.repeat(np.arange(len(counts)), counts)
        places = in_lines(document) if lines else on_grid(document)
        return WordPieces(
            np.array([i for of in ids for i in of or [self._unknown]], dtype=np.int64),
            words,
            np.array([s for of in starts for s in of or [0]], dtype=np.int64),
            places[words],
        )


def on_grid(document: Document) -> NDArray[np.int64]:
    """Boxes as whole numbers from 0 to ``GRID``, relative to the printed area of their page.

    They do not depend on the size of the page, its margins, or the unit of boxes.
    """
    return np.rint(_on_page(document) * GRID).astype(np.int64)


def in_lines(document: Document) -> NDArray[np.int64]:
    """The places of words in printed lines, of shape (words, 4): see ``LINE_STEPS``.

    They are: the left end and the right end of the word, in 32nds of the printed width; the gap
    before it, in half heights of a word (1 for the first word of a line); and its height, relative
    to the page's usual one, with a flag for the last word of a line. So they depend neither on the
    length of the page, nor on the unit of boxes.
    """
    places = np.zeros((len(document), 4), dtype=np.int64)
    if document.boxes is None or not len(document):
        return places
    ends = _on_page(document)[:, [0, 2]]
    places[:, :2] = 1 + np.rint(ends * (LINE_STEPS[0] - 2))
    boxes = np.array(document.boxes, dtype=np.float64).reshape(-1, 4)
    lines = np.array(printed_lines(document))
    high = np.maximum(boxes[:, 3] - boxes[:, 1], 1e-9)
    order = np.lexsort((boxes[:, 0], lines))
    starts = np.diff(lines[order], prepend=-1) != 0
    usual = float(np.median(high))
    gaps = np.maximum(boxes[order[1:], 0] - boxes[order[:-1], 2], 0) / usual
    steps = 2 + np.minimum(np.rint(2 * np.concatenate([[0.0], gaps])), LINE_STEPS[2] - 3)
    places[order, 2] = np.where(starts, 1, steps)
    size = np.clip(np.rint(4 + 2 * np.log2(high / usual)), 0, LINE_STEPS[3] // 2 - 2)
    places[:, 3] = 1 + 2 * size
    places[order, 3] += np.append(starts[1:], True)
    return places


def _on_page(document: Document) -> NDArray[np.float64]:
    """Boxes relative to the printed area of their page, from 0 to 1; zeros without boxes."""
    if document.boxes is None or not len(document):
        return np.zeros((len(document), 4))
    boxes = np.array(document.boxes, dtype=np.float64).reshape(-1, 2, 2)  # word, corner, axis
    pages = page_numbers(document)
    for page in np.unique(pages):
        here = boxes[pages == page]
        low, high = here.min(axis=(0, 1)), here.max(axis=(0, 1))
        boxes[pages == page] = (here - low) / np.maximum(high - low, 1e-9)
    return boxes.reshape(-1, 4)


def _for_words(tokenizer: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """The tokenizer without truncation or padding, and with a blank before every word.

    By this blank, byte-level tokenizers distinguish the start of a word from the inside of one.
    """
    state = json.loads(tokenizer.to_str())
    state["truncation"] = state["padding"] = None
    for part in _parts(state.get("pre_tokenizer")):
        if part.get("type") == "ByteLevel" and part.get("use_regex", True):
            part["add_prefix_space"] = True
        elif part.get("type") == "ByteLevel" and not part["add_prefix_space"]:
            # An earlier pre-tokenizer cuts words, so the blank is put before the whole word.
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
        raise InputError("the tokenizer gives no pieces for '1', expected at least one")
    return encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]


def _unknown(tokenizer: tokenizers.Tokenizer) -> int:
    own = json.loads(tokenizer.to_str())["model"].get("unk_token")
    for name in (own, "[UNK]", "<unk>", "[PAD]", "<pad>", "<|endoftext|>", "</s>"):
        if name and (id_ := tokenizer.token_to_id(name)) is not None:
            return int(id_)
    return 0
