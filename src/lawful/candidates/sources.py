"""Sources: what several systems say about one document, each as reliable as it is.

A source of reliability ``r`` is right about a value with the probability ``r``, and else it may say
anything. Sources are independent of each other, so their log-probabilities add. The answers of one
source, such as the samples of a language model, share its probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, inf, log
from numbers import Real
from typing import Any, TypeAlias

from lawful.base.errors import InputError, shown
from lawful.candidates.field_spans import field_spans
from lawful.candidates.grounding.leaves import fields_of
from lawful.candidates.samples import Path, Sample, listed_alike, read_samples
from lawful.candidates.slots import NO_ROW, Question, Silence, Slot, meanings, questions
from lawful.documents.document import Document
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.rules.rule_set import Rules

Reliability: TypeAlias = Mapping[str, float | Mapping[str, float]]
"""By source, the probability that it is right, or by field (``total``, ``lines.price``; ``*`` are
all others; ``lines`` is whether a row is there)."""

Shares: TypeAlias = dict[Hashable, float]
"""By meaning, the share of a source's answers; ``None`` is that the value is missing."""

USUAL = 0.9
"""Reliability of a source that nothing is known about."""

PRIOR = 4.0
"""Answers for which what is known before counts, when reliability is learned from agreement."""

ROUNDS = 3
LEAST, MOST = 0.5, 0.99
"""The least and the most that agreement with others may say about a source."""


@dataclass(frozen=True, slots=True)
class Voices:
    """The samples of all sources, with the number of its source for each."""

    names: tuple[str, ...]
    samples: list[Sample]
    of: list[int]
    failed: tuple[str, ...]
    spread: Mapping[int, Mapping[Path, Mapping[str | None, float]]] = field(default_factory=dict)
    # by source, the probabilities of texts of single values, and of missing

    @classmethod
    def of_sources(
        cls, sources: Mapping[str, Any], document: Document | None, rules: Rules | None
    ) -> Voices:
        """From an object, a text, a list of samples, or a model's scores of the words."""
        samples: list[Sample] = []
        of: list[int] = []
        failed: list[str] = []
        scored: dict[int, Scores | SpanScores] = {}
        for number, (name, given) in enumerate(sources.items()):
            if isinstance(given, Scores | SpanScores):
                scored[number] = given
                continue
            several = isinstance(given, list | tuple)
            kept, why = read_samples(list(given) if several else [given], f"source {name}: sample")
            failed += why
            of += [number] * len(kept)
            samples += kept.values()
        samples = listed_alike(samples)
        if scored and (document is None or rules is None):
            raise InputError("sources with scores need document= and rules=")
        paths = {path: None for sample in samples for path in sample.texts}
        spread = {
            number: _spread(scores, document, rules, tuple(paths))
            for number, scores in scored.items()
            if document is not None and rules is not None
        }
        return cls(tuple(sources), samples, of, tuple(failed), spread)


def _spread(
    scores: Scores | SpanScores, document: Document, rules: Rules, paths: Sequence[Path]
) -> dict[Path, dict[str | None, float]]:
    """By path, the probabilities of the texts of a field of one value, and that it is missing."""
    spans = field_spans(document, scores, rules) if isinstance(scores, Scores) else scores
    in_rows = {name for kind in rules.rows for name in kind.fields}
    path_of = {name: path for path, name in reversed(fields_of(paths, rules).items())}
    found: dict[Path, dict[str | None, float]] = {}
    for f in rules.fields:
        if f.many or f.name in in_rows or f.label not in spans.types:
            continue
        texts: dict[str | None, float] = {}
        for span, odds in zip(spans.spans, spans.log_odds.tolist(), strict=True):
            if span.type == f.label:
                text = document.text(span.start, span.end)
                texts[text] = texts.get(text, 0.0) + 1 / (1 + exp(-odds))
        whole = max(1.0, fsum(texts.values()))
        texts = {text: p / whole for text, p in texts.items()}
        texts[None] = 1 - fsum(texts.values())
        found[path_of.get(f.name, (f.name,))] = texts
    return found


