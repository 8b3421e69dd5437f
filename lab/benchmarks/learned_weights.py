"""Learned weights against the defaults on receipts, and what they make of a wrong rule.

    python -m lab.benchmarks.learned_weights [--wrong]

needs ``../shared``, which is not part of the project: outputs of models, under the paper's rules;
with ``--wrong``, with a wrong one besides. Each table says F1 of values on pages that weights were
not fitted on. ``lab.benchmarks.tasks references`` has learned weights of references.
"""

from __future__ import annotations

from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import study
from lawful import Rule
from lawful.learn.weights import Learned, learn
from tests.fixtures.outputs import OUTPUTS

WRONG = Rule("total == tax", id="wrong")


def show(name: str, learned: Learned) -> None:
    """Prints one result."""
    parts = (f"{key} {100 * board.values.f1:.1f}" for key, board in learned.boards.items())
    print(f"{name}: value F1: {', '.join(parts)}; gain {learned.gain}")
    print(f"  temperature {learned.temperature:.2f}, spread {learned.spread:g}")
    for weight in learned.weights:
        if weight.is_changed and weight.parameter.part != "condition":
            print(
                f"  {weight.parameter.name}: {weight.parameter.default:g} -> {weight.value:.2f} "
                f"({weight.low:.2f} to {weight.high:.2f})"
            )
    for value in learned.values:
        print(f"  with and without {value.id or value.part}: {value.gain}", flush=True)


def main() -> None:
    arguments = study(__doc__, outputs=True, wrong=False)
    for name in OUTPUTS:
        rules = rules_of(name)
        show(name, learn(outputs_of(name), rules.with_rules(WRONG) if arguments.wrong else rules))


if __name__ == "__main__":
    main()
