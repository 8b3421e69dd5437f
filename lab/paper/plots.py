"""Figures of cells and outcomes, drawn with matplotlib as PNG and SVG.

A method has the same colour and marker in all figures. The colours are those of Okabe and Ito,
which are safe for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lab.paper.measurements import Cell
from lab.paper.methods import METHODS
from lab.paper.semantics import (
    NOTHING,
    PAPER,
    Outcome,
    by_pages,
    by_weight,
    interval,
    samples,
)
from lawful.base.errors import MissingExtraError

BLACK, GREY = "#000000", "#777777"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#C9B800"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"


class Look(NamedTuple):
    """The style of a method."""

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

_FEW = 50  # pages: too few for a running median

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
    "svg.hashsalt": "lawful",  # makes the file reproducible
    "svg.fonttype": "none",
}


def pyplot() -> Any:
    """``matplotlib.pyplot``, for drawing to files only."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("plots need matplotlib: install the 'lab' extra") from None
    mpl.use("agg")
    from matplotlib import pyplot as plt

    return plt


def draw_cells(cells: Sequence[Cell], folder: Path) -> list[Path]:
    """F1^s by time, acceptance by rank, and time by words, with one panel per set of pages."""
    panels = [list(some) for _, some in groupby(cells, key=_panel)]
    files = []
    for name, draw in (("f1s-time", _f1s_time), ("ranks", _ranks), ("time-words", _time_words)):
        files += figure(folder / name, panels, draw)
    return files


def draw_outcomes(outcomes: Sequence[Outcome], folder: Path) -> list[Path]:
    """Value F1 by semantics of rules, and by weight, with one panel per set of pages."""
    panels = by_pages(outcomes)
    files = figure(folder / "semantics", panels, _meanings, share=True)
    return files + figure(folder / "weights", panels, _weights, share=True)


def _panel(cell: Cell) -> tuple[str, str, str]:
    return cell.outputs, cell.units, cell.semantics


def figure(
    path: Path, panels: Sequence[Any], draw: Any, height: float = 3.6, *, share: bool = False
) -> list[Path]:
    """A row of panels with one legend, as PNG and SVG; ``share``: the same axes for all."""
    plt = pyplot()
    with plt.rc_context(_STYLE):
        drawn, axes = plt.subplots(
            1,
            len(panels),
            figsize=(0.6 + 4.3 * len(panels), height),
            squeeze=False,
            layout="constrained",
            sharex=share,
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
            drawn.legend(handles.values(), handles.keys(), loc="outside right center")
        files = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
        for file in files:
            drawn.savefig(file, dpi=200, metadata={"Date": None} if file.suffix == ".svg" else {})
        plt.close(drawn)
    return files


def _f1s_time(axis: Any, cells: Sequence[Cell], *, is_first: bool) -> None:
    """F1^s by time; hollow markers for methods that decoded only some of the pages."""
    most = max(cell.pages for cell in cells)
    for name, some in _by_method(cells):
        look, is_few = LOOKS[name], some[0].pages < most
        low, high = some[0].candidates, some[-1].candidates
        budgets = "" if high == 1 else f", {_power(low)}"
        budgets += f" to {_power(high)}" if low < high else ""
        axis.plot(
            [1000 * cell.seconds for cell in some],
            [100 * cell.f1s for cell in some],
            color=look.colour,
            marker=look.marker,
            markersize=7 if look.marker == "*" else None,
            markerfacecolor="white" if is_few else look.colour,
            linestyle=look.line,
            zorder=3 if name == "auto" else 2,
            label=f"{name}{budgets}{f' ({some[0].pages} pages)' if is_few else ''}",
        )
    _named(axis, cells, "ms per page", "$F_1^s$ (%)" if is_first else "", xscale="log")
    axis.xaxis.set_major_formatter("{x:g}")


def _ranks(axis: Any, cells: Sequence[Cell], *, is_first: bool) -> None:
    """Acceptance by rank, one curve per type of candidates: of the method with most of them."""
    furthest: dict[str, Cell] = {}
    for cell in sorted(cells, key=lambda c: (c.pages, c.candidates, c.mass is None)):
        if cell.method != "auto":  # which uses one of the others
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
            label=cell.method if cell.method == order else f"{cell.method}: {order}",
        )
    axis.set_xscale("log", base=2)
    shown = "pages accepted (%)" if is_first else ""
    _named(axis, cells, "candidates tried until one is accepted", shown, ylim=(0, 102))


