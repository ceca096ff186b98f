"""The header `Idempotency-Key`: a repeated request is the same request, also after a cut connection."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from engine.engine import Engine
from engine.service.access import Access
from engine.service.app import application
from engine.service.served_memories import Memories
from tests.service.support import PATH, USUAL, KnownTokens, client_of

KEY = "7d1f0c2e-5d0b-4a53-9a44-0a6b1f7d3c11"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty memory, of a service with small batches."""
    monkeypatch.setattr("engine.service.long_answers.BATCH", 100)
    url = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(url).close()
    return url


def size(url: str) -> int:
    """Return the number of events in a memory."""
    with Engine.open(url, create=False) as memory:
        return memory.size


def test_a_repeated_request_has_the_same_answer(url: str) -> None:
    """The second request appends nothing, also to a second service on the same memory."""
    for _ in range(2):
        with client_of(url) as client, client_of(url) as other:
            answers = [
                one.post(f"{PATH}/add", json={"content": "a"}, headers={"idempotency-key": KEY}).json()
                for one in (client, other, client)
            ]
        assert answers[0]["events"]
        assert answers[0] == answers[1] == answers[2]
    assert size(url) == 2


def test_another_request_with_the_same_key_is_a_conflict(url: str) -> None:
    """Other arguments, another operation and a bulk request are refused with the status 409."""
    headers = {"idempotency-key": KEY}
    with client_of(url) as client:
        assert client.post(f"{PATH}/add", json={"content": "a"}, headers=headers).status_code == 200
        for operation, given in {
            "add": {"content": "b"},
            "register_type": {"name": "near"},
            "bulk": {"add": {"content": "a"}},
        }.items():
            answer = client.post(f"{PATH}/{operation}", json=given, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert size(url) == 2


def test_each_token_has_keys_of_its_own(url: str) -> None:
    """Two tokens may use the same key for different requests."""
    with client_of(url) as client:
        for token in ("writer", "admin"):
            headers = {"idempotency-key": KEY, "authorization": f"Bearer {token}"}
            answer = client.post(f"{PATH}/add", json={"content": token}, headers=headers)
            assert answer.json()["events"]


@pytest.mark.parametrize("key", ["", "k" * 111, "é", "a\tb", "a b", "key#0+1000"])
def test_a_key_that_is_not_valid_is_refused(url: str, key: str) -> None:
    """An empty, long or unreadable key, or one that names a part, is an invalid request."""
    with client_of(url) as client:
        answer = client.post(f"{PATH}/add", json={"content": "a"}, headers={b"idempotency-key": key.encode()})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert size(url) == 1


@pytest.mark.parametrize("second", ["another", KEY])
def test_two_keys_are_refused(url: str, second: str) -> None:
    """A request with two headers Idempotency-Key is invalid, even if they are the same."""
    headers = [(b"idempotency-key", KEY.encode()), (b"idempotency-key", second.encode())]
    headers.append((b"authorization", b"Bearer admin"))
    with client_of(url) as client:
        answer = client.post(f"{PATH}/add", json={"content": "a"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert "one header Idempotency-Key" in answer.json()["detail"]
    assert size(url) == 1


def test_reads_ignore_the_key(url: str) -> None:
    """A query with a key that a write has used is answered as usual."""
    headers = {"idempotency-key": KEY}
    with client_of(url) as client:
        client.post(f"{PATH}/add", json={"content": "the kettle"}, headers=headers)
        answer = client.post(f"{PATH}/recall", json={"query": "kettle"}, headers=headers)
        assert len(answer.json()["hits"]) == 1


def lines_of(count: int) -> bytes:
    """Return the body of a bulk request."""
    return b"".join(
        json.dumps({"add": {"content": f"text {number}"}}).encode() + b"\n" for number in range(count)
    )


def test_a_bulk_request_continues_after_its_last_batch(url: str) -> None:
    """If a line fails, the corrected request commits the rest, and its answer has all receipts."""
    wrong = lines_of(150) + b"{}\n"
    headers = {"idempotency-key": KEY}
    with client_of(url) as client:
        assert client.post(f"{PATH}/bulk", content=wrong, headers=headers).json()["done"] == 100
        whole = client.post(f"{PATH}/bulk", content=lines_of(250), headers=headers)
        assert client.post(f"{PATH}/bulk", content=lines_of(250), headers=headers).text == whole.text
    receipts = [json.loads(text) for text in whole.text.splitlines()]
    assert [receipt["events"][0]["seq"] for receipt in receipts] == list(range(1, 251))
    assert size(url) == 251


@contextmanager
def served(url: str) -> Iterator[tuple[str, int]]:
    """Run the service on a socket."""
    access = Access(KnownTokens(**USUAL), read_only=False)
    app = application(Memories(url, read_only=False), access)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def cut_off(
    address: tuple[str, int],
    operation: str,
    body: bytes,
    when: Callable[[], bool],
    *,
    length: int | None = None,
) -> None:
    """Send a request with the key, and cut the connection as soon as `when`.

    The request says that its body has `length` bytes, by default the length of `body`.
    """
    head = (
        f"POST {PATH}/{operation} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n"
        f"Authorization: Bearer admin\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: {KEY}\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    with socket.create_connection(address) as connection:
        connection.sendall(head.encode() + body)
        until(when)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def test_a_request_whose_answer_was_cut_off_is_made_once(url: str) -> None:
    """Clients that close without reading the answer have caused one event; a repetition learns of it."""
    with served(url) as address:
        for _ in range(3):
            cut_off(address, "add", b'{"content": "a"}', lambda: size(url) == 2)
        answer = repeated(url, "add", b'{"content": "a"}')
    assert answer[0]["events"][0]["seq"] == 1
    assert size(url) == 2


@pytest.mark.parametrize("lines", [0, 101, 249])
def test_a_bulk_request_that_was_cut_off_is_completed(
    url: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    """However much of the body arrived, the repeated request leads to each line being carried out once."""
    body = lines_of(250)
    with served(url) as address:
        part = body[: len(lines_of(lines)) + 5]
        cut_off(address, "bulk", part, lambda: size(url) == 1 + lines // 100 * 100, length=len(body))
        answer = repeated(url, "bulk", body)
    assert [receipt["events"][0]["seq"] for receipt in answer] == list(range(1, 251))
    assert size(url) == 251
    assert not caplog.records


def repeated(url: str, operation: str, body: bytes) -> list[Any]:
    """Send the request to another service on the same memory, and return the lines of its answer."""
    headers = {"idempotency-key": KEY, "content-type": "application/json"}
    client: TestClient
    with client_of(url) as client:
        answer = client.post(f"{PATH}/{operation}", content=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return [json.loads(text) for text in answer.text.splitlines()]
