"""Rules about dates, counts and closed sets of numbers, from their values on true pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import numpy as np

from lawful.learn.equations import MIN_ORDERED, MIN_SHARE
from lawful.learn.proposals import MIN_SUPPORT, Proposal
from lawful.learn.samples import Units, has_value
from lawful.rules.definitions import Rule
from lawful.rules.language.nodes import COUNT

MAX_NUMBERS = 8
"""Numbers of a closed set, each of which occurs on ``MIN_OF_EACH`` pages or more."""

MIN_OF_EACH = 3


def propose_comparisons(units: Units) -> Iterator[Proposal]:
    """Orders and distances of dates, counts, and closed sets of numbers."""
    mined = units.mined
    single = [f for f in units.rules.fields if f.name in units.names and not f.many]
    dates = [f.name for f in single if f.kind == "date"]
    for one, other in permutations(dates, 2):
        pairs = [(each.get(one), each.get(other)) for each in mined]
        days = np.array([(b - a).days for a, b in pairs if a is not None and b is not None])
        if len(days) < MIN_SUPPORT:
            continue
        if (days >= 0).mean() >= MIN_ORDERED and (days > 0).any():
            yield Proposal("dates", Rule(f"{one} <= {other}"), 2)
            longest = int(np.quantile(days, 0.99))
            if 0 < longest <= 366:
                yield Proposal("dates", Rule(f"{other} - {one} <= {longest}"), 3)
        usual, count = Counter(days.tolist()).most_common(1)[0]
        if usual >= 0 and count >= MIN_SHARE * len(days) and (usual > 0 or one < other):
            check = f"{other} - {one} == {usual}" if usual else f"{one} == {other}"
            yield Proposal("dates", Rule(check), 3 if usual else 2)
    for f in single:
        counts = [each.get(COUNT + f.name) for each in mined if each.get(COUNT + f.name)]
        if len(counts) >= MIN_SUPPORT and sum(c == 1 for c in counts) >= 0.9 * len(counts):
            yield Proposal("count", Rule(f"count({f.name}) <= 1"), 1)
        if f.kind == "number" and f.default is None:
            numbers = Counter(each[f.name] for each in mined if has_value(each, f.name))
            often = sorted(n for n, count in numbers.items() if count >= MIN_OF_EACH)
            covered = sum(numbers[n] for n in often)
            if (
                2 <= len(often) <= MAX_NUMBERS
                and numbers.total() >= max(MIN_SUPPORT, 5 * len(often))
                and covered >= 0.9 * numbers.total()
            ):
                listed = ", ".join(f"{n.normalize():f}" for n in often)
                yield Proposal("set", Rule(f"{f.name} in ({listed})"), 1)