@dataclass(slots=True)
class Said:
    """What sources say about one value, or about whether a row is there: by source, its shares."""

    path: Path
    shares: dict[int, Shares]
    item: int | None = None
    rows: Path | None = None
    forms: Mapping[Hashable, Mapping[str, float]] = field(default_factory=dict)
    log_probs: dict[Hashable, float] = field(default_factory=dict)
    log_other: float = -inf

    def weigh(self, reliability: Mapping[tuple[int, Path], float]) -> None:
        """The log-probabilities of all meanings, and of what nobody has named."""
        keys = dict.fromkeys(key for shares in self.shares.values() for key in shares)
        found = dict.fromkeys(keys, 0.0)
        other = 0.0
        for source, shares in self.shares.items():
            right = reliability[source, self.path]
            rest = (1 - right * fsum(shares.values())) / (len(keys) + 1)
            for key in keys:
                found[key] += log(right * shares.get(key, 0.0) + rest)
            other += log(rest)
        top = max(found.values(), default=0.0)
        whole = top + log(fsum(exp(each - top) for each in found.values()))
        self.log_probs = {key: each - whole for key, each in found.items()}
        self.log_other = -log(1 + exp(whole - other))


def weighed(voices: Voices, reliability: Reliability | None) -> Iterator[Slot]:
    """The slots of sources, with what is known about them, or else with what agreement tells."""
    said = list(what_is_said(voices))
    known = _known(voices, said, reliability)
    for each in said:
        each.weigh(known)
    if reliability is None and len(voices.names) > 2:
        for _ in range(ROUNDS):
            known = _agreeing(said)
            for each in said:
                each.weigh(known)
    out = {(each.path, each.item): each.log_probs[None] for each in said
           if each.rows == each.path and None in each.log_probs}  # fmt: skip
    for each in said:
        if each.rows == each.path:
            continue
        texts = {
            text: each.log_probs[key] + log(share)
            for key, forms in each.forms.items()
            for text, share in forms.items()
        }
        absent = frozenset(s for s, shares in each.shares.items() if shares.get(None, 0) > 0)
        yield Slot(each.path, texts, each.log_probs.get(None, -inf), absent, each.item, each.rows,
                   out.get((each.rows or (), each.item), -inf), each.log_other)  # fmt: skip


def what_is_said(voices: Voices) -> Iterator[Said]:
    """What sources say about each value, and before its first value, about each row."""
    sizes = [voices.of.count(source) for source in range(len(voices.names))]
    votes = [1 / sizes[source] for source in voices.of]
    asked = list(questions(voices.samples, votes))
    full = _fullness(asked, voices, votes)
    rows = set[tuple[Path, int | None]]()
    for each in asked:
        if each.rows is not None and (each.rows, each.item) not in rows:
            rows.add((each.rows, each.item))
            yield _row(each, voices, votes)
        yield _value(each, voices, votes, full)
    asked_for = {each.path for each in asked}
    for path in dict.fromkeys(p for spread in voices.spread.values() for p in spread):
        if path not in asked_for:
            yield _value(Question(path, []), voices, votes, full)


