"""Strangers that do all they can, for ten seconds, while a client with a token works."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator

import pytest

from engine.service.guard import Metrics
from tests.service.raw import GOOD, Served, serving, status_of
from tests.support.soak import FACTOR

SECONDS = 10


@contextlib.asynccontextmanager
async def opened(served: Served) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield a connection, whatever the server does with it."""
    with contextlib.suppress(OSError, EOFError, TimeoutError):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        try:
            yield reader, writer
        finally:
            writer.close()
            await writer.wait_closed()


async def hold(served: Served, end: float, *, begin: bytes) -> None:
    """Open a connection that sends the beginning of a request, and another one whenever it is closed."""
    while (left := end - time.monotonic()) > 0:
        async with opened(served) as (reader, writer):
            writer.write(begin)
            await asyncio.wait_for(reader.read(1), left)
        await asyncio.sleep(0)


async def ask(served: Served, end: float) -> None:
    """Send requests without a token as fast as they are answered."""
    while time.monotonic() < end:
        async with opened(served) as (reader, writer):
            while time.monotonic() < end:
                writer.write(served.head("/echo"))
                await reader.readuntil(b"\r\n0\r\n\r\n")


async def send_chunks(served: Served, end: float) -> None:
    """Send chunks of one byte as fast as they are taken."""
    while time.monotonic() < end:
        async with opened(served) as (_, writer), asyncio.timeout(max(end - time.monotonic(), 0)):
            writer.write(served.head("/refused", "Transfer-Encoding: chunked", method="POST"))
            while not writer.is_closing():
                writer.write(b"1\r\na\r\n" * 10_000)
                await writer.drain()


async def attack(served: Served, end: float) -> None:
    """All of it at once."""
    idle = (
        hold(served, end, begin=begin) for begin in (b"", b"G", b"GET / HTTP/1.1\r\n") for _ in range(100)
    )
    running = (hold(served, end, begin=served.head("/never")) for _ in range(100))
    busy = (flood(served, end) for flood in (ask, send_chunks) for _ in range(8))
    await asyncio.gather(*idle, *running, *busy)


@pytest.mark.soak
def test_a_flood_of_strangers_does_not_keep_out_a_client_with_a_token() -> None:
    """400 connections of strangers, reopened at once, and 16 busy ones: each request with a token passes."""
    metrics = Metrics()
    with serving(connections=100, stop_seconds=1, metrics=metrics) as served:
        end = time.monotonic() + SECONDS * max(FACTOR, 1)

        async def both() -> list[int]:
            attacking = asyncio.create_task(attack(served, end))
            statuses = []
            while not attacking.done():
                answer = await asyncio.to_thread(served.request, "/echo", GOOD)
                statuses.append(status_of(answer))
                await asyncio.sleep(0.02)
            await attacking
            return statuses

        statuses = asyncio.run(both())
    found = re.search(r"^memroot_http_connections_dropped_total (\d+)", metrics.text(), re.MULTILINE)
    assert found
    assert int(found[1]) > 100
    assert len(statuses) > 1
    assert set(statuses) == {200}
