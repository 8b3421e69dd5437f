"""The HTTP service under load, against decoding in process, in the same run.

    python -m lab.benchmarks.serve                  # requests per second and latency
    python -m lab.benchmarks.serve --soak 100000    # so many requests, and its memory
    python -m lab.benchmarks.serve --mixed 100000   # the same with light, heavy and wrong ones
    python -m lab.benchmarks.serve --beside         # small ones alone, and beside heavy ones

Clients keep their connections and ask for one document after the other. Besides wall time, which
on a busy machine says little, it prints the processor time of the service per document.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

import numpy as np

from lab import receipts as demo
from lab.benchmarks.mixed import Mix, Request
from lab.benchmarks.study import study
from lab.benchmarks.timing import percentiles, processor_seconds, resident
from lawful.server.messages import DecodeForm
from lawful.server.rule_book import RuleBook
from lawful.server.settings import Settings
from lawful.server.work import DecodeWork

CONNECTIONS = (1, 8, 64)
ON_A_CONNECTION = 20
"""Mixed requests on one connection."""


def main() -> None:
    options = study(__doc__, requests=1000, soak=0, mixed=0, beside=False, workers=2)
    if options.mixed:
        return mixed(options.mixed, options.workers)
    if options.beside:
        return beside(options.requests, options.workers)
    with gzip.open(demo.shipped()) as lines:
        bodies = [line.rstrip() for line in lines]
    print(
        f"{len(bodies)} documents of {np.median([len(b) for b in bodies]) / 1000:.0f} KB (median)"
    )
    if options.soak:
        soak(bodies, options.soak)
    else:
        load(bodies, options.requests)
    return None


def load(bodies: list[bytes], requests: int) -> None:
    rate, cost = in_process(bodies, requests)
    print(f"in process: {rate:,.0f} documents/s, {1000 * cost:.2f} ms of processor time each")
    print("workers  connections  requests/s  p50 ms  p99 ms  service's processor ms/request")
    for workers in (1, 2):
        with service(workers) as (port, pids):
            asyncio.run(ask(port, bodies, 8, 2 * len(bodies)))  # warm
            for connections in CONNECTIONS:
                before, began = processor_seconds(pids), perf_counter()
                times = asyncio.run(ask(port, bodies, connections, requests))
                wall, used = perf_counter() - began, processor_seconds(pids) - before
                middle, high = (1000 * each for each in percentiles(times, 50, 99))
                print(
                    f"{workers:7}  {connections:11}  {len(times) / wall:10,.0f}  {middle:6.1f}  "
                    f"{high:6.1f}  {1000 * used / len(times):.2f}"
                )
            before, began = processor_seconds(pids), perf_counter()
            count = requests - requests % len(bodies) or len(bodies)
            asyncio.run(stream(port, bodies * (count // len(bodies))))
            wall, used = perf_counter() - began, processor_seconds(pids) - before
            each = 1000 * used / count
            print(f"{workers:7}  one stream   {count / wall:10,.0f}                  {each:.2f}")


def soak(bodies: list[bytes], count: int) -> None:
    print("requests  resident MiB")
    with service(1) as (port, pids):
        print(f"{0:8,}  {resident(pids):.1f}")
        for part in range(1, 11):
            asyncio.run(ask(port, bodies, 8, count // 10))
            print(f"{part * count // 10:8,}  {resident(pids):.1f}", flush=True)


def mixed(count: int, workers: int) -> None:
    """Prints the memory of the service after each 10,000 requests of all kinds."""
    print("requests  resident MiB of each worker  answers by status")
    mix, statuses = Mix(), Counter[int]()
    with service(workers, "--inline-rules") as (port, pids):
        for done in range(0, count + 1, step := min(count, 10_000)):
            each = "  ".join(f"{resident([pid]):6.1f}" for pid in pids)
            print(f"{done:8,}  {each}  {dict(sorted(statuses.items()))}", flush=True)
            if done < count:
                draws = (mix.draw() for _ in range(step))
                statuses.update(status for status, _ in asyncio.run(send(port, draws, 8)))


def beside(count: int, workers: int) -> None:
    """Prints how long a small request takes alone, and beside eight of the worst pages."""
    mix = Mix()
    print("workers  heavy connections  small requests  p50 ms  p99 ms  slowest ms")
    with service(workers) as (port, _):
        for heavy in (0, 8):
            statuses, times = asyncio.run(small_beside(port, mix, count, heavy))
            if set(statuses) != {200}:
                raise RuntimeError(f"small requests were answered with {statuses}")
            middle, high, most = (1000 * each for each in percentiles(times, 50, 99, 100))
            print(
                f"{workers:7}  {heavy:17}  {count:14,}  {middle:6.1f}  {high:6.1f}  {most:10.1f}",
                flush=True,
            )


async def small_beside(
    port: int, mix: Mix, count: int, heavy: int
) -> tuple[list[int], list[float]]:
    """The statuses and seconds of small requests, sent while others send heavy ones."""
    beside = asyncio.create_task(send(port, iter(mix.worst, None), heavy))
    await asyncio.sleep(2)
    found = await send(port, (mix.light() for _ in range(count)), 1)
    beside.cancel()
    await asyncio.wait([beside])
    return [status for status, _ in found], [seconds for _, seconds in found]


async def send(port: int, requests: Iterator[Request], connections: int) -> list[tuple[int, float]]:
    """The status of each request, and its seconds.

    Each connection is opened again after a while, so that all workers get their share.
    """
    found: list[tuple[int, float]] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number, request in enumerate(requests, 1):
            body = request.body
            began = perf_counter()
            if number % ON_A_CONNECTION == 0 or reader.at_eof() or writer.is_closing():
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(_head(request.media_type, len(body), request.path) + body)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            if length := re.search(rb"content-length: (\d+)", head):
                await reader.readexactly(int(length[1]))
            else:
                await reader.readuntil(b"\r\n0\r\n\r\n")
            found.append((int(head.split(b" ", 2)[1]), perf_counter() - began))
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return found


def in_process(bodies: list[bytes], count: int) -> tuple[float, float]:
    """Documents per second and processor seconds per document, from JSON to JSON."""
    rules = {"receipt": demo.RULES}
    work = DecodeWork(Settings(rules), RuleBook.load(rules), DecodeForm())
    for body in bodies:
        work(1, body)
    began, used = perf_counter(), process_time()
    for i in range(count):
        work(1, bodies[i % len(bodies)])
    return count / (perf_counter() - began), (process_time() - used) / count


@contextmanager
def service(workers: int, *options: str) -> Iterator[tuple[int, list[int]]]:
    """The port of a service and the processes that decode; it ends afterwards."""
    command = [sys.executable, "-m", "lawful", "serve", "--port", "0", "--workers", str(workers)]
    command += ["--rules", f"receipt={demo.RULES}", "--waiting", "1000", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    port, pids = 0, []
    for line in process.stderr:
        record = json.loads(line)
        if record["event"] == "start":
            port = int(record["url"].rpartition(":")[2])
        elif record["event"] == "ready":
            pids.append(record["pid"])
            if len(pids) == workers:
                break
    drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)  # noqa: S607
    try:
        yield port, pids
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        drain.wait()


async def ask(port: int, bodies: list[bytes], connections: int, count: int) -> list[float]:
    """The seconds of each request; the connections share them out."""
    left = iter(range(count))
    times: list[float] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for i in left:
            body = bodies[i % len(bodies)]
            began = perf_counter()
            writer.write(_head("application/json", len(body)) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            length = re.search(rb"content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            times.append(perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return times


async def stream(port: int, bodies: list[bytes]) -> None:
    """All documents in one request, whose answers are read while it is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    body = b"\n".join(bodies)
    writer.write(_head("application/x-ndjson", len(body)))

    async def send() -> None:
        for at in range(0, len(body), 2**16):
            writer.write(body[at : at + 2**16])
            await writer.drain()

    sending = asyncio.create_task(send())
    found = 0
    while found < len(bodies):
        part = await reader.read(2**20)
        found += part.count(b'"labels":')
        if not part:
            raise RuntimeError("the stream broke off")
    await sending
    writer.close()


def _head(kind: str, length: int, path: str = "/v1/decode") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


if __name__ == "__main__":
    main()
