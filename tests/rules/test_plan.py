"""Compiled rules against the judge."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import Field, Rules, _core
from lawful.rules.compiled.plan import Tables, plan_of
from lawful.search.problem import Problem
from tests.oracles.labellings import every_legal_row
from tests.strategies import problems


@settings(max_examples=500)
@given(problem=problems())
def test_compiled_rules_say_what_the_judge_says_of_every_labelling(problem):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    if whole.best_legal is None:
        return
    plan = plan_of(rules)
    judge = whole.judge
    tables = Tables(rules, plan, "d")
    python = {rule.id for rule in plan.python}
    missing = np.array([judge.missing(i) for i in range(len(rules.fields))])
    for row in every_legal_row(whole)[0]:
        reading = judge.read(row)
        spans = sorted((s.start, s.end, i) for i, found in enumerate(reading) for s in found)
        values = [(judge.values(i, start, end) or (None,))[0] for start, end, i in spans]
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


def test_a_bound_below_zero_is_no_equation():
    rules = Rules([Field("total", "total", "money"), Field("tax", "tax", "money")],
                  ["abs(total - tax) <= -1"])  # fmt: skip
    assert plan_of(rules).how["abs(total - tax) <= -1"].way == "compiled"
