"""The paper's split of a data set into training, validation and test documents.

Of the documents whose gold labels satisfy the rules, 40 % are test documents, and 20 % of the rest
are validation documents. Documents whose gold labels break a rule are all training documents: no
decoder that obeys the rules can get them right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from lawful.base.errors import InputError
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import labels_obey, scheme_of
from lawful.rules.rule_set import Rules

Part: TypeAlias = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

TEST = 0.4
VALIDATION = 0.2
"""Shares: of the satisfied documents, and of those that are left after the test documents."""


def obedient(documents: Sequence[Labelled], rules: Rules) -> list[bool]:
    """Whether the gold labels of each document satisfy the rules (``evaluation.obeys``)."""
    scheme = scheme_of(documents, rules)
    return [labels_obey(page.document, page.gold, rules, scheme) for page in documents]


def split_documents(
    documents: Sequence[Labelled], rules: Rules, seed: int = 0
) -> Mapping[str, Part]:
    """The part of each document, by id.

    It depends on ids and the seed only, not on the order of documents. Documents with the same id
    stay together, and count as satisfied if all of them are.
    """
    verdicts: dict[str, bool] = {}
    for page, obeys in zip(documents, obedient(documents, rules), strict=True):
        verdicts[page.document.id] = verdicts.get(page.document.id, True) and obeys
    good = [name for name, obeys in verdicts.items() if obeys]
    parts: dict[str, Part] = dict.fromkeys(verdicts, "train")
    if len(good) < 2:
        return parts
    test = sample(good, TEST, seed)
    parts |= dict.fromkeys(test, "test")
    rest = [name for name in good if name not in test]
    if len(rest) > 1:
        parts |= dict.fromkeys(sample(rest, VALIDATION, seed), "validation")
    return parts


def sample(ids: Sequence[str], share: float, seed: int) -> frozenset[str]:
    """A repeatable sample of ids: those with the smallest SHA-256 of seed and id.

    It does not depend on the order of the ids. With two or more ids, at least one is in the sample
    and at least one is not; a single id is in the sample.
    """
    if not 0 < share < 1:
        raise InputError(f"share is {share!r}, expected a number between 0 and 1")
    shuffled = sorted(set(ids), key=lambda name: sha256(f"{seed}/{name}".encode()).digest())
    count = max(1, min(round(share * len(shuffled)), len(shuffled) - 1))
    return frozenset(shuffled[:count])
