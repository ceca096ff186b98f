"""Bytes that are no proper request: each gets a refusal or a closed connection, and the server goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.service.raw import GOOD, Served, rest_of, serving, status_of


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server with small limits of size."""
    with serving(head_bytes=4096, body_bytes=1000) as running:
        yield running


@pytest.fixture
def served(server: Served, caplog: pytest.LogCaptureFixture) -> Iterator[Served]:
    """The server, which must answer after each test, and must log nothing."""
    server.app.seen.clear()
    yield server
    assert status_of(server.request("/echo", GOOD)) == 200
    assert not caplog.get_records("call")


HOST = b"Host: localhost:%d\r\n"

BROKEN = {
    "nothing but a line end": b"\r\n\r\n\r\n\r\n\x00",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 + b"\r\n\r\n",
    "a NUL in the method": b"G\x00T / HTTP/1.1\r\n" + HOST + b"\r\n",
    "a NUL in the target": b"GET /\x00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a NUL in a header": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length : 5\r\n\r\n",
    "a header without a name": b"GET / HTTP/1.1\r\n" + HOST + b": x\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
    "no Host in HTTP/1.0": b"GET / HTTP/1.0\r\n\r\n",
    "two Hosts in HTTP/1.0": b"GET / HTTP/1.0\r\n" + HOST + HOST + b"\r\n",
    "a negative length": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
    "a length with a sign": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +5\r\n\r\nhello",
    "a length in other digits": b"POST / HTTP/1.1\r\n" + HOST + "Content-Length: ٥\r\n\r\n".encode(),
    "a length of many digits": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: " + b"9" * 99 + b"\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "a list of lengths": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5, 6\r\n\r\nhello",
    "length and chunks": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "another coding": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n",
    "two codings": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a chunk without a length": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\n\r\n\r\nhello",
    "a chunk of negative length": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello",
    "a chunk of huge length": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"f" * 64
    + b"\r\nhello",
    "a chunk longer than it says": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    "an endless extension of a chunk": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\n\r\n5;"
    + b"x" * 9000,
    "an absolute target": b"GET http://localhost/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "an absolute target elsewhere": b"GET http://169.254.169.254/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel": b"CONNECT example.com:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a star": b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    "an encoded NUL in the path": b"GET /a%00b HTTP/1.1\r\n" + HOST + b"\r\n",
    "an encoded line end in the path": b"GET /a%0d%0aX:%20y HTTP/1.1\r\n" + HOST + b"\r\n",
    "headers that are too long": b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 9000 + b"\r\n\r\n",
    "too many headers": b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 2000 + b"\r\n",
    "a target that is too long": b"GET /" + b"y" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "a line without an end": b"G" * 9000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_proper_request_is_refused(served: Served, name: str) -> None:
    """The answer is a refusal, the connection is closed, and no application gets a whole request."""
    sent = BROKEN[name].replace(HOST, HOST % served.port)
    answer = served.raw(sent)
    assert status_of(answer) in {400, 431, 505}
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"x-app: yes" not in answer


def test_a_second_request_behind_an_ambiguous_one_is_not_carried_out(served: Served) -> None:
    """A request that is hidden in a body (request smuggling) never reaches the application."""
    hidden = served.head("/early", GOOD)
    ambiguous = served.head("/echo", "Content-Length: 6", "Transfer-Encoding: chunked", method="POST")
    assert served.raw(ambiguous + b"0\r\n\r\n" + hidden).count(b"HTTP/1.1 ") == 1
    assert served.app.seen == []


def test_requests_that_come_at_once_are_answered_in_order(served: Served) -> None:
    """Fifty requests in one packet (pipelining) get fifty answers."""
    requests = served.head("/echo") * 49 + served.head("/early", "Connection: close")
    answer = served.raw(requests)
    assert answer.count(b"HTTP/1.1 200 ") == 50
    assert answer.endswith(b"5\r\nearly\r\n0\r\n\r\n")


def test_a_broken_chunk_after_the_answer_began_cuts_it_off(served: Served) -> None:
    """The connection ends when the rest of the request is invalid."""
    head = served.head("/events", "Transfer-Encoding: chunked", method="POST")
    with served.connect(head) as connection:
        assert b"200" in connection.recv(12)
        connection.sendall(b"no chunk\r\n")
        assert b"0\r\n\r\n" not in rest_of(connection)


def test_a_declared_length_over_the_limit_is_refused_at_once(served: Served) -> None:
    """The body is not awaited, and the application is not called."""
    answer = served.raw(served.head("/echo", "Content-Length: 1001", "Connection: close", method="POST"))
    assert status_of(answer) == 413
    assert served.app.seen == []


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413)])
def test_a_body_in_chunks_is_counted(served: Served, size: int, status: int) -> None:
    """A body without a declared length has the same limit, to the byte."""
    chunks = b"1\r\nx\r\n" * size + b"0\r\n\r\n"
    head = served.head("/echo", "Transfer-Encoding: chunked", "Connection: close", method="POST")
    assert status_of(served.raw(head, chunks)) == status


def test_a_body_of_the_largest_size_is_served(served: Served) -> None:
    """A body that has exactly the limit arrives whole."""
    answer = served.request("/echo", "Content-Length: 1000", method="POST", body=b"x" * 1000)
    assert b'"length": 1000' in answer


def test_a_bulk_request_has_a_limit_of_its_own() -> None:
    """Only a path for bulk requests takes more than the usual limit."""
    with serving(body_bytes=10, bulk_bytes=20) as served:
        for path, size, status in (("/bulk", 20, 200), ("/bulk", 21, 413), ("/bulk/x", 20, 413)):
            answer = served.request(path, f"Content-Length: {size}", method="POST", body=b"x" * size)
            assert status_of(answer) == status


def test_an_offer_of_another_protocol_is_ignored(served: Served) -> None:
    """A request for WebSocket or HTTP/2 is answered in HTTP/1.1."""
    for other in ("websocket", "h2c"):
        answer = served.request("/early", "Connection: close, Upgrade", f"Upgrade: {other}")
        assert status_of(answer) == 200


def test_a_client_that_leaves_at_once_does_no_harm(served: Served) -> None:
    """Connections that are reset before, in and after a request leave nothing behind."""
    for begin in (b"", b"GET", served.head("/early"), served.head("/echo", "Content-Length: 9")):
        served.connect(begin).close()


def test_the_length_of_the_answer_to_head_is_none(served: Served) -> None:
    """A HEAD request gets no body, so that the next answer begins where it should."""
    assert served.request("/early", method="HEAD").endswith(b"\r\n\r\n")


def test_an_error_of_the_application_shows_nothing(server: Served, caplog: pytest.LogCaptureFixture) -> None:
    """The client gets status 500, and the log names the place but not the message, which may quote a text."""
    with caplog.at_level(logging.DEBUG):
        answer = server.request("/broken")
        assert status_of(answer) == 500
        assert not server.request("/half").endswith(b"0\r\n\r\n")
    assert b"secret" not in answer
    assert "secret content" not in caplog.text
    assert "RuntimeError: broken (" in caplog.text
