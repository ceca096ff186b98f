"""Test servers in this process with the SDK's client, or in processes with raw messages or this client."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, TextContent

from engine.engine import Engine
from engine.mcp.dispatch import Dispatcher
from engine.mcp.profiles import profile_of, writing
from engine.mcp.stdio import Server
from engine.mcp.tool_definition import Profile
from engine.mcp.wire import Wire
from engine.memory.lease import Lease

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}

T = TypeVar("T")


def discover(version: Any = "2026-07-28", **more: Any) -> dict[str, Any]:
    """Return the first message of a client that uses no handshake."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        **more,
    }
    return {"jsonrpc": "2.0", "id": "probe", "method": "server/discover", "params": {"_meta": meta}}


def call(number: int, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call one tool and return its answer, or its error."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@dataclass(frozen=True)
class Answer:
    """The answer of a tool. `structured` is None if the answer is text only."""

    structured: dict[str, Any] | None
    text: str
    is_error: bool

    @classmethod
    def of(cls, result: CallToolResult) -> Answer:
        """Convert the SDK's result, and check that its two forms agree if it has both."""
        [block] = result.content
        assert isinstance(block, TextContent)
        assert result.structured_content is None or json.loads(block.text) == result.structured_content
        return cls(result.structured_content, block.text, result.is_error)

    @property
    def fields(self) -> dict[str, Any]:
        """The facts in an answer of `status`, of a tool that writes, or with structured content."""
        if self.structured is not None:
            return self.structured
        return facts_of(self.text)

    @property
    def error(self) -> dict[str, str]:
        """The error: code, message and hint."""
        assert self.is_error
        if self.structured is not None:
            assert list(self.structured) == ["error"]
            return dict(self.structured["error"])
        found = re.fullmatch(r"error (?P<code>[a-z_]+): (?P<message>.*)(?:\nhint: (?P<hint>.*))?", self.text)
        assert found is not None, self.text
        return {name: value or "" for name, value in found.groupdict().items()}


def facts_of(text: str) -> dict[str, Any]:
    """Return the facts in the text of an answer of `status`, or of a tool that writes."""
    if text.startswith("{"):
        return dict(json.loads(text))
    first, *rest = text.splitlines()
    subject, state, changed = first.rsplit(" ", 2)
    assert changed in {"changed", "unchanged"}, text
    facts: dict[str, Any] = {"id": subject, "state": state, "changed": changed == "changed"}
    for line in rest:
        name, _, fact = line.partition(": ")
        facts.setdefault(name, []).append(fact)
    return facts


def cost_of(text: str) -> int:
    """Return the cost in tokens that the last line of an answer states."""
    found = re.search(r"(?:\[|; )(\d+) tokens\]\Z", text)
    assert found is not None, text
    return int(found[1])


def read_tokens(text: str) -> float:
    """Return the tokens that a text costs a model: one for four characters."""
    return len(text) / 4


class Memory:
    """A memory behind a server in this process; each call uses a client of its own."""

    def __init__(self, engine: Engine, profile: Profile | None = None, *, read_only: bool = False) -> None:
        self.engine = engine
        self.lease = Lease(lambda: engine)
        refused = writing("memory") if read_only else ()
        self.dispatcher = Dispatcher(
            profile or profile_of("memory", read_only=read_only), self.lease, refused
        )

    def ask(self, question: Callable[[Client], Awaitable[T]], mode: str = "2026-07-28") -> T:
        """Send a message and return the response."""
        found: list[T] = []
        problems: list[MCPError] = []

        async def run() -> None:
            async with Client(piped(self.dispatcher), mode=mode) as client:
                try:
                    found.append(await question(client))
                except MCPError as problem:  # bare, not in the groups of the client's tasks
                    problems.append(problem)

        anyio.run(run)
        if problems:
            raise problems[0]
        return found[0]

    def answers(self, *calls: tuple[str, Mapping[str, Any]]) -> list[Answer]:
        """Call the tools in order and return their answers."""

        async def question(client: Client) -> list[Answer]:
            return [Answer.of(await client.call_tool(tool, dict(given))) for tool, given in calls]

        return self.ask(question)

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """What one tool answers, errors too."""
        return self.answers((tool, arguments))[0]

    def said(self, tool: str, /, **arguments: Any) -> str:
        """Call one tool and return the text of its answer, which must not be an error."""
        answer = self.call(tool, **arguments)
        assert not answer.is_error, answer.text
        return answer.text

    def found(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call one tool and return its answer, which must not be an error."""
        answer = self.call(tool, **arguments)
        assert not answer.is_error, answer.text
        return answer.fields


@asynccontextmanager
async def piped(dispatcher: Dispatcher) -> AsyncIterator[Any]:
    """The client's ends of the pipes to a server that runs in a thread of this process."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    wire = Wire(theirs_in, theirs_out)
    thread = threading.Thread(target=Server(dispatcher, wire).run, args=(lambda: None,))
    thread.start()
    with os.fdopen(ours_in, encoding="utf-8") as lines, os.fdopen(ours_out, "w") as out:
        # The SDK has nothing for the client's side of open files; for lines, both sides are alike.
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(out)) as streams:
            try:
                yield streams
            finally:
                wire.end()
                thread.join()
                wire.close()
                os.close(theirs_out)
    os.close(theirs_in)


def arguments(store: object, *more: str) -> list[str]:
    """Return the command that serves a store."""
    return ["-m", "engine", "mcp", "--store", str(store), *more]


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a server, with `more` added."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


class Raw:
    """A server process that exchanges single lines."""

    def __init__(self, store: object, *more: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments(store, *more)],
            env=environment(**env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # A server that hangs must fail the test, not hang it.
        self._limit = threading.Timer(TIMEOUT, self.process.kill)
        self._limit.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limit.cancel()
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        """Write messages, or lines that are not messages."""
        assert self.process.stdin is not None
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        """Return the next line that the server writes."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """What the server answers to a message."""
        self.send(message)
        found: dict[str, Any] = json.loads(self.line())
        assert found["id"] == message["id"]
        return found

    def open(self) -> dict[str, Any]:
        """Shake hands."""
        answer = self.ask(INITIALIZE)
        self.send(INITIALIZED)
        return answer

    def end(self) -> tuple[int, bytes, bytes]:
        """Close the input; return the exit code and the remaining output."""
        out, err = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, out, err


@asynccontextmanager
async def connected(store: object, *more: str, mode: str = "auto") -> AsyncIterator[Client]:
    """The SDK's client of a server process of its own."""
    server = StdioServerParameters(
        command=sys.executable, args=arguments(store, *more), env=environment(), cwd=ROOT
    )
    with anyio.fail_after(TIMEOUT), Path(os.devnull).open("w") as nowhere:
        async with Client(stdio_client(server, errlog=nowhere), mode=mode) as client:
            yield client