def _fullness(
    asked: Sequence[Question], voices: Voices, votes: Sequence[float]
) -> dict[tuple[int, Path], float]:
    """By source and field of a row, how often it has one where the source that has most does."""
    there: defaultdict[tuple[int, Path], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each in asked:
        if each.rows is not None:
            for answer, source, vote in zip(each.answers, voices.of, votes, strict=True):
                if not isinstance(answer, Silence):
                    there[source, each.path][0] += vote * (answer is not None)
                    there[source, each.path][1] += vote
    most: defaultdict[Path, float] = defaultdict(float)
    for (_, path), (filled, all_) in there.items():
        most[path] = max(most[path], filled / all_)
    return {key: f / n / most[key[1]] for key, (f, n) in there.items() if most[key[1]]}


def _row(asked: Question, voices: Voices, votes: Sequence[float]) -> Said:
    """What sources say about whether a row is there; one without any rows says nothing."""
    rows = asked.rows or ()
    empty = [not sample.lists.get(rows) for sample in voices.samples]
    mostly_there = 2 * sum(empty) < len(empty)
    shares: defaultdict[int, Shares] = defaultdict(dict)
    for answer, source, vote, no_rows in zip(asked.answers, voices.of, votes, empty, strict=True):
        if isinstance(answer, Silence) and (answer is not NO_ROW or (no_rows and mostly_there)):
            continue
        key = None if answer is NO_ROW else "row"
        shares[source][key] = shares[source].get(key, 0.0) + vote
    return Said(rows, dict(shares), asked.item, rows)


def _value(
    asked: Question, voices: Voices, votes: Sequence[float], full: Mapping[tuple[int, Path], float]
) -> Said:
    spread = {s: texts[asked.path] for s, texts in voices.spread.items() if asked.path in texts}
    of = meanings(
        text for texts in (asked.answers, *spread.values()) for text in texts
        if isinstance(text, str)
    )  # fmt: skip
    shares: defaultdict[int, Shares] = defaultdict(dict)
    forms: defaultdict[Hashable, dict[str, float]] = defaultdict(dict)

    def add(source: int, text: str | None, vote: float) -> None:
        key = None if text is None else of(text)
        # A source that never has a field does not say that it is missing.
        sure = 1.0 if text is not None else full.get((source, asked.path), 1.0)
        shares[source][key] = shares[source].get(key, 0.0) + vote * sure
        if text is not None:
            forms[key][text] = forms[key].get(text, 0.0) + vote

    for answer, source, vote in zip(asked.answers, voices.of, votes, strict=False):
        if not isinstance(answer, Silence):
            add(source, answer, vote)
    for source, texts in spread.items():
        for text, p in texts.items():
            if p > 0:
                add(source, text, p)
    parts = {key: {text: v / fsum(of_key.values()) for text, v in of_key.items()}
             for key, of_key in forms.items()}  # fmt: skip
    return Said(asked.path, dict(shares), asked.item, asked.rows, parts)


def _known(
    voices: Voices, said: Sequence[Said], given: Reliability | None
) -> dict[tuple[int, Path], float]:
    """By source and path, the reliability that is given."""
    for name, known in (given or {}).items():
        if name not in voices.names:
            raise InputError(
                f"reliability of {shown(name)}, which is no source; sources: "
                f"{', '.join(voices.names)}"
            )
        for about, r in (known if isinstance(known, Mapping) else {"*": known}).items():
            if isinstance(r, bool) or not isinstance(r, Real) or not 0 < float(r) < 1:
                raise InputError(
                    f"reliability of {name}: {about} is {shown(r)}, expected a number between 0 "
                    "and 1"
                )
    found = {}
    for source, name in enumerate(voices.names):
        known = (given or {}).get(name, USUAL)
        by_field = known if isinstance(known, Mapping) else {"*": known}
        for path in {each.path for each in said}:
            r = by_field.get(".".join(path), by_field.get("*", USUAL))
            found[source, path] = float(r)
    return found


def _agreeing(said: Sequence[Said]) -> dict[tuple[int, Path], float]:
    """By source and path, how often its answers are right by what is believed now."""
    right: defaultdict[tuple[int, Path], list[float]] = defaultdict(lambda: [0.0, 0.0])
    of_source: dict[int, None] = {}
    for each in said:
        for source, shares in each.shares.items():
            agrees = fsum(share * exp(each.log_probs[key]) for key, share in shares.items())
            of_source[source] = None
            right[source, each.path][0] += agrees
            right[source, each.path][1] += fsum(shares.values())
    found = {}
    for source in of_source:
        counts = {path: (r, n) for (of, path), (r, n) in right.items() if of == source}
        known = shrunk(counts)
        for path in counts:
            found[source, path] = known[".".join(path)]
    return found


def shrunk(counts: Mapping[Any, tuple[float, float]]) -> dict[str, float]:
    """The reliability of one source by path, from how many of its answers are right.

    That of few answers is near that of all, ``*``, which is near ``USUAL`` if these are few.
    """
    all_ = [fsum(part) for part in zip(*counts.values(), strict=True)] or [0.0, 0.0]
    usual = (all_[0] + PRIOR * USUAL) / (all_[1] + PRIOR)
    return {
        "*": min(MOST, max(LEAST, usual)),
        **{
            path if isinstance(path, str) else ".".join(path):
                min(MOST, max(LEAST, (r + PRIOR * usual) / (n + PRIOR)))
            for path, (r, n) in counts.items()
        },
    }  # fmt: skip
