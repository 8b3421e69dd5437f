"""Every decoder on the outputs of real models for real receipts, under the paper's rules.

    python -m lab.benchmarks.shared [--pages N] [--decoders a,b] [--candidates 8192] [--seconds 20]
        [--units words|pieces] [--semantics lawful|paper]

All decoders have the same budget of candidates, and of seconds per page, without which lazy_ilp
takes hours; a wide beam on a long page may also reach the time limit. Pages are decoded one after
another in this process. ``--decoders paths --candidates 1`` is the baseline, the best legal
labelling. The rules' verdicts on the gold labels are printed first.
"""

from __future__ import annotations

from time import perf_counter

from lab.benchmarks.study import Study
from lab.benchmarks.tables import Table
from lab.benchmarks.timing import percentiles
from lab.datasets import RULES
from lawful import Budget, LawfulError, Rules, Scored, decode
from lawful.decoders import DECODERS, decoder_named
from lawful.evaluation.scoreboard import Scoreboard
from lawful.evaluation.survey import GoldVerdicts, judge_gold
from lawful.rules.definitions import PAPER
from tests.fixtures.outputs import OUTPUTS, read_gold, read_outputs


def measure(pages: list[Scored], rules: Rules, decoder: str, budget: Budget) -> dict[str, object]:
    """What one decoder does on the pages."""
    board = Scoreboard(rules)
    times, optimal = [], 0
    for page in pages:
        begin = perf_counter()
        decoding = decode(page.document, page.scores, rules, decoder=decoder, budget=budget)
        times.append(perf_counter() - begin)
        board.add(page, decoding)
        optimal += decoding.optimal
    shares = {
        "satisfied": board.statuses["satisfied"] / len(pages),
        "unchecked": board.statuses["unchecked"] / len(pages),  # no rule could be checked
        "optimal": optimal / len(pages),
        "entity F1": board.entities.f1,
        "value F1": board.values.f1,
    }
    names = ("median ms", "95 % ms", "worst ms")
    ms = zip(names, percentiles(times, 50, 95, 100), strict=True)
    return (
        {"decoder": decoder, "pages": len(pages)}
        | {name: f"{share:.1%}" for name, share in shares.items()}
        | {name: f"{1000 * each:.2f}" for name, each in ms}
        | {"pages/s": f"{len(pages) / sum(times):.1f}"}
    )


def describe(data: str, truth: GoldVerdicts) -> str:
    rules = "".join(
        f"\n  {name:<8}{states['satisfied']:>5} satisfied{states['violated']:>5} violated"
        f"{states['vacuous']:>5} vacuous"
        for name, states in truth.states.items()
    )
    return (
        f"gold labels of {data}, {truth.documents} pages: "
        f"{truth.lawful} ({truth.lawful / truth.documents:.1%}) violate no rule, "
        f"{truth.unchecked} of these because no rule could be checked; "
        f"{truth.clean} ({truth.clean / truth.documents:.1%}) violate no check at all{rules}"
    )


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.add_argument("--pages", type=int, help="pages per model; default: all")
    parser.add_argument("--ilp-pages", type=int, default=5, help="lazy_ilp takes seconds per page")
    parser.add_argument(
        "--beam-pages", type=int, default=20, help="a wide beam takes a second per page"
    )
    parser.add_argument("--decoders", default=",".join(DECODERS), help="default: %(default)s")
    parser.add_argument("--candidates", type=int, default=2**13, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=20, help="time limit per page; default: %(default)s"
    )
    parser.add_argument("--units", choices=("words", "pieces"), default="words")
    parser.add_argument("--semantics", choices=("lawful", "paper"), default="lawful")
    arguments = parser.parse_args()
    try:
        decoders = [decoder_named(name).name for name in arguments.decoders.split(",")]
        budget = Budget(arguments.candidates, arguments.seconds)
    except LawfulError as error:
        parser.error(str(error))
    rules = {data: Rules.load(RULES[data]) for data in dict.fromkeys(OUTPUTS.values())}
    if arguments.semantics == "paper":
        rules = {data: each.with_defaults(**PAPER) for data, each in rules.items()}

    for data, each in rules.items():
        print(describe(data, judge_gold(read_gold(data), each)))
    table = Table()
    for name, data in OUTPUTS.items():
        pages = list(read_outputs(name, arguments.pages))
        if arguments.units == "words":
            pages = [page.to_words() for page in pages]
        for decoder in decoders:
            most = {"lazy_ilp": arguments.ilp_pages, "beam": arguments.beam_pages}.get(decoder)
            table.add({"outputs": name} | measure(pages[:most], rules[data], decoder, budget))


if __name__ == "__main__":
    main()
