"""Trust: the probability that the needed values of a decoding are right, by what it shows.

A decoding has doubts: numbers that are cheap to get, and larger the more doubtful it is. Trust is a
logistic regression on them,

    trust = 1 / (1 + exp(w d - intercept)),    w >= 0,

so more doubt never means more trust. The prior of ``w`` is centred on what the doubts would mean
of a calibrated model. Two imagined documents of mean doubts, one right and one wrong, keep trust
below 1 where all documents are right (Laplace's rule of succession). Doubts that are smaller than
any in the fit count as the smallest there: trust is not extrapolated upwards.

Trust orders documents; it promises nothing by itself. What may be promised of those above a
threshold is counted on other documents (``lawful.learn.promise``).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import exp, isfinite
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np

from lawful.base.errors import InputError, shown
from lawful.documents.placed_texts import NOT_PRINTED, PlacedTexts
from lawful.documents.records import Scored
from lawful.documents.span_scores import SpanScores
from lawful.io.atomic import atomic_text
from lawful.learn.optimizer import Loss, ScoredReadings, fit
from lawful.learn.parameters import Vector
from lawful.results.decoding import Decoding
from lawful.results.promise import NO_PROMISE, Promise
from lawful.rules.rule_set import Rules

Setting: TypeAlias = str | int | float | bool | None

DOUBTS: Mapping[str, float] = {
    "values": 0.5,
    "words": 0.5,
    "violated": 1.0,
    "elsewhere": 0.0,
    "unsupported": 0.5,
    "missing": 0.5,
    "corrections": 0.0,
    "unproven": 3.0,
}
"""The doubts, with the means of their weights' priors.

``values``: the logarithm of the expected number of needed fields with a wrong value, under model
and rules (the lower bounds of their confidence). ``words``: the logarithm of the expected number of
words that are wrongly in a needed field or out of it, by the model alone; 0 for scores of spans.
``violated``: log(1 + the number of violated checks that read a needed field). ``elsewhere``: the
same of other checks. ``unsupported``: the share of needed fields that no satisfied rule reads.
``missing``: the share of those without a value. ``corrections``: log(1 + the nats that all
corrections cost). ``unproven``: 1 if the decoding is not proven to be the best. If nothing else
matters and the scores are calibrated, a document is wrong at odds of about the expected number of
wrong values: the weights of ``values`` and ``words`` add up to 1.
"""

USUAL: Mapping[str, tuple[float, int, tuple[float, ...], tuple[float, ...]]] = {
    "words": (
        7.46, 1015,
        (-10.1, -9.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.29, 0.31, 0.0, 0.0, 1.22, 2.64, 0.0, 1.09),
    ),
    "spans": (
        12.16, 632,
        (-13.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.87, 0.5, 0.17, 0.0, 0.0, 3.16, 0.13, 3.0),
    ),
}  # fmt: skip
"""Trust where nobody has reviewed anything, by scores of words and of spans: the intercept, how
many measured documents it was fitted to, their least doubts, and the weights. Receipts by taggers;
receipts, invoices and ad orders by a language model and by models that ``lawful teach`` made
(``python -m lab.benchmarks.trust --usual``)."""

SPREAD = 1.0
"""The standard deviation of the weights' priors."""

_VAGUE = 0.01  # the precision of the intercept's prior
_LEAST = 1e-6  # probabilities below this are not told apart
_MOST = 1e3  # nats; a correction may cost an infinite number of them
_FORMAT = "lawful trust 2"


