"""Which labels the training documents show, and how often: a model learns no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.base.errors import InputError
from lawful.documents.records import Labelled
from lawful.evaluation.split import sample
from lawful.rules.rule_set import Rules

RARE = 10
"""Fields in the training documents below which a label is hardly learnt."""

MAX_NAMED = 12
"""Labels that a message names."""


def count_labels(documents: Iterable[Labelled]) -> Counter[str]:
    """How many spans of each label the documents have."""
    counts: Counter[str] = Counter()
    for page in documents:
        counts.update(_spans(page.gold))
    return counts


def hold_out(
    documents: Sequence[Labelled], share: float, seed: int
) -> tuple[list[Labelled], list[Labelled]]:
    """Documents to train on, and a repeatable share of them to validate on.

    A document of the share stays with the others if it has a label that none of them has.
    Documents with the same id stay together.
    """
    held = sample([page.document.id for page in documents], share, seed)
    kept: dict[str, list[Labelled]] = {}
    for page in documents:
        if page.document.id in held:
            kept.setdefault(page.document.id, []).append(page)
    shown = set(count_labels(page for page in documents if page.document.id not in held))
    moved = set()
    for id_, pages in kept.items():
        if not (found := set(count_labels(pages))) <= shown:
            moved.add(id_)
            shown |= found
    tested = held - moved
    return (
        [page for page in documents if page.document.id not in tested],
        [page for page in documents if page.document.id in tested],
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often labels occur in the documents to train on and in those to validate on."""

    trained: Mapping[str, int]
    validated: Mapping[str, int]

    @classmethod
    def of(cls, documents: Iterable[Labelled], validation: Iterable[Labelled]) -> Coverage:
        """The coverage of documents to train on by those to validate on."""
        return cls(count_labels(documents), count_labels(validation))

    def check(self, rules: Rules | None = None) -> None:
        """Raises an ``InputError`` if a label that is needed never occurs in training.

        Needed are the labels of validation documents, and those of the rules' fields, except of
        fields that are optional.
        """
        needed = {
            label: f"{count:,} in the validation documents"
            for label, count in sorted(self.validated.items())
        }
        for field in rules.fields if rules is not None else ():
            if not field.optional:
                used = f"used by field {field.name!r} of the rules"
                needed[field.label] = ", ".join(filter(None, [needed.get(field.label), used]))
        unseen = {label: why for label, why in needed.items() if label not in self.trained}
        if unseen:
            listed = "; ".join(f"{label} ({why})" for label, why in _first(unseen.items()))
            raise InputError(
                f"{_count(len(unseen))} never in the training documents, so a model cannot learn "
                f"{'it' if len(unseen) == 1 else 'them'}: {listed}{_more(len(unseen))}. Add "
                "training documents with such labels, or move some from the validation documents; "
                "a field of the rules that a model may lack says optional: true"
            )

    def warnings(self) -> Iterator[str]:
        """What a person should know before a training that is possible."""
        rare = {label: count for label, count in self.trained.items() if count < RARE}
        if rare:
            yield (
                f"{_count(len(rare))} fewer than {RARE} times in the training documents, too few "
                f"to learn from: {_with_counts(rare)}"
            )
        unjudged = {
            label: count for label, count in self.trained.items() if label not in self.validated
        }
        if unjudged:
            yield (
                f"{_count(len(unjudged))} never in the validation documents, so F1 does not say "
                f"how well {'it is' if len(unjudged) == 1 else 'they are'} learnt: "
                f"{_with_counts(unjudged)}"
            )


def _spans(gold: Sequence[str]) -> Iterator[str]:
    """The type of each span of BIO labels; an ``I-x`` that follows no ``x`` begins a span, too."""
    last = ""
    for label in gold:
        prefix, _, type_ = label.partition("-")
        if type_ and (prefix == "B" or type_ != last):
            yield type_
        last = type_


def _count(count: int) -> str:
    return "1 label is" if count == 1 else f"{count:,} labels are"


def _with_counts(counts: Mapping[str, int]) -> str:
    by_count = sorted(counts.items(), key=lambda item: (item[1], item[0]))
    listed = ", ".join(f"{label} {count:,}" for label, count in _first(by_count))
    return f"{listed}{_more(len(counts))}"


def _first(items: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
    return list(items)[:MAX_NAMED]


def _more(count: int) -> str:
    return f", and {count - MAX_NAMED:,} more" if count > MAX_NAMED else ""
