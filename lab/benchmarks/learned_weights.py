"""Learned weights against the defaults, and what they make of wrong rules.

    python -m lab.benchmarks.learned_weights [--train 200 1135] [--pages 378] [--receipts] [--wrong]

needs ``../shared``, which is not part of the project. Without options: bibliographic references
(AnyStyle), scored by the tagger of ``lab.benchmarks.weights``, under its four kinds of rules.
With ``--receipts``: outputs of models on receipts, under the paper's rules. With ``--wrong``: the
same with a wrong rule, which for references is that fields begin where no punctuation is. Each
table says F1 on pages that weights were not fitted on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import Study
from lab.benchmarks.weights import KINDS, REFERENCES, Tagger, read_references
from lawful import Field, Rule, Rules
from lawful.documents.records import Scored
from lawful.learn.weights import Learned, learn
from lawful.rules import Boundaries
from tests.fixtures.outputs import OUTPUTS

WRONG_FOR = {"cord": "total == tax", "wildreceipt": "total == tax"}
"""Wrong rules for receipts, by data set."""


def references(train: int, count: int) -> tuple[list[Scored], list[Field]]:
    """Scored references that the tagger was not trained on, and their fields."""
    core = list(read_references(REFERENCES / "core.xml"))
    test, rest = core[::4][:count], [each for i, each in enumerate(core) if i % 4]
    types = sorted({label[2:] for each in core for label in each.gold})
    labels = ("O", *(f"{prefix}-{type_}" for type_ in types for prefix in "BI"))
    tagger = Tagger(rest[:train], labels)
    pages = [Scored(each.document, tagger.scores(each.document), each.gold) for each in test]
    return pages, [Field(type_, type_, repeat="any") for type_ in types]


def cases(arguments: argparse.Namespace) -> Iterator[tuple[str, Sequence[Scored], Rules]]:
    """The names, pages and rules to learn on."""
    for size in () if arguments.receipts else arguments.train:
        pages, fields = references(size, arguments.pages)
        parts = {**KINDS["all four"](10.0)}
        parts["boundaries"] = replace(parts["boundaries"], weight=5.0)
        if arguments.wrong:
            parts["boundaries"] = Boundaries(r"\w$", 10.0)
        yield f"references, tagger of {size}", pages, Rules(fields, **parts)
    for name, data in OUTPUTS.items() if arguments.receipts else ():
        pages, rules = outputs_of(name), rules_of(name)
        if arguments.wrong:
            rules = rules.with_rules(Rule(WRONG_FOR[data], id="wrong"))
        yield name, pages, rules


def show(name: str, learned: Learned) -> None:
    """Prints one result."""
    parts = (f"{key} {100 * _f1(learned, key):.1f}" for key in learned.boards)
    print(f"{name}: F1 of {learned.measure}: {', '.join(parts)}; gain {learned.gain}")
    print(f"  temperature {learned.temperature:.2f}, spread {learned.spread:g}")
    for weight in learned.weights:
        if weight.is_changed and weight.parameter.part != "condition":
            print(
                f"  {weight.parameter.name}: {weight.parameter.default:g} -> {weight.value:.2f} "
                f"({weight.low:.2f} to {weight.high:.2f})"
            )
    for value in learned.values:
        print(f"  with and without {value.id or value.part}: {value.gain}", flush=True)


def _f1(learned: Learned, name: str) -> float:
    return float(getattr(learned.boards[name], learned.measure).f1)


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.add_argument("--train", type=int, nargs="+", default=[200, 1135], help="sizes")
    parser.add_argument("--pages", type=int, default=378, help="references to learn on")
    parser.add_argument("--receipts", action="store_true", help="receipts, not references")
    parser.add_argument("--wrong", action="store_true", help="with a wrong rule")
    arguments = parser.parse_args()
    for name, pages, rules in cases(arguments):
        measure = None if arguments.receipts else "entities"
        show(name, learn(pages, rules, measure=measure))


if __name__ == "__main__":
    main()
