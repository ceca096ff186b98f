"""The stdio transport and the server on it, tested with pipes."""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from engine.engine import Engine
from engine.mcp.dispatch import THREADS, Dispatcher
from engine.mcp.stdio import Server
from engine.mcp.tool_definition import Profile, Tool
from engine.mcp.wire import LINE_BYTES_MAX, Wire
from engine.memory.lease import Lease
from tests.mcp.support import INITIALIZE, TIMEOUT, call

ANYTHING = {"type": "object"}


class Piped:
    """A wire and the other ends of its pipes."""

    def __init__(self) -> None:
        self.theirs_in, self.client_out = os.pipe()
        self.client_in, self.theirs_out = os.pipe()
        self.wire = Wire(self.theirs_in, self.theirs_out)
        # Unbuffered: what is not read yet can still be waited for.
        self._lines = os.fdopen(self.client_in, "rb", buffering=0, closefd=False)

    def send(self, *messages: object) -> None:
        """Write messages as the client."""
        for message in messages:
            os.write(self.client_out, json.dumps(message).encode() + b"\n")

    def heard(self) -> dict[str, Any]:
        """Return the next message that the client receives."""
        assert select.select([self.client_in], [], [], TIMEOUT)[0], "the server says nothing"
        found: dict[str, Any] = json.loads(self._lines.readline())
        return found

    def hang_up(self) -> None:
        """End the input."""
        os.close(self.client_out)
        self.client_out = -1

    def close(self) -> None:
        """Close all ends."""
        self.wire.close()
        for fd in (self.theirs_in, self.client_out, self.client_in, self.theirs_out):
            if fd >= 0:
                os.close(fd)


@pytest.fixture
def piped() -> Iterator[Piped]:
    """Return a wire on two pipes."""
    made = Piped()
    try:
        yield made
    finally:
        made.close()


class Gate:
    """A tool that waits until the test releases it."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.leave = threading.Event()
        self.count = 0

    def run(self, engine: Engine, arguments: dict[str, Any]) -> dict[str, Any]:
        """Wait to be released."""
        del engine, arguments
        self.count += 1
        self.entered.release()
        assert self.leave.wait(TIMEOUT)
        return {}


@pytest.fixture
def gate(piped: Piped) -> Iterator[Gate]:
    """Return the tool `wait` on a server in a thread, after the handshake."""
    made = Gate()
    with Engine.open("memory:") as engine:
        profile = Profile("test", "", (Tool("wait", "", ANYTHING, made.run, ANYTHING),))
        server = Server(Dispatcher(profile, Lease(lambda: engine)), piped.wire)
        thread = threading.Thread(target=server.run, args=(lambda: None,))
        thread.start()
        try:
            piped.send(INITIALIZE)
            assert "result" in piped.heard()
            yield made
        finally:
            made.leave.set()
            if piped.client_out >= 0:
                piped.hang_up()
            thread.join(TIMEOUT)
            assert not thread.is_alive()


def never() -> Engine:
    """Open no store: raise."""
    raise AssertionError("the store was asked for")


def cancel(given: int | str) -> dict[str, Any]:
    """Return a cancellation of a request."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": given}}


def test_a_slow_call_keeps_nothing_waiting(piped: Piped, gate: Gate) -> None:
    """While a call runs, other calls and lists are answered."""
    piped.send(call(5, "wait"), call(6, "wait"), {"jsonrpc": "2.0", "id": 7, "method": "tools/list"})
    assert piped.heard()["id"] == 7
    assert gate.entered.acquire(timeout=TIMEOUT)
    assert gate.entered.acquire(timeout=TIMEOUT)
    gate.leave.set()
    assert {piped.heard()["id"], piped.heard()["id"]} == {5, 6}


