"""Where fields stand: what is printed around their values, learned from many documents at once.

A value is often printed several times, but in most documents it stands in the same surroundings
where it is the field: right of ``Total``, below ``Order #``, at the end of the last page. So every
candidate counts for a share, features of its surroundings are compared with those of other values
of the same type, which are not the field, and shares follow from the features (naive Bayes by
expectation maximisation). It takes no training data but the values, and no GPU.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

import numpy as np

from lawful.candidates.grounding.matches import Occurrences, Span, fold
from lawful.documents.reading_order import upright
from lawful.learn.align.reading import Truth
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules

ROUNDS = 6
"""Rounds of expectation maximisation; shares hardly move after these."""

TRUST = 0.5
"""Weight of a feature: features depend on each other, and naive Bayes would be too sure."""

SMOOTHING = 0.5
"""Added to every count of a feature."""

MIN_DOCUMENTS = 5
"""Documents with a value of a field from which on its surroundings are learned."""

LARGEST = 8.0
"""Log-odds of a candidate, at most."""


class Surroundings:
    """Features of what is printed around the spans of a document."""

    def __init__(self, occurrences: Occurrences) -> None:
        document = occurrences.document
        self._lines = occurrences.lines
        self._words = [_shape(word) for word in document.words]
        self._pages = np.array(document.pages or (0,) * len(document), int)
        self._boxes = None if document.boxes is None else upright(document.boxes, self._pages)
        self._last = int(self._pages.max(initial=0))
        self._cache: dict[Span, tuple[str, ...]] = {}

    def of(self, span: Span) -> tuple[str, ...]:
        """The features of a span, each once."""
        if span not in self._cache:
            self._cache[span] = tuple(dict.fromkeys(self._features(*span)))
        return self._cache[span]

    def _features(self, start: int, end: int) -> Iterator[str]:
        words, lines = self._words, self._lines
        left = [i for i in range(max(0, start - 3), start) if lines[i] == lines[start]]
        yield "left " + (words[left[-1]] if left else "")
        yield "before " + " ".join(words[i] for i in left[-2:])
        for i in left:
            yield "near " + words[i]
        if end < len(words) and lines[end] == lines[start]:
            yield "right " + words[end]
        yield "text " + " ".join(words[start:end])
        page = int(self._pages[start])
        yield "page " + ("first" if page == 0 else "last" if page == self._last else "middle")
        if self._boxes is None:
            yield f"place {10 * start // max(len(words), 1)}"
            return
        above = self._above(start, end)
        yield "above " + (words[above] if above is not None else "")
        if above is not None and above > 0 and lines[above - 1] == lines[above]:
            yield f"above {words[above - 1]} {words[above]}"
        x0, y0, x1, _ = self._boxes[start]
        there = self._boxes[self._pages == page]
        width, height = there[:, 2].max() or 1.0, there[:, 3].max() or 1.0
        across, down = int(8 * (x0 + x1) / 2 / width), int(8 * y0 / height)
        yield f"place {page == 0} {across} {down}"
        yield f"down {page == 0} {page == self._last} {down}"

    def _above(self, start: int, end: int) -> int | None:
        """The nearest word above that is neither left nor right of the span."""
        boxes = self._boxes
        assert boxes is not None  # noqa: S101 - only called with boxes
        x0, x1 = boxes[start, 0], boxes[end - 1, 2]
        y0, height = boxes[start, 1], boxes[start, 3] - boxes[start, 1]
        over = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 3] <= y0 + height / 3)
        over &= (self._pages == self._pages[start]) & (boxes[:, 3] > y0 - 4 * height)
        found = np.flatnonzero(over)
        return int(found[boxes[found, 3].argmax()]) if len(found) else None


def _shape(word: str) -> str:
    """A word without case and punctuation, and with all digits alike."""
    folded = "".join("9" if mark.isdigit() else mark for mark in fold(word))
    return folded or word[:3]


@dataclass(slots=True)
class _Example:
    """The spans of one document that carry a value, with shares that sum to at most one."""

    spans: list[Span]
    features: list[tuple[str, ...]]
    shares: list[float]


@dataclass(slots=True)
class Contexts:
    """For each field, how much more usual each feature is around it than around other values."""

    ratios: dict[str, Mapping[str, float]] = field(default_factory=dict)
    prior: dict[str, float] = field(default_factory=dict)

    def log_odds(self, surroundings: Surroundings, span: Span, name: str) -> float:
        """How much more probable a span that carries the value is the field than not."""
        ratios = self.ratios.get(name)
        return 0.0 if ratios is None else _odds(surroundings.of(span), ratios, self.prior[name])

    @classmethod
    def learn(
        cls, documents: Sequence[tuple[Occurrences, Surroundings, Truth]], rules: Rules
    ) -> Contexts:
        """From the candidates of all documents; fields with few documents are left."""
        learned = cls()
        for f in rules.fields:
            examples, others = _examples(documents, f)
            if len(examples) >= MIN_DOCUMENTS:
                learned.ratios[f.name], learned.prior[f.name] = _maximise(examples, others)
        return learned


def _examples(
    documents: Sequence[tuple[Occurrences, Surroundings, Truth]], f: Field
) -> tuple[list[_Example], Counter[str]]:
    """The candidates of a field, and the features of other values of its type."""
    examples: list[_Example] = []
    others: Counter[str] = Counter()
    for occurrences, surroundings, truth in documents:
        if f.many or f.name not in truth.values:
            continue
        spans = occurrences.find(truth.values[f.name][0], f.type)
        if not spans:
            continue
        features = [surroundings.of(span) for span in spans]
        examples.append(_Example(spans, features, [1 / len(spans)] * len(spans)))
        for span in _rest(occurrences, f, spans):
            others.update(surroundings.of(span))
            others[""] += 1
    return examples, others


def _rest(occurrences: Occurrences, f: Field, spans: Sequence[Span]) -> list[Span]:
    """Single words that are values of the type, but not this value."""
    taken = {word for span in spans for word in range(*span)}
    if f.type == "text":
        words = set(range(0, len(occurrences.document), 3))
    else:
        of_type = occurrences.all_of(f.type).values()
        words = {start for each in of_type for start, end in each if end == start + 1}
    return [(word, word + 1) for word in sorted(words - taken)]


def _maximise(
    examples: Sequence[_Example], others: Counter[str]
) -> tuple[Mapping[str, float], float]:
    """Log-ratios of features, and the log-odds of a candidate without any."""
    ratios: dict[str, float] = {}
    prior = 0.0
    for _ in range(ROUNDS):
        own: dict[str, float] = defaultdict(float)
        not_own: dict[str, float] = defaultdict(float, others)
        weight = 0.0
        for example in examples:
            for features, share in zip(example.features, example.shares, strict=True):
                weight += share
                not_own[""] += 1 - share
                for feature in features:
                    own[feature] += share
                    not_own[feature] += 1 - share
        rest = not_own.pop("", 0.0)
        ratios = {
            feature: log((own[feature] + SMOOTHING) / (weight + 2 * SMOOTHING))
            - log((not_own[feature] + SMOOTHING) / (rest + 2 * SMOOTHING))
            for feature in own
        }
        count = sum(len(example.spans) for example in examples)
        prior = log((weight + 1) / (max(count - weight, 0.0) + 1))
        for example in examples:
            odds = [_odds(each, ratios, prior) for each in example.features]
            _share(example, odds)
    return ratios, prior


def _odds(features: Sequence[str], ratios: Mapping[str, float], prior: float) -> float:
    total = prior + TRUST * sum(ratios.get(feature, 0.0) for feature in features)
    return max(min(total, LARGEST), -LARGEST)


def _share(example: _Example, odds: Sequence[float]) -> None:
    """Shares of candidates: each by its odds, and together at least one."""
    shares = [1 / (1 + exp(-each)) for each in odds]
    total = sum(shares)
    if total < 1:
        top = max(odds)
        weights = [exp(each - top) for each in odds]
        shares = [weight / sum(weights) for weight in weights]
    example.shares = shares
