"""Any bytes at all: the server answers with what is HTTP or closes, logs nothing, and goes on."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.raw import GOOD, Served, rest_of, serving, status_of

PIECES = st.sampled_from(
    [
        b"GET /echo HTTP/1.1\r\n",
        b"POST /echo HTTP/1.1\r\n",
        b"HEAD /early HTTP/1.0\r\n",
        b"OPTIONS * HTTP/1.1\r\n",
        b"GET http://evil.com/ HTTP/1.1\r\n",
        b"Host: HOST\r\n",
        b"Host: evil.com\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 99999\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Connection: close\r\n",
        b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n",
        b"Authorization: Bearer good\r\n",
        b"\r\n",
        b"\n",
        b"hello",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"0\r\nTrailer: x\r\n\r\n",
        b"ffffffffffffffff\r\n",
        b"\x00",
        b" ",
    ]
)
SENT = st.lists(PIECES | st.binary(max_size=20), max_size=12).map(b"".join)
ANSWER = re.compile(rb"HTTP/1\.1 \d{3} ")


LOGGED: list[str] = []


class Collected(logging.Handler):
    """A handler that keeps what is logged."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record that is not about the start."""
        if record.name != "uvicorn.error":
            LOGGED.append(record.getMessage())


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server with small limits, whose log is collected."""
    with serving(head_bytes=1000, body_bytes=1000, stop_seconds=1) as running:
        root, handler = logging.getLogger(), Collected()
        before = root.level
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        yield running
        root.removeHandler(handler)
        root.setLevel(before)


@given(sent=SENT)
def test_any_bytes_get_an_answer_or_a_closed_connection(served: Served, sent: bytes) -> None:
    """What comes back begins with a status, nothing hangs, and nothing is logged."""
    with served.connect(sent.replace(b"HOST", b"localhost:%d" % served.port)) as connection:
        try:
            connection.shutdown(socket.SHUT_WR)
            answer = rest_of(connection)
        except OSError:  # the server was faster
            answer = b""
    assert not answer or ANSWER.match(answer)
    assert LOGGED == []


def test_the_server_goes_on_afterwards(served: Served) -> None:
    """The next client is served."""
    assert status_of(served.request("/echo", GOOD)) == 200
    assert LOGGED == []
