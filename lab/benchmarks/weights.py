"""Default weights: F1 of decoded fields by the weight of one kind of rules.

    python -m lab.benchmarks.weights [--part 0] [--train 200 1135] [--weights 1 2 4 6 10 20]
        [--kinds order boundaries words counts "all four"]

needs ``../shared``, which is not part of the project: bibliographic references (AnyStyle's
``core.xml``, every fourth of which is decoded, from ``--part`` on). Rules are counts, an order,
boundaries and words, alone and together, under the scores of a tagger that is trained here, on few
of the other references and on all: a logistic regression over features of a word and its
neighbours.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.benchmarks.study import Study
from lab.benchmarks.tables import Table
from lawful import Document, Field, Rule, Rules, Scores, decode
from lawful.documents.records import Labelled, Scored
from lawful.evaluation.scoreboard import Scoreboard
from lawful.rules import Boundaries, Order, WordRule
from tests.fixtures.outputs import SHARED

REFERENCES = SHARED / "data" / "tasks" / "citation-anystyle"


def read_references(path: Path) -> Iterator[Labelled]:
    """References of an AnyStyle file: the words of each field, with BIO labels."""
    root = ET.parse(path).getroot()  # noqa: S314 - a file of ours
    for number, sequence in enumerate(root):
        words: list[str] = []
        labels: list[str] = []
        for part in sequence:
            inside = (part.text or "").split()
            words += inside
            name = part.tag.replace("-", "_")
            labels += [f"{'I' if i else 'B'}-{name}" for i in range(len(inside))]
        if words:
            yield Labelled(Document(f"{path.stem}-{number}", words), tuple(labels))


def read_core() -> tuple[list[Labelled], tuple[str, ...]]:
    """The references and their labels."""
    core = list(read_references(REFERENCES / "core.xml"))
    types = sorted({label[2:] for each in core for label in each.gold})
    return core, ("O", *(f"{prefix}-{type_}" for type_ in types for prefix in "BI"))


def types_of(labels: Sequence[str]) -> list[str]:
    return sorted({label[2:] for label in labels[1:]})


# A tagger.

FEATURES = 2**17


def shape_of(word: str) -> str:
    """The kinds of characters of a word, such as ``Aa.`` and ``(0).``."""
    kinds = re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", _letters, word))
    return kinds[:8]


def _letters(match: re.Match[str]) -> str:
    text = match.group()
    return "A" if len(text) == 1 and text.isupper() else "AA" if text.isupper() else (
        "Aa" if text[0].isupper() else "a"
    )  # fmt: skip


def features_of(words: Sequence[str]) -> NDArray[np.int64]:
    """By word, the numbers of features: its place, and texts and shapes around it."""
    rows = []
    for i in range(len(words)):
        texts = [f"at {min(9, 10 * i // len(words))}", "any"]
        for step in range(-2, 3):
            word = words[i + step] if 0 <= i + step < len(words) else "-"
            plain = word.lower().strip(".,;:()[]\"'“”")
            texts += [f"{step} {plain}", f"{step} shape {shape_of(word)}"]
            texts += [f"{step} end {word[-1]}", f"{step} pair {shape_of(word)} {word[-1]}"]
            if abs(step) < 2:
                texts += [f"{step} prefix {plain[:3]}", f"{step} suffix {plain[-3:]}"]
        rows.append([zlib.crc32(text.encode()) % FEATURES for text in texts])
    return np.array(rows)


class Tagger:
    """A logistic regression, trained by AdaGrad; repeatable."""

    def __init__(self, references: Sequence[Labelled], labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.weights = np.zeros((FEATURES, len(labels)), np.float32)
        inputs = np.concatenate([features_of(each.document.words) for each in references])
        numbers = {label: i for i, label in enumerate(labels)}
        outputs = np.array([numbers[label] for each in references for label in each.gold])
        squares = np.full_like(self.weights, 1e-6)
        random = np.random.default_rng(0)
        for epoch in range(6):
            for batch in np.array_split(random.permutation(len(inputs)), len(inputs) // 64 + 1):
                errors = np.exp(self._log_probs(inputs[batch])).astype(np.float32)
                errors[np.arange(len(batch)), outputs[batch]] -= 1
                flat, inverse = np.unique(inputs[batch], return_inverse=True)
                slopes = np.zeros((len(flat), len(labels)), np.float32)
                np.add.at(slopes, inverse.reshape(len(batch), -1).T, errors)
                slopes += 2e-4 * self.weights[flat]
                squares[flat] += slopes**2
                self.weights[flat] -= 0.3 * 0.7**epoch * slopes / np.sqrt(squares[flat])

    def _log_probs(self, inputs: NDArray[np.int64]) -> NDArray[np.float64]:
        sums = self.weights[inputs].sum(axis=1, dtype=np.float64)
        sums -= sums.max(axis=1, keepdims=True)
        log_probs: NDArray[np.float64] = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
        return log_probs

    def scores(self, document: Document) -> Scores:
        """The scores of a document's words."""
        return Scores.from_log_probs(self._log_probs(features_of(document.words)), self.labels)


# Rules.

ORDER = ("author", "title", "journal", "volume", "pages")
ONCE = (*ORDER, "date", "publisher", "location", "container_title", "editor")
AFTER = r"""[.,;:)?!”"]$"""
YEAR = r"^\(?(19|20)\d\d[a-z]?\W*$"

KINDS: dict[str, Callable[[float], dict[str, Any]]] = {
    "order": lambda w: {"orders": [Order(ORDER, w)]},
    "boundaries": lambda w: {"boundaries": Boundaries(AFTER, w)},
    "words": lambda w: {"words": [WordRule(("date", "title", "url", "doi"), YEAR, weight=w)]},
    "counts": lambda w: {"rules": [Rule(f"count({name}) <= 1", weight=w) for name in ONCE]},
    "all four": lambda w: {
        key: part for kind in list(KINDS)[:4] for key, part in KINDS[kind](w).items()
    },
}
"""Arguments of ``Rules`` by kind of rules and weight."""


def judge(pages: Sequence[Scored], rules: Rules) -> str:
    """F1 of spans of all fields; a star where a decoding is not proven to be optimal."""
    board, proven = Scoreboard(rules), True
    for each in pages:
        decoding = decode(each.document, each.scores, rules)
        board.add_labels(each, decoding.labels)
        proven &= decoding.optimal
    return f"{board.entities.f1:.2%}" + ("" if proven else " *")


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.add_argument("--part", type=int, default=0, choices=range(4), help="what is decoded")
    parser.add_argument("--train", type=int, nargs="+", default=[200, 1135], help="sizes")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--weights", type=float, nargs="+", default=[1, 2, 4, 6, 10, 20])
    given = parser.parse_args()
    core, labels = read_core()
    fields = [Field(type_, type_, repeat="any") for type_ in types_of(labels)]
    test = core[given.part :: 4][: len(core) // 4]
    rest = [each for i, each in enumerate(core) if i % 4 != given.part]
    table = Table()
    for references in (rest[:size] for size in given.train):
        tagger = Tagger(references, labels)
        pages = [Scored(each.document, tagger.scores(each.document), each.gold) for each in test]
        plain = judge(pages, Rules(fields))
        for kind in given.kinds:
            found = {f"{w:g}": judge(pages, Rules(fields, **KINDS[kind](w))) for w in given.weights}
            table.add({"trained on": len(references), "rules": kind, "none": plain} | found)


if __name__ == "__main__":
    main()
