"""The wire by itself, on pipes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator

import pytest

from engine.mcp import wire as wires
from engine.mcp.wire import Wire
from tests.mcp.support import INITIALIZE, call


class Piped:
    """A wire, and the other ends of its pipes."""

    def __init__(self) -> None:
        self.theirs_in, self.client_out = os.pipe()
        self.client_in, self.theirs_out = os.pipe()
        self.wire = Wire(self.theirs_in, self.theirs_out)

    def send(self, *messages: object) -> None:
        """Write messages as the client."""
        for message in messages:
            os.write(self.client_out, json.dumps(message).encode() + b"\n")

    def hang_up(self) -> None:
        """End the input."""
        os.close(self.client_out)
        self.client_out = -1

    def close(self) -> None:
        """Close every end."""
        self.wire.close()
        for fd in (self.theirs_in, self.client_out, self.client_in, self.theirs_out):
            if fd >= 0:
                os.close(fd)


@pytest.fixture
def piped() -> Iterator[Piped]:
    """A wire on two pipes."""
    made = Piped()
    try:
        yield made
    finally:
        made.close()


def answer(number: int) -> str:
    """An answer as the SDK writes it."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}) + "\n"


def test_the_end_waits_for_answers_that_are_owed(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader hears of it once the last is written, or of a request that was taken back."""
    monkeypatch.setattr(wires, "GRACE_SECONDS", 60)
    piped.send(call(1, "status"), call(2, "status"), call(3, "status"))
    piped.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    piped.hang_up()
    for _ in range(4):
        assert piped.wire.readline()
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(piped.wire.readline()))
    reader.start()
    for number in (1, 2):
        reader.join(0.1)
        assert reader.is_alive()
        piped.wire.write(answer(number))
    reader.join(30)
    assert heard == [""]


def test_the_end_does_not_wait_for_ever(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that never come are given up."""
    monkeypatch.setattr(wires, "GRACE_SECONDS", 0.01)
    piped.send(call(1, "status"))
    piped.hang_up()
    assert piped.wire.readline()
    assert piped.wire.readline() == ""


def test_a_reader_that_waits_is_woken_by_the_end(piped: Piped) -> None:
    """Though the client sends nothing."""
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(piped.wire.readline()))
    reader.start()
    piped.wire.end()
    reader.join(30)
    assert heard == [""]


def test_a_foretold_answer_is_not_sent_again(piped: Piped, caplog: pytest.LogCaptureFixture) -> None:
    """And where the SDK has another one, the log says so."""
    foretold = {"jsonrpc": "2.0", "id": 1, "result": {"x": 1}}
    piped.wire.replay(json.dumps(INITIALIZE), foretold)
    assert json.loads(piped.wire.readline()) == INITIALIZE
    piped.wire.write(answer(1))
    assert "it should have been" in caplog.text
    piped.wire.write(answer(1))
    assert os.read(piped.client_in, 1000).decode() == answer(1).replace(" ", "")


def test_the_descriptors_themselves_lead_elsewhere(piped: Piped) -> None:
    """What anybody reads from stdin is empty, until the wire is closed."""
    piped.send(INITIALIZE)
    assert os.read(piped.theirs_in, 100) == b""
    assert json.loads(piped.wire.readline()) == INITIALIZE
