"""The exact decoder and the readings under it, against brute force with the Python judge.

The judge itself is compared with an oracle of its own in ``test_exact_decoders``.
"""

from __future__ import annotations

from itertools import combinations, product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lawful import Budget, Defaults, Document, Field, Rule, Rules, Scores, _core, decode
from lawful.rules.plan import Tables, plan_of
from lawful.search import reading_search
from lawful.search.problem import Problem

ENOUGH = Budget(candidates=10**6)
WORDS = ["1", "2", "3", "1.000", "x", "-1", "0.5", "2024-01-05", "6/1/2024", "12.00"]

# Of a total, a tax with a default, parts (a list), a day, and another day.
CHECKS = [
    "total == sum(parts)",
    "total == sum(parts) + tax",
    "total + tax == 3",
    "total == 2 * tax",
    "abs(tax - 0.5 * total) <= 1",
    "abs(total - tax) <= 0.5 and total > 0",
    "total == round(1.1 * tax + 0.05, 1)",
    "total >= max(parts)",
    "min(parts) < tax",
    "count(parts) == 2",
    "count(parts) == total",
    "total == (sum(parts) if present(parts) else 1)",
    "total == (sum(parts) if present(parts) else 0) + tax",
    "not present(total) or total != 2",
    "sum(parts) <= 2 or total == 1",
    "day <= due",
    "due - day <= 1",
    "day >= date('2024-01-01')",
    "total > 1",
    "total * tax == 2",
    "total / 4 == tax",
    "total / 3 == tax",
    "-1 < total - tax < 2",
    "present(day) == present(due)",
    "1 == 2",
    "count(total) <= 1",
    "day != due or total == tax",
]
PREFIXES = {  # of the labels for types that may have several words, and of the others
    "BIO": ("BI", "B"),
    "IO": ("I", "I"),
    "IOB1": ("IB", "IB"),
    "IOBES": ("BIES", "S"),
}
LABELS = {
    scheme: (
        "O",
        *(f"{prefix}-{type_}" for type_ in ("total", "part", "x") for prefix in long),
        *(f"{prefix}-{type_}" for type_ in ("tax", "day", "due") for prefix in short),
    )
    for scheme, (long, short) in PREFIXES.items()
}


@lawful.rule(reads=("total", "parts"))
def python_rule(total, parts):
    return total <= sum(parts)


@st.composite
def rule_sets(draw):
    """Rules of every kind, coupled by chance."""
    weight = st.sampled_from([0.0, 0.3, 1.0, 3.0, 10.0, inf])
    presence = st.sampled_from(["keep", "free", "required", None])
    repeat = st.sampled_from(["agree", "first", "any", None])
    price = st.sampled_from([None, 0.0, 0.5, 2.0])
    fields = [
        Field("total", "total", "money", presence=draw(presence), repeat=draw(repeat),
              max_words=draw(st.sampled_from([None, 1])), ambiguity=draw(price)),
        Field("tax", "tax", "money", presence=draw(presence), repeat=draw(repeat),
              default=draw(st.sampled_from([None, 0, 2])),
              pattern=draw(st.sampled_from([None, "[0-9.]+"]))),
        Field("parts", "part", "money", many=True, presence=draw(presence), ambiguity=draw(price)),
        Field("day", "day", "date", presence=draw(presence), repeat=draw(repeat),
              ambiguity=draw(price)),
        Field("due", "due", "date", presence=draw(presence)),
    ]  # fmt: skip
    checks = draw(st.lists(st.sampled_from(CHECKS), max_size=4, unique=True))
    rules = [
        Rule(
            check,
            weight=draw(weight),
            tolerance=draw(st.sampled_from([None, 0, 1])),
            when=draw(st.sampled_from([None, None, None, "present(parts)", "tax > 0"])),
            unchecked=draw(st.sampled_from([None, None, 0.5, 3.0])),
        )
        for check in checks
    ]
    if draw(st.integers(0, 5)) == 0:
        rules.append(python_rule)
    return Rules(
        fields,
        rules,
        scheme=draw(st.sampled_from(["BIO", *PREFIXES])),
        defaults=Defaults(weight=draw(weight)),
    )


@st.composite
def problems(draw):
    rules = draw(rule_sets())
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
    labels = LABELS[rules.scheme]
    row = st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels))
    weights = np.array(draw(st.lists(row, min_size=len(words), max_size=len(words))), float)
    if draw(st.booleans()):
        weights = weights**3
    weights[weights.sum(axis=1) == 0, 0] = 1
    scores = Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), labels)
    return Document("d", words), scores, rules


