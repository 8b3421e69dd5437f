"""``python -m lab.invoices.windows TOKENIZER FOLDER`` writes what the invoice model learns from.

``TOKENIZER`` is a folder that ``lab.invoices.vocabulary`` wrote. Each file has a few generated
pages, and learning can begin with the first ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

from lab.invoices.packed import NO_TARGET, OUTPUTS, WINDOW, Windows
from lab.invoices.pages import Example, example
from lawful.models.tokenizer import GRID, Tokenizer
from lawful.models.windows import windows

INDEX = {name: i for i, name in enumerate(OUTPUTS)}

PAGES = 100
"""Generated pages per file."""

_loaded = cache(Tokenizer.load)


def windows_of(folder: Path, pages: Iterable[Example]) -> Windows:
    """The windows of pages, as a tagger cuts them."""
    return Windows.joined([each for page in pages for each in _windows_of(_loaded(folder), page)])


def _windows_of(tokenizer: Tokenizer, made: Example) -> Iterator[Windows]:
    pieces = tokenizer.tokenize(made.page.document, lines=True)
    targets = [INDEX[label] for label in pieces.labels(made.page.gold)]
    opening, closing = tokenizer.opening, tokenizer.closing
    room = WINDOW - len(opening) - len(closing)
    for where in windows(len(pieces), room, room // 4) if len(pieces) else ():
        ids = np.array([*opening, *pieces.ids[where].tolist(), *closing], np.uint16)
        places = np.zeros((len(ids), 4), np.int64)
        places[-len(closing) :] = GRID
        places[len(opening) : -len(closing)] = pieces.boxes[where]
        wanted = np.full(len(ids), NO_TARGET, np.uint8)
        wanted[len(opening) : -len(closing)] = targets[where]
        wanted[0] = INDEX[made.kind]
        yield Windows(
            ids, places.clip(0, 127).astype(np.int8), wanted, np.array([len(ids)], np.uint16)
        )


def generate(tokenizer: Path, seed: int, folder: Path, number: int) -> Path:
    """Writes the windows of some generated pages, unless they are there."""
    file = folder / f"{seed}-{number:04}.npz"
    if not file.exists():
        pages = (example(seed, number * PAGES + i) for i in range(PAGES))
        windows_of(tokenizer, pages).save(file)
    return file


def main() -> None:
    """Writes the windows of generated pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=110_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    write = partial(generate, options.tokenizer, options.seed, options.folder)
    with ProcessPoolExecutor(options.workers) as pool:
        for _ in pool.map(write, range(options.pages // PAGES)):
            pass


if __name__ == "__main__":
    main()