def test_a_request_that_was_taken_back_is_never_answered(piped: Piped, gate: Gate) -> None:
    """A cancelled request gets no answer; a cancellation with an unknown id has no effect."""
    piped.send(call(5, "wait"), call(6, "wait"))
    assert gate.entered.acquire(timeout=TIMEOUT)
    assert gate.entered.acquire(timeout=TIMEOUT)
    piped.send(cancel(5), cancel("6"), cancel(60), {"jsonrpc": "2.0", "method": "notifications/cancelled"})
    piped.send({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert piped.heard()["id"] == 7
    gate.leave.set()
    assert piped.heard()["id"] == 6
    piped.send({"jsonrpc": "2.0", "id": 8, "method": "ping"})
    assert piped.heard()["id"] == 8


def test_a_request_that_was_taken_back_in_time_is_never_begun(piped: Piped, gate: Gate) -> None:
    """A request that is cancelled while it waits for a thread does not run."""
    piped.send(*(call(number, "wait") for number in range(10, 10 + THREADS)), call(5, "wait"))
    for _ in range(THREADS):
        assert gate.entered.acquire(timeout=TIMEOUT)
    piped.send(cancel(5), {"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert piped.heard()["id"] == 7
    gate.leave.set()
    assert {piped.heard()["id"] for _ in range(THREADS)} == set(range(10, 10 + THREADS))
    assert gate.count == THREADS


def test_what_was_asked_before_the_end_is_answered(piped: Piped, gate: Gate) -> None:
    """Requests are answered after the client has closed its output."""
    piped.send(call(5, "wait"))
    piped.hang_up()
    assert gate.entered.acquire(timeout=TIMEOUT)
    gate.leave.set()
    assert piped.heard()["id"] == 5


def test_the_end_does_not_wait_for_ever(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end is announced before pending answers are awaited."""
    done: list[str] = []
    server = Server(Dispatcher(Profile("test", "", ()), Lease(never)), piped.wire)
    monkeypatch.setattr(server, "_answer", lambda request: done.append("answered"))
    piped.send(INITIALIZE, call(5, "wait"))
    piped.hang_up()
    server.run(lambda: done.append("end"))
    assert set(done) == {"end", "answered"}


def test_a_failure_of_the_server_is_an_answer(
    piped: Piped, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An internal error is an error response without details."""

    def broken(method: str, params: object) -> dict[str, Any]:
        raise RuntimeError("/secret/path is odd")

    dispatcher = Dispatcher(Profile("test", "", ()), Lease(never))
    monkeypatch.setattr(dispatcher, "answer", broken)
    piped.send(INITIALIZE, call(5, "wait"))
    piped.hang_up()
    Server(dispatcher, piped.wire).run(lambda: None)
    piped.heard()
    assert piped.heard()["error"] == {"code": -32603, "message": "Internal server error"}
    assert "/secret/path is odd" in caplog.text


def test_a_reader_that_waits_is_woken_by_the_end(piped: Piped) -> None:
    """`end` wakes a reader that waits for input."""
    heard: list[object] = []
    reader = threading.Thread(target=lambda: heard.extend(piped.wire.messages()))
    reader.start()
    piped.wire.end()
    reader.join(TIMEOUT)
    assert not reader.is_alive()
    assert heard == []


def test_nothing_is_sent_after_the_end(piped: Piped) -> None:
    """After `end`, answers are discarded."""
    piped.wire.end()
    piped.wire.send({"id": 1, "result": {}})
    assert not select.select([piped.client_in], [], [], 0)[0]


def test_lines_are_whole_however_they_come(piped: Piped) -> None:
    """A line may arrive in any number of parts, and several lines may arrive at once."""
    raw = b"".join(json.dumps(call(number, "é")).encode() + b"\n" for number in range(3))
    for at in range(0, len(raw), 7):
        os.write(piped.client_out, raw[at : at + 7])
    piped.hang_up()
    assert [message["id"] for message in piped.wire.messages()] == [0, 1, 2]


def test_a_last_line_needs_no_end(piped: Piped) -> None:
    """The last line is a message even without a line end."""
    os.write(piped.client_out, json.dumps(call(7, "tea")).encode())
    piped.hang_up()
    assert [message["id"] for message in piped.wire.messages()] == [7]


def test_a_line_over_the_limit_is_answered_once_and_passed_over(piped: Piped) -> None:
    """A line that is too long gets one error, and the next line is read."""

    def write() -> None:
        for _ in range(3 * LINE_BYTES_MAX >> 16):
            os.write(piped.client_out, b"x" * (1 << 16))
        os.write(piped.client_out, b"\n")
        piped.send(INITIALIZE)
        piped.hang_up()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert list(piped.wire.messages()) == [INITIALIZE]
    writer.join(TIMEOUT)
    assert piped.heard()["error"]["message"] == f"a message is longer than {LINE_BYTES_MAX} bytes"
    assert not select.select([piped.client_in], [], [], 0)[0]


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "method": "notifications/other", "params": {"x": 1}},
        {"jsonrpc": "2.0", "id": None, "method": "notifications/initialized"},
    ],
)
def test_what_needs_no_answer_gets_none(piped: Piped, gate: Gate, message: dict[str, Any]) -> None:
    """Responses and notifications get no answer."""
    piped.send(message, {"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert piped.heard()["id"] == 7


@pytest.mark.parametrize("given", [True, 1.5, [], {}])
def test_an_id_that_is_none_is_refused(piped: Piped, gate: Gate, given: Any) -> None:
    """A request with an invalid id gets an error."""
    piped.send({"jsonrpc": "2.0", "id": given, "method": "ping"})
    answer = piped.heard()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


def test_the_descriptors_themselves_lead_elsewhere(piped: Piped) -> None:
    """Until the wire is closed, reading stdin gives nothing."""
    piped.send(INITIALIZE)
    assert os.read(piped.theirs_in, 100) == b""
    assert next(piped.wire.messages()) == INITIALIZE
