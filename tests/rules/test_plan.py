"""Compiled rules against the judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import _core
from lawful.rules.plan import Tables, plan_of
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
    tables = Tables(rules, plan)
    python = {rule.id for rule in plan.python}
    fields, values, ends, expected = [], [], [], []
    for row in every_legal_row(whole)[0]:
        reading = judge.read(row)
        for start, end, i in sorted(
            (span.start, span.end, i) for i, spans in enumerate(reading) for span in spans
        ):
            found = judge.readings(i, start, end)
            fields.append(i)
            values.append(tables.number_of(i, found[0]) if found else 0)
        ends.append(len(fields))
        alone = ("reads", "max_words", "pattern")
        expected.append(
            sum(
                check.price
                for check in judge.checks(reading)
                if check.id not in python and check.id.partition(":")[2] not in alone
            )
        )
    found = _core.judge(
        plan.core,
        tables.lookups(),
        np.array([judge.missing(i) for i in range(len(rules.fields))]),
        *(np.array(column, np.uint32) for column in (fields, values, ends)),
    )
    assert found.tolist() == pytest.approx(expected)
