"""Tasks beyond documents: addresses, intents with slots, and references.

    python -m lab.benchmarks.tasks addresses
    python -m lab.benchmarks.tasks intents [--train 50 200 1000] [--splits 5] [--pages 700]
    python -m lab.benchmarks.tasks references [--train 20 100 300 1135] [--splits 4] [--defaults]
        [--base MiniLM/ [--layers 3]]

needs ``../shared``, which is not part of the project, and the extra ``crfsuite``; addresses need
usaddress. With ``--base``, references are scored by that encoder, which is cut to ``--layers`` and
fine-tuned (extra ``train``; in practice on a GPU). Tables say the mean and the standard deviation
over splits.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lab.benchmarks.data import DATA
from lab.benchmarks.study import Study

DEFAULT_SIZES = {"intents": [50, 200, 1000], "references": [20, 100, 300, 1135], "addresses": []}


def main() -> None:
    parser = Study(__doc__, DATA / "tasks")
    parser.add_argument("task", choices=list(DEFAULT_SIZES))
    parser.add_argument("--train", type=int, nargs="+", help="numbers of training examples")
    parser.add_argument("--splits", type=int, help="default: 5, of references 4")
    parser.add_argument("--pages", type=int, help="number of sentences; default: all")
    parser.add_argument("--defaults", action="store_true", help="references: learn no weights")
    parser.add_argument("--base", type=Path, help="references: an encoder, as a folder")
    parser.add_argument("--layers", type=int, help="of the encoder; default: all")
    arguments = parser.parse_args()
    sizes = arguments.train or DEFAULT_SIZES[arguments.task]
    if arguments.task == "intents":
        from lab.benchmarks.intents import judge_intents

        judge_intents(sizes, arguments.splits or 5, arguments.pages)
    elif arguments.task == "references":
        from lab.benchmarks import references

        splits, learning = arguments.splits or 4, not arguments.defaults
        scoring = references.scored
        if arguments.base is not None:
            scoring = partial(references.scored_by_encoder, arguments.base, arguments.layers)
        references.judge_references(sizes, splits, learning=learning, scoring=scoring)
    else:
        from lab.benchmarks.addresses import judge_addresses

        judge_addresses()


if __name__ == "__main__":
    main()
