"""A data set at a glance: its size, its labels, and what rules say of its true labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lawful.document import Labelled
from lawful.evaluation import verdict_on
from lawful.labels import SCHEMES, Scheme
from lawful.rules.checks import State
from lawful.rules.definitions import Rules
from lawful.rules.judge import Judge


@dataclass(frozen=True, slots=True)
class Survey:
    """How large a data set is, in words; in a model's pieces too where documents are cut into them.

    The paper counts pieces.
    """

    documents: int
    pages: int  # those that have words
    words: int
    longest: int  # words of the longest document
    pieces: int | None  # none where no document says which of its words join
    most_pieces: int  # of the longest document
    labels: int  # those that occur, with their prefixes, and O
    types: int  # without them
    splits: Mapping[str, int]  # documents of each, where they have names


@dataclass(frozen=True, slots=True)
class Truth:
    """What rules say of the true labels of documents.

    The paper asks that no rule is violated, and that every amount can be read.
    """

    documents: int
    lawful: int  # no rule is violated
    unchecked: int  # of these: those on which no rule can be checked
    readable: int  # and every text can be read as the type of its field
    clean: int  # and labels are legal, and all that fields imply holds, such as repeats that agree
    states: Mapping[str, Mapping[State, int]]  # by rule: documents in each state
    implied: Mapping[str, int]  # by what fields and the scheme imply: documents that violate it
    absent: tuple[str, ...]  # fields that no document has


def survey(documents: Iterable[Labelled]) -> Survey:
    """Counts documents, pages, words and labels."""
    lengths, pieces, labels, splits, pages = [], [], {"O"}, Counter[str](), 0
    is_cut = False
    for labelled in documents:
        joins = labelled.document.joins
        is_cut |= joins is not None
        pieces.append(len(labelled.document))
        lengths.append(len(labelled.document) - sum(joins or ()))
        pages += len(set(labelled.document.pages or (0,)))
        labels.update(labelled.gold)
        if labelled.split is not None:
            splits[labelled.split] += 1
    return Survey(
        documents=len(lengths),
        pages=pages,
        words=sum(lengths),
        longest=max(lengths, default=0),
        pieces=sum(pieces) if is_cut else None,
        most_pieces=max(pieces, default=0),
        labels=len(labels),
        types=len({label.partition("-")[2] for label in labels} - {""}),
        splits=dict(splits),
    )


def scheme_of(documents: Iterable[Labelled], rules: Rules) -> Scheme:
    """The scheme over the labels that occur; a field that no document has is not unknown."""
    labels = {label for labelled in documents for label in labelled.gold}
    prefixes = SCHEMES[rules.scheme.upper()].known.replace("O", "")
    labels.update(f"{prefix}-{f.label}" for prefix in prefixes for f in rules.fields)
    return rules.scheme_for(tuple(sorted(labels)))


def judge_gold(documents: Iterable[Labelled], rules: Rules) -> Truth:
    """Asks the rules about the true labels, as they would judge a decoder's."""
    everything = list(documents)
    types = {label.partition("-")[2] for labelled in everything for label in labelled.gold}
    scheme = scheme_of(everything, rules)
    states = {rule.id: Counter[State]() for rule in rules.parsed}
    implied = Counter[str]()
    lawful = unchecked = readable = clean = 0
    for labelled in everything:
        judge = Judge(labelled.document, rules, scheme)
        gold = scheme.indices(labelled.gold)
        verdict = verdict_on(judge, gold)
        faults = {check.id for check in verdict.checks if check.implied}
        of_rules = [check for check in verdict.checks if not check.implied]
        for check in of_rules:
            states[check.id][check.state] += 1
        if not verdict.legal:
            faults.add("legal")
        implied.update(faults)
        if all(check.state != "violated" for check in of_rules):
            lawful += 1
            unchecked += all(check.state == "vacuous" for check in of_rules)
            readable += not any(fault.endswith(":reads") for fault in faults)
            clean += not faults
    return Truth(
        documents=len(everything),
        lawful=lawful,
        unchecked=unchecked,
        readable=readable,
        clean=clean,
        states={
            name: {
                "satisfied": found["satisfied"],
                "violated": found["violated"],
                "vacuous": found["vacuous"],
            }
            for name, found in states.items()
        },
        implied=dict(sorted(implied.items())),
        absent=tuple(f.name for f in rules.fields if f.label not in types),
    )