def _time_words(axis: Any, cells: Sequence[Cell], *, is_first: bool) -> None:
    """Time by words of each method with its largest budget: pages as dots, and a running median.

    The median is left out if there are few pages.
    """
    for name, some in _by_method(cells):
        if name == "auto":
            continue  # uses one of the others
        cell, look = some[-1], LOOKS[name]
        order = np.argsort(cell.page_words, kind="stable")
        words = np.array(cell.page_words)[order]
        times = 1000 * np.array(cell.page_seconds)[order]
        label = name if cell.candidates == 1 else f"{name}, {_power(cell.candidates)}"
        if cell.pages < _FEW:
            axis.plot(
                words, times, look.marker, color=look.colour, markerfacecolor="white", label=label
            )
            continue
        axis.plot(
            words, times, ".", color=look.colour, markersize=3, alpha=0.3, markeredgewidth=0,
            rasterized=True,
        )  # fmt: skip
        half = max(4, len(words) // 10)
        middles = range(0, len(words), half // 4)
        windows = [slice(max(0, i - half), i + half + 1) for i in middles]
        axis.plot(
            [np.median(words[window]) for window in windows],
            [np.median(times[window]) for window in windows],
            color=look.colour,
            linestyle=look.line,
            label=label,
        )
    axis.set_xscale("log", base=2)
    units = "words" if cells[0].units != "pieces" else "word pieces"
    _named(axis, cells, units, "ms per page" if is_first else "", yscale="log")
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter("{x:g}")


def _gains(found: Sequence[Outcome], baseline: Outcome) -> tuple[list[float], Any]:
    """Gains of outcomes in value F1 over no rules, and their 95 % intervals."""
    drawn = samples(len(baseline.right))
    before = baseline.f1_resampled(drawn)
    bounds = [interval(each.f1_resampled(drawn) - before) for each in found]
    return [100 * (each.f1() - baseline.f1()) for each in found], 100 * np.array(bounds)


def _baseline(axis: Any, found: Sequence[Outcome]) -> Outcome:
    """The outcome without rules, from which gains are measured; its F1 is put in the title."""
    baseline = next(each for each in found if each.meaning == NOTHING)
    count, score = len(baseline.right), 100 * baseline.f1()
    axis.set_title(f"{baseline.outputs}, {count} pages: {score:.1f} without rules")
    return baseline


def _meanings(axis: Any, found: Sequence[Outcome], *, is_first: bool) -> None:
    baseline = _baseline(axis, found)
    rows = [each for each in found if each is not baseline and each.meaning.is_in_table]
    axis.axvline(0, color=GREY, linewidth=0.9)
    for row, (each, gain, bounds) in enumerate(zip(rows, *_gains(rows, baseline), strict=True)):
        colour = VERMILION if each.meaning == PAPER else BLUE
        axis.plot(bounds, [row, row], color=colour, solid_capstyle="butt")
        axis.plot(gain, row, "o", color=colour)
    axis.set_yticks(range(len(rows)), [str(each.meaning) for each in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.grid(axis="y", visible=False)
    axis.set_xlabel("gain in value F1 (points), 95 %")
    if not is_first:
        axis.tick_params(axis="y", left=False)


def _weights(axis: Any, found: Sequence[Outcome], *, is_first: bool) -> None:
    baseline = _baseline(axis, found)
    weights = by_weight(found)
    finite = [weight for weight in weights if weight != inf]
    count = len(finite)
    at = [*finite, *[2 * max(finite)] * (len(weights) - count)]  # hard: to the right of the others
    gains, bounds = _gains(list(weights.values()), baseline)
    axis.axhline(0, color=GREY, linewidth=0.9)
    axis.fill_between(finite, *bounds[:count].T, color=BLUE, alpha=0.15, linewidth=0)
    axis.plot(finite, gains[:count], color=BLUE, marker="o")
    for place, gain, bound in zip(at[count:], gains[count:], bounds[count:], strict=True):
        axis.plot([place] * 2, bound, color=BLUE, alpha=0.4)
        axis.plot(place, gain, "o", color=BLUE)
    axis.set_xscale("log", base=2)
    shown = [weight for weight in (0.5, 1, 2, 4, 8, 16) if weight in finite]
    names = [f"{weight:g}" for weight in shown] + ["hard"] * (len(at) - count)
    axis.set_xticks([*shown, *at[count:]], names)
    axis.minorticks_off()
    axis.set_xlabel("weight of a rule (nats)")
    if is_first:
        axis.set_ylabel("gain in value F1 (points), 95 %")


def _by_method(cells: Sequence[Cell]) -> Iterator[tuple[str, list[Cell]]]:
    """Cells with budgets of candidates, by method, the smallest budget first."""
    for name in LOOKS:
        some = [cell for cell in cells if cell.method == name and cell.mass is None]
        if some:
            yield name, sorted(some, key=lambda cell: cell.candidates)


def _power(candidates: int) -> str:
    """The number as a power of two, if it is one."""
    exponent = candidates.bit_length() - 1
    return f"$2^{{{exponent}}}$" if candidates == 2**exponent else f"{candidates:,}"


def _named(axis: Any, cells: Sequence[Cell], x: str, y: str, **more: Any) -> None:
    """Sets what the axes are, and the title: whose pages these are."""
    title = f"{cells[0].outputs}, {cells[0].units}: {max(cell.pages for cell in cells)} pages"
    axis.set(title=title, xlabel=x, ylabel=y, **more)
