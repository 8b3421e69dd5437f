"""What each accepted document costs a review that teaches, and how often the model was right.

    python -m lab.benchmarks.review_teach [COUNT]

Needs ``../shared/data/adbuy``. Ad orders are accepted one by one, with their true values, as in
``lawful review --teach`` that began without a model. Seconds are of the processor, for all that
follows an acceptance: two answers to the document before it is learned, and the model of all.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from time import process_time

from lab.benchmarks.teach import SETS, Known
from lawful import Scored, SpanScores
from lawful.candidates.grounding.matches import Occurrences
from lawful.results.wire import ValueData
from lawful.review.learning import LAST, Learner, Lesson
from lawful.rules.rule_set import Rules
from lawful.values import type_named

EVERY = 25


def lesson_of(known: Known, rules: Rules) -> Lesson:
    """A document that is accepted with its true values, where they are printed first."""
    document, truth = known
    types = {f.name: f.type for f in rules.fields}
    occurrences, values = Occurrences(document), {}
    for name, texts in truth.values.items():
        if found := sorted(occurrences.find(texts[0], types[name])):
            read = type_named(types[name]).read(document.text(*found[0]))[:1]
            value = str(read[0]) if read else None
            values[name] = [ValueData(document.text(*found[0]), value, words=found[0])]
    nothing = SpanScores([], len(document))
    return Lesson(Scored(document, nothing), document, values, truth)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    data = SETS["ads"]
    split = data.splits("shown")[0]
    rules = data.rules()
    learner = Learner(rules, Path("unused"))
    seconds = []
    print("| accepted | seconds each, median | largest | right of the last 20 |")
    print("| ---: " * 4 + "|")
    for n, known in enumerate([*split.taught, *split.tested][:count]):
        lesson = lesson_of(known, rules)
        began = process_time()
        learner._teach({n: lesson})  # what its thread does
        seconds.append(process_time() - began)
        if (n + 1) % EVERY == 0:
            last = seconds[-EVERY:]
            right = learner.status()["right"]
            print(f"| {n + 1} | {median(last):.2f} | {max(last):.2f} | {right} of {LAST} |")


if __name__ == "__main__":
    main()
