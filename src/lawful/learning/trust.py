"""Trust: the probability that all fields of a decoding are right, by what the decoding shows.

A decoding has doubts: numbers that are cheap to get, and larger the more doubtful it is. Trust is a
logistic regression on them,

    trust = 1 / (1 + exp(w d - intercept)),    w >= 0,

so more doubt never means more trust. The prior of ``w`` is centred on what the doubts would mean
of a calibrated model. Two imagined documents of mean doubts, one right and one wrong, keep trust
below 1 where all documents are right (Laplace's rule of succession). Doubts that are smaller than
any in the fit count as the smallest there: trust is not extrapolated upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, isfinite
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from lawful.decoding import Decoding
from lawful.document import Scored
from lawful.errors import InputError, shown
from lawful.io.atomic import atomic_text
from lawful.learning.fit import Candidates, Loss, fit
from lawful.learning.parameters import Vector
from lawful.rules.rule_set import Rules

Setting: TypeAlias = str | int | float | bool | None

DOUBTS: Mapping[str, float] = {
    "words": 0.5,
    "word": 0.5,
    "violated": 1.0,
    "vacuous": 1.0,
    "corrections": 0.0,
    "unproven": 3.0,
    "margin": 0.5,
}
"""The doubts, with the means of their weights' priors.

``words``: the logarithm of the expected number of words with a wrong label, by the model's scores,
where labels that are of no field count as one. ``word``: the same of the most doubtful word alone.
``violated``: log(1 + the number of violated checks). ``vacuous``: the share of rules that could not
be checked. ``corrections``: log(1 + the nats that all corrections cost). ``unproven``: 1 if the
decoding is not proven to be the best. ``margin``: minus the logarithm of the margin in nats; one
that is not known, as if alternatives were not requested, counts as 1. If nothing else matters and
the scores are calibrated, a document is wrong at odds of about the expected number of wrong words:
the weights of ``words`` and ``word`` add up to 1.
"""

SPREAD = 1.0
"""The standard deviation of the weights' priors."""

_VAGUE = 0.01  # the precision of the intercept's prior
_LEAST = 1e-6  # probabilities below this are not told apart
_MARGINS = 0.001, 20.0  # the range in which margins are told apart, in nats
_MOST = 1e3  # nats; a correction may cost an infinite number of them
_FORMAT = "lawful trust 1"


def doubts_of(scored: Scored, decoding: Decoding, rules: Rules) -> Vector:
    """The doubts about a decoding, in the order of ``DOUBTS``."""
    scores = scored.scores.marginals()
    scheme = rules.scheme_for(scores.labels)
    probs = np.exp(scores.log_probs)
    is_field = scheme.labels_of(tuple(f.label for f in rules.fields))
    found = scheme.indices(decoding.labels)
    own = probs[np.arange(len(found)), found]
    sure = np.where(is_field[found], own, probs[:, ~is_field].sum(axis=1))
    wrong = np.clip(1.0 - sure, 0.0, 1.0)
    paid = [each.price for each in decoding.corrections]
    paid += [each.price for each in decoding.classes.values()]
    margin = 1.0 if decoding.margin is None else decoding.margin
    vacuous = len(decoding.rules) - decoding.checked
    return np.array(
        [
            np.log(max(wrong.sum(), _LEAST)),
            np.log(max(wrong.max(initial=0.0), _LEAST)),
            np.log1p(len(decoding.violations)),
            vacuous / max(1, len(decoding.rules)),
            np.log1p(min(max(sum(paid), 0.0), _MOST)),
            float(not decoding.optimal),
            -np.log(np.clip(margin, *_MARGINS)),
        ]
    )


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted model of trust, about these fields.

    ``setting`` is how the documents of the fit were decoded: trust is about decodings that are made
    the same way, from documents and scores of the same kind. ``figures`` say how it did on
    documents that it was not fitted on.
    """

    fields: list[str]
    intercept: float
    weights: dict[str, float]
    least: dict[str, float]  # the smallest of each doubt in the fit
    documents: int
    setting: dict[str, Setting] = {}
    figures: dict[str, Any] = {}
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

    def of(self, doubts: Vector) -> float:
        """The trust in a decoding that has these doubts."""
        least = np.array(list(self.least.values()))
        weights = np.array(list(self.weights.values()))
        odds = self.intercept - float(weights @ (np.maximum(doubts, least) - least))
        return 1.0 / (1.0 + exp(min(-odds, 700.0)))

    def in_decoding(self, scored: Scored, decoding: Decoding, rules: Rules) -> float:
        """The trust in a decoding."""
        return self.of(doubts_of(scored, decoding, rules))

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


def _page(away: Vector, is_right: bool) -> Candidates:
    """A document as two candidates, right and wrong, the true one first; each without a score.

    The weights are not negative, so the intercept is the difference of two.
    """
    right, wrong = [0.0, 1.0, *away], [1.0, 0.0, *np.zeros_like(away)]
    charged = np.array([right, wrong] if is_right else [wrong, right])
    return Candidates(np.zeros(2), charged)
