"""Classes of documents: what a document is, such as an invoice or a credit note.

A model gives each class a probability. Rules use the class like a given text; which one it is, is
decided together with the labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

from lawful.base.errors import DocumentError, RulesError, shown
from lawful.documents.document import Document
from lawful.rules.language.nodes import COUNT
from lawful.rules.number_checks import check_new_name

MAX_COMBINATIONS = 4096
"""Combinations of classes of one document, if it has several of them."""


class ClassChoice(NamedTuple):
    """A class for each name, ``None`` for one that the document has no scores of."""

    classes: Mapping[str, str | None]
    log_prob: float

    @property
    def values(self) -> dict[str, Any]:
        """The values and counts that expressions see."""
        counts = {COUNT + name: int(value is not None) for name, value in self.classes.items()}
        return {**self.classes, **counts}


def check_classes(classes: Any, taken: Collection[str]) -> dict[str, str]:
    """By name in rules, the name of the scores in documents; no name may be ``taken``."""
    if not isinstance(classes, Mapping):
        raise RulesError(f"classes is {shown(classes)}, expected names of classes and of scores")
    for name, scores in classes.items():
        check_new_name(name, taken, "classes")
        if not isinstance(scores, str) or not scores:
            raise RulesError(f"classes: {name}: scores is {shown(scores)}, expected a name")
    return dict(classes)


def class_choices(document: Document, names: Mapping[str, str]) -> list[ClassChoice]:
    """All combinations of classes that have a probability, the most probable first.

    Of equals, those that the document lists first come first. ``names`` are those of
    ``check_classes``.
    """
    if not names:
        return [ClassChoice({}, 0.0)]
    scores = document.classes or {}
    known = [
        [(value, p) for value, p in scores[key].items() if p > float("-inf")]
        if key in scores
        else [(None, 0.0)]
        for key in names.values()
    ]
    if (count := prod(map(len, known))) > MAX_COMBINATIONS:
        raise DocumentError(
            f"document {shown(document.id)}: classes have {count:,} combinations, "
            f"expected at most {MAX_COMBINATIONS:,}"
        )
    choices = [
        ClassChoice(
            dict(zip(names, (value for value, _ in chosen), strict=True)),
            sum((p for _, p in chosen), 0.0),
        )
        for chosen in product(*known)
    ]
    return sorted(choices, key=lambda choice: -choice.log_prob)
