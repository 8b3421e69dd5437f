"""Helpers that several test files share."""

from __future__ import annotations

import json
from itertools import product
from math import inf

import numpy as np
import pytest

from lab import receipts as demo
from lawful import Budget, Document, decode
from lawful.rules.judging.judge import Judge
from tests.command_line import ROOT, run  # noqa: F401 - tests import them from here
from tests.fixtures import outputs

DOCUMENTS, RULES = str(demo.shipped()), str(demo.RULES)
"""The documents and the rule file that the package ships, as the command line takes them."""

ENOUGH = Budget(candidates=10**6)
"""A budget with which exact decoders prove their answers to all problems of these tests."""

needs_shared = pytest.mark.skipif(not outputs.HERE, reason=outputs.NEEDED)


def demo_lines(count, **options):
    """Generated receipts as JSON lines."""
    return "".join(demo.json_line(e) + "\n" for e in demo.generate(count, **options))


def timeless(text):
    """The decodings of JSON lines without the time that each took."""
    return [{**json.loads(line), "seconds": 0} for line in text.splitlines()]


def without(line, *keys):
    """A JSON line without some of its keys."""
    record = json.loads(line)
    return json.dumps({key: value for key, value in record.items() if key not in keys})


def assert_yields(stream, expected, cost_of):
    """Asserts that a stream yields ``expected``, up to the order of ties, with the right costs."""
    found = [(tuple(labels.tolist()), log_prob) for labels, log_prob in stream]
    assert len({labels for labels, _ in found}) == len(found)
    assert {labels for labels, _ in found} == {labels for _, labels in expected}
    assert [-log_prob for _, log_prob in found] == pytest.approx([cost for cost, _ in expected])
    log_probs = [log_prob for _, log_prob in found]
    assert log_probs == sorted(log_probs, reverse=True)
    for labels, log_prob in found:
        assert -log_prob == pytest.approx(cost_of(labels))


def possible_labellings(scores):
    """All labellings without a label of probability zero, legal or not, as label indices."""
    return product(*(np.flatnonzero(row > -inf).tolist() for row in scores.log_probs))


def assert_finds_best(document, scores, rules, decoder, penalty):
    """Asserts that a decoder proves the best of all labellings, each judged by hand.

    ``penalty`` is a function of label indices; ``None`` is for a labelling that is not legal.
    """
    costs = {
        labels: cost
        for labels in possible_labellings(scores)
        if (cost := penalty(labels)) is not None
    }
    best = max(
        sum(scores.log_probs[range(len(labels)), list(labels)]) - cost
        for labels, cost in costs.items()
    )
    found = decode(document, scores, rules, decoder=decoder, budget=ENOUGH)
    chosen = tuple(scores.labels.index(label) for label in found.labels)
    assert found.penalty == pytest.approx(costs[chosen]), document
    assert found.worth == pytest.approx(best), document
    assert found.optimal, document


def status_of_optimum(found):
    """The status of a decoding if it is proven optimal."""
    held = any(check.state == "satisfied" for check in found.checks)
    return "relaxed" if found.violations else "satisfied" if held else "unchecked"


JUDGED_LABELS = ["O", "B-total", "I-total", "B-sub", "I-sub", "B-tax", "B-item", "I-item"]


def judged(words, labels, rules, best=None):
    """The judge's checks of one labelling, by id; the fields of the labelling ``best`` are kept."""
    scheme = rules.scheme_for(tuple(JUDGED_LABELS))
    made = Judge(Document("d", words), rules, scheme)
    if best is not None:
        made.keep(np.array([JUDGED_LABELS.index(label) for label in best]))
    row = np.array([JUDGED_LABELS.index(label) for label in labels])
    checks = made.checks(made.read(row))
    assert made.cost(row).most == sum(c.price for c in checks)
    return {c.id: c for c in checks}
