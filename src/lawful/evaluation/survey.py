"""Statistics of a data set: its size, its labels, and the rules' verdicts on its gold labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import scheme_of, verdict_on
from lawful.rules.judging.checks import State
from lawful.rules.judging.judge import Judge
from lawful.rules.rule_set import Rules


@dataclass(frozen=True, slots=True)
class Survey:
    """The size of a data set, in words and, if its documents have word pieces, in word pieces.

    The paper counts word pieces.
    """

    documents: int
    pages: int  # with at least one word
    words: int
    longest: int  # words of the longest document
    pieces: int | None  # None if no document has joins
    most_pieces: int  # of the longest document
    labels: int  # labels that occur, with prefixes, and O
    types: int  # labels without prefixes and O
    splits: Mapping[str, int]  # number of documents by split


@dataclass(frozen=True, slots=True)
class GoldVerdicts:
    """The rules' verdicts on the gold labels of documents, as numbers of documents.

    The paper requires that no rule is violated and that every amount can be read: ``readable``.
    """

    documents: int
    lawful: int  # no rule is violated
    unchecked: int  # of the lawful ones: no rule could be checked
    readable: int  # of the lawful ones: every text has a value of its field's type
    clean: int  # of the lawful ones: labels are legal, and no implied check is violated
    states: Mapping[str, Mapping[State, int]]  # documents by rule and state
    implied: Mapping[str, int]  # documents by violated implied check
    absent: tuple[str, ...]  # names of fields that occur in no document


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


def judge_gold(documents: Iterable[Labelled], rules: Rules) -> GoldVerdicts:
    """Judges the gold labels in the same way as a decoder's answers."""
    everything = list(documents)
    types = {label.partition("-")[2] for labelled in everything for label in labelled.gold}
    scheme = scheme_of(everything, rules)
    ids = [rule.id for rule in rules.parsed] + [order.id or "" for order in rules.orders]
    states = {id_: Counter[State]() for id_ in ids}
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
    return GoldVerdicts(
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
