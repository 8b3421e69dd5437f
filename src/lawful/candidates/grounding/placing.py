"""The exact search for the places of all values of a page together.

A value has one place, or none. What a choice costs is the sum of the costs of its places, of the
lines between the values of a row, of the lines between the rows of a list, and of words that two
values share. Without the last, each value outside a list is on its own, and a list is a dynamic
program over rows and lines: so the cost of the rest is a bound for best-first search, which decides
one shared place after the other.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, count
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEAR = 1.0
"""Cost of a line between a value and the line of its row."""

FARTHEST = 6.0
"""Cost of the distance of a value from the line of its row, at most."""

STEP = 0.3
"""Cost of a line that lies between two rows of a list."""

LONGEST_STEP = 3.0
"""Cost of the lines between two rows of a list, at most."""

SAME_LINE = 0.5
"""Cost of two rows in one line."""

LEVEL = 0.4
"""Distance of lines, in lines, up to which they are level."""

BACK = 8.0
"""Cost of a row above the one before it."""

SHARE = 3.0
"""Cost of two values that share words."""

CLEAR = 6.0
"""Difference of costs from which on another place is out of question."""

MAX_NODES = 200
"""Bounds that are calculated in one search; then the best choice so far is the answer."""

MAX_WORK = 2e9
"""The same, in steps from one line to another for each row of all lists."""

MAX_CELLS = 4_000_000
"""Places of values in lists times lines; beyond, a value has only those at its part of the list."""

MAX_LINES = 500
"""Lines that a row may be in; of more, some that are equally far apart."""

MAX_RIVALS = 50
"""Values on the same words up to which each may give way to another."""


class Place(NamedTuple):
    """Where a value may stand: its words in order, how many lines down, and what it costs."""

    words: tuple[int, ...]
    line: float
    cost: float


@dataclass(frozen=True, slots=True)
class Seeker:
    """A value that looks for a place, and what it costs to have none.

    Values of one ``group`` stand near each other, and the groups of one ``chain`` in the order of
    their numbers; values without a group stand alone. The line of a group is one of those where
    places of its chain are.
    """

    places: tuple[Place, ...]
    missing: float
    group: int | None = None
    chain: int = 0


@dataclass(frozen=True, slots=True)
class Placing:
    """The place of every value, by its number among those of the value, or none.

    ``optimal`` is whether no other choice costs less; ``bound`` is a bound on the cost of all.
    """

    chosen: tuple[int | None, ...]
    lines: tuple[float | None, ...]  # by value, the line of its group
    cost: float
    bound: float
    optimal: bool


def place(seekers: Sequence[Seeker], *, nodes: int = MAX_NODES) -> Placing:
    """The choice of places that costs least; ``optimal`` unless the search was cut short.

    Nor is it if there are so many places that values have only some of theirs.
    """
    kept = _kept(seekers)
    if kept is None:
        return _Search(seekers).run(nodes)
    fewer = [
        replace(s, places=tuple(s.places[at] for at in some))
        for s, some in zip(seekers, kept, strict=True)
    ]
    found = _Search(fewer).run(nodes)
    chosen = (None if at is None else some[at] for at, some in zip(found.chosen, kept, strict=True))
    return replace(found, chosen=tuple(chosen), bound=-inf, optimal=False)


def _kept(seekers: Sequence[Seeker]) -> list[Sequence[int]] | None:
    """By value, the places that are looked at; ``None`` if all of all values are."""
    down = sorted({p.line for s in seekers if s.group is not None for p in s.places})
    inside = [s for s in seekers if s.group is not None and s.places]
    lines = min(len(down), MAX_LINES)
    if len(down) <= MAX_LINES and sum(len(s.places) for s in inside) * lines <= MAX_CELLS:
        return None
    most = max(1, MAX_CELLS // (len(inside) * lines))
    last: dict[int, int] = {}
    for seeker in inside:
        last[seeker.chain] = max(last.get(seeker.chain, 1), seeker.group or 0)
    found: list[Sequence[int]] = []
    for seeker in seekers:
        every = range(len(seeker.places))
        if seeker.group is None or len(every) <= most:
            found.append(every)
            continue
        at = down[0] + (down[-1] - down[0]) * seeker.group / last[seeker.chain]
        away = [p.cost + STEP * abs(p.line - at) for p in seeker.places]
        found.append(sorted(sorted(every, key=away.__getitem__)[:most]))
    return found


def prices(seekers: Sequence[Seeker], placing: Placing) -> list[list[float]]:
    """By value, what none of its places would cost, and each place, given those of all others.

    Groups keep their lines; a value gives way to another one if this costs less than to share.
    Prices that are ``CLEAR`` above that of the chosen place are bounds.
    """
    base = [list(_own_costs(s, line)) for s, line in zip(seekers, placing.lines, strict=True)]
    taken: dict[int, list[int]] = {}
    for value, at in enumerate(placing.chosen):
        for word in () if at is None else seekers[value].places[at].words:
            taken.setdefault(word, []).append(value)

    @cache
    def on(words: tuple[int, ...]) -> frozenset[int]:
        return frozenset(value for word in words for value in taken.get(word, ()))

    def cost(value: int, at: int | None, but: int | None = None) -> float:
        """What it costs if a value is there, but another one is not where it was."""
        if at is None:
            return seekers[value].missing
        there = on(seekers[value].places[at].words)
        return base[value][at] + SHARE * (len(there) - len(there & {value, but}))

    @cache
    def elsewhere(rival: int) -> list[tuple[float, int]]:
        """The other places of a value by cost, if all others stay where they are."""
        there = placing.chosen[rival]
        return sorted((cost(rival, k), k) for k in range(len(base[rival])) if k != there)

    @cache
    def places_at(rival: int) -> dict[int, list[int]]:
        """By word, the places of a value with it."""
        found: dict[int, list[int]] = {}
        for k, place_ in enumerate(seekers[rival].places):
            for word in place_.words:
                found.setdefault(word, []).append(k)
        return found

    def moved(rival: int, value: int, words: set[int]) -> float:
        """What a value costs where it does not share words with another one, which has moved."""
        places, there, left = seekers[rival].places, placing.chosen[rival], placing.chosen[value]
        free = (least for least, k in elsewhere(rival) if words.isdisjoint(places[k].words))
        best = min(seekers[rival].missing, next(free, inf))
        for word in () if left is None else seekers[value].places[left].words:
            for k in places_at(rival).get(word, ()):  # where the other one has made room
                if k != there and words.isdisjoint(places[k].words):
                    best = min(best, cost(rival, k, value))
        return best

    def way_given(value: int, at: int) -> Iterator[float]:
        """What it costs if a value is there, and one that was there is at another place."""
        words = set(seekers[value].places[at].words)
        rivals = on(seekers[value].places[at].words) - {value}
        for rival in rivals if len(rivals) <= MAX_RIVALS else ():
            now = cost(rival, placing.chosen[rival], value)
            yield cost(value, at, rival) + moved(rival, value, words) - now

    found: list[list[float]] = []
    for value, now in enumerate(placing.chosen):
        here = cost(value, now)
        found.append([seekers[value].missing])
        for at, own in enumerate(base[value]):
            if at == now or own - here >= CLEAR:
                found[-1].append(here if at == now else own)
            else:
                found[-1].append(min(cost(value, at), *way_given(value, at), inf))
    return found


def _own_costs(seeker: Seeker, line: float | None) -> Iterator[float]:
    """What the places of a value cost, given the line of its group."""
    for each in seeker.places:
        near = 0.0 if line is None else min(NEAR * abs(each.line - line), FARTHEST)
        yield each.cost + near


@dataclass(slots=True)
class _Node:
    """A part of all choices: the places that are left, and what they cost given those fixed."""

    costs: Floats  # by place
    missing: Floats  # by value
    fixed: frozenset[int]  # values
    bounds: list[float]  # by part of the page
    chosen: list[int | None]  # the best choice if no further words were shared


class _Search:
    def __init__(self, seekers: Sequence[Seeker]) -> None:
        self._first = np.cumsum([0, *(len(s.places) for s in seekers)])
        places = [p for s in seekers for p in s.places]
        self._owner = np.repeat(np.arange(len(seekers)), np.diff(self._first)).tolist()
        self._words = [p.words for p in places]
        self._on: dict[int, list[int]] = {}  # by word, the places with it
        for number, words in enumerate(self._words):
            for word in words:
                self._on.setdefault(word, []).append(number)
        chains = sorted({s.chain for s in seekers if s.group is not None})
        self._parts: list[_Alone | _Chain] = [
            *(_Alone(i, *self._places_of(i)) for i, s in enumerate(seekers) if s.group is None),
            *(_Chain.of(seekers, chain, self._first) for chain in chains),
        ]
        self._part_of = {i: part for part, each in enumerate(self._parts) for i in each.members}
        self._root = _Node(
            np.array([p.cost for p in places], float),
            np.array([s.missing for s in seekers], float),
            frozenset(),
            [0.0] * len(self._parts),
            [None] * len(seekers),
        )

    def _places_of(self, value: int) -> tuple[int, int]:
        return int(self._first[value]), int(self._first[value + 1])

    def run(self, nodes: int) -> Placing:
        root = self._root
        nodes = min(nodes, int(MAX_WORK / max(sum(part.work for part in self._parts), 1)))
        bound = self._relax(root, range(len(self._parts)))
        best, cost = root.chosen, bound + SHARE * self._conflicts(root)[0]
        numbers = count()
        heap = [(bound, next(numbers), root)]
        seen = 1
        while heap and heap[0][0] < cost - 1e-9:
            if seen >= nodes:
                return self._placing(best, cost, heap[0][0])
            _, _, node = heapq.heappop(heap)
            for child, bound in self._children(node):
                seen += 1
                if bound >= cost - 1e-9:
                    continue
                total = bound + SHARE * self._conflicts(child)[0]
                if total < cost:
                    best, cost = child.chosen, total
                heapq.heappush(heap, (bound, next(numbers), child))
        return self._placing(best, cost, cost)

    def _placing(self, chosen: Sequence[int | None], cost: float, bound: float) -> Placing:
        """The answer, with the line of each group, which follows from its places."""
        costs, missing = self._root.costs.copy(), np.full(len(chosen), inf)
        lines: list[float | None] = [None] * len(chosen)
        for value, at in enumerate(chosen):
            a, b = self._places_of(value)
            if at is None:
                missing[value] = self._root.missing[value]
                costs[a:b] = inf
            else:
                costs[a:at] = costs[at + 1 : b] = inf
        for part in self._parts:
            if isinstance(part, _Chain):
                part.solve(costs, missing, [None] * len(chosen), lines)
        local = (None if at is None else at - int(self._first[i]) for i, at in enumerate(chosen))
        return Placing(tuple(local), tuple(lines), cost, bound, bound >= cost - 1e-9)

    def _relax(self, node: _Node, parts: Iterable[int]) -> float:
        """Solves these parts of the page anew; the bound of all parts together."""
        for part in parts:
            node.bounds[part] = self._parts[part].solve(node.costs, node.missing, node.chosen)
        return sum(node.bounds)

    def _conflicts(self, node: _Node) -> tuple[int, list[int]]:
        """How many pairs of chosen places share words, and these places.

        Without those of values whose price is in the bound already.
        """
        chosen: dict[tuple[int, ...], list[int]] = {}
        for value, at in enumerate(node.chosen):
            if at is not None and value not in node.fixed:
                chosen.setdefault(self._words[at], []).append(at)
        on: dict[int, list[tuple[int, ...]]] = {}
        for words in chosen:
            for word in words:
                on.setdefault(word, []).append(words)
        pairs = {frozenset(two) for some in on.values() for two in combinations(some, 2)}
        total = sum(len(chosen[a]) * len(chosen[b]) for a, b in pairs)
        total += sum(len(some) * (len(some) - 1) // 2 for some in chosen.values())
        shared = {words for pair in pairs for words in pair}
        shared |= {words for words, some in chosen.items() if len(some) > 1}
        return total, sorted(at for words in shared for at in chosen[words])

    def _rivals(self, at: int) -> dict[int, None]:
        """The places of other values that share words with one."""
        owner = self._owner
        return dict.fromkeys(
            other
            for word in self._words[at]
            for other in self._on[word]
            if owner[other] != owner[at]
        )

    def _children(self, node: _Node) -> Iterator[tuple[_Node, float]]:
        """The choices in which a value in conflict has its place, and those in which it has not."""
        _, conflicts = self._conflicts(node)
        if not conflicts:
            return
        at = self._most_regret(node, conflicts)
        value = self._owner[at]
        without = self._copy(node)
        without.costs[at] = inf
        yield without, self._relax(without, [self._part_of[value]])
        fixed = self._copy(node)
        a, b = self._places_of(value)
        fixed.costs[a:b] = inf
        fixed.costs[at] = node.costs[at]
        fixed.missing[value] = inf
        fixed.fixed = node.fixed | {value}
        changed = {self._part_of[value]}
        for rival in self._rivals(at):
            if self._owner[rival] not in node.fixed:
                fixed.costs[rival] += SHARE
                changed.add(self._part_of[self._owner[rival]])
        yield fixed, self._relax(fixed, changed)

    def _copy(self, node: _Node) -> _Node:
        return _Node(
            node.costs.copy(), node.missing.copy(), node.fixed, node.bounds[:], node.chosen[:]
        )

    def _most_regret(self, node: _Node, conflicts: Sequence[int]) -> int:
        """The place in conflict whose value would lose most without it."""
        best, most = conflicts[0], -inf
        for at in conflicts:
            value = self._owner[at]
            a, b = self._places_of(value)
            others = np.delete(node.costs[a:b], at - a)
            second = min(float(others.min(initial=inf)), float(node.missing[value]))
            if (regret := second - float(node.costs[at])) > most:
                best, most = at, regret
        return best


class _Alone:
    """A value outside all lists: its cheapest place, or none."""

    work = 0

    def __init__(self, value: int, first: int, end: int) -> None:
        self.members = [value]
        self._first, self._end = first, end

    def solve(self, costs: Floats, missing: Floats, chosen: list[int | None]) -> float:
        value = self.members[0]
        chosen[value] = None
        least = float(missing[value])
        if self._end > self._first:
            cheapest = self._first + int(costs[self._first : self._end].argmin())
            if costs[cheapest] < least:
                chosen[value], least = cheapest, float(costs[cheapest])
        return least


class _Chain:
    """Groups in the order of print: a dynamic program over groups and lines."""

    def __init__(
        self, members: list[int], groups: list[int], places: list[range], down: Sequence[float]
    ) -> None:
        self.members, self._groups, self._places = members, groups, places
        self._with_places = [k for k, each in enumerate(places) if each]
        self._all = np.array([at for each in places for at in each], int)
        sizes = [len(each) for each in places if each]
        self._begins = np.cumsum([0, *sizes])[:-1]
        where = np.array([down[i] for i in self._all] or [0.0])
        lines = np.unique(where)
        if len(lines) > MAX_LINES:
            lines = lines[np.linspace(0, len(lines) - 1, MAX_LINES).round().astype(int)]
        self._lines = lines
        self.work = len(groups) * len(lines) ** 2
        apart = np.abs(where[:, None] - lines[None, :])
        self._near = np.minimum(NEAR * apart, FARTHEST)  # (place, line of the group)
        below = lines[None, :] - lines[:, None]
        step = np.minimum(STEP * np.maximum(below - 1, 0), LONGEST_STEP)
        self._step = np.where(below < -LEVEL, BACK, np.where(below <= LEVEL, SAME_LINE, step))

    @classmethod
    def of(cls, seekers: Sequence[Seeker], chain: int, first: NDArray[np.int_]) -> _Chain:
        members = sorted(
            (i for i, s in enumerate(seekers) if s.group is not None and s.chain == chain),
            key=lambda i: (seekers[i].group or 0, i),
        )
        numbers = [seekers[i].group for i in members]
        groups = [k for k in range(len(members)) if k == 0 or numbers[k] != numbers[k - 1]]
        places = [range(int(first[i]), int(first[i + 1])) for i in members]
        down = [p.line for s in seekers for p in s.places]
        return cls(members, groups, places, down)

    def solve(
        self,
        costs: Floats,
        missing: Floats,
        chosen: list[int | None],
        lines: list[float | None] | None = None,
    ) -> float:
        """Writes the best choice of the chain's values, and their groups' lines; its cost."""
        own = np.repeat(missing[self.members][:, None], len(self._step), axis=1)
        here = self._near
        if len(self._all):
            here = costs[self._all][:, None] + self._near
            least = np.minimum.reduceat(here, self._begins)
            own[self._with_places] = np.minimum(own[self._with_places], least)
        of_group = np.add.reduceat(own, self._groups)  # (group, line)
        forward = [of_group[0]]
        for each in of_group[1:]:
            forward.append(each + (forward[-1][:, None] + self._step).min(axis=0))
        line = int(forward[-1].argmin())
        total = float(forward[-1][line])
        ends = [*self._groups[1:], len(self.members)]
        begins = dict(zip(self._with_places, self._begins.tolist(), strict=True))
        for number in range(len(forward) - 1, -1, -1):
            for k in range(self._groups[number], ends[number]):
                value = self.members[k]
                chosen[value] = None
                if lines is not None:
                    lines[value] = float(self._lines[line])
                if (begin := begins.get(k)) is not None:
                    some = here[begin : begin + len(self._places[k]), line]
                    cheapest = int(some.argmin())
                    if some[cheapest] < missing[value]:
                        chosen[value] = self._places[k][cheapest]
            if number:
                line = int((forward[number - 1] + self._step[:, line]).argmin())
        return total
