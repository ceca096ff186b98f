"""Two services on one PostgreSQL database that fails: two memories, two tokens, and every kind of client."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from engine.base.errors import EngineError
from engine.base.scopes import Scope
from engine.commands.atoms import Add
from engine.engine import Engine
from engine.service.tokens import Tokens
from tests.service.processes import Running, serving
from tests.support.postgresql import NoServerError, Server, programs, standby_of, temporary_server

pytestmark = pytest.mark.slow

TIMEOUT: Final = 60
PAUSE: Final = 0.05
"""The time, in seconds, between two requests of a client."""

FORBIDDEN: Final = 403

MEMORIES: Final = {"work": "ann", "home": "bob"}
"""Each memory, and the name of the token that is for it."""


@dataclass
class Writer:
    """A client that adds texts, one after the other, until it is told to stop."""

    name: str
    memory: str
    add: Callable[[str, str], str]
    """Adds a text under a key. Returns an empty text, or the problem if the request must be repeated."""
    stop: threading.Event
    acknowledged: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failure: BaseException | None = None

    def run(self) -> None:
        """Add texts. Each is repeated until it is acknowledged."""
        try:
            while not self.stop.is_set():
                number = len(self.acknowledged)
                text = f"Kettle {number} of the {self.name} is descaled with {number} lemons."
                until = time.monotonic() + TIMEOUT
                while problem := self.add(text, f"{self.name}-{number}"):
                    self.problems.append(problem)
                    assert time.monotonic() < until, self.problems
                    time.sleep(PAUSE)
                self.acknowledged.append(text)
                time.sleep(PAUSE)
        except BaseException as error:  # noqa: BLE001  whatever it is, the test tells it
            self.failure = error


@dataclass
class Fleet:
    """Two services on one database, and the tokens."""

    database: Server
    standby: Server
    store: str
    services: tuple[Running, Running]
    tokens: dict[str, str]
    """The name of a memory → a token for it."""
    clients: ExitStack

    def by_curl(self, memory: str, service: Running) -> Callable[[str, str], str]:
        """Return a function that adds a text with curl."""

        def add(text: str, key: str) -> str:
            ended = subprocess.run(
                [
                    "curl", "--silent", "--show-error", "--write-out", "\n%{http_code}",
                    "--header", f"Authorization: Bearer {self.tokens[memory]}",
                    "--header", f"Idempotency-Key: {key}",
                    "--json", json.dumps({"content": text}),
                    f"{service.url}/v1/memories/{memory}/add",
                ],
                capture_output=True, text=True, timeout=TIMEOUT, check=True,
            )  # fmt: skip
            body, _, status = ended.stdout.rpartition("\n")
            return "" if status == "200" else body

        return add

    def by_client(self, memory: str, service: Running) -> Callable[[str, str], str]:
        """Return a function that adds a text with the client of this package."""
        remote = Engine.connect(service.url, memory=memory, token=self.tokens[memory])
        self.clients.callback(remote.close)

        def add(text: str, key: str) -> str:
            try:
                remote.apply([Add(text)], request=key)
            except EngineError as error:
                return str(error)
            return ""

        return add

    def by_agent(self, memory: str, service: Running) -> Callable[[str, str], str]:
        """Return a function that adds a text with the MCP client of the SDK."""
        headers = {"Authorization": f"Bearer {self.tokens[memory]}"}
        portal = self.clients.enter_context(start_blocking_portal())
        connection = self.clients.enter_context(
            portal.wrap_async_context_manager(httpx2.AsyncClient(headers=headers, timeout=TIMEOUT))
        )
        transport = streamable_http_client(f"{service.url}/mcp/{memory}", http_client=connection)
        agent = self.clients.enter_context(portal.wrap_async_context_manager(Client(transport)))

        def add(text: str, key: str) -> str:
            del key  # an equal text is stored once
            answer = portal.call(agent.call_tool, "remember", {"content": text})
            return str(answer.content) if answer.is_error else ""

        return add

    def asked(self, service: Running, memory: str, *, as_: str) -> httpx2.Response:
        """Return the description of a memory, asked for with the token for the memory `as_`."""
        headers = {"authorization": f"Bearer {self.tokens[as_]}"}
        return httpx2.get(f"{service.url}/v1/memories/{memory}", headers=headers, timeout=TIMEOUT)


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    """Two running services on a database with a synchronous standby."""
    try:
        programs()
    except NoServerError as error:
        pytest.skip(str(error))
    with ExitStack() as stack:
        database = stack.enter_context(temporary_server())
        standby = standby_of(database, database.folder.parent / "standby")
        stack.callback(standby.stop)
        hosts = f"127.0.0.1:{database.port},127.0.0.1:{standby.port}"
        store = f"postgresql://memroot@{hosts}/postgres?target_session_attrs=read-write"
        for memory in MEMORIES:
            Engine.open(store, memory=memory).close()
        tokens = Tokens(store)
        stack.callback(tokens.close)
        made = {memory: tokens.new(name, Scope.WRITE, memories=[memory]) for memory, name in MEMORIES.items()}
        first, second = (
            stack.enter_context(serving(store, "--write", "--quiet-requests", "--rate", "10000"))
            for _ in range(2)
        )
        yield Fleet(database, standby, store, (first, second), made, stack.enter_context(ExitStack()))


def writers_of(fleet: Fleet, stop: threading.Event) -> list[Writer]:
    """Return a writer for each kind of client: two for each memory, at different services."""
    first, second = fleet.services
    return [
        Writer("curl", "work", fleet.by_curl("work", first), stop),
        Writer("client", "work", fleet.by_client("work", second), stop),
        Writer("agent", "home", fleet.by_agent("home", first), stop),
        Writer("neighbour", "home", fleet.by_client("home", second), stop),
    ]


def wait_until_all_wrote(writers: list[Writer], more: int) -> None:
    """Wait until each writer has had `more` texts acknowledged."""
    wanted = [(writer, len(writer.acknowledged) + more) for writer in writers]
    until = time.monotonic() + 2 * TIMEOUT
    while any(len(writer.acknowledged) < number for writer, number in wanted):
        failed = [(writer.name, writer.failure) for writer in writers if writer.failure is not None]
        assert not failed, failed
        assert time.monotonic() < until, [(writer.name, writer.problems[-3:]) for writer in writers]
        time.sleep(0.01)


@pytest.mark.parametrize("texts", [2, pytest.param(250, marks=pytest.mark.soak)])
def test_nothing_acknowledged_is_lost_when_the_primary_is_killed(fleet: Fleet, texts: int) -> None:
    """Curl, the client and an agent write through two services; a standby takes over meanwhile.

    Afterwards both memories have every acknowledged text once, under the name of its token, and verify. Both
    services tell the same root, and none lets a token read the memory that it is not for.
    """
    stop = threading.Event()
    writers = writers_of(fleet, stop)
    threads = [threading.Thread(target=writer.run) for writer in writers]
    for thread in threads:
        thread.start()
    try:
        wait_until_all_wrote(writers, texts)
        fleet.database.stop("immediate")
        fleet.standby.promote()
        wait_until_all_wrote(writers, texts)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for memory, actor in MEMORIES.items():
        with Engine.open(fleet.store, memory=memory) as opened:
            stored = [opened.get(item.subject).content for item in opened.log(1)]
            written = [text for writer in writers if writer.memory == memory for text in writer.acknowledged]
            assert sorted(stored) == sorted(written)
            assert {item.actor for item in opened.log(1)} == {actor}
            root = opened.verify().root
        told = [fleet.asked(service, memory, as_=memory) for service in fleet.services]
        assert [answer.json()["root"] for answer in told] == [root, root]
    other = [fleet.asked(service, "work", as_="home").status_code for service in fleet.services]
    assert other == [FORBIDDEN, FORBIDDEN]
