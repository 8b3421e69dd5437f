"""The paper's second experiment: the gain of decoding under rules, by size of the model.

    lawful data split cord.jsonl --rules cord --out build/cord
    python -m lab.paper.sizes fit --data build/cord --base MiniLM --layers 1,2,3,6 --seeds 0,1,2
    python -m lab.paper.sizes draw --rules cord

``fit`` trains an encoder, cut to its first layers, for every size and seed, and scores the word
pieces of the test documents with it. Models that exist are not trained again. ``draw`` decodes the
scores as the paper does, prints a table of F1^s by size, and writes a figure.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from lab.paper.measurements import Cell, Task
from lab.paper.methods import METHODS
from lab.paper.pages import load
from lab.paper.plots import LOOKS, figure
from lab.paper.store import Store

WEIGHTS = "weights.json"
"""File with the number of weights by encoder and layers, with and without embeddings."""

ROWS = (("argmax", 1), ("lazyk", 2**14), ("paths", 8), ("exact", 2**17))
"""Methods and candidates. Lazy-ILP with 8 iterations has the same candidates as ``paths``."""

VALUES = (("paths", 1), ("auto", 2**17))
"""Methods and candidates for value F1, without and with the rules of the file."""

SHOWN = {"argmax": "argmax", "lazyk": "Lazy-k, 2¹⁴", "paths": "Lazy-ILP, 8", "exact": "exact"}

NAME = re.compile(r"(?P<data>.+)-(?P<size>[^-]+-\d+)-s(?P<seed>\d+)\.jsonl")


def fit(data: Path, base: Path, layers: int, seed: int, out: Path, more: list[str]) -> None:
    """Trains one model and scores the test documents with it."""
    name = f"{data.name}-{base.name}-{layers}-s{seed}"
    scores = out / f"{name}.jsonl"
    if scores.exists():
        return
    model = out / "models" / name
    resume = ["--resume"] if (model / "checkpoint.pt").exists() else []
    if resume or not (model / "model.safetensors").exists():
        lawful(
            "train", data / "train.jsonl", "--validation", data / "validation.jsonl",
            "--base", base, "--layers", layers, "--seed", seed, "--out", model, *more, *resume,
        )  # fmt: skip
    lawful(
        "predict", data / "test.jsonl", "--model", model, "--units", "pieces", "--npz",
        "--out", scores,
    )  # fmt: skip


def lawful(*arguments: object) -> None:
    """Runs a command of lawful and prints its last message; exits if it fails."""
    command = [sys.executable, "-m", "lawful", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    print(done.stderr.strip().splitlines()[-1], flush=True)


def fit_all(arguments: argparse.Namespace, more: list[str]) -> None:
    """Trains all sizes and seeds on all data sets, ``--jobs`` at a time."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / WEIGHTS
    counts = json.loads(file.read_text()) if file.exists() else {}
    counts |= {f"{arguments.base.name}-{n}": weights(arguments.base, n) for n in arguments.layers}
    file.write_text(json.dumps(counts, indent=2) + "\n")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = product(arguments.data, arguments.layers, arguments.seeds)
        jobs = [
            pool.submit(fit, data, arguments.base, layers, seed, arguments.out, more)
            for data, layers, seed in runs
        ]
        for job in jobs:
            job.result()


def weights(base: Path, layers: int) -> list[int]:
    """The number of weights of an encoder cut to its first layers: all, and without embeddings."""
    from lawful.models.network import Network

    network = Network.start(base, ("O",), layers=layers)
    counts = {name: p.numel() for name, p in network.encoder.named_parameters()}
    inner = sum(count for name, count in counts.items() if "embeddings" not in name)
    return [sum(counts.values()), inner]


def decoded(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Cell]]:
    """Data, size and cell for every model and row; measured cells are not decoded again."""
    store = Store(arguments.out / "measured.jsonl", Cell)
    for file in sorted(arguments.out.glob("*.jsonl")):
        if not (match := NAME.fullmatch(file.name)):
            continue
        rules = arguments.rules[match["data"]]
        (given,) = load([file], [rules])
        strict = given.under("paper").satisfied()
        for pages, rows in ((strict, ROWS), (given.under("lawful").in_units("mean"), VALUES)):
            for method, candidates in rows:
                task = Task(pages, pages.fingerprint, METHODS[method], candidates, repeats=1)
                cell = store.take(task.key, task.measure)
                print(f"{task}: F1^s {100 * cell.f1s:.1f}", file=sys.stderr, flush=True)
                yield match["data"], match["size"], cell