def every_legal_row(problem):
    """All legal labellings of positive probability, as rows of label indices."""
    possible = [np.flatnonzero(np.isfinite(row)) for row in problem.scores.log_probs]
    rows = np.array(list(product(*possible)))
    return rows[problem.scheme.allow(rows)]


def status_of(found):
    """The status of what is proven best."""
    held = any(check.state == "satisfied" for check in found.checks)
    return "relaxed" if found.violations else "satisfied" if held else "unchecked"


def brute_force(document, scores, rules):
    """The worth of the best labelling; minus infinity when hard rules refuse all of them."""
    problem = Problem(document, scores, rules)
    if problem.best_legal is None:
        return -inf
    rows = every_legal_row(problem)
    log_probs = scores.log_probs[np.arange(len(document)), rows].sum(axis=1)
    penalties = np.array([cost.most for cost in problem.judge.costs(rows)])
    return float((log_probs - penalties).max())


@pytest.mark.parametrize("patience", [1, 256])  # sums modulo a prime at once, or never
@settings(max_examples=1000)
@given(problem=problems())
def test_exact_finds_the_best_and_says_so(patience, problem):
    expected = brute_force(*problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_search, "PATIENCE", patience)
        found = decode(*problem, decoder="exact", budget=ENOUGH)
    if expected == -inf:
        assert found.status == "infeasible"
        return
    assert found.worth == pytest.approx(expected, abs=1e-9)
    assert found.optimal
    assert found.bound == pytest.approx(expected, abs=1e-9)
    assert found.status == status_of(found)


@settings(max_examples=300)
@given(problem=problems(), budget=st.sampled_from([1, 2, 5, 20]))
def test_a_small_budget_never_lies(problem, budget):
    expected = brute_force(*problem)
    for decoder in ("exact", "readings"):
        found = decode(*problem, decoder=decoder, budget=Budget(candidates=budget))
        assert found.tried <= budget
        assert found.bound >= expected - 1e-9
        if found.optimal:
            assert found.worth == pytest.approx(expected, abs=1e-9)
        assert found.status != "infeasible" or expected == -inf


@settings(max_examples=300)
@given(problem=problems())
def test_readings_finds_the_best_too(problem):
    expected = brute_force(*problem)
    found = decode(*problem, decoder="readings", budget=ENOUGH)
    if expected == -inf:
        assert found.status == "infeasible"
    else:
        assert found.worth == pytest.approx(expected, abs=1e-9)
        assert found.optimal


@settings(max_examples=300)
@given(problem=problems(), most=st.sampled_from([0.0, 0.5, 2.0]))
def test_rules_never_cost_more_than_max_cost(problem, most):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    if whole.best_legal is None:
        return
    rows = every_legal_row(whole)
    log_probs = scores.log_probs[np.arange(len(document)), rows].sum(axis=1)
    floor = log_probs.max() - most
    worths = log_probs - np.array([cost.most for cost in whole.judge.costs(rows)])
    expected = worths[log_probs >= floor - 1e-12].max()
    for decoder in ("exact", "readings", "paths", "lazyk"):
        budget = Budget(candidates=10**6, max_cost=most)
        found = decode(document, scores, rules, decoder=decoder, budget=budget)
        assert found.log_prob >= floor - 1e-9
        if expected == -inf:
            assert found.status in ("exhausted", "infeasible")
            assert found.log_prob == pytest.approx(log_probs.max())
        else:
            assert found.worth == pytest.approx(expected, abs=1e-9)
        if found.optimal:
            assert found.worth == pytest.approx(worths.max(), abs=1e-9)
        assert found.bound >= worths.max() - 1e-9


