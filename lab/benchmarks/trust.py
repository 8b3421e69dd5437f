"""How many pages pass under a promise about their errors, and how often the promise is broken.

    python -m lab.benchmarks.trust [--splits 20] [--sets cord-l2,ads] [--draws 1000]
    python -m lab.benchmarks.trust --curves [--figure docs/pictures/risk.svg]
    python -m lab.benchmarks.trust --usual

needs ``../shared``, which is not part of the project; the sets are those of ``trust_sets``. In each
split, half of the pages are reviewed: trust and the promise are made on them, as by ``lawful trust
fit``. The other half is counted. On the same splits, three other ways to let pages pass: all
*satisfied* ones; those whose value the model alone, before rules, takes for wrong with at most the
wanted rate (``model``); and those above the lowest such probability that keeps the wanted rate on
reviewed pages (``tuned``).

A split counts as broken if the error rate among the pages that pass is above the wanted one. Half a
set is few pages for rates of 1 %: one error among less than 100 breaks it. So the same is done with
``--draws`` pages drawn with replacement as the reviewed ones: then the set is the population, its
error rate is known, and theory says that a promise is broken in at most 5 % of draws.

``--curves`` promises nothing: it orders pages by trust that was fitted to other pages (in fifths),
by that of other sets (``usual``), and by the model's probability, and counts the largest share of
pages that has at most 1 % and 5 % wrong, and the mean error rate over all shares (AURC).
``--usual`` prints trust of all sets together, by scores of words and of spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.benchmarks.study import study
from lab.benchmarks.trust_sets import SETS, Page
from lawful.base.errors import InputError
from lawful.learn.promise import promise, risks
from lawful.learn.trust import Trust
from lawful.report.risk import draw_risk

WANTED = (0.01, 0.02, 0.05, 0.1)
PARTS = 5
SPANS = ("sroie-qwen", "cord-qwen", "facturx-qwen", "sroie-both", "ads")
SHOWN = ("sroie-both", "sroie-shipped", "ads", "cord-l2", "wild-l2text")
"""Sets of the figure."""

Passed = NDArray[np.bool_]


def promised(some: Sequence[Page], others: Sequence[Page], error: float, seed: int) -> Passed:
    """Which of the others pass, by a promise made on some."""
    none = np.zeros(len(others), bool)
    reviewed = [page.reviewed._replace(id=f"{i}") for i, page in enumerate(some)]
    try:
        found = promise(reviewed, ["needed"], error=error, seed=seed).trust
    except InputError:
        return none
    return np.array(
        [found.lets_pass(page.reviewed.doubts, barred=page.reviewed.barred) for page in others]
    )


def tuned(some: Sequence[Page], others: Sequence[Page], error: float) -> Passed:
    """Which of the others pass, by the lowest probability of the model that keeps the error."""
    falling = sorted(some, key=lambda page: -page.model)
    wrong = np.cumsum([not page.reviewed.right for page in falling])
    fine = np.flatnonzero(wrong <= error * np.arange(1, len(falling) + 1))
    least = falling[fine[-1]].model if len(fine) else 2.0
    return np.array([page.model >= least for page in others])


def ways(
    some: Sequence[Page], others: Sequence[Page], error: float, seed: int
) -> dict[str, Passed]:
    """By way, which of the others pass."""
    return {
        "promise": promised(some, others, error, seed),
        "satisfied": np.array([page.satisfied for page in others]),
        "model": np.array([page.model >= 1 - error for page in others]),
        "tuned": tuned(some, others, error),
    }


def rows(name: str, pages: Sequence[Page], splits: int, draws: int) -> None:
    """Prints the rows of one set of pages."""
    right = np.mean([page.reviewed.right for page in pages])
    for error in WANTED:
        for kind in ("halves", f"{draws:,} draws"):
            random = np.random.default_rng(0)
            found: dict[str, list[tuple[float, bool]]] = {}
            for seed in range(splits):
                if kind == "halves":
                    order = random.permutation(len(pages))
                    half = len(pages) // 2
                    some, others = ([pages[i] for i in p] for p in (order[:half], order[half:]))
                else:
                    some = [pages[i] for i in random.integers(0, len(pages), draws)]
                    others = list(pages)
                wrong = np.array([not page.reviewed.right for page in others])
                for way, passed in ways(some, others, error, seed).items():
                    rate = float(wrong[passed].mean()) if passed.any() else 0.0
                    found.setdefault(way, []).append((float(passed.mean()), rate > error + 1e-9))
            cells = " | ".join(
                f"{np.mean([share for share, _ in each]):.1%} ({sum(bad for _, bad in each)})"
                for each in found.values()
            )
            print(f"| {name} | {right:.1%} | {error:.0%} | {kind} | {cells} |", flush=True)


def together(pages: Sequence[Page]) -> Trust:
    """Trust that is fitted to all of these pages."""
    reviewed = [page.reviewed for page in pages]
    return Trust.fitted([r.doubts for r in reviewed], [r.right for r in reviewed], ["needed"])


def by_others(pages: Sequence[Page]) -> NDArray[np.float64]:
    """The trust in each page, fitted to four fifths of the others."""
    part = np.random.default_rng(1).integers(0, PARTS, len(pages))
    trusts = np.zeros(len(pages))
    for number in range(PARTS):
        model = together([page for page, of in zip(pages, part, strict=True) if of != number])
        for i in np.flatnonzero(part == number):
            trusts[i] = model.of(pages[i].reviewed.doubts)
    return trusts


def curves(found: dict[str, list[Page]]) -> dict[str, list[tuple[float, float]]]:
    """Prints how well each score orders the pages of each set; returns the curves of trust."""
    drawn = {}
    for name, pages in found.items():
        wrong = np.array([not page.reviewed.right for page in pages])
        data = name.partition("-")[0].replace("photos", "sroie")
        elsewhere = [
            page
            for other, each in found.items()
            if data != other.partition("-")[0].replace("photos", "sroie")
            and (other in SPANS) == (name in SPANS)
            for page in each
        ]
        usual = together(elsewhere) if elsewhere else None
        scores = {"trust": by_others(pages)}
        if usual is not None:
            scores["usual"] = np.array([usual.of(page.reviewed.doubts) for page in pages])
        scores["model"] = np.array([page.model for page in pages])
        for way, score in scores.items():
            curve = risks(score, wrong, points=len(pages))
            most = [max((s for s, r in curve if r <= e), default=0.0) for e in (0.01, 0.05)]
            area = np.mean([risk for _, risk in curve])
            cells = f"{most[0]:.1%} | {most[1]:.1%} | {area:.4f}"
            print(f"| {name} ({len(pages)}) | {1 - wrong.mean():.1%} | {way} | {cells} |")
        drawn[name] = risks(scores["trust"], wrong)
    return drawn


def main() -> None:
    options = study(
        __doc__,
        outputs=True,
        sets=",".join(SETS),
        splits=20,
        draws=1000,
        curves=False,
        usual=False,
        figure=Path,
    )
    found = {name: list(SETS[name]()) for name in options.sets.split(",")}
    if options.usual:
        for kind in ("words", "spans"):
            some = [
                p for n, each in found.items() if (n in SPANS) == (kind == "spans") for p in each
            ]
            print(kind, together(some))
    elif options.curves:
        print("| set | right | by | 1 % wrong | 5 % wrong | AURC |\n" + "| --- " * 6 + "|")
        drawn = curves(found)
        if options.figure:
            shown = {name: drawn[name] for name in SHOWN if name in drawn}
            svg = draw_risk(shown, 0.01).replace("<svg ", '<svg style="background:#fff" ', 1)
            options.figure.write_text(svg + "\n", encoding="utf-8")
    else:
        print(
            "| set | right | wanted error | reviewed | promise | satisfied | model | tuned |\n"
            + "| --- " * 8
            + "|"
        )
        for name, pages in found.items():
            rows(f"{name}, {len(pages)} pages", pages, options.splits, options.draws)


if __name__ == "__main__":
    main()
