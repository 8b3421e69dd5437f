"""Intents and slots of sentences (SNIPS): decoded together, one after the other, and separately.

The models are small: a CRF for slots and, for intents, a CRF over sequences of one item, which is a
logistic regression over words and pairs of words. Both are trained by python-crfsuite. The rules
say which slots an intent allows, and which it needs; they are part of the definition of intents, so
they are read off all training sentences, of which models may see few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pycrfsuite

from lab.benchmarks.tables import Spread
from lawful import Decoding, Document, Field, Rule, Rules, Scores, decode
from lawful.documents.labels import Scheme
from lawful.evaluation.scoreboard import Counts
from lawful.models.crfsuite import CrfsuiteModel
from tests.fixtures.outputs import SHARED

SENTENCES = SHARED / "data" / "tasks" / "slots-snips"


class Sentence(NamedTuple):
    """A sentence with its slots, as BIO labels of its words, and its intent."""

    words: tuple[str, ...]
    slots: tuple[str, ...]
    intent: str


def read_sentences(folder: Path) -> Iterator[Sentence]:
    """The sentences of one part of SNIPS."""
    names = ("seq.in", "seq.out", "label")
    lines = zip(
        *((folder / name).read_text(encoding="utf-8").splitlines() for name in names), strict=True
    )
    for words, slots, intent in lines:
        yield Sentence(tuple(words.split()), tuple(slots.split()), intent.strip())


def rules_of(sentences: Sequence[Sentence]) -> Rules:
    """Which slots the intents of these sentences allow, and which they always have."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in sentences:
        counts[each.intent].update({label[2:] for label in each.slots if label != "O"})
    totals = Counter(each.intent for each in sentences)
    rules = []
    for slot in sorted({slot for slots in counts.values() for slot in slots}):
        allowed = [intent for intent in counts if slot in counts[intent]]
        rules.append(Rule(f"not present({slot}) or {_one_of(allowed)}", id=f"{slot} allowed"))
        needed = [intent for intent in allowed if counts[intent][slot] >= 0.99 * totals[intent]]
        if needed:
            rules.append(Rule(f"present({slot})", when=_one_of(needed), id=f"{slot} needed"))
    slots = sorted({slot for each in counts.values() for slot in each})
    fields = [Field(slot, slot, many=True, presence="free", optional=True) for slot in slots]
    return Rules(fields, rules, classes={"intent": "intent"}).with_defaults(unchecked=0.0)


def _one_of(intents: Sequence[str]) -> str:
    return " or ".join(f"intent == {intent!r}" for intent in intents)


# Models.


def word_features(words: Sequence[str]) -> list[list[str]]:
    """By word, what it and its neighbours are."""
    padded = ["<<", "<", *words, ">", ">>"]
    return [
        [
            *(f"{step}={padded[i + 2 + step]}" for step in range(-2, 3)),
            f"-1,0={padded[i + 1]} {padded[i + 2]}",
            f"0,1={padded[i + 2]} {padded[i + 3]}",
            *(f"end {size}={words[i][-size:]}" for size in (2, 3)),
            f"begin={words[i][:3]}",
            f"digits={any(map(str.isdigit, words[i]))}",
        ]
        for i in range(len(words))
    ]


def sentence_features(words: Sequence[str]) -> list[list[str]]:
    """Words and pairs of words, as the features of a sequence of one item."""
    pairs = (f"{a} {b}" for a, b in zip(("<", *words), (*words, ">"), strict=True))
    return [[*words, *pairs]]


def train(examples: Sequence[tuple[list[list[str]], Sequence[str]]]) -> CrfsuiteModel:
    """A CRF that is trained on features and labels; repeatable."""
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.05, "c2": 0.05, "max_iterations": 60}, False)
    for items, labels in examples:
        trainer.append(items, labels)
    with TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        return CrfsuiteModel.load(Path(folder) / "model")


TEMPERATURES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
FOLDS = 3


