"""Trust in the decodings of a run, and which of them a person should review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from pathlib import Path

from lawful.batch import AnyResult, Call, Preparation, bad_line
from lawful.document import BadLine, Scored
from lawful.errors import InputError
from lawful.learning.trust import Setting, Trust
from lawful.rules.rule_set import Rules


def setting_of(
    call: Call, preparation: Preparation, rules: Path, python: Path | None
) -> dict[str, Setting]:
    """All that the doubts about a decoding depend on, other than its document, by option."""
    budget = call.budget
    files = [path.read_bytes() for path in (rules, python) if path is not None]
    files += [repr(sorted(lexicon.texts)).encode() for lexicon in call.rules.lexicons]
    return {
        "--rules": sha256(b"\0".join(files)).hexdigest()[:16],
        "--decoder": str(call.decoder),
        "--alternatives": min(call.alternatives, 1),  # any number has a margin
        "--candidates": None if budget is None else _finite(budget.candidates),
        "--mass": None if budget is None else budget.mass,
        "--max-cost": None if budget is None else budget.max_cost,
        "--temperature": preparation.temperature,
        "--pool": preparation.pool,
    }


def _finite(number: float | None) -> float | None:
    return None if number == inf else number


@dataclass(frozen=True, slots=True)
class Trusting:
    """Gives decodings their trust, by a model; without one, leaves them as they are."""

    rules: Rules
    model: Trust | None = None
    review_below: float | None = None

    @classmethod
    def load(
        cls,
        path: Path | None,
        rules: Rules,
        setting: dict[str, Setting],
        review_below: float | None,
        review: str | None,
    ) -> Trusting:
        """The model of a file, which must have been fitted to decodings made in the same way.

        Also checks the options about review, which need a model.
        """
        if review is not None and review_below is None:
            raise InputError("--review needs --review-below: the trust that documents need")
        if review_below is not None and path is None:
            raise InputError(
                "--review-below needs --trust: a model of lawful evaluate --automation --out-trust"
            )
        if review_below is not None and not 0 <= review_below <= 1:
            raise InputError(f"--review-below is {review_below:g}, expected a number from 0 to 1")
        if path is None:
            return cls(rules)
        model = Trust.load(path)
        for name, now in setting.items():
            if (before := model.setting.get(name)) != now:
                raise InputError(
                    f"{path} was fitted with another {name} ({before} there, {now} here): fit it "
                    "again with lawful evaluate --automation --out-trust"
                )
        return cls(rules, model, review_below)

    def apply(self, results: Iterable[AnyResult]) -> Iterator[AnyResult]:
        """The results with trust; one that cannot have it becomes a bad line."""
        for result in results:
            if self.model is None or isinstance(result, BadLine):
                yield result
                continue
            scored, decoding = result
            if isinstance(scored, Scored):
                trust = self.model.in_decoding(scored, decoding, self.rules)
                review = None if self.review_below is None else trust < self.review_below
                yield scored, replace(decoding, trust=trust, review=review)
            else:
                yield bad_line(scored, "trust is about scores of words, and these are of spans")
