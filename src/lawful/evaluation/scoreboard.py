"""Comparison of decodings with gold labels: entities, values of fields, and rules.

Values and checks come from the judge, so users see the same values as the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from lawful.base.errors import InputError
from lawful.documents.document import Document, check_length
from lawful.documents.label_names import SCHEMES
from lawful.documents.labels import Scheme, Span
from lawful.documents.records import Labelled, Scored
from lawful.documents.span_scores import SpanScores
from lawful.rules.judging.checks import Check, RuleCounts, State
from lawful.rules.judging.field_reader import Labels
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.reading import Cost, Reading
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem


@dataclass(slots=True)
class Counts:
    """Counts for precision and recall: true positives, all found, and all true ones."""

    right: int = 0
    found: int = 0
    true: int = 0

    def add(self, found: AbstractSet[Any], true: AbstractSet[Any]) -> None:
        """Counts one document."""
        self.right += len(found & true)
        self.found += len(found)
        self.true += len(true)

    @property
    def precision(self) -> float:
        """The share of found items that are right; 1 if nothing was found and nothing is true."""
        return self.right / self.found if self.found else float(not self.true)

    @property
    def recall(self) -> float:
        """The share of true items that were found; 1 if nothing was found and nothing is true."""
        return self.right / self.true if self.true else float(not self.found)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if nothing was found and nothing is true."""
        return 2 * self.right / (self.found + self.true) if self.found + self.true else 1.0

    def record(self) -> dict[str, float]:
        """The counts and the measures derived from them, as plain values."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "right": self.right,
            "found": self.found,
            "true": self.true,
        }


class Changes(NamedTuple):
    """Numbers of items that became right, became wrong, or stayed as they were."""

    fixed: int
    broken: int
    unchanged: int

    @classmethod
    def between(cls, before: Iterable[bool], now: Iterable[bool]) -> Changes:
        """Compares whether each item was right before with whether it is right now."""
        pairs = Counter(zip(before, now, strict=True))
        fixed, broken = pairs[False, True], pairs[True, False]
        return cls(fixed, broken, pairs.total() - fixed - broken)


class Answer(Protocol):
    """A decoding, or the part of one that was read from a file."""

    @property
    def labels(self) -> Sequence[str]:
        """A label for every word."""

    @property
    def status(self) -> str:
        """The decoding's status."""