class Models(NamedTuple):
    """A model of slots, and one of intents, with their temperatures."""

    slots: CrfsuiteModel
    intents: CrfsuiteModel
    temperatures: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def trained(cls, sentences: Sequence[Sentence]) -> Models:
        return cls(
            train([(word_features(each.words), each.slots) for each in sentences]),
            train([(sentence_features(each.words), [each.intent]) for each in sentences]),
        )

    @classmethod
    def calibrated(cls, sentences: Sequence[Sentence]) -> Models:
        """With temperatures under which sentences are the most probable to models of others."""
        gains = np.zeros((2, len(TEMPERATURES)))
        for fold in range(FOLDS):
            others = [each for i, each in enumerate(sentences) if i % FOLDS != fold]
            models = cls.trained(others)
            for each in sentences[fold::FOLDS]:
                pairs = (models.slots, word_features(each.words), each.slots), (
                    models.intents, sentence_features(each.words), (each.intent,)
                )  # fmt: skip
                for row, (model, items, labels) in zip(gains, pairs, strict=True):
                    if set(labels) <= set(model.labels):
                        scores = model.scores(items)
                        row += [log_prob(scores.with_temperature(t), labels) for t in TEMPERATURES]
        slots, intents = (TEMPERATURES[i] for i in gains.argmax(axis=1))
        return cls.trained(sentences)._replace(temperatures=(slots, intents))

    def scores(self, words: Sequence[str]) -> tuple[Scores, dict[str, float]]:
        """Scores of slots, and log-probabilities of intents."""
        slots, intents = (
            model.scores(items).with_temperature(temperature)
            for model, items, temperature in zip(
                (self.slots, self.intents),
                (word_features(words), sentence_features(words)),
                self.temperatures,
                strict=True,
            )
        )
        return slots, dict(zip(intents.labels, intents.log_probs[0].tolist(), strict=True))


def log_prob(scores: Scores, labels: Sequence[str]) -> float:
    """The log-probability of a labelling."""
    at = [scores.labels.index(label) for label in labels]
    steps = 0.0 if scores.chain is None else scores.chain.between[at[:-1], at[1:]].sum()
    return float(scores.log_probs[range(len(at)), at].sum() + steps - scores.log_total)


# Decoding.


def decoded(
    way: str, document: Document, scores: Scores, intents: dict[str, float], rules: Rules
) -> Decoding:
    """The best slots and intent: each by itself, the intent first, or both under the rules."""
    if way == "intent first":
        intents = {max(intents, key=intents.__getitem__): 0.0}
    if way == "separately":
        rules = Rules(rules.fields, classes=rules.classes).with_defaults(unchecked=0.0)
    classed = Document(document.id, document.words, classes={"intent": intents})
    return decode(classed, scores, rules)


WAYS = ("separately", "intent first", "together")
UNCALIBRATED = "together, not calibrated"


@dataclass(slots=True)
class Board:
    """Slots, intents and whole sentences that are right."""

    sentences: int = 0
    slots: Counts = field(default_factory=Counts)
    intents: int = 0
    right: int = 0
    unproven: int = 0
    milliseconds: float = 0.0

    def add(self, sentence: Sentence, found: Decoding, seconds: float) -> None:
        spans, true = (
            set(Scheme.named("BIO", sorted(set(labels))).spans(labels_in(labels)))
            for labels in (found.labels, sentence.slots)
        )
        self.sentences += 1
        self.slots.add(spans, true)
        intent = found.classes["intent"].value == sentence.intent
        self.intents += intent
        self.right += intent and spans == true
        self.unproven += not found.optimal
        self.milliseconds += 1000 * seconds

    def record(self) -> dict[str, float]:
        """What a table shows; shares in percent."""
        return {
            "entity F1": 100 * self.slots.f1,
            "intents": 100 * self.intents / self.sentences,
            "sentences": 100 * self.right / self.sentences,
            "ms": self.milliseconds / self.sentences,
            "not proven": self.unproven,
        }


def labels_in(labels: Sequence[str]) -> Any:
    """The numbers of labels among their own sorted names."""
    names = sorted(set(labels))
    return np.array([names.index(label) for label in labels])


def judge_intents(sizes: Sequence[int], splits: int, count: int) -> None:
    """Prints what is right on unseen sentences, by number of training sentences and way."""
    sentences = list(read_sentences(SENTENCES / "train"))
    test = list(read_sentences(SENTENCES / "valid"))
    test = test[:: -(-len(test) // count)] if count else test
    rules = rules_of(sentences)
    print(f"{len(test)} sentences, {splits} splits; mean and standard deviation over splits")
    table = Spread("trained on", "decoded")
    for size in sizes:
        for split in range(splits):
            chosen = np.random.default_rng(split).permutation(len(sentences))[:size]
            models = Models.calibrated([sentences[i] for i in chosen])
            for way, board in judge_models(models, test, rules).items():
                table.add((f"{size:,}", way), board.record())
        table.print_new()


def judge_models(models: Models, test: Sequence[Sentence], rules: Rules) -> dict[str, Board]:
    """By way of decoding, what is right; the last way is without the models' temperatures."""
    boards = {way: Board() for way in (*WAYS, UNCALIBRATED)}
    for number, each in enumerate(test):
        document = Document(str(number), each.words)
        for way, board in boards.items():
            plain = way == UNCALIBRATED
            used = models._replace(temperatures=(1.0, 1.0)) if plain else models
            scores, intents = used.scores(each.words)
            begin = perf_counter()
            found = decoded(way, document, scores, intents, rules)
            board.add(each, found, perf_counter() - begin)
    return boards
