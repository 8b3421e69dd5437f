"""Explanations: the words that lost the model's first choice, and the rules responsible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from math import inf
from time import perf_counter

import numpy as np

from lawful.documents.labels import Span
from lawful.documents.pins import PREFIX
from lawful.documents.span_scores import SpanScheme, SpanScores
from lawful.results.decoding import ClassValue, Correction
from lawful.results.span_corrections import SpanCorrection
from lawful.rules.definitions import LEGAL
from lawful.rules.judging.judge import Judge
from lawful.search.problem import Labels, Problem


def corrections(
    problem: Problem, labels: Labels, now: Counter[str], until: float = inf
) -> Iterator[Correction]:
    """Every word that did not keep the model's first choice, with its price and its reasons.

    Reasons are found by putting old labels back: the word's own, and those of all adjacent changed
    words, which often had to change together. A rule that is then violated more often is a reason,
    and so is a pin that is then broken;
    so is the scheme (``legal``) if the labelling is illegal with all of them put back. ``now``
    counts the violations of each rule in ``labels``. Reasons are ``None`` once the time is up.
    """
    if isinstance(problem.scores, SpanScores):
        return
    names, log_probs = problem.scores.labels, problem.evidence
    for group in _adjacent((labels != problem.argmax).nonzero()[0].tolist()):
        together = _reasons(problem, labels, group, now, until)
        for word in group:
            old, new = int(problem.argmax[word]), int(labels[word])
            because = together
            if len(group) > 1 and together is not None:
                alone = _reasons(problem, labels, [word], now, until)
                if alone is not None and together != (LEGAL,):
                    # Putting back only half a span is illegal, which explains nothing.
                    alone = tuple(reason for reason in alone if reason != LEGAL)
                because = None if alone is None else tuple(dict.fromkeys((*alone, *together)))
            yield Correction(
                word=word,
                old=names[old],
                new=names[new],
                price=float(log_probs[word, old] - log_probs[word, new]),
                because=because,
            )


def _adjacent(words: list[int]) -> list[list[int]]:
    """Groups of words that follow each other."""
    groups: list[list[int]] = []
    for word in words:
        if groups and groups[-1][-1] == word - 1:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def span_corrections(
    problem: Problem, labels: Labels, now: Counter[str], until: float = inf
) -> Iterator[SpanCorrection]:
    """Every span that the model's own best spans have and the answer has not, or the reverse.

    An old and a new span that overlap are one correction. Reasons are found by putting all old
    spans back that overlap, directly or through others. Arguments are those of ``corrections``.
    """
    scheme = problem.scheme
    if not isinstance(scheme, SpanScheme):
        return
    old, new = set(scheme.whole_spans(problem.argmax)), set(scheme.whole_spans(labels))
    for start, end, gone, come in _groups(old - new, new - old):
        because = _reasons(problem, labels, range(start, end), now, until)
        for before, after in zip_longest(gone, come):
            prices = (0.0 if each is None else problem.log_odds(each) for each in (before, after))
            yield SpanCorrection(
                old=None if before is None else scheme.text_of(before),
                new=None if after is None else scheme.text_of(after),
                price=next(prices) - next(prices),
                because=because,
            )


def _groups(
    gone: Iterable[Span], come: Iterable[Span]
) -> Iterator[tuple[int, int, list[Span], list[Span]]]:
    """Groups of spans that overlap, directly or through others: their words, and both lists."""
    changes = [(span.start, span.end, False, span) for span in gone]
    changes += [(span.start, span.end, True, span) for span in come]
    first, last = 0, 0
    both: tuple[list[Span], list[Span]] = [], []
    for start, end, is_new, span in sorted(changes):
        if start >= last:
            if last:
                yield first, last, *both
            first, both = start, ([], [])
        last = max(last, end)
        both[is_new].append(span)
    if last:
        yield first, last, *both


def class_values(
    problem: Problem, labels: Labels, now: Counter[str], until: float = inf
) -> dict[str, ClassValue]:
    """By name, the document's class, with its price and its reasons.

    Reasons are the rules that are violated more often, with the same labels, if this class alone is
    the model's first choice. Arguments are those of ``corrections``. A name without scores is left
    out.
    """
    judge = problem.judge
    chosen, first = judge.choice, judge.choices[0]
    found = {}
    for name, value in chosen.classes.items():
        if value is None:
            continue
        old = first.classes[name]
        if value == old:
            found[name] = ClassValue(value, value)
            continue
        back = next(c for c in judge.choices if c.classes == {**chosen.classes, name: old})
        because = None
        if perf_counter() <= until:
            other = judge.of_class(back)
            then = _violations(other, labels, until)
            because = None if then is None else tuple(sorted(then - now))
        found[name] = ClassValue(value, old or "", back.log_prob - chosen.log_prob, because)
    return found


def _violations(judge: Judge, labels: Labels, until: float) -> Counter[str] | None:
    """The number of violations of each rule; ``None`` when the time is up."""
    reading, cost = judge.settled(labels, until)
    if cost.least == inf and judge.is_ambiguous(reading):
        reading, cost = judge.softened.settled(labels, until)
    if cost.least < cost.most and perf_counter() > until:
        return None
    return judge.violations(reading, until)


def _reasons(
    problem: Problem, labels: Labels, words: Sequence[int], now: Counter[str], until: float
) -> tuple[str, ...] | None:
    """The rules that need the new labels of these adjacent words; ``None`` when the time is up."""
    if perf_counter() > until:
        return None
    back = labels.astype(np.uint32)
    which = slice(words[0], words[-1] + 1)
    back[which] = problem.argmax[which]
    pins = () if problem.pin_labels is None else problem.pin_labels.broken(back, unlike=labels)
    if not problem.scheme.allows_around(back, words):
        return pins or (LEGAL,)
    if not problem.judge.tells_apart(labels, back):
        return pins
    then = _violations(problem.judge, back, until)
    if then is None:
        return None
    rules = sorted(then - now, key=lambda id_: (not id_.startswith(PREFIX), id_))
    return tuple(dict.fromkeys((*pins, *rules)))
