"""Fields that stand on one printed line, such as an amount and the word that announces it.

By chance, one of the two fields is another word of the page that its type can read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from lawful.learn.intervals import Share
from lawful.learn.proposals import MIN_SUPPORT, Proposal
from lawful.learn.truth import TruePage, TruePages
from lawful.rules.definitions import Rule
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.places import line_numbers
from lawful.rules.judging.reading import Occurrence, Reading
from lawful.rules.rule_set import Rules

MIN_ON_LINE = 0.7
"""Share of pages that must have both fields on one line: photographed lines are hard to tell."""


def propose_lines(truth: TruePages) -> Iterator[Proposal]:
    """Pairs of fields that usually stand on one printed line; none for pages without boxes."""
    fields = truth.rules.fields
    counts: dict[tuple[int, int], list[bool]] = {}
    for page in truth.pages:
        lines = None if page.held_out else line_numbers(page.document)
        if lines is None:
            continue
        found = {
            i: lines[spans[0].start]
            for i, spans in enumerate(page.reading)
            if spans and not fields[i].many
        }
        for a, b in combinations(found, 2):
            counts.setdefault((a, b), []).append(found[a] == found[b])
    for (a, b), together in sorted(counts.items()):
        if len(together) >= MIN_SUPPORT and np.mean(together) >= MIN_ON_LINE:
            check = f"line({fields[a].name}) == line({fields[b].name})"
            yield Proposal("line", Rule(check, id=check), 2)


def judge_lines(
    proposals: Sequence[Proposal], truth: TruePages, seed: int
) -> list[tuple[Share, Share, Share]]:
    """By rule, the shares of pages: mined, held out, and with one field moved elsewhere."""
    known = truth.rules
    own = [each.rule for each in proposals if isinstance(each.rule, Rule)]
    rules = Rules(known.fields, own, scheme=known.scheme, defaults=known.defaults, rows=known.rows)
    index = {f.name: i for i, f in enumerate(known.fields)}
    pairs = [[index[name] for name in sorted(rule.names)] for rule in rules.parsed]
    random = np.random.default_rng([seed, 5])
    counts = np.zeros((len(own), 3, 2), int)
    for page in truth.pages if own else ():
        judge = Judge(page.document, rules, truth.scheme)
        for i, state in enumerate(_states(judge, page.reading, rules)):
            if state == "vacuous":
                continue
            counts[i, int(page.held_out)] += state == "satisfied", 1
            moved = _moved(judge, page, pairs[i][random.integers(2)], random)
            if moved is not None and (by_chance := _states(judge, moved, rules)[i]) != "vacuous":
                counts[i, 2] += by_chance == "satisfied", 1
    return [tuple(Share(int(a), int(b)) for a, b in each) for each in counts]  # type: ignore[misc]


def _states(judge: Judge, reading: Reading, rules: Rules) -> list[str]:
    by_id = {check.id: check.state for check in judge.checks(reading) if not check.implied}
    return [by_id[rule.id] for rule in rules.parsed]


def _moved(judge: Judge, page: TruePage, field: int, random: np.random.Generator) -> Reading | None:
    """The reading with one field at another word that it could be; none if there is no such."""
    own = {word for span in page.reading[field] for word in range(span.start, span.end)}
    words = [w for w in range(len(page.document)) if w not in own and judge.values(field, w, w + 1)]
    if not words:
        return None
    word = words[random.integers(len(words))]
    moved = list(page.reading)
    moved[field] = (Occurrence(word, word + 1),)
    return tuple(moved)
