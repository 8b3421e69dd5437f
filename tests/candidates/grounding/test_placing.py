"""Places of all values together, against every choice of places on small pages."""

from __future__ import annotations

import random
import tracemalloc
from itertools import product

import pytest

from lawful.candidates.grounding import placing
from lawful.candidates.grounding.placing import Place, Seeker, place, prices
from tests.oracles.placings import cost_of


def pages(seed):
    """A few values, alone and in rows, whose places overlap."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    lines = rng.randint(1, 6)
    found = []
    for _ in range(rng.randint(1, 6)):
        places = []
        for _ in range(rng.randint(0, 4)):
            start = rng.randrange(3 * lines)
            words = tuple(range(start, min(start + rng.randint(1, 2), 3 * lines)))
            places.append(Place(words, start // 3, rng.choice([0, 0, 0.5, 1, 3]) + 0.0))
        group = rng.choice([None, 0, 1, 2])
        chain = rng.choice([0, 0, 1]) if group is not None else 0
        found.append(Seeker(tuple(places), rng.choice([2.0, 6.0, 9.0]), group, chain))
    return found


@pytest.mark.parametrize("seed", range(300))
def test_the_choice_is_that_of_brute_force(seed):
    seekers = pages(seed)
    options = [[None, *range(len(seeker.places))] for seeker in seekers]
    least = min(cost_of(seekers, chosen) for chosen in product(*options))
    found = place(seekers, nodes=10_000)
    assert found.optimal
    assert found.cost == pytest.approx(least)
    assert cost_of(seekers, found.chosen) == pytest.approx(least)
    assert found.bound == pytest.approx(least)


@pytest.mark.parametrize("seed", range(50))
def test_a_search_that_is_cut_short_says_so_and_has_a_bound(seed):
    seekers = pages(seed)
    best, cut = place(seekers, nodes=10_000), place(seekers, nodes=2)
    assert cut.bound <= best.cost + 1e-6 <= cut.cost + 2e-6
    assert cost_of(seekers, cut.chosen) == pytest.approx(cut.cost)
    assert not cut.optimal or cut.cost == pytest.approx(best.cost)


def test_a_page_without_values():
    assert place([]).chosen == ()
    assert place([Seeker((), 5.0)]).chosen == (None,)


@pytest.mark.parametrize("seed", range(100))
def test_a_price_is_never_below_that_of_the_chosen_place(seed):
    """Prices are those of whole choices, so none is better than the optimum."""
    seekers = pages(seed)
    found = place(seekers, nodes=10_000)
    for seeker, at, costs in zip(seekers, found.chosen, prices(seekers, found), strict=True):
        assert len(costs) == len(seeker.places) + 1
        assert min(costs) >= costs[0 if at is None else at + 1] - 1e-9


def test_two_values_that_could_change_places_are_no_surer_than_one_of_two():
    places = Place((0,), 0.0, 0.0), Place((1,), 0.0, 0.0)
    seekers = [Seeker(places, 9.0), Seeker(places, 9.0)]
    assert prices(seekers, place(seekers))[0] == pytest.approx([9.0, 0.0, 0.0])


def test_places_that_many_values_may_have_take_little_memory():
    """Pairs of places with a word in common were all kept: 200 equal rows took 5 GB."""
    places = tuple(Place((i,), float(i), 0.0) for i in range(120))
    seekers = [Seeker(places, 9.0) for _ in range(120)]
    tracemalloc.start()
    found = place(seekers, nodes=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20
    assert not found.optimal
    assert cost_of(seekers, found.chosen) == pytest.approx(found.cost)


@pytest.mark.parametrize("seed", range(100))
def test_too_many_places_are_thinned_out_and_nothing_is_called_proven(seed, monkeypatch):
    seekers = pages(seed)
    best = place(seekers, nodes=10_000)
    monkeypatch.setattr(placing, "MAX_CELLS", 6)
    monkeypatch.setattr(placing, "MAX_LINES", 3)
    found = place(seekers, nodes=10_000)
    cost = cost_of(seekers, found.chosen)
    assert best.cost - 1e-6 <= cost <= found.cost + 1e-6
    assert found.bound <= best.cost + 1e-6
    assert not found.optimal or cost == pytest.approx(best.cost)


def test_a_search_whose_steps_are_long_takes_fewer(monkeypatch):
    monkeypatch.setattr(placing, "MAX_WORK", 1)
    seekers = [
        Seeker((Place((0,), float(k), 0.0), Place((1,), 1.0, 0.5)), 9.0, k) for k in range(3)
    ]
    found = place(seekers)
    assert not found.optimal
    assert cost_of(seekers, found.chosen) == pytest.approx(found.cost)


def test_values_on_words_of_very_many_others_have_prices():
    seekers = [Seeker((Place((0,), 0.0, 0.0), Place((1,), 0.0, 0.0)), 1e6) for _ in range(150)]
    found = place(seekers, nodes=1)
    for at, costs in zip(found.chosen, prices(seekers, found), strict=True):
        assert min(costs) > -1
        assert costs[1 + at] >= 3.0  # at least one other value has the word, too
