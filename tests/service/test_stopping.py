"""How a server stops."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.service.raw import GOOD, TIMEOUT, rest_of, serving, status_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_a_running_request_is_answered_before_the_server_ends() -> None:
    """After the signal, a request that runs gets its answer, and an idle connection is closed."""
    with serving() as served:
        running = served.connect(served.head("/slow"))
        idle = served.connect(served.head("/early"))
        while served.app.seen != ["/slow", "/early"]:
            time.sleep(0.01)
        served.server.stop()
        with running, idle:
            assert rest_of(running).endswith(b"slow\r\n0\r\n\r\n")
            assert status_of(rest_of(idle)) == 200


def test_a_stream_gets_its_end() -> None:
    """After the signal, a stream of events ends as a complete answer, and the application learns of it."""
    with serving() as served, served.connect(served.head("/events", GOOD)) as connection:
        assert connection.recv(1 << 16)
        served.server.stop()
        assert rest_of(connection).endswith(b"0\r\n\r\n")
    assert served.app.seen == ["/events", "gone"]


def test_a_request_that_does_not_end_is_cut_off() -> None:
    """A request that is still running after the time to stop gets status 503."""
    with serving(stop_seconds=1) as served, served.connect(served.head("/never")) as connection:
        while not served.app.seen:
            time.sleep(0.01)
        served.server.stop()
        assert status_of(rest_of(connection)) == 503


def test_a_client_that_does_not_read_cannot_stop_the_end() -> None:
    """A long answer that nobody reads is cut off after the time to stop, and is not shown as complete."""
    with serving(stop_seconds=1) as served:
        connection = served.connect(served.head("/long"))
        while not served.app.seen:
            time.sleep(0.01)
    with connection:
        assert not rest_of(connection).endswith(b"0\r\n\r\n")


PROGRAM = """
    from engine.service.server import serve
    from engine.service.listening import Settings
    from tests.service.raw import App
    serve(App(), Settings(), lambda text: print(text, flush=True))
    print("closed")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server(number: signal.Signals) -> None:
    """The program goes on after `serve`, so that it can close its memories, and writes nothing to stderr."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("serving http://127.0.0.1:")
        process.send_signal(number)
        assert process.communicate(timeout=TIMEOUT) == ("closed\n", "")
    assert process.returncode == 0
