"""What a stranger gets done: bytes, chunks and requests, counted in turns of the event loop, not in time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio.to_thread
import h11
import pytest
from starlette.types import Receive, Scope, Send

from engine.engine import Engine
from engine.service.access import Access
from engine.service.app import application
from engine.service.http_connection import CHUNKS, STRANGER_BYTES
from engine.service.places import Turns
from engine.service.served_memories import Memories
from tests.service.raw import GOOD, App, Served, rest_of, serving, status_of
from tests.service.support import PATH, USUAL, KnownTokens

CHUNK = b"1\r\na\r\n"


@dataclass
class Counted(App):
    """An application that counts what is done in each turn of the event loop."""

    turn: int = 0
    requests: Counter[int] = field(default_factory=Counter)
    """Turn → the requests that began in it."""
    parsed: Counter[int] = field(default_factory=Counter)
    """Turn → the parts of requests that were parsed in it."""
    read: int = 0
    """The bytes of all clients."""

    def tick(self) -> None:
        """Begin a turn of the event loop."""
        self.turn += 1
        asyncio.get_running_loop().call_soon(self.tick)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request, and answer it."""
        if scope["type"] == "lifespan":
            self.tick()
        else:
            self.requests[self.turn] += 1
        await super().__call__(scope, receive, send)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """An application, which is told of everything that the parser gets and parses."""
    app = Counted()

    class Parser(h11.Connection):
        def receive_data(self, data: bytes) -> None:
            app.read += len(data)
            super().receive_data(data)

        def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
            app.parsed[app.turn] += 1
            return super().next_event()

    monkeypatch.setattr(h11, "Connection", Parser)
    return app


@pytest.fixture
def served(counted: Counted) -> Iterator[Served]:
    """A server of this application."""
    with serving(program=counted, stop_seconds=1) as running:
        yield running


def test_strangers_have_one_request_in_a_turn(served: Served, counted: Counted) -> None:
    """Whatever ten strangers send at once, one request begins in a turn, and each is answered."""
    requests = served.head("/early") * 9 + served.head("/early", "Connection: close")
    with ExitStack() as opened:
        connections = [opened.enter_context(served.connect(requests)) for _ in range(10)]
        answers = [rest_of(connection).count(b"HTTP/1.1 200 ") for connection in connections]
    assert answers == [10] * 10
    assert set(counted.requests.values()) == {1}


@pytest.mark.parametrize("headers", [(), (GOOD,)])
def test_few_chunks_are_parsed_in_a_turn(served: Served, counted: Counted, headers: tuple[str, ...]) -> None:
    """A body of 2,000 chunks with one byte each, of a stranger or not, leaves turns for others."""
    head = served.head("/echo", "Transfer-Encoding: chunked", "Connection: close", *headers, method="POST")
    assert b'"length": 2000' in served.raw(head + CHUNK * 2000 + b"0\r\n\r\n")
    assert max(counted.parsed.values()) <= CHUNKS + 2


@pytest.mark.parametrize("framing", ["Transfer-Encoding: chunked", "Content-Length: 5000000"])
def test_nothing_is_read_after_a_refusal(served: Served, counted: Counted, framing: str) -> None:
    """The body of a request that was refused is not read, and the next request is not answered."""
    head = served.head("/refused", framing, method="POST")
    answer = served.raw(head, CHUNK * 300_000, b"0\r\n\r\n", served.head("/early"))
    assert status_of(answer) == 401
    assert b"\r\nconnection: close\r\n" in answer.lower()
    assert answer.count(b"HTTP/1.1") == 1
    assert counted.read <= STRANGER_BYTES
    assert sum(counted.requests.values()) == 1


def test_a_client_with_a_token_keeps_its_connection_after_a_refusal(served: Served) -> None:
    """The body that came with a request is skipped, if it is not long."""
    wrong = served.head("/refused", "Content-Length: 5", GOOD, method="POST") + b"hello"
    answer = served.raw(wrong, served.head("/early", "Connection: close", GOOD))
    assert [line[9:12] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")] == [b"401", b"200"]


FLOODS = {
    "nothing": b"",
    "half a head": b"POST /v1/memories/~/find HTTP/1.1\r\nHost: HOST\r\nX: " + b"y" * 100_000,
    "half a body": b"POST /v1/memories/~/find HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9999999\r\n\r\n"
    + b"{" * 1_000_000,
    "chunks": b"POST /v1/memories/~/find HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n"
    + CHUNK * 200_000,
    "chunks for the agents": b"POST /mcp HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n"
    + CHUNK * 200_000,
    "requests": b"GET /v1/memories/~/find HTTP/1.1\r\nHost: HOST\r\n\r\n" * 20_000,
}


@pytest.fixture
def service(counted: Counted, tmp_path: Path) -> Iterator[Served]:
    """The service on a memory, and its server."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(url).close()
    app = application(Memories(url), Access(KnownTokens(**USUAL), read_only=True))
    with serving(program=app, stop_seconds=1) as running:
        yield running


@pytest.mark.parametrize("name", FLOODS)
def test_little_is_read_of_a_connection_without_a_token(service: Served, counted: Counted, name: str) -> None:
    """However much twenty strangers send, the service reads 32 KiB of each at most, and serves others."""
    sent = FLOODS[name].replace(b"HOST", b"localhost:%d" % service.port)
    with ExitStack() as opened:
        for _ in range(20):
            connection = opened.enter_context(service.connect())
            connection.settimeout(0.01)
            with suppress(OSError):  # the service reads no more, and closes
                connection.sendall(sent)
        answer = service.request(f"{PATH}/find", "Authorization: Bearer reader")
    assert status_of(answer) == 200
    assert counted.read <= 21 * 2 * STRANGER_BYTES


def test_a_request_without_a_token_waits_for_no_thread(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger cannot keep threads busy: there is nothing to look up."""
    monkeypatch.setattr(anyio.to_thread, "run_sync", None)
    assert status_of(service.request(f"{PATH}/find")) == 401


def test_turns_are_given_one_after_the_other() -> None:
    """Who had no turn yet goes first; between two turns, the event loop does everything else."""
    done: list[str] = []

    async def main() -> None:
        turns, loop = Turns(), asyncio.get_running_loop()
        for name in ("old 1", "old 2", "new"):
            turns.wait(partial(done.append, name), first=name == "new")
        while len(done) < 5:
            loop.call_soon(done.append, "other")
            await asyncio.sleep(0.002)

    asyncio.run(main())
    assert [name for name in done if name != "other"] == ["old 1", "new", "old 2"]
    assert "other" in done[done.index("old 1") : done.index("new")]
