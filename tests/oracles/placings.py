"""What a choice of places costs, by the definition."""

from __future__ import annotations

from lawful.candidates.grounding.placing import (
    BACK,
    FARTHEST,
    LEVEL,
    LONGEST_STEP,
    NEAR,
    SAME_LINE,
    SHARE,
    STEP,
)


def cost_of(seekers, chosen):
    """What a choice costs."""
    total = 0.0
    lines = {}
    groups = sorted({(s.chain, s.group) for s in seekers if s.group is not None})
    taken = []
    for seeker, at in zip(seekers, chosen, strict=True):
        if at is None:
            total += seeker.missing
            continue
        found = seeker.places[at]
        total += found.cost
        total += SHARE * sum(not words.isdisjoint(found.words) for words in taken)
        taken.append(set(found.words))
        if seeker.group is not None:
            lines.setdefault((seeker.chain, seeker.group), []).append(found.line)
    for chain in sorted({chain for chain, _ in groups}):
        some = {p.line for s in seekers if s.group is not None and s.chain == chain
                for p in s.places} or {0.0}  # fmt: skip
        least = dict.fromkeys(some, 0.0)
        for number, group in enumerate([group for c, group in groups if c == chain]):
            own = lines.get((chain, group), [])
            least = {
                a: sum(min(NEAR * abs(a - b), FARTHEST) for b in own)
                + (min(least[b] + step_cost(a - b) for b in some) if number else 0.0)
                for a in some
            }
        total += min(least.values())
    return total


def step_cost(down):
    """The cost of a row that stands so many lines below the one before it."""
    if down < -LEVEL:
        return BACK
    return SAME_LINE if down <= LEVEL else min(STEP * max(down - 1, 0), LONGEST_STEP)
