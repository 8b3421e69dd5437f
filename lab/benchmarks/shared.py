"""Every decoder on the outputs of real models for real receipts, under the paper's rules.

    python -m lab.benchmarks.shared [--pages N] [--decoders a,b] [--candidates 8192] [--seconds 20]
        [--units words|pieces] [--semantics lawful|paper] [--out build/shared.json]

All decoders have the same budget of candidates, and of seconds per page, without which lazy_ilp
takes hours; a wide beam on a long page may also reach the time limit. Pages are decoded one after
another in this process. ``--decoders paths --candidates 1`` is the baseline, the best legal
labelling. The rules' verdicts on the gold labels are printed first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from lab.benchmarks.study import Study, write
from lab.benchmarks.timing import percentiles
from lab.datasets import RULES
from lawful import Budget, LawfulError, Rules, Scored, decode
from lawful.decoders import DECODERS, decoder_named
from lawful.evaluation.scoreboard import Scoreboard
from lawful.evaluation.survey import GoldVerdicts, judge_gold
from lawful.rules.definitions import PAPER
from tests.fixtures.outputs import OUTPUTS, read_gold, read_outputs


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: one decoder on the outputs of one model."""

    outputs: str
    decoder: str
    pages: int
    satisfied: float
    unchecked: float  # no rule could be checked
    optimal: float
    entity_f1: float
    value_f1: float
    median_ms: float
    late_ms: float  # the 95th percentile
    worst_ms: float
    pages_per_second: float

    def __str__(self) -> str:
        return (
            f"{self.outputs:<13}{self.decoder:<12}{self.pages:>5}{self.satisfied:>11.1%}"
            f"{self.unchecked:>11.1%}{self.optimal:>9.1%}{self.entity_f1:>11.1%}{self.value_f1:>10.1%}"
            f"{self.median_ms:>11.2f}{self.late_ms:>9.1f}{self.worst_ms:>10.1f}"
            f"{self.pages_per_second:>10.1f}"
        )


HEADER = (
    f"{'outputs':<13}{'decoder':<12}{'pages':>5}{'satisfied':>11}{'unchecked':>11}"
    f"{'optimal':>9}{'entity F1':>11}{'value F1':>10}{'median ms':>11}{'95 % ms':>9}"
    f"{'worst ms':>10}{'pages/s':>10}"
)


def measure(outputs: str, decoder: str, pages: list[Scored], rules: Rules, budget: Budget) -> Row:
    """Decodes the pages with one decoder."""
    board = Scoreboard(rules)
    times, optimal = [], 0
    for page in pages:
        begin = perf_counter()
        decoding = decode(page.document, page.scores, rules, decoder=decoder, budget=budget)
        times.append(perf_counter() - begin)
        board.add(page, decoding)
        optimal += decoding.optimal
    middle, late, worst = (1000 * each for each in percentiles(times, 50, 95, 100))
    return Row(
        outputs,
        decoder,
        len(pages),
        satisfied=board.statuses["satisfied"] / len(pages),
        unchecked=board.statuses["unchecked"] / len(pages),
        optimal=optimal / len(pages),
        entity_f1=board.entities.f1,
        value_f1=board.values.f1,
        median_ms=middle,
        late_ms=late,
        worst_ms=worst,
        pages_per_second=len(pages) / sum(times),
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
    parser.add_argument("--out", type=Path, default=Path("build/shared.json"))
    arguments = parser.parse_args()
    try:
        decoders = [decoder_named(name).name for name in arguments.decoders.split(",")]
        budget = Budget(arguments.candidates, arguments.seconds)
    except LawfulError as error:
        parser.error(str(error))
    rules = {data: Rules.load(RULES[data]) for data in dict.fromkeys(OUTPUTS.values())}
    if arguments.semantics == "paper":
        rules = {data: each.with_defaults(**PAPER) for data, each in rules.items()}

    truths = {data: judge_gold(read_gold(data), each) for data, each in rules.items()}
    print(*(describe(*each) for each in truths.items()), "", HEADER, sep="\n", flush=True)
    rows = []
    for name, data in OUTPUTS.items():
        pages = list(read_outputs(name, arguments.pages))
        if arguments.units == "words":
            pages = [page.to_words() for page in pages]
        for decoder in decoders:
            most = {"lazy_ilp": arguments.ilp_pages, "beam": arguments.beam_pages}.get(decoder)
            some = pages[:most]
            rows.append(measure(name, decoder, some, rules[data], budget))
            print(rows[-1], flush=True)
    setting = {key: getattr(arguments, key) for key in ("candidates", "units", "semantics")}
    records = {
        "gold": [{"data": data} | asdict(truth) for data, truth in truths.items()],
        "rows": list(map(asdict, rows)),
    }
    write(arguments.out, setting | records)


if __name__ == "__main__":
    main()
