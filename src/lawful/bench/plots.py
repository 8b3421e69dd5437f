"""The figures: cells and outcomes drawn with matplotlib, as PNG and SVG.

A method has one colour and one marker in all of them. Colours are Okabe and Ito's, which people who
see few colours can tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf, isinf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lawful.bench.cells import Cell
from lawful.bench.methods import METHODS
from lawful.bench.semantics import NOTHING, Outcome, by_pages, by_weight, interval, samples
from lawful.errors import MissingExtraError

BLACK, GREY = "#000000", "#777777"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#C9B800"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    marker: str
    line: str = "-"


LOOKS: Mapping[str, Look] = {
    "argmax": Look(BLACK, "x"),
    "beam": Look(GREY, "s"),
    "best_first": Look(YELLOW, "v"),
    "lazy_ilp": Look(VERMILION, "D"),
    "lazyk": Look(BLUE, "o"),
    "published": Look(SKY, "^", "--"),
    "lazy-k": Look(SKY, "P"),
    "paths": Look(GREEN, "o"),
    "readings": Look(ORANGE, "o"),
    "exact": Look(PURPLE, "o"),
    "auto": Look(BLACK, "*"),
}

_STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "svg.hashsalt": "lawful",  # the same figure is the same file
    "svg.fonttype": "none",
}


def pyplot() -> Any:
    """matplotlib, drawing to files only."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("plots need matplotlib: install the 'plots' extra") from None
    mpl.use("agg")
    from matplotlib import pyplot as plt

    return plt


def draw_cells(cells: Sequence[Cell], folder: Path) -> list[Path]:
    """F1^s against time, acceptance by rank, and time against words: a panel a set of pages."""
    panels = [list(some) for _, some in groupby(cells, key=_panel)]
    files = []
    for name, draw in (("f1s-time", _f1s_time), ("ranks", _ranks), ("time-words", _time_words)):
        files += _figure(folder / name, panels, draw)
    return files


def draw_outcomes(outcomes: Sequence[Outcome], folder: Path) -> list[Path]:
    """Value F1 by what rules mean, and against the weight: a panel a set of pages."""
    panels = by_pages(outcomes)
    rows = max(map(len, panels))
    files = _figure(folder / "semantics", panels, _meanings, height=1.1 + 0.2 * rows, share=True)
    return files + _figure(folder / "weights", panels, _weights)


def _panel(cell: Cell) -> tuple[str, str, str]:
    return cell.outputs, cell.units, cell.semantics


def _figure(
    path: Path, panels: Sequence[Any], draw: Any, height: float = 3.6, *, share: bool = False
) -> list[Path]:
    plt = pyplot()
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            1,
            len(panels),
            figsize=(0.6 + 4.3 * len(panels), height),
            squeeze=False,
            layout="constrained",
            sharey=share,
        )
        for i, (axis, panel) in enumerate(zip(axes[0], panels, strict=True)):
            draw(axis, panel, is_first=i == 0)
        handles: dict[str, Any] = {}
        for axis in axes[0]:
            handles |= {
                label: h for h, label in zip(*axis.get_legend_handles_labels(), strict=True)
            }
        if handles:
            figure.legend(handles.values(), handles.keys(), loc="outside right center")
        files = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
        for file in files:
            figure.savefig(file, dpi=200, metadata={"Date": None} if file.suffix == ".svg" else {})
        plt.close(figure)
    return files


def _f1s_time(axis: Any, cells: Sequence[Cell], *, is_first: bool) -> None:
    for name, some in _by_method(cells):
        look = LOOKS[name]
        times, scores = [1000 * c.seconds for c in some], [100 * c.f1s for c in some]
        few = (
            ""
            if len(_pages(cells)) == 1 or some[0].pages == max(_pages(cells))
            else (f" ({some[0].pages} pages)")
        )
        axis.plot(
            times,
            scores,
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            label=name + few,
        )
    axis.set_xscale("log")
    axis.set_title(_title(cells))
    axis.set_xlabel("ms a page")
    if is_first:
        axis.set_ylabel("$F_1^s$ (%)")


def _ranks(axis: Any, cells: Sequence[Cell], *, is_first: bool) -> None:
    """One curve for each order of candidates: of methods with the same, whoever went furthest."""
    furthest: dict[str, Cell] = {}
    for cell in sorted(cells, key=lambda c: (c.pages, c.candidates, c.mass is None)):
        if cell.method != "auto":  # it is one of the others
            furthest[METHODS[cell.method].order] = cell
    for order, cell in sorted(furthest.items()):
        ranks = np.sort(
            [t for t, ok in zip(cell.page_tried, cell.page_accepted, strict=True) if ok]
        )
        shares = 100 * np.arange(1, len(ranks) + 1) / cell.pages
        if not len(ranks):
            continue
        look = LOOKS[cell.method]
        axis.plot(
            [*ranks, max(cell.candidates, ranks[-1])],
            [*shares, shares[-1]],
            drawstyle="steps-post",
            color=look.colour,
            label=f"{order} ({cell.method})",
        )
    axis.set_xscale("log", base=2)
    axis.set_ylim(0, 102)
    axis.set_title(_title(cells))
    axis.set_xlabel("candidates tried")
    if is_first:
        axis.set_ylabel("pages accepted (%)")