@dataclass(slots=True)
class Scoreboard:
    """Results of one way of decoding on documents whose true labels are known.

    An entity is right if its type and all its words are right (strict; the same as seqeval on legal
    labels). The value of a field is that of its first occurrence that has one. Values are compared
    for fields that a rule reads and that are no lists. If there are none, as in rules about texts,
    all fields are compared, lists by each of their values. A missing field has no value, whatever
    its default. A page is right if all its values are right, and ``satisfied`` if its labels obey
    the rules (``obeys``). On ``unchecked_pages`` of the satisfied pages, no rule could be checked.
    """

    rules: Rules
    entities: Counts = field(default_factory=Counts)
    values: Counts = field(default_factory=Counts)
    by_label: dict[str, Counts] = field(default_factory=dict)  # entities, by type
    by_field: dict[str, Counts] = field(default_factory=dict)  # values, by field
    pages: int = 0
    satisfied: int = 0
    unchecked_pages: int = 0
    gold_satisfied: int = 0
    statuses: Counter[str] = field(default_factory=Counter)  # as decoders report them
    checked: int = 0  # rules that are not vacuous
    passed: int = 0  # checked rules that nothing violates
    unchecked: int = 0  # vacuous rules
    right_values: list[tuple[bool, ...]] = field(default_factory=list)  # by page, by field
    right_pages: list[bool] = field(default_factory=list)

    def add(self, scored: Scored, decoding: Answer) -> None:
        """Counts one document, which must have gold labels."""
        self.add_labels(scored, decoding.labels)
        self.statuses[decoding.status] += 1

    def add_labels(self, scored: Scored, labels: Sequence[str]) -> None:
        """Counts one document, which must have gold labels, with these decoded labels."""
        scheme = _scheme(scored, self.rules)
        judge = Judge(scored.document, self.rules, scheme)
        true = _page(judge, _indices(scheme, scored.document, _gold(scored), "gold"))
        found = _page(judge, _indices(scheme, scored.document, labels, "decoded"))
        self.entities.add(found.spans, true.spans)
        for type_ in {span.type for span in found.spans | true.spans}:
            self.by_label.setdefault(type_, Counts()).add(
                *({span for span in page.spans if span.type == type_} for page in (found, true))
            )
        for name in true.values:
            values, truth = (page.values[name] for page in (found, true))
            self.values.add(values, truth)
            self.by_field.setdefault(name, Counts()).add(values, truth)
        right = tuple(found.values[name] == truth for name, truth in true.values.items())
        self.right_values.append(right)
        self.right_pages.append(all(right))
        self.pages += 1
        self.satisfied += found.verdict.obeys
        self.unchecked_pages += found.verdict.is_unchecked
        self.gold_satisfied += true.verdict.obeys
        counts = RuleCounts.of(found.verdict.checks)
        self.passed += counts.hold
        self.unchecked += counts.unchecked
        self.checked += counts.checked

    @property
    def satisfaction(self) -> float:
        """The share of pages whose labels obey the rules; 1 if there are no pages."""
        return self.satisfied / self.pages if self.pages else 1.0

    @property
    def f1_s(self) -> float:
        """The paper's F1^s: the micro-F1 of entities times the share of satisfied pages.

        Pages that are not satisfied count in F1, too.
        """
        return self.entities.f1 * self.satisfaction

    def against(self, baseline: Scoreboard) -> tuple[int, int]:
        """The numbers of pages fixed and broken, compared with another way of decoding."""
        fixed, broken, _ = self.changed_pages(baseline)
        return fixed, broken

    def changed_pages(self, baseline: Scoreboard) -> Changes:
        """Pages that became right or wrong, compared with another way of decoding."""
        return Changes.between(baseline.right_pages, self.right_pages)

    def changed_values(self, baseline: Scoreboard) -> Changes:
        """Values that became right or wrong, compared with another way of decoding.

        A field that is missing, and has no true value, is right.
        """
        before, now = (
            [right for page in board.right_values for right in page] for board in (baseline, self)
        )
        return Changes.between(before, now)

    def record(self) -> dict[str, Any]:
        """The scoreboard as plain values; ratios are between 0 and 1."""
        return {
            "pages": self.pages,
            "entities": self.entities.record(),
            "values": self.values.record(),
            "pages_right": sum(self.right_pages),
            "satisfied": self.satisfied,
            "pages_unchecked": self.unchecked_pages,
            "satisfaction": self.satisfaction,
            "f1_s": self.f1_s,
            "rules": {
                "checked": self.checked,
                "passed": self.passed,
                "unchecked": self.unchecked,
            },
            "statuses": dict(self.statuses),
            "by_label": {name: self.by_label[name].record() for name in sorted(self.by_label)},
            "by_field": {name: counts.record() for name, counts in self.by_field.items()},
        }


def obeys(scored: Scored, labels: Sequence[str], rules: Rules) -> bool:
    """Whether labels satisfy all constraints of the paper.

    These are: the labels are legal, every text has a value of its field's type and form, and no
    rule is violated. As in the paper, vacuous rules count as satisfied, even if all rules of a page
    are vacuous, and repeats need not agree.
    """
    return labels_obey(scored.document, labels, rules, _scheme(scored, rules))


def labels_obey(document: Document, labels: Sequence[str], rules: Rules, scheme: Scheme) -> bool:
    """``obeys`` without scores; ``scheme`` has the possible labels."""
    indices = _indices(scheme, document, labels, "decoded")
    return verdict_on(Judge(document, rules, scheme), indices).obeys


def gold_obeys(scored: Scored, rules: Rules) -> bool:
    """Whether the gold labels satisfy all constraints (``obeys``)."""
    return obeys(scored, _gold(scored), rules)


def right_fields(scored: Scored, labels: Sequence[str], rules: Rules) -> dict[str, bool]:
    """By field, whether it has its true values: all of a list in order, the first of any other."""
    scheme = _scheme(scored, rules)
    judge = Judge(scored.document, rules, scheme)
    found, true = (
        judge.seen_values(judge.settled(_indices(scheme, scored.document, some, what))[0])
        for some, what in ((labels, "decoded"), (_gold(scored), "gold"))
    )
    return {f.name: a == b for f, a, b in zip(rules.fields, found, true, strict=True)}


def best_legal(scored: Scored, rules: Rules) -> tuple[str, ...]:
    """The baseline: the most probable legal labelling, or the argmax if none is legal."""
    problem = Problem(scored.document, scored.scores, rules, keep=False)
    best = problem.argmax if problem.best_legal is None else problem.best_legal
    return problem.names(best)


