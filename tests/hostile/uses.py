"""Everything that is done with rules once they are loaded."""

from __future__ import annotations

import pickle
from io import StringIO

import numpy as np
from rich.console import Console

import lawful
from lawful import Budget, Document, Scores
from lawful.cli.rules import _field_table, _rule_table
from lawful.io.jsonl import decoding_line
from lawful.search.problem import Problem

WORDS = ["12.50", "3.350", "2024-03-04", "A", "1,400 -", "٣"]
LABELS = ["O", "B-total", "I-total", "B-sub", "B-item", "I-item", "B-day", "B-shop"]
GIVEN = {"po": "3.350", "who": "A"}
CLASSES = {"sort": {"memo": -0.7, "bill": -0.6863}, "tone": {"A": -0.1, "memo": -2.352}}
BUDGET = Budget(candidates=20, seconds=2.0)


def use(rules):
    """Decodes and checks small documents under the rules, and prints and pickles them."""
    again = pickle.loads(pickle.dumps(rules))
    assert repr(again) == repr(rules)
    assert [f.default for f in again.fields] == [f.default for f in rules.fields]
    repr(rules).encode()
    console = Console(file=StringIO(), width=400, markup=False, emoji=False)
    console.print(_field_table(rules))
    console.print(_rule_table(rules))
    console.file.getvalue().encode()
    own = [label for f in rules.fields for label in (f"B-{f.label}", f"I-{f.label}")]
    labels = list(dict.fromkeys([*LABELS, *own]))
    if len(labels) > 60:
        return
    for words in (WORDS[:3], WORDS[3:6]):
        rng = np.random.default_rng(len(words))
        probs = rng.dirichlet(np.full(len(labels), 0.3), len(words))
        try:
            scores = Scores.from_probs(probs, labels)
            problem = Problem(
                Document("d", words, given=GIVEN, classes=CLASSES), scores, rules, keep=False
            )
        except lawful.LawfulError:
            continue  # the labels or the scheme do not suit the fields
        problem.judge.checks(problem.judge.settled(problem.argmax)[0])
        for decoder in ("auto", "exact", "lazyk"):
            found = lawful.decode(problem.document, scores, rules, decoder=decoder, budget=BUDGET)
            str(found).encode()
            decoding_line(found).encode()
            pickle.loads(pickle.dumps(found))
