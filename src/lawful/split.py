"""The paper's split of a data set: what to train on, to validate on and to test on.

Of the documents whose true labels satisfy the rules, 40 % are for testing; of the others 20 % are
for validation. Those whose true labels break a rule cannot be tested fairly, and are trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from lawful.calibration import split
from lawful.document import Labelled
from lawful.evaluation import labels_obey
from lawful.rules.model import Rules
from lawful.survey import scheme_of

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
    test = split(good, TEST, seed)
    parts |= dict.fromkeys(test, "test")
    rest = [name for name in good if name not in test]
    if len(rest) > 1:
        parts |= dict.fromkeys(split(rest, VALIDATION, seed), "validation")
    return parts