@settings(max_examples=300)
@given(problem=problems())
def test_readings_are_all_there_is_in_order_with_their_best_labellings(problem):
    document, scores, rules = problem
    whole = Problem(document, scores, rules, keep=False)
    best = {}
    if whole.best_legal is not None:
        rows = every_legal_row(whole)
        log_probs = scores.log_probs[np.arange(len(document)), rows].sum(axis=1)
        for row, log_prob in zip(rows, log_probs, strict=True):
            spans = whole.judge.read(row)
            best[spans] = max(best.get(spans, -inf), log_prob)
    expected = []
    for reading, log_prob in best.items():
        for price, values in priced_readings(whole.judge, reading):
            expected.append((log_prob - price, values))
    expected = sorted((entry for entry in expected if entry[0] > -inf), key=lambda e: -e[0])
    found = list(lawful.readings(document, scores, rules))
    assert [r.log_prob - r.price for r in found] == pytest.approx([e for e, _ in expected])
    assert {fields_of(r.fields) for r in found} == {values for _, values in expected}
    assert len({fields_of(r.fields) for r in found}) == len(found)
    for reading in found:
        assert whole.scheme.allows(reading.labels)
        assert whole.log_prob(reading.labels) == pytest.approx(reading.log_prob)
    labels, log_probs = lawful.readings(document, scores, rules).take(3)
    assert labels.shape == (min(3, len(found)), len(document))
    assert log_probs.tolist() == [r.log_prob for r in found[:3]]


def priced_readings(judge, reading):
    """Every way to read the spans of a reading, with its price: readings times faults."""
    places = [(i, span) for i, spans in enumerate(reading) for span in spans]
    options = []
    for i, span in places:
        f = judge.rules.fields[i]
        values = judge.readings(i, span.start, span.end) or (None,)
        faults = judge.faults(i, span.start, span.end)
        some = values if f.ambiguity < inf else values[:1]
        options.append([(faults + f.ambiguity * (n > 0) if n else faults, v)
                        for n, v in enumerate(some)])  # fmt: skip
    for choice in product(*options):
        named = [
            (judge.rules.fields[i].name, span.start, span.end, value)
            for (i, span), (_, value) in zip(places, choice, strict=True)
        ]
        yield sum(price for price, _ in choice), frozenset(named)


def fields_of(fields):
    return frozenset(
        (name, *found.words, found.value) for name, values in fields.items() for found in values
    )


@settings(max_examples=300)
@given(problem=problems(), count=st.integers(1, 4))
def test_alternatives_are_the_next_best_sets_of_values(problem, count):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    judge = whole.judge
    expected = {}
    if whole.best_legal is not None:
        rows = every_legal_row(whole)
        log_probs = scores.log_probs[np.arange(len(document)), rows].sum(axis=1)
        for row, log_prob in zip(rows, log_probs, strict=True):
            for reading in every_reading(judge, judge.read(row)):
                worth = log_prob - judge.weigh(reading).most
                values = seen_by_a_person(rules, judge.fields(reading))
                if worth > -inf:
                    expected[values] = max(expected.get(values, -inf), worth)
    ranked = sorted(expected.values(), reverse=True)[: count + 1]
    found = decode(document, scores, rules, budget=ENOUGH, alternatives=count)
    if not ranked:
        assert found.status == "infeasible"
        return
    everything = [found, *found.alternatives]
    assert [d.worth for d in everything] == pytest.approx(ranked, abs=1e-9)
    assert len({seen_by_a_person(rules, d.fields) for d in everything}) == len(everything)
    assert all(d.optimal for d in everything)
    if len(ranked) > 1:
        assert found.margin == pytest.approx(ranked[0] - ranked[1], abs=1e-9)
    else:
        assert found.margin == inf


def every_reading(judge, reading):
    """All ways to read the texts of a labelling."""
    places = [(i, at) for i, spans in enumerate(reading) for at in range(len(spans))]
    counts = [
        len(judge.readings(i, *reading[i][at][:2])) if judge.rules.fields[i].ambiguity < inf else 1
        for i, at in places
    ]
    for choice in product(*(range(max(1, count)) for count in counts)):
        changed = [list(spans) for spans in reading]
        for (i, at), which in zip(places, choice, strict=True):
            changed[i][at] = changed[i][at]._replace(reading=which)
        yield tuple(map(tuple, changed))


def seen_by_a_person(rules, fields):
    """The first value that can be read, or all values of a list."""
    seen = []
    for f in rules.fields:
        values = [found.value for found in fields.get(f.name, ()) if found.value is not None]
        seen.append(tuple(values if f.many else values[:1]))
    return tuple(seen)


