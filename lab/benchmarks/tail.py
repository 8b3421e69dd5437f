"""The slowest pages: times, proofs and memory of the exact search on the outputs of real models.

    python -m lab.benchmarks.tail [--pages N] [--rules default,hard] [--units words|pieces]
        [--worst 5] [--repeats 1] [--against ../earlier] [--out build/tail.json]

Each page is decoded by ``exact`` with its default budget, one after another in this process. Times
are of the processor, and of several repeats the least counts, so other load hardly matters. A table
per model and rules has the times, the share of pages whose optimum is proven, the most partial
readings that were extended and the most memory that a search held; then come the worst pages. Where
an optimum is not proven, ``gap`` is how much more another labelling could be worth, in nats.

With ``--against``, a checkout of another commit, installed in its own ``.venv``, decodes the same
pages, too, in two turns with this one, and has its own lines in the tables.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from unittest import mock

import numpy as np

from lab.benchmarks.data import rules_of
from lab.benchmarks.study import Study, named, write
from lawful import Rules, Scored, _core, decode
from tests.fixtures.outputs import OUTPUTS, read_outputs

MEANINGS: dict[str, dict[str, Any]] = {"default": {}, "hard": {"weight": inf}}


@dataclass(frozen=True, slots=True)
class Page:
    """One page, decoded."""

    id: str
    words: int
    ms: float
    tried: int
    mib: float
    proven: bool
    worth: float
    gap: float

    def __str__(self) -> str:
        proven = "proven" if self.proven else f"gap {self.gap:.2f}"
        return (
            f"  {self.id:<30}{self.words:>5} words{self.ms:>10.1f} ms{self.tried:>9,} tried"
            f"{self.mib:>8.1f} MiB  {proven}"
        )


@contextmanager
def searches() -> Iterator[list[_core.Search]]:
    """The list of all native searches that are opened in its context."""
    opened: list[_core.Search] = []
    make = _core.Search

    def open_search(*args: Any, **kwargs: Any) -> _core.Search:
        opened.append(make(*args, **kwargs))
        return opened[-1]

    with mock.patch.object(_core, "Search", open_search):
        yield opened


def measure(page: Scored, rules: Rules, repeats: int) -> Page:
    """Decodes a page."""
    seconds = inf
    for _ in range(repeats):
        with searches() as opened:
            begin = process_time()
            decoding = decode(page.document, page.scores, rules, decoder="exact")
            seconds = min(seconds, process_time() - begin)
    return Page(
        page.document.id,
        len(page.document),
        1000 * seconds,
        decoding.tried,
        max((search.memory for search in opened), default=0) / 2**20,
        decoding.optimal or decoding.status == "infeasible",
        decoding.worth,
        0.0 if decoding.optimal else decoding.bound - decoding.worth,
    )


HEADER = (
    f"{'outputs':<13}{'rules':<9}{'pages':>6}{'median ms':>11}{'99 % ms':>9}{'worst ms':>10}"
    f"{'total s':>9}{'proven':>9}{'most tried':>12}{'most MiB':>10}"
)


def row(outputs: str, meaning: str, pages: list[Page]) -> str:
    """One line of the table."""
    median, late, worst = np.percentile([page.ms for page in pages], (50, 99, 100))
    proven = sum(page.proven for page in pages)
    return (
        f"{outputs:<13}{meaning:<9}{len(pages):>6}{median:>11.2f}{late:>9.1f}{worst:>10.1f}"
        f"{sum(page.ms for page in pages) / 1000:>9.2f}{proven / len(pages):>9.1%}"
        f"{max(page.tried for page in pages):>12,}{max(page.mib for page in pages):>10.1f}"
    )


def least(one: Page, other: Page) -> Page:
    """The faster of two decodings of a page."""
    return min(one, other, key=lambda page: page.ms)


def elsewhere(checkout: Path, options: list[str]) -> dict[str, list[Page]]:
    """The pages by outputs and rules, decoded by a checkout with an environment of its own."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "tail.json"
        python = checkout.resolve() / ".venv" / "bin" / "python"
        command = [str(python), "-m", "lab.benchmarks.tail", *options, "--worst", "0"]
        command += ["--out", str(out)]
        subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
        record = json.loads(out.read_text())
    return {name: [Page(**page) for page in pages] for name, pages in record.items()}


def compare(checkout: Path, options: list[str], worst: int) -> None:
    """Prints the tables of this checkout and of another one, from two turns of both."""
    found: dict[Path, dict[str, list[Page]]] = {}
    for _ in range(2):
        for where in (checkout, Path()):
            for name, pages in elsewhere(where, options).items():
                known = found.setdefault(where, {}).get(name, pages)
                found[where][name] = list(map(least, known, pages))
    print(HEADER)
    for name, pages in found[Path()].items():
        outputs, meaning = name.split()
        print(row("earlier", "", found[checkout][name]))
        print(row(outputs, meaning, pages))
        both = zip(found[checkout][name], pages, strict=True)
        faster = sorted((old.ms / new.ms for old, new in both))
        low, middle, high = np.percentile(faster, (5, 50, 95))
        print(f"  times as fast, page by page: {middle:.2f} (5 % {low:.2f}, 95 % {high:.2f})")
        print(*sorted(pages, key=lambda page: -page.ms)[:worst], sep="\n", flush=True)


def main() -> None:
    parser = Study(__doc__, outputs=True)
    parser.add_argument("--pages", type=int, help="pages per model; default: all")
    parser.add_argument("--rules", default=",".join(MEANINGS), help="default: %(default)s")
    parser.add_argument("--units", choices=("words", "pieces"), default="words")
    parser.add_argument("--worst", type=int, default=5, help="pages listed; default: %(default)s")
    parser.add_argument("--repeats", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--against", type=Path, help="a checkout of another commit")
    parser.add_argument("--out", type=Path, default=Path("build/tail.json"))
    arguments = parser.parse_args()
    meanings = named(parser, arguments.rules, tuple(MEANINGS))
    if arguments.against:
        if not (arguments.against / ".venv" / "bin" / "python").exists():
            parser.error(f"--against: no .venv/bin/python in {arguments.against}")
        options = ["--rules", arguments.rules, "--units", arguments.units]
        options += ["--repeats", str(arguments.repeats)]
        options += ["--pages", str(arguments.pages)] if arguments.pages else []
        compare(arguments.against, options, arguments.worst)
        return
    record = {}
    print(HEADER)
    for name in OUTPUTS:
        pages = list(read_outputs(name, arguments.pages))
        if arguments.units == "words":
            pages = [page.to_words() for page in pages]
        for meaning in meanings:
            rules = rules_of(name, **MEANINGS[meaning])
            decode(pages[0].document, pages[0].scores, rules)  # compiles the rules
            found = [measure(page, rules, arguments.repeats) for page in pages]
            record[f"{name} {meaning}"] = list(map(asdict, found))
            print(row(name, meaning, found))
            worst = sorted(found, key=lambda page: (page.proven, -page.ms))
            print(*worst[: arguments.worst], sep="\n", flush=True)
    write(arguments.out, record)


if __name__ == "__main__":
    main()
