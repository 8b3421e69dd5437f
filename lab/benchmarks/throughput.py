"""Documents per second: by workers, through JSON lines and Arrow, and memory over many documents.

    python -m lab.benchmarks.throughput [--repeats 3] [--pages 284] [--small 1000000]

Pages are WildReceipt's with a real model's scores where ``../shared`` is there, else the demo's.
Times are of the processor, of this process and its workers, so other load matters less.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from lab import receipts as demo
from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import study
from lab.benchmarks.timing import own_seconds, resident
from lab.datasets import RULES
from lawful import Document, Field, Rules, Scored, Scores, decode_many, read_jsonl, write_jsonl
from tests.fixtures import outputs

AMOUNTS = ("total", "cash", "change")

# What a worker of an engine does: it imports, and decodes batches.
RESIDENT = """
import os, sys
from lab.benchmarks.timing import resident
import lawful.arrow
before = resident([os.getpid()])
from pyarrow import parquet
from lawful import Rules
rules = Rules.load(sys.argv[2])
for _ in range(3):
    for _ in lawful.arrow.decode_batches(parquet.read_table(sys.argv[1]), rules):
        pass
print(f"a worker: {before:.0f} MiB after imports, {resident([os.getpid()]):.0f} after decoding")
"""


def load(count: int) -> tuple[list[Scored], Rules]:
    """Pages and their rules."""
    if outputs.HERE:
        return outputs_of("wild-l2text", count), rules_of("wild-l2text")
    return list(islice(demo.generate(count), count)), Rules.load(demo.RULES)


def by_workers(pages: list[Scored], rules: Rules, repeats: int) -> None:
    """Pages per second of ``decode_many``."""
    print(f"{'workers':>8}{'pages per CPU second':>22}{'per second':>12}")
    many = pages * 3
    list(decode_many(pages[:32], rules, workers=1))
    for workers in (1, 2):
        runs = []
        for _ in range(repeats):
            before, began = own_seconds(), perf_counter()
            deque(decode_many(many, rules, workers=workers), maxlen=0)
            runs.append((own_seconds() - before, perf_counter() - began))
        cpu, wall = (len(many) / median(each) for each in zip(*runs, strict=True))
        print(f"{workers:>8}{cpu:>22.0f}{wall:>12.0f}")


def least(repeats: int, work: Callable[[], object]) -> float:
    """The least processor time of some work."""
    times = []
    for _ in range(repeats):
        begin = process_time()
        work()
        times.append(process_time() - begin)
    return min(times)


def by_format(pages: list[Scored], rules: Rules, repeats: int) -> None:
    """The time to parse, and to parse and decode, by format."""
    import pyarrow as pa
    from pyarrow import parquet

    from lawful.arrow import decode_table, scored_batch
    from lawful.arrow.documents import ScoredReader
    from lawful.arrow.parquet import read_parquet

    def mapped(path: Path) -> Any:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()

    def parse_mapped(path: Path) -> list[Any]:
        whole = mapped(path)
        reader = ScoredReader(whole.schema)
        return [page for batch in whole.to_batches() for page in reader.read(batch)]

    with TemporaryDirectory() as folder:
        lines, table = Path(folder, "pages.jsonl"), Path(folder, "pages.parquet")
        arrow = Path(folder, "pages.arrow")
        batch = scored_batch(pages)
        with pa.OSFile(str(arrow), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)
        write_jsonl(lines, pages)
        parquet.write_table(pa.table(batch), table)
        source = RULES["wildreceipt"] if outputs.HERE else demo.RULES
        subprocess.run([sys.executable, "-c", RESIDENT, table, source], check=True)
        print(f"{'format':<12}{'bytes':>12}{'parse ms':>10}{'all ms':>10}   per page")
        for name, path, parse, work in (
            (
                "JSON lines", lines, lambda: list(read_jsonl(lines)),
                lambda: list(decode_many(read_jsonl(lines), rules, workers=1)),
            ),
            (
                "Parquet", table, lambda: list(read_parquet(table)),
                lambda: decode_table(parquet.read_table(table), rules),
            ),
            (
                "Arrow", arrow, lambda: parse_mapped(arrow),
                lambda: decode_table(mapped(arrow), rules),
            ),
        ):  # fmt: skip
            each = 1000 / len(pages)
            # Parsing takes some milliseconds only: more repeats find a moment without other load.
            times = (each * least(10 * repeats, parse), each * least(repeats, work))
            print(f"{name:<12}{path.stat().st_size:>12,}{times[0]:>10.3f}{times[1]:>10.3f}")


def small_pages(first: int, count: int) -> list[Scored]:
    """Documents of three words, each with other texts, of which a third violates the rule."""
    labels = ("O", *(f"B-{name}" for name in AMOUNTS))
    probs = np.full((3, 4), 0.02) + 0.92 * np.eye(3, 4, 1)
    pages = []
    for i in range(first, first + count):
        total, change = 1000 + i, 17 * i % 900
        cents = (total, total + change + (i % 3 == 0), change)
        words = tuple(f"{each // 100}.{each % 100:02}" for each in cents)
        pages.append(Scored(Document(str(i), words), Scores.from_probs(probs, labels)))
    return pages


def memory(count: int) -> None:
    """The resident size while many small documents are decoded."""
    from lawful.arrow import decode_batches, scored_batch

    rules = Rules([Field(name, name, "money") for name in AMOUNTS], ["cash == total + change"])

    def batches() -> Iterator[Any]:
        for first in range(0, count, 1000):
            yield scored_batch(small_pages(first, 1000))

    done, began = 0, perf_counter()
    for decoded in decode_batches(batches(), rules):
        done += len(decoded)
        if done % 100_000 < len(decoded):
            mib, seconds = resident([os.getpid()]), perf_counter() - began
            print(f"{done:>10,} documents {mib:>6.0f} MiB {seconds:>8.0f} s", flush=True)


def main() -> None:
    arguments = study(__doc__, repeats=3, pages=284, small=0)
    sys.stdout.reconfigure(line_buffering=True)
    pages, rules = load(arguments.pages)
    by_workers(pages, rules, arguments.repeats)
    by_format(pages, rules, arguments.repeats)
    if arguments.small:
        memory(arguments.small)


if __name__ == "__main__":
    main()