@settings(max_examples=500)
@given(problem=problems())
def test_compiled_rules_say_what_the_judge_says_of_every_labelling(problem):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    if whole.best_legal is None:
        return
    plan = plan_of(rules)
    judge = whole.judge
    tables = Tables(rules, plan)
    python = {rule.id for rule in plan.python}
    missing = np.array([judge.missing(i) for i in range(len(rules.fields))])
    for row in every_legal_row(whole):
        reading = judge.read(row)
        spans = sorted((s.start, s.end, i) for i, found in enumerate(reading) for s in found)
        values = [(judge.readings(i, start, end) or (None,))[0] for start, end, i in spans]
        numbers = [tables.number_of(i, v) for (*_, i), v in zip(spans, values, strict=True)]
        search = _core.Search(
            field=np.array([i for *_, i in spans], np.uint32),
            span=np.arange(len(spans), dtype=np.uint32),
            value=np.array(numbers, np.uint32),
            price=np.zeros(len(spans)),
            plan=plan.core,
            lookups=tables.lookups(),
            missing=missing,
            limit=inf,
            memory=2**20,
            patience=256,
        )
        found = search.next(len(spans) + 1)
        alone = ("reads", "max_words", "pattern")
        expected = sum(
            check.price
            for check in judge.checks(reading)
            if check.id not in python and check.id.partition(":")[2] not in alone
        )
        assert (found is _core.SearchStatus.found) == (expected < inf)
        assert expected == inf or search.violated == pytest.approx(expected)


@settings(max_examples=200)
@given(problem=problems())
def test_weights_of_infinity_and_zero_are_the_hard_result_and_the_best_legal_labelling(problem):
    document, scores, rules = problem
    nothing = decode(
        document, scores, rules.with_defaults(weight=0.0, presence="free", unchecked=0.0)
    )
    best = Problem(document, scores, rules).best_legal
    if best is not None:
        assert nothing.log_prob == pytest.approx(Problem(document, scores, rules).log_prob(best))
    hard = decode(document, scores, rules.with_defaults(weight=inf))
    assert hard.status in ("satisfied", "unchecked", "infeasible")
    expected = decode(document, scores, rules.with_defaults(weight=inf), decoder="paths",
                      budget=ENOUGH)  # fmt: skip
    assert (hard.status == "infeasible") == (expected.status == "infeasible")
    if hard.status != "infeasible":
        assert hard.worth == pytest.approx(expected.worth)


@settings(max_examples=300)
@given(problem=problems())
def test_a_clash_is_rules_that_cannot_hold_none_of_which_can_be_left_out(problem):
    document, scores, rules = problem
    rules = rules.with_defaults(weight=inf, presence="free", ambiguity=inf)
    found = decode(document, scores, rules)
    assert bool(found.clash) == (found.status == "infeasible")
    whole = Problem(document, scores, rules)
    if not found.clash or whole.best_legal is None:
        return
    held = []
    for row in every_legal_row(whole):
        violated = {
            c.id for c in whole.judge.checks(whole.judge.read(row)) if c.state == "violated"
        }
        spans = {name for name in violated if name.partition(":")[2] in
                 ("reads", "agrees", "max_words", "pattern")}  # fmt: skip
        held.append({*(violated - spans), *(("every span",) if spans else ())})

    def clash(some):
        return all(violated & set(some) for violated in held)

    assert clash(found.clash)
    assert found.clash_minimal
    assert not any(clash(some) for some in combinations(found.clash, len(found.clash) - 1))


@settings(max_examples=400)
@given(problem=problems())
def test_confidence_is_the_probability_that_a_field_is_as_answered(problem):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    found = decode(document, scores, rules, budget=ENOUGH, alternatives=1)
    if found.status == "infeasible":
        assert found.confidence == {}
        return
    judge, answer = whole.judge, seen_by_a_person(rules, found.fields)
    rows = every_legal_row(whole)
    log_probs = scores.log_probs[np.arange(len(document)), rows].sum(axis=1)
    total, same = 0.0, np.zeros(len(rules.fields))
    for row, log_prob in zip(rows, log_probs, strict=True):
        for reading in every_reading(judge, judge.read(row)):
            weight = np.exp(log_prob - judge.weigh(reading).most)
            values = seen_by_a_person(rules, judge.fields(reading))
            total += weight
            same += weight * np.array([a == b for a, b in zip(values, answer, strict=True)])
    exact = not plan_of(rules).python
    for f, mass in zip(rules.fields, same, strict=True):
        if f.name not in found.confidence:
            assert mass / total == pytest.approx(1, abs=1e-5)
            continue
        low, high = found.confidence[f.name]
        assert 0 <= low <= mass / total + 1e-9
        assert mass / total - 1e-9 <= high <= 1
        assert not exact or high - low < 1e-6