def doubts_of(scored: Scored, decoding: Decoding, rules: Rules) -> Vector:
    """The doubts about the needed values of a decoding, in the order of ``DOUBTS``."""
    needs = rules.needs
    # A field that is surely missing has no confidence; nor have values, by some decoders.
    unknown = {name: float(not decoding.fields.get(name)) for name in needs}
    known = {name: found.low for name, found in decoding.confidence.items()}
    sure = [_sure(scored, decoding, name, known.get(name, unknown[name])) for name in needs]
    readers = {rule.id: frozenset(rule.names) for rule in rules.parsed}
    needed, other = 0, 0
    supported: set[str] = set()
    for check in decoding.checks:
        read = readers.get(check.id, frozenset((check.id.partition(":")[0],)))
        if check.state == "violated":
            needed += not read.isdisjoint(needs)
            other += read.isdisjoint(needs)
        elif check.state == "satisfied" and not check.implied:
            supported |= read
    paid = [each.price for each in decoding.corrections]
    paid += [each.price for each in decoding.span_corrections]
    paid += [each.price for each in decoding.classes.values()]
    return np.array(
        [
            np.log(max(sum(1.0 - low for low in sure), _LEAST)),
            _doubtful_words(scored, decoding, rules),
            np.log1p(needed),
            np.log1p(other),
            np.mean([name not in supported for name in needs]),
            np.mean([not decoding.fields.get(name) for name in needs]),
            np.log1p(min(max(sum(paid), 0.0), _MOST)),
            float(not decoding.optimal),
        ]
    )


def _sure(scored: Scored, decoding: Decoding, name: str, confidence: float) -> float:
    """The confidence of a field, less if somebody said a value of it that is printed nowhere."""
    texts = scored.document
    if isinstance(texts, PlacedTexts) and not all(
        texts.is_printed(value.words[0]) for value in decoding.fields.get(name, ())
    ):
        return confidence * (1 - NOT_PRINTED)
    return confidence


def _doubtful_words(scored: Scored, decoding: Decoding, rules: Rules) -> float:
    if isinstance(scored.scores, SpanScores):
        return 0.0
    scores = scored.word_scores.marginals()
    scheme = rules.scheme_for(scores.labels)
    found, probs = scheme.indices(decoding.labels), np.exp(scores.log_probs)
    wrong = 0.0
    for label in {f.label for f in rules.fields if f.name in rules.needs}:
        mask = scheme.labels_of((label,))
        wrong += float(np.abs(mask[found] - probs[:, mask].sum(axis=1)).sum())
    return float(np.log(max(wrong, _LEAST)))


