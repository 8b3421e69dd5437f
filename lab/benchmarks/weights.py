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
from lawful import Document, Field, Rule, Rules, Scores, decode
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import Counts
from lawful.rules import Boundaries, Order, WordRule
from lawful.rules.judging.judge import Judge
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


def judge_references(
    part: int, sizes: Sequence[int], weights: Sequence[float], kinds: Sequence[str]
) -> None:
    """Prints F1 of spans on unseen references, by size of the training set, rules and weight."""
    core = list(read_references(REFERENCES / "core.xml"))
    test, train = (
        core[part::4][: len(core) // 4],
        [each for i, each in enumerate(core) if i % 4 != part],
    )
    types = sorted({label[2:] for each in core for label in each.gold})
    labels = ("O", *(f"{prefix}-{type_}" for type_ in types for prefix in "BI"))
    fields = [Field(type_, type_, repeat="any") for type_ in types]
    begins = [
        bool(re.search(AFTER, each.document.words[i - 1]))
        for each in test
        for i, label in enumerate(each.gold)
        if i and label.startswith("B-")
    ]
    print(
        f"{len(test)} references, {sum(len(each.document) for each in test):,} words; "
        f"of true spans after the first, {sum(begins) / len(begins):.1%} begin at a boundary"
    )
    for references in (train[:size] for size in sizes):
        tagger = Tagger(references, labels)
        pages = [(each, tagger.scores(each.document)) for each in test]
        plain, _ = judge_spans(pages, Rules(fields))
        print(
            f"\ntagger trained on {len(references):,} references; F1 of spans without rules: "
            f"{plain:.2%}\n{'rules':<12}" + "".join(f"{f'weight {w:g}':>11}" for w in weights)
        )
        for kind in kinds:
            parts = KINDS[kind]
            results = [judge_spans(pages, Rules(fields, **parts(weight))) for weight in weights]
            unproven = sum(count for _, count in results)
            print(
                f"{kind:<12}"
                + "".join(f"{f1:>11.2%}" for f1, _ in results)
                + (f"  {unproven} not proven" if unproven else ""),
                flush=True,
            )


def judge_spans(pages: Sequence[tuple[Labelled, Scores]], rules: Rules) -> tuple[float, int]:
    """F1 of spans of all fields, and the number of decodings that are not proven optimal."""
    counts, unproven = Counts(), 0
    for each, scores in pages:
        scheme = rules.scheme_for(scores.labels)
        judge = Judge(each.document, rules, scheme)
        decoding = decode(each.document, scores, rules)
        unproven += not decoding.optimal
        found, true = (
            {(i, *span) for i, spans in enumerate(judge.read(scheme.indices(of))) for span in spans}
            for of in (decoding.labels, each.gold)
        )
        counts.add(found, true)
    return counts.f1, unproven


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.add_argument("--part", type=int, default=0, choices=range(4), help="what is decoded")
    parser.add_argument("--train", type=int, nargs="+", default=[200, 1135], help="sizes")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--weights", type=float, nargs="+", default=[1, 2, 4, 6, 10, 20])
    arguments = parser.parse_args()
    judge_references(arguments.part, arguments.train, arguments.weights, arguments.kinds)


if __name__ == "__main__":
    main()
