"""The paper's split of a data set: what to train on, to validate on and to test on.

Of the documents whose true labels satisfy the rules, 40 % are for testing; of the others 20 % are
for validation. Those whose true labels break a rule cannot be tested fairly, and are trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from lawful.datasets.survey import scheme_of
from lawful.document import Labelled
from lawful.errors import InputError
from lawful.evaluation import labels_obey
from lawful.rules.definitions import Rules

Part: TypeAlias = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

TEST = 0.4
VALIDATION = 0.2
"""Of what is not for testing."""


def obedient(documents: Sequence[Labelled], rules: Rules) -> list[bool]:
    """By document, whether its true labels satisfy the rules, as ``evaluation.obeys`` says."""
    scheme = scheme_of(documents, rules)
    return [labels_obey(page.document, page.gold, rules, scheme) for page in documents]


def split_documents(
    documents: Sequence[Labelled], rules: Rules, seed: int = 0
) -> Mapping[str, Part]:
    """The part that each document belongs to, by its id.

    Documents are ordered by the SHA-256 of seed and id, so a document's place does not depend on
    the order of the file. An id that occurs again is satisfied if all its documents are.
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
    """A repeatable sample of documents, by id; the others are held out.

    A document's place depends on its id and the seed alone, not on the order of the file, and
    documents with the same id stay together. Of two or more, each part has one at least; a single
    one is to be fitted on.
    """
    if not 0 < share < 1:
        raise InputError(f"share is {share!r}, expected a number between 0 and 1")
    shuffled = sorted(set(ids), key=lambda name: sha256(f"{seed}/{name}".encode()).digest())
    count = max(1, min(round(share * len(shuffled)), len(shuffled) - 1))
    return frozenset(shuffled[:count])
