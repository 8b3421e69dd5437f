"""Learned weights as a rule file: the rules with new weights, and their figures as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.learning.weights import Gain, Learned, LearnedWeight
from lawful.rules.writing import flow, rules_data, scalar


def learned_text(learned: Learned, comments: Sequence[str] = ()) -> str:
    """The rules with their learned weights, which load as they are.

    Weights and prices are in the scale of the scores as they are, without a temperature. The
    comments of the original file are not kept. Raises a ``RulesError`` for Python functions.
    """
    data = rules_data(learned.rules)
    changed: dict[tuple[str, str], LearnedWeight] = {
        (w.parameter.part, w.parameter.id): w for w in learned.weights if w.is_changed
    }
    worth: dict[tuple[str, str], Gain] = {(v.part, v.id): v.gain for v in learned.values}
    lines = [f"# {line}".rstrip() for line in comments]
    ids = {"rules": [rule.id or "" for rule in learned.rules.rules]}
    ids["order"] = [order.id or "" for order in learned.rules.orders]
    for key, value in data.items():
        if key in ("fields", "rows", "weights"):
            lines.append(f"{key}:")
            for name, entry in value.items():
                weight = changed.get(("condition", name)) if key == "weights" else None
                lines += [f"  # {_was(weight)}"] if weight else []
                lines.append(f"  {scalar(name)}: {flow(entry)}")
        elif key in ids and value:
            part = "weight" if key == "rules" else "order"
            lines.append(f"{key}:")
            for id_, entry in zip(ids[key], value, strict=True):
                found = [changed.get((part, id_)), changed.get(("unchecked", id_))]
                gain = worth.get((part, id_))
                lines += _comments([w for w in found if w], gain, "  ")
                lines.append(f"  - {flow(entry)}")
        else:
            one = changed.get((key, ""))
            lines += _comments([one] if one else [], worth.get((key, "")), "")
            lines.append(f"{key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def _comments(weights: list[LearnedWeight], gain: Gain | None, indent: str) -> Iterator[str]:
    for weight in weights:
        yield f"{indent}# {_was(weight)}"
    if gain is not None:
        yield f"{indent}# F1 with it minus F1 without it, on unseen pages: {gain}"


def _was(weight: LearnedWeight) -> str:
    what = "unchecked" if weight.parameter.part == "unchecked" else "weight"
    return (
        f"{what} {weight.parameter.default:g} before, now {weight.value:.2f} "
        f"({weight.low:.2f} to {weight.high:.2f})"
    )