def _time_words(axis: Any, cells: Sequence[Cell], *, is_first: bool) -> None:
    """Each method with its largest budget: pages as dots, and their running median."""
    for name, some in _by_method(cells):
        if name == "auto":
            continue  # it is one of the others
        cell, look = some[-1], LOOKS[name]
        order = np.argsort(cell.page_words, kind="stable")
        words = np.array(cell.page_words)[order]
        times = 1000 * np.array(cell.page_seconds)[order]
        axis.plot(
            words, times, ".", color=look.colour, markersize=2.5, alpha=0.25, markeredgewidth=0
        )
        width = max(5, len(words) // 10)
        middles = range(width // 2, len(words) - width // 2, max(1, width // 4))
        window = [slice(i - width // 2, i + width // 2 + 1) for i in middles]
        axis.plot(
            [np.median(words[w]) for w in window],
            [np.median(times[w]) for w in window],
            color=look.colour,
            linestyle=look.line,
            label=f"{name}, {cell.budget}",
        )
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_title(_title(cells))
    axis.set_xlabel("words" if cells[0].units != "pieces" else "word pieces")
    if is_first:
        axis.set_ylabel("ms a page")


def _meanings(axis: Any, found: Sequence[Outcome], *, is_first: bool) -> None:
    drawn = samples(len(found[0].right))
    baseline = next(each for each in found if each.meaning == NOTHING)
    axis.axvline(100 * baseline.f1(), color=GREY, linewidth=0.9)
    for row, each in enumerate(found):
        low, high = (100 * bound for bound in interval(each.f1_resampled(drawn)))
        papers = str(each.meaning).endswith("the paper")
        colour = BLACK if each is baseline else VERMILION if papers else BLUE
        axis.plot([low, high], [row, row], color=colour, linewidth=1.2, solid_capstyle="butt")
        axis.plot(100 * each.f1(), row, "o", color=colour)
    axis.set_yticks(range(len(found)), [str(each.meaning) for each in found])
    axis.set_ylim(len(found) - 0.4, -0.6)
    axis.grid(axis="y", visible=False)
    axis.set_title(f"{found[0].outputs}, {len(found[0].right)} pages")
    axis.set_xlabel("value F1 (%), 95 % of resamplings")
    del is_first


def _weights(axis: Any, found: Sequence[Outcome], *, is_first: bool) -> None:
    baseline = next(each for each in found if each.meaning == NOTHING)
    weights = by_weight(found)
    drawn = samples(len(baseline.right))
    finite = [weight for weight in weights if weight != inf]
    at = [2 * max(finite) if isinf(weight) else weight for weight in weights]
    bounds = 100 * np.array([interval(each.f1_resampled(drawn)) for each in weights.values()])
    scores = [100 * each.f1() for each in weights.values()]
    count = len(finite)
    axis.fill_between(at[:count], *bounds[:count].T, color=BLUE, alpha=0.15, linewidth=0)
    axis.plot(at[:count], scores[:count], color=BLUE, marker="o")
    if count < len(at):
        axis.plot([at[-1]] * 2, bounds[-1], color=BLUE, alpha=0.4)
        axis.plot(at[-1], scores[-1], "o", color=BLUE)
    axis.axhline(100 * baseline.f1(), color=GREY, linewidth=0.9)
    axis.annotate(
        "no rules", (at[0], 100 * baseline.f1()), (2, -3),
        textcoords="offset points", va="top", color=GREY, fontsize=8,
    )  # fmt: skip
    axis.set_xscale("log", base=2)
    shown = [weight for weight in (0.5, 1, 2, 4, 8, 16) if weight in finite]
    axis.set_xticks(
        [*shown, *at[count:]],
        [*(f"{weight:g}" for weight in shown), "hard"][: len(shown) + len(at[count:])],
    )
    axis.minorticks_off()
    axis.set_title(f"{found[0].outputs}, {len(found[0].right)} pages")
    axis.set_xlabel("weight of a rule (nats)")
    if is_first:
        axis.set_ylabel("value F1 (%)")


def _by_method(cells: Sequence[Cell]) -> Iterator[tuple[str, list[Cell]]]:
    """Cells with budgets of candidates, by method, the smallest budget first."""
    for name in LOOKS:
        some = [cell for cell in cells if cell.method == name and cell.mass is None]
        if some:
            yield name, sorted(some, key=lambda cell: cell.candidates)


def _pages(cells: Sequence[Cell]) -> set[int]:
    return {cell.pages for cell in cells}


def _title(cells: Sequence[Cell]) -> str:
    return f"{cells[0].outputs}, {cells[0].units}: {max(_pages(cells))} pages"
