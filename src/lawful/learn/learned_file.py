"""Learned weights as a rule file: the rules with new weights, and their figures as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.learn.weights import Gain, Learned, LearnedWeight
from lawful.rules.to_file import rules_data, rules_text


def learned_text(learned: Learned, comments: Sequence[str] = ()) -> str:
    """The rules with their learned weights, which load as they are.

    Weights and prices are in the scale of the scores as they are, without a temperature. The
    comments of the original file are not kept. Raises a ``RulesError`` for Python functions.
    """
    changed: dict[tuple[str, str], LearnedWeight] = {
        (w.parameter.part, w.parameter.id): w for w in learned.weights if w.is_changed
    }
    worth: dict[tuple[str, str], Gain] = {(v.part, v.id): v.gain for v in learned.values}
    ids = {
        "rules": ("weight", [rule.id or "" for rule in learned.rules.rules]),
        "order": ("order", [order.id or "" for order in learned.rules.orders]),
    }

    def notes(key: str, entry: str | int | None) -> Iterator[str]:
        part, id_ = key, ""
        if isinstance(entry, int):
            if key not in ids:  # entries of words share one weight
                return
            part, names = ids[key]
            id_ = names[entry]
        elif entry is not None:
            part, id_ = ("condition", entry) if key == "weights" else ("", "")
        both = (part, id_), ("unchecked" if part == "weight" else "", id_)
        yield from (_was(changed[each]) for each in both if each in changed)
        if (part, id_) in worth:
            yield f"F1 with it minus F1 without it, on unseen pages: {worth[part, id_]}"

    return rules_text(rules_data(learned.rules), comments, notes)


def _was(weight: LearnedWeight) -> str:
    what = "unchecked" if weight.parameter.part == "unchecked" else "weight"
    return (
        f"{what} {weight.parameter.default:g} before, now {weight.value:.2f} "
        f"({weight.low:.2f} to {weight.high:.2f})"
    )
