"""What a file costs the service: read by a process of its own, as before, and by a warm one.

    python -m lab.benchmarks.serve_files FOLDER [--files N]

Prints the median per file of the time on the clock and of the processor (of all processes), for the
photos and for the pages of the PDF files in a folder. The last row is a whole request.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from lab.benchmarks.study import Study
from lab.benchmarks.timing import own_seconds
from lawful.readers import Limits, files_in
from lawful.readers.images import SUFFIXES
from lawful.readers.pdf import open_pdf


def main() -> None:
    """Prints a table."""
    parser = Study(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=6, help="files of each kind")
    given = parser.parse_args()
    files = list(files_in(given.folder))
    photos = [each for each in files if each.suffix.lower() in SUFFIXES][: given.files]
    pdfs = [each for each in files if each.suffix == ".pdf"][: given.files]
    with Service() as service:
        for kind, some in (("photo", photos), ("PDF page", pdfs)):
            if not some:
                continue
            service.extract(some[0])  # warms it up
            pages = [1 if kind == "photo" else count_pages(each) for each in some]
            print(f"{len(some)} files, {sum(pages)} pages; seconds per {kind}: clock, processor")
            show("a process of its own", some, pages, read_cold, lambda: 0.0)
            show("warm, whole request", some, pages, service.extract, service.processor_seconds)


def show(
    what: str,
    files: list[Path],
    pages: list[int],
    do: Callable[[Path], None],
    others: Callable[[], float],
) -> None:
    """Prints the medians of doing this with files."""
    clock, processor = [], []
    for file, count in zip(files, pages, strict=True):
        began, before = time.perf_counter(), own_seconds() + others()
        do(file)
        clock.append((time.perf_counter() - began) / count)
        processor.append((own_seconds() + others() - before) / count)
    print(f"  {what:24} {median(clock):8.3f} {median(processor):8.3f}")


def read_cold(file: Path) -> None:
    """Reads a file as the service did: by a process that is started for it."""
    command = [sys.executable, "-m", "lawful", "read", str(file), "--quiet", "--no-cache"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def count_pages(file: Path) -> int:
    """The number of pages of a PDF file."""
    with open_pdf(file, Limits(), None) as pdf:
        return len(pdf)


class Service:
    """``lawful serve`` with its processes."""

    def __enter__(self) -> Service:
        self._folder = TemporaryDirectory()
        log = Path(self._folder.name, "log")
        command = [sys.executable, "-m", "lawful", "serve", "--port", "0", "--warm"]
        with log.open("w") as file:
            self._process = subprocess.Popen(
                [*command, "--seconds", "10", "--readers", "1"], stderr=file
            )
        while '"ready"' not in log.read_text():
            time.sleep(0.1)
        url = log.read_text().split('"url":"')[1].split('"')[0]
        self._client = httpx.Client(base_url=url, timeout=300)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def extract(self, file: Path) -> None:
        """Sends a file, and waits for its fields."""
        files = {"file": (file.name, file.read_bytes())}
        self._client.post("/v1/extract", files=files).raise_for_status()

    def processor_seconds(self) -> float:
        """Processor time of the service and of the processes that it has started, so far."""
        tick = os.sysconf("SC_CLK_TCK")
        found = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if self._process.pid in (int(fields[1]), int(stat.parent.name)):
                found += int(fields[11]) + int(fields[12])
        return found / tick


if __name__ == "__main__":
    main()
