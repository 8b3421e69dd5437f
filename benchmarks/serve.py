"""The HTTP service under load, against decoding in process, in the same run.

    python -m benchmarks.serve                  # requests per second and latency, on loopback
    python -m benchmarks.serve --soak 100000    # so many requests, and the memory of the service

Clients keep their connections and ask for one document after the other. Besides wall time, which
on a busy machine says little, it prints the processor time of the service per document.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from lawful import demo
from lawful.server.messages import DecodeForm
from lawful.server.rule_book import RuleBook
from lawful.server.settings import Settings
from lawful.server.work import DecodeWork

CONNECTIONS = (1, 8, 64)
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1000, help="per number of connections")
    parser.add_argument("--soak", type=int, default=0, help="requests of a soak, instead")
    options = parser.parse_args()
    with gzip.open(demo.shipped()) as lines:
        bodies = [line.rstrip() for line in lines]
    print(
        f"{len(bodies)} documents of {np.median([len(b) for b in bodies]) / 1000:.0f} KB (median)"
    )
    if options.soak:
        soak(bodies, options.soak)
    else:
        load(bodies, options.requests)


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
                middle, high = np.percentile(times, [50, 99]) * 1000
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
def service(workers: int) -> Iterator[tuple[int, list[int]]]:
    """The port of a service and the processes that decode; it ends afterwards."""
    command = [sys.executable, "-m", "lawful", "serve", "--port", "0", "--workers", str(workers)]
    command += ["--rules", f"receipt={demo.RULES}", "--waiting", "1000"]
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


def _head(kind: str, length: int) -> bytes:
    return (
        f"POST /v1/decode HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def processor_seconds(pids: list[int]) -> float:
    """Processor time of processes so far."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICKS


def resident(pids: list[int]) -> float:
    """Memory of processes in MiB."""
    pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
