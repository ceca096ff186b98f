"""How long a client may take: each test waits until the server ends the connection."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from engine.service.listening import Limits, Settings, network_of
from tests.service.raw import Served, rest_of, seen_to_stay_open, serving, status_of

pytestmark = pytest.mark.slow

SHORT = Limits(
    head_seconds=0.2,
    body_seconds=0.2,
    answer_seconds=0.2,
    write_seconds=0.2,
    idle_seconds=0.2,
    stop_seconds=1,
)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server with short times."""
    with serving(SHORT) as server:
        yield server


def until_gone(served: Served) -> None:
    """Wait until the application has learned that the client is gone."""
    while "gone" not in served.app.seen:
        time.sleep(0.01)


def test_a_connection_that_sends_nothing_is_closed(served: Served) -> None:
    """Without a first byte, the connection is closed without an answer."""
    assert served.raw() == b""


@pytest.mark.parametrize("begin", [b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nA"])
def test_headers_that_do_not_end_are_timed_out(served: Served, begin: bytes) -> None:
    """Headers that stop anywhere get status 408."""
    assert status_of(served.raw(begin)) == 408


def test_a_byte_now_and_then_does_not_extend_the_time_for_headers(served: Served) -> None:
    """A client that sends one byte after the other (slowloris) is timed out, too."""
    with served.connect(b"GET / HTTP/1.1\r\n") as connection:
        connection.settimeout(0.05)
        answer = b""
        while not answer:
            connection.sendall(b"a")
            try:
                answer = connection.recv(1 << 16)
            except TimeoutError:
                continue
    assert status_of(answer) == 408


def test_the_headers_of_a_second_request_are_timed_out(served: Served) -> None:
    """A request that follows another one on the same connection has the same time."""
    with served.connect(served.head() + b"GET") as connection:
        assert rest_of(connection).count(b"HTTP/1.1 ") == 2


def test_empty_lines_do_not_keep_a_connection_open(served: Served) -> None:
    """A connection that is idle after empty lines is closed."""
    with served.connect(served.head(), b"\r\n") as connection:
        answer = rest_of(connection)
    assert status_of(answer) == 200


def test_an_idle_connection_is_closed(served: Served) -> None:
    """After an answer, the connection is closed when no further request comes."""
    with served.connect(served.head()) as connection:
        assert status_of(rest_of(connection)) == 200


def test_an_idle_connection_of_a_proxy_stays_open() -> None:
    """A proxy keeps its connections, so that it does not send a request on one that is being closed."""
    with (
        serving(Settings(proxies=(network_of("127.0.0.1"),), limits=SHORT)) as behind,
        behind.connect(behind.head()) as connection,
    ):
        assert seen_to_stay_open(connection, 1.5)


@pytest.mark.parametrize("framing", ["Content-Length: 10", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_end_is_timed_out(served: Served, framing: str) -> None:
    """A body that stops gets status 408, and the application learns that the client is gone."""
    served.app.seen.clear()
    assert status_of(served.raw(served.head("/echo", framing, method="POST") + b"5\r\nab")) == 408
    until_gone(served)
    assert served.app.seen == ["/echo", "gone"]


def test_a_body_after_the_answer_is_timed_out(served: Served) -> None:
    """If the application has answered without reading the body, the rest of the body has no more time."""
    with served.connect(served.head("/early", "Content-Length: 1000000", method="POST")) as connection:
        assert b"early" in rest_of(connection)


def test_an_answer_that_does_not_begin_is_timed_out(served: Served) -> None:
    """If the application does not answer, the client gets status 504."""
    served.app.seen.clear()
    answer = served.raw(served.head("/never"))
    assert status_of(answer) == 504
    assert b"it may have been carried out" in answer
    until_gone(served)
    assert served.app.seen == ["/never", "gone"]


def test_a_client_that_reads_nothing_of_a_long_answer_is_dropped(served: Served) -> None:
    """The application need not wait for a client that does not read."""
    served.app.seen.clear()
    with served.connect(served.head("/long")) as connection:
        until_gone(served)
        assert len(rest_of(connection)) < 64 << 20


def test_a_client_that_reads_slowly_gets_the_whole_answer(served: Served) -> None:
    """A client that goes on reading is not dropped, however long the whole answer takes."""
    found = 0
    with served.connect(served.head("/long", "Connection: close")) as connection:
        while data := connection.recv(1 << 20):
            found += len(data)
            time.sleep(0.01)
    assert found > 64 << 20


def test_a_stream_of_events_stays_open(served: Served) -> None:
    """A stream in which nothing happens is not timed out."""
    with served.connect(served.head("/events")) as connection:
        assert seen_to_stay_open(connection, 1.5)
