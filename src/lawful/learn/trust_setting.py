"""How documents were decoded that trust was fitted to: it is about no others."""

from __future__ import annotations

from hashlib import sha256
from math import inf
from pathlib import Path

from lawful.base.errors import InputError
from lawful.learn.trust import Setting, Trust
from lawful.pipeline.call import Call


def setting_of(call: Call, *given: Path | None) -> dict[str, Setting]:
    """All that the doubts about a decoding depend on, other than its document, by option.

    The files that are given are those of the rules.
    """
    files = [path.read_bytes() for path in given if path is not None]
    files += [repr(sorted(lexicon.texts)).encode() for lexicon in call.rules.lexicons]
    return {"--rules": sha256(b"\0".join(files)).hexdigest()[:16], **options_of(call)}


def options_of(call: Call) -> dict[str, Setting]:
    """The same of the options alone, without the rules."""
    budget = call.budget
    return {
        "--decoder": str(call.decoder),
        "--alternatives": min(call.alternatives, 1),  # with any, confidence is finer
        "--needs": ",".join(call.rules.needs),
        "--by-field": call.by_field,
        "--candidates": None if budget is None else _finite(budget.candidates),
        "--mass": None if budget is None else budget.mass,
        "--max-cost": None if budget is None else budget.max_cost,
        "--temperature": call.temperature,
        "--pool": call.pool,
    }


def _finite(number: float | None) -> float | None:
    return None if number == inf else number


def trust_in_scores(path: Path, rules: Setting) -> Trust:
    """The model of a file, with a promise about decodings of scores under rules of this hash."""
    model = Trust.load(path)
    if model.promise is None:
        raise InputError(f"{path} has no promise: make one with lawful trust fit")
    if model.made_by is not None:
        raise InputError(f"{path} was fitted to results, expected one that was fitted to scores")
    if (before := model.setting.get("--rules")) != rules:
        raise InputError(
            f"{path} was fitted with another --rules ({before} there, {rules} here): fit it again "
            "with lawful trust fit"
        )
    return model
