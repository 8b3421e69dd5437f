"""A person corrects one document after the other: how soon new ones are right without a person.

    python -m lab.benchmarks.corrected ads|banks [--figure FILE.svg]

Needs ``../shared/data``. The quick model starts with nothing, is taught after each document, as in
``lawful review --teach``, and tested on documents that nobody corrects: of ad orders, those of the
other half; of notes, the others of the same bank, for each bank with at least ``FEWEST`` notes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

from lab.benchmarks.study import Study
from lab.benchmarks.teach import SETS, Data, Known, Right, decoded
from lawful import Rules
from lawful.models.quick import QuickTagger
from lawful.models.teaching import Teacher

STEPS = (1, 2, 3, 5, 8, 12, 20, 30, 40)
"""Numbers of corrected documents after which new ones are tested."""

FEWEST, TESTED = 24, 80
GOAL = 80
"""Percent of new documents that are to be right."""

ALL = "all of these"

Shares = dict[int, dict[str, float]]
"""By number of corrected documents and field, the percentage of new ones that are right."""


def streams(name: str, data: Data) -> Iterator[tuple[Sequence[Known], Sequence[Known]]]:
    """Documents in the order in which they are corrected, and those to test on."""
    split = data.splits("shown")[0]
    if name == "ads":
        yield split.taught, split.tested[:TESTED]
        return
    banks: dict[str, list[Known]] = defaultdict(list)
    for known in (*split.taught, *split.tested):
        banks[known[0].id.rsplit("/", 1)[0]].append(known)
    for notes in banks.values():
        if len(notes) >= FEWEST:
            half = len(notes) // 2
            yield notes[:half], notes[half : half + TESTED // 2]


def follow(
    corrected: Sequence[Known], tested: Sequence[Known], rules: Rules, right: Right
) -> tuple[dict[int, Counter[str]], Counter[str], float]:
    """By number of corrected documents, how many new ones are right; seconds per correction."""
    teacher, tagger = Teacher(rules), None
    found: dict[int, Counter[str]] = {}
    given: Counter[str] = Counter()
    seconds = 0.0
    for count, (document, truth) in enumerate(corrected[: max(STEPS)], 1):
        began = process_time()
        teacher.add(document, truth)
        if not any(pupil.lessons for pupil in teacher.pupils.values()):
            continue  # nothing is printed so far
        tagger = teacher.tagger(tagger)
        seconds += process_time() - began
        if count in STEPS:
            found[count], given = counted(tagger, tested, rules, right)
    return found, given, seconds / min(len(corrected), max(STEPS))


def counted(
    tagger: QuickTagger, tested: Sequence[Known], rules: Rules, right: Right
) -> tuple[Counter[str], Counter[str]]:
    """How many values, and whole documents, are right; and how many there are."""
    good, given = Counter[str](), Counter[str]()
    for known in tested:
        each = {
            name: ok
            for name, _, ok in right(decoded(known[0], tagger.scores_of(known[0]), rules), known)
        }
        good.update(name for name, ok in each.items() if ok)
        given.update(each.keys())
        good[ALL] += all(each.values())
        given[ALL] += 1
    return good, given


def draw(shares: Shares, file: Path) -> None:
    """Writes the learning curves as SVG."""
    from lab.paper.plots import pyplot

    plt = pyplot()
    plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lawful"}
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    for name in shares[max(shares)]:
        axes.plot(list(shares), [at.get(name, 0.0) for at in shares.values()], "o-", label=name)
    axes.axhline(GOAL, color="0.6", linestyle=":")
    axes.set(xscale="log", xlabel="documents corrected", ylabel="right, %", ylim=(0, 100))
    axes.set_xticks(list(shares), map(str, shares))
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})


def show(shares: Shares) -> None:
    """Prints a table, and when each field reaches ``GOAL``."""
    names = list(shares[max(shares)])
    print(f"| corrected | {' | '.join(names)} |\n|{' --- |' * (len(names) + 1)}")
    for count, at in shares.items():
        print(f"| {count} | {' | '.join(f'{at.get(n, 0):.0f}' for n in names)} |")
    for name in names:
        first = next((n for n, at in shares.items() if at.get(name, 0) >= GOAL), None)
        print(f"{name}: {GOAL} % of new documents right after {first or 'more'}")


def pooled(counts: Sequence[tuple[Mapping[int, Counter[str]], Counter[str]]]) -> Shares:
    """Shares over several streams; one that has ended stays as it was."""
    given = sum((each for _, each in counts), Counter[str]())
    shares: Shares = {}
    for step in STEPS:
        if any(step in found for found, _ in counts):
            good = Counter[str]()
            for found, _ in counts:
                good += found[max(n for n in found if n <= step)]
            shares[step] = {name: 100 * good[name] / of for name, of in given.items()}
    return shares


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("data", choices=("ads", "banks"))
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    data = SETS["ads" if options.data == "ads" else "brokers"]
    rules = data.rules()
    # Of the first documents, some print no value of some field, which is not known then.
    rules = replace(
        rules, fields=tuple(replace(f, optional=True, presence=None) for f in rules.fields)
    )
    right = data.right(rules)
    counts, seconds = [], []
    for corrected, tested in streams(options.data, data):
        found, given, each = follow(corrected, tested, rules, right)
        counts.append((found, given))
        seconds.append(each)
    shares = pooled(counts)
    show(shares)
    print(f"{len(counts)} streams; {sum(seconds) / len(seconds):.2f} s of one core per correction")
    if options.figure:
        draw(shares, options.figure)


if __name__ == "__main__":
    main()
