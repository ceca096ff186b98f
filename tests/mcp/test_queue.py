"""The number of requests that may wait in a server."""

from __future__ import annotations

import threading
from typing import Any

from engine.mcp.mcp_protocol import TOO_MANY_REQUESTS
from engine.mcp.stdio import WAITING_MAX, Server


class Recorder:
    """A wire that keeps what is sent."""

    ended = False

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        """Keep a message."""
        self.sent.append(message)


class Stuck:
    """A dispatcher whose calls wait, as they do while another process has the store open."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def answer(self, method: str, params: object) -> dict[str, Any]:
        """Wait, then give an empty result."""
        self.free.wait(30)
        return {}


def test_requests_beyond_the_bound_are_refused_at_once() -> None:
    """While calls wait, at most WAITING_MAX requests are kept; each further request gets an error."""
    wire, stuck = Recorder(), Stuck()
    server = Server(stuck, wire)  # type: ignore[arg-type]
    for number in range(WAITING_MAX + 7):
        server._take({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "x"}})
    refused = list(wire.sent)
    stuck.free.set()
    server._threads.shutdown()
    assert [one["id"] for one in refused] == list(range(WAITING_MAX, WAITING_MAX + 7))
    assert {one["error"]["code"] for one in refused} == {TOO_MANY_REQUESTS}
    assert sorted(one["id"] for one in wire.sent) == list(range(WAITING_MAX + 7))