class Verdict(NamedTuple):
    """The rules' verdict on a labelling."""

    reading: Reading
    cost: Cost
    checks: list[Check]
    legal: bool

    @property
    def states(self) -> list[State]:
        """The state of each rule, without implied checks."""
        return [check.state for check in self.checks if not check.implied]

    @property
    def violated(self) -> list[Check]:
        """The violated checks, including implied ones."""
        return [check for check in self.checks if check.state == "violated"]

    @property
    def obeys(self) -> bool:
        """Whether all constraints of the paper hold (``obeys``)."""
        return self.legal and all(c.implied and c.id.endswith(":agrees") for c in self.violated)

    @property
    def is_unchecked(self) -> bool:
        """Whether nothing is violated and all rules are vacuous."""
        return self.legal and not self.violated and "satisfied" not in self.states

    @property
    def is_decided(self) -> bool:
        """Whether all possible values of the texts could be tried."""
        return self.cost.least == self.cost.most and all(check.decided for check in self.checks)


def verdict_on(judge: Judge, labels: Labels) -> Verdict:
    """Judges a labelling in the same way as a decoder's answer."""
    reading, cost = judge.settled(labels)
    return Verdict(reading, cost, judge.checks(reading), judge.scheme.allows(labels))


class _Page(NamedTuple):
    """The entities and values of a labelling, and the rules' verdict on it."""

    spans: frozenset[Span]
    values: Mapping[str, frozenset[tuple[Hashable, int]]]  # by field, with their repeats counted
    verdict: Verdict


def _page(judge: Judge, labels: Labels) -> _Page:
    rules = judge.rules
    verdict = verdict_on(judge, labels)
    compared = compared_fields(rules)
    values = {
        f.name: frozenset(_numbered(seen))
        for f, seen in zip(rules.fields, judge.seen_values(verdict.reading), strict=True)
        if f.name in compared
    }
    return _Page(frozenset(judge.scheme.spans(labels)), values, verdict)


def compared_fields(rules: Rules) -> frozenset[str]:
    """The fields whose values are compared: those of one value that rules read, or else all."""
    read = {name for rule in rules.parsed for name in rule.names}
    single = frozenset(f.name for f in rules.fields if f.name in read and not f.many)
    return single or frozenset(f.name for f in rules.fields)


def _numbered(values: Iterable[Hashable]) -> Iterator[tuple[Hashable, int]]:
    """Each value, and how many equal ones came before it."""
    seen: Counter[Hashable] = Counter()
    for value in values:
        yield value, seen[value]
        seen[value] += 1


def gold_verdict(scored: Scored | Labelled, rules: Rules) -> tuple[Judge, Verdict]:
    """The rules' verdict on the gold labels, and the judge that gave it."""
    scheme = _scheme(scored, rules)
    judge = Judge(scored.document.corrected(), rules, scheme)
    return judge, verdict_on(judge, _indices(scheme, scored.document, _gold(scored), "gold"))


def scheme_of(documents: Iterable[Labelled], rules: Rules) -> Scheme:
    """The scheme over the labels that occur, and those of fields that occur in no document."""
    labels = {label for labelled in documents for label in labelled.gold}
    prefixes = SCHEMES[rules.scheme.upper()].known.replace("O", "")
    labels.update(f"{prefix}-{f.label}" for prefix in prefixes for f in rules.fields)
    return rules.scheme_for(tuple(sorted(labels)))


def _scheme(scored: Scored | Labelled, rules: Rules) -> Scheme:
    """The scheme of the labels of words."""
    if isinstance(scored, Labelled):
        return scheme_of([scored], rules)
    scores = scored.scores
    if not isinstance(scores, SpanScores):
        return rules.scheme_for(scores.labels)
    rules.check_types(scores.types)
    return scores.word_scheme()


def _gold(scored: Scored | Labelled) -> tuple[str, ...]:
    if scored.gold is None:
        raise InputError(f"document {scored.document.id!r} has no gold labels")
    return scored.gold


def _indices(scheme: Scheme, document: Document, labels: Sequence[str], what: str) -> Labels:
    check_length(document, len(labels), f"{what} label", f"{what} labels")
    unknown = set(labels) - set(scheme.labels)
    if unknown:
        raise InputError(
            f"document {document.id!r} has {what} label {min(unknown)!r}, which is not among "
            "the labels"
        )
    return scheme.indices(labels)