def draw(arguments: argparse.Namespace) -> None:
    """Prints the table and writes the figure."""
    counts = json.loads((arguments.out / WEIGHTS).read_text())
    found: dict[tuple[str, str, str], list[Cell]] = {}
    values: dict[tuple[str, str, str], list[Cell]] = {}
    for data, size, cell in decoded(arguments):
        where = found if cell.semantics == "paper" else values
        where.setdefault((data, size, cell.method), []).append(cell)
    sets = list(dict.fromkeys(data for data, _, _ in found))
    headings = (
        "data", "model", "weights", *(SHOWN[name] for name, _ in ROWS), "F1, Lazy-ILP",
        "value F1, no rules", "with rules",
    )  # fmt: skip
    print(f"| {' | '.join(headings)} |\n{'| --- ' * len(headings)}|")
    for data in sets:
        sizes = {size for d, size, _ in found if d == data}
        for size in sorted(sizes, key=lambda name: counts[name][0]):
            total, inner = (f"{count / 1e6:.1f}M" for count in counts[size])
            cells = [spread([c.f1s for c in found[data, size, name]]) for name, _ in ROWS]
            legal = spread([c.f1 for c in found[data, size, "paths"]])
            words = [spread([c.value_f1 for c in values[data, size, name]]) for name, _ in VALUES]
            row = (data, size, f"{total} ({inner})", *cells, legal, *words)
            print(f"| {' | '.join(row)} |")
    panels = [(data, {k[1:]: v for k, v in found.items() if k[0] == data}, counts) for data in sets]
    print(figure(arguments.out / "sizes", panels, draw_panel, share=True), file=sys.stderr)


def spread(shares: Sequence[float]) -> str:
    """Mean and standard deviation over seeds, in percent."""
    return f"{100 * mean(shares):.1f} ± {100 * pstdev(shares):.1f}"


def draw_panel(axis: Any, panel: Any, *, is_first: bool) -> None:
    """F1^s by weights without embeddings: one line per method, with the range over seeds."""
    data, found, counts = panel
    for method, _ in ROWS:
        sizes = sorted({size for size, m in found if m == method}, key=lambda s: counts[s][1])
        values = [[100 * cell.f1s for cell in found[size, method]] for size in sizes]
        x = [counts[size][1] / 1e6 for size in sizes]
        middle = [mean(some) for some in values]
        low = [m - min(some) for m, some in zip(middle, values, strict=True)]
        high = [max(some) - m for m, some in zip(middle, values, strict=True)]
        look = LOOKS["lazy_ilp" if method == "paths" else method]
        axis.errorbar(
            x, middle, [low, high], color=look.colour, marker=look.marker, label=SHOWN[method],
            capsize=2, elinewidth=0.8,
        )  # fmt: skip
    axis.set_xscale("log")
    ticks = sorted({counts[size][1] / 1e6 for size, _ in found})
    axis.set_xticks(ticks, [f"{tick:.1f}M" for tick in ticks])
    axis.minorticks_off()
    axis.set_ylim(0, 100)
    axis.set_title(data)
    axis.set_xlabel("weights without embeddings")
    if is_first:
        axis.set_ylabel("F1$^s$")


def numbers(text: str) -> list[int]:
    """Whole numbers, separated by commas."""
    return [int(part) for part in text.split(",")]


def named(text: str) -> tuple[str, str]:
    """``data=rules``, or the name of a data set for both."""
    data, _, rules = text.partition("=")
    return data, rules or data


def main() -> None:
    """Runs ``fit`` or ``draw``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    fitting = commands.add_parser("fit", help="other options are passed to lawful train")
    fitting.add_argument(
        "--data", type=Path, nargs="+", required=True, help="folders of lawful data split"
    )
    fitting.add_argument("--base", type=Path, required=True, help="folder of the encoder")
    fitting.add_argument("--layers", type=numbers, required=True, help="such as 1,2,3,6")
    fitting.add_argument("--seeds", type=numbers, default=[0, 1, 2], help="default: 0,1,2")
    fitting.add_argument("--jobs", type=int, default=1, help="number of parallel trainings")
    drawing = commands.add_parser("draw")
    drawing.add_argument("--rules", type=named, nargs="+", required=True, help="cord, wild=FILE")
    for each in (fitting, drawing):
        each.add_argument("--out", type=Path, default=Path("build/sizes"))
    arguments, more = parser.parse_known_args()
    if arguments.command == "fit":
        fit_all(arguments, more)
        return
    if more:
        parser.error(f"unknown arguments: {' '.join(more)}")
    arguments.rules = dict(arguments.rules)
    draw(arguments)


if __name__ == "__main__":
    main()
