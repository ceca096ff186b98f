"""Measure how long a client with a token waits during floods of strangers: `python -m bench.strangers`.

Question: how long does an authorised `find` take while clients without a token do what they can, compared
    with the same request on an idle service?
Data: `--atoms` generated texts in a SQLite store. Seed: `--seed`, by default 1.
How: the service and the flood are processes of their own on this machine. The client sends a `find` every
    `_PAUSE` seconds, for `--seconds` on a connection that stays open and for as long on new ones, first
    without a flood and then with each of the floods below. Strangers open a connection again as soon as it is
    closed. The service is measured without a flood before each flood, too; the ratio compares the p99 with
    the median of these measurements.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from bench import machine
from bench.data import texts
from bench.job import percentile
from bench.service import Service, serving
from engine import Add, Engine

_PAUSE: Final = 0.01
_TIMEOUT: Final = 60
_CHUNKS: Final = b"1\r\na\r\n" * 16_384
"""About 100 kB of chunks that have one byte each."""

_FIND: Final = "POST /v1/memories/~/find"
_TENTH: Final = 0.1
Flood = Callable[[int, float], Awaitable[None]]
_Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def _head(port: int, line: str = _FIND, *headers: str) -> bytes:
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


@contextlib.asynccontextmanager
async def _opened(port: int) -> AsyncIterator[_Ends]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def _again(port: int, until: float, attack: Callable[[_Ends], Awaitable[None]]) -> None:
    """Attack on one connection after the other."""
    while (left := until - time.monotonic()) > 0:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(left), _opened(port) as ends:
                await attack(ends)
        await asyncio.sleep(0.001)


def _held(count: int, begin: Callable[[int], bytes], more: bytes = b"") -> Flood:
    """`count` connections send the beginning of a request, and then one byte after the other, if any."""

    async def hold(port: int, ends: _Ends) -> None:
        reader, writer = ends
        writer.write(begin(port))
        while more:
            await asyncio.sleep(_TENTH)
            writer.write(more)
            await writer.drain()
        await reader.read()

    return _on(count, hold)


def _on(count: int, attack: Callable[[int, _Ends], Awaitable[None]]) -> Flood:
    async def flood(port: int, until: float) -> None:
        await asyncio.gather(*(_again(port, until, partial(attack, port)) for _ in range(count)))

    return flood


async def _flood(flood: Flood, port: int, seconds: float) -> None:
    await flood(port, time.monotonic() + seconds)


async def _send_chunks(port: int, ends: _Ends) -> None:
    """Send chunks of one byte, 1 MB in a second, whatever the answer is."""
    _, writer = ends
    writer.write(_head(port, _FIND, "Transfer-Encoding: chunked"))
    while True:
        writer.write(_CHUNKS)
        await writer.drain()
        await asyncio.sleep(_TENTH)


def _pipelined(target: str) -> Callable[[int, _Ends], Awaitable[None]]:
    async def pipeline(port: int, ends: _Ends) -> None:
        reader, writer = ends
        while True:
            writer.write(_head(port, f"GET {target}") * 20)
            await reader.readuntil(b"HTTP/1.1")
            await asyncio.sleep(_TENTH)

    return pipeline


FLOODS: Final[dict[str, Flood]] = {
    "1 connection with chunks of one byte": _on(1, _send_chunks),
    "10 connections with chunks of one byte": _on(10, _send_chunks),
    "500 idle": _held(500, lambda _: b""),
    "500 half-headed": _held(500, lambda port: _head(port)[:-2] + b"X: ", b"x"),
    "500 half-bodied": _held(
        500, lambda port: _head(port, "POST /v1/memories/~/find", "Content-Length: 9999"), b"x"
    ),
    "240 with 20 pipelined requests": _on(240, _pipelined("/v1/memories/~/find")),
    "240 with 20 pipelined requests that need no token": _on(240, _pipelined("/health")),
}


def answered(connection: socket.socket, request: bytes) -> None:
    """Send a request, and read the whole answer, whose status must be 200."""
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _received(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        sys.exit(f"bench: {answer[:2000]!r}")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += _received(connection)


def _received(connection: socket.socket) -> bytes:
    if not (part := connection.recv(1 << 16)):
        raise ConnectionResetError("the service closed the connection")
    return part


@dataclass(frozen=True, slots=True)
class Waits:
    """How long an authorised `find` took, in seconds."""

    open: list[float]
    """On a connection that stays open."""
    new: list[float]
    """On a new connection each time, with the time that it takes to connect."""


def waits(service: Service, seconds: float) -> Waits:
    """Ask a service for some seconds on an open connection, and for as long on new ones."""
    body = b'{"limit": 10}'
    headers = f"Authorization: Bearer {service.token}", f"Content-Length: {len(body)}"
    request = _head(service.port, f"POST {service.path}find", *headers) + body
    connect = partial(socket.create_connection, ("127.0.0.1", service.port), _TIMEOUT)
    with connect() as kept:
        answered(kept, request)
        on_open = list(_times(partial(answered, kept, request), seconds))

    def anew() -> None:
        with connect() as new:
            answered(new, request)

    return Waits(on_open, list(_times(anew, seconds)))


def _times(ask: Callable[[], object], seconds: float) -> Iterator[float]:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        try:
            ask()
        except OSError:
            yield math.inf
        else:
            yield time.perf_counter() - began
        time.sleep(_PAUSE)


@contextlib.contextmanager
def flooding(name: str, port: int, seconds: float) -> Iterator[None]:
    """Flood the service from another process during the block."""
    command = [sys.executable, "-m", "bench.strangers", "--flood", name, str(port), str(seconds)]
    process = subprocess.Popen(command)
    time.sleep(1.5)  # until all connections are open
    try:
        yield
    finally:
        process.terminate()
        process.wait(_TIMEOUT)


def main() -> None:
    """Parse the command line, and run the measurements or one flood."""
    parser = argparse.ArgumentParser(prog="python -m bench.strangers")
    parser.add_argument("--flood", nargs=3, metavar=("NAME", "PORT", "SECONDS"))
    parser.add_argument("--only", default="", help="the floods whose names contain this")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--atoms", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.flood:
        name, port, seconds = options.flood
        asyncio.run(_flood(FLOODS[name], int(port), float(seconds)))
        return
    work = Path(tempfile.mkdtemp(prefix="memroot-bench-"))
    try:
        url = f"sqlite:{work / 'store.db'}"
        with Engine.open(url) as engine:
            engine.apply([Add(one.content, tags=one.tags) for one in texts(options.atoms, options.seed)])
        with serving("memroot", url, None) as service:
            waits(service, 1)
            names = [name for name in FLOODS if options.only in name]
            measured = [_measured(service, name, options.seconds) for name in names]
        about = machine.describe(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps({name: about[name] for name in ("cpu", "cores", "python", "commit", "load")}) + "\n")
    base_open = median(_ms(idle.open, 0.99) for idle, _ in measured)
    base_new = median(_ms(idle.new, 0.99) for idle, _ in measured)
    print("| strangers | p50 | p99 | of idle | new: p50 | p99 | of idle |\n|---|--:|--:|--:|--:|--:|--:|")
    found = [("none", measured[0][0]), *zip(names, (one for _, one in measured), strict=True)]
    for name, one in found:
        print(f"| {name} | {_shown(one.open, base_open)} | {_shown(one.new, base_new)} |")


def _shown(times: list[float], base: float) -> str:
    p50, p99 = _ms(times, 0.5), _ms(times, 0.99)
    return f"{p50:.1f} ms | {p99:.1f} ms | {p99 / base:.1f}x"


def _ms(times: list[float], share: float) -> float:
    return percentile(times, share) * 1000 if times else math.inf


def _measured(service: Service, name: str, seconds: float) -> tuple[Waits, Waits]:
    """Return the waits before and during a flood."""
    idle = waits(service, seconds / 2)
    with flooding(name, service.port, 4 * seconds + 60):
        found = waits(service, seconds)
    time.sleep(1)
    print(name, file=sys.stderr, flush=True)
    return idle, found


if __name__ == "__main__":
    main()