def bar_to(repaired: Container[str], needs: Sequence[str]) -> str | None:
    """Why a document with these repaired fields does not pass, whatever the trust in it.

    ``None`` if nothing forbids it.
    """
    for name in needs:
        if name in repaired:
            return f"{name} has a character that OCR read otherwise"
    return None


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted model of trust in these needed fields, and what is promised by it.

    ``setting`` is how the documents of the fit were decoded, and ``labels`` those of their scores:
    trust is about decodings that are made the same way, from documents and scores of the same kind.
    Of results of an earlier run, ``made_by`` is known instead: the ``setting`` of their decodings.
    ``reviewed`` are digests of the ids of all documents that trust and promise were made of.
    """

    fields: list[str]
    intercept: float
    weights: dict[str, float]
    least: dict[str, float]  # the smallest of each doubt in the fit
    documents: int
    labels: list[str] = []
    setting: dict[str, Setting] = {}
    made_by: str | None = None
    reviewed: list[str] = []
    promise: Promise | None = None
    format: str = _FORMAT

    def __post_init__(self) -> None:
        if self.format != _FORMAT:
            raise ValueError(f"format is {shown(self.format)}, expected {_FORMAT!r}")
        for name in ("weights", "least"):
            found = getattr(self, name)
            if list(found) != list(DOUBTS):
                raise ValueError(f"{name} are of {list(found)}, expected {list(DOUBTS)}")
        numbers = [self.intercept, *self.weights.values(), *self.least.values()]
        if not all(map(isfinite, numbers)) or min(self.weights.values()) < 0:
            raise ValueError("found a number that is not finite, or a negative weight")

    @classmethod
    def fitted(
        cls, doubts: Sequence[Vector], right: Sequence[bool], fields: Sequence[str]
    ) -> Trust:
        """The model of highest posterior probability, by the doubts of some documents."""
        found = np.array(doubts, float).reshape(-1, len(DOUBTS))
        least = found.min(axis=0)
        away = found - least
        mean = away.mean(axis=0)
        pages = [
            _page(each, is_right)
            for each, is_right in zip([*away, mean, mean], [*right, True, False], strict=True)
        ]
        centres = np.array([0.0, 0.0, *DOUBTS.values()])
        precision = np.array([_VAGUE, _VAGUE, *[SPREAD**-2] * len(DOUBTS)])
        up, down, *weights = fit(Loss.of(pages, 1.0, centres, precision)).tolist()
        return cls(
            fields=list(fields),
            intercept=up - down,
            weights=dict(zip(DOUBTS, weights, strict=True)),
            least=dict(zip(DOUBTS, least.tolist(), strict=True)),
            documents=len(found),
        )

    @classmethod
    def usual(cls, scored: Scored, fields: Sequence[str]) -> Trust:
        """The model of the documents that were measured (lab/results/trust.md): no promise."""
        of_spans = isinstance(scored.scores, SpanScores)
        intercept, documents, *parts = USUAL["spans" if of_spans else "words"]
        least, weights = (dict(zip(DOUBTS, part, strict=True)) for part in parts)
        return cls(fields=list(fields), intercept=intercept, weights=weights, least=least,
                   documents=documents, labels=labels_of(scored))  # fmt: skip

    def lets_pass(self, doubts: Vector, *, barred: bool) -> bool:
        """Whether a document of these doubts passes by the promise, if nothing bars it."""
        made = self.promise
        return made is not None and not barred and self.of(doubts) >= made.threshold

    def of(self, doubts: Vector) -> float:
        """The trust in a decoding that has these doubts."""
        least = np.array(list(self.least.values()))
        weights = np.array(list(self.weights.values()))
        odds = self.intercept - float(weights @ (np.maximum(doubts, least) - least))
        return 1.0 / (1.0 + exp(min(-odds, 700.0)))

    def has_seen(self, name: str) -> bool:
        """Whether the document of this id is one that trust or its promise was made of."""
        return digest_of(name) in self.reviewed

    def applied(self, scored: Scored, decoding: Decoding, rules: Rules) -> Decoding:
        """The decoding with its trust and doubts, and whether it passes.

        Raises an ``InputError`` if the scores have other labels than those of the fit, or the
        decoding has another setting.
        """
        if self.made_by is not None:
            if decoding.setting != self.made_by:
                raise InputError(
                    "trust was fitted to results of other rules, options or models than this one: "
                    "fit it to results that are made in the same way"
                )
        elif labels_of(scored) != self.labels:
            raise InputError(
                f"the scores have {len(labels_of(scored))} labels, others than the "
                f"{len(self.labels)} that trust was fitted to: fit it to this model"
            )
        doubts = doubts_of(scored, decoding, rules)
        trust = self.of(doubts)
        passes, why = False, bar_to(decoding.repairs, rules.needs)
        if why is None:
            passes, why = (False, NO_PROMISE) if self.promise is None else self.promise.of(trust)
        named = dict(zip(DOUBTS, doubts.tolist(), strict=True))
        return replace(decoding, trust=trust, passes=passes, passes_because=why, doubts=named)

    def save(self, path: str | Path) -> None:
        """Writes the model as JSON, atomically."""
        with atomic_text(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Trust:
        """Reads a model that ``save`` wrote."""
        try:
            return msgspec.json.decode(Path(path).read_bytes(), type=cls)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is no model of trust: {error}") from None


def digest_of(name: str) -> str:
    """Stands for the id of a document in a model's file."""
    return sha256(name.encode()).hexdigest()[:8]


def labels_of(scored: Scored) -> list[str]:
    """The labels of a document's scores in alphabetical order; none if they are of spans."""
    scores = scored.scores
    return [] if isinstance(scores, SpanScores) else sorted(scores.labels)


def _page(away: Vector, is_right: bool) -> ScoredReadings:
    """A document as two candidates, right and wrong, the true one first; each without a score.

    The weights are not negative, so the intercept is the difference of two.
    """
    right, wrong = [0.0, 1.0, *away], [1.0, 0.0, *np.zeros_like(away)]
    charged = np.array([right, wrong] if is_right else [wrong, right])
    return ScoredReadings(np.zeros(2), charged)
