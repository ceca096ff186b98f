"""A client whose service runs in the same process, without sockets, and what may stand between the two."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from engine import Engine
from engine.clients.remote_engine import RemoteEngine
from engine.clients.service_address import parse_address
from engine.clients.transport import RETRIES, Transport
from engine.clients.verified_proofs import Trusted
from engine.service.access import Access
from engine.service.app import application
from engine.service.served_memories import Memories
from tests.service.support import USUAL, KnownTokens, client_of

HOST = "http://testserver"

Forward = Callable[[httpx2.Request], httpx2.Response]
"""Hands a request to the service, and returns its answer."""

Middle = Callable[[httpx2.Request, Forward], httpx2.Response]
"""What stands between the client and the service."""


class Between(httpx2.BaseTransport):
    """A transport to a service in the same process, with something in between."""

    def __init__(self, service: httpx2.Client, middle: Middle) -> None:
        self._service, self._middle = service, middle

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Let `middle` answer."""
        request.read()
        return self._middle(request, self._forward)

    def _forward(self, request: httpx2.Request) -> httpx2.Response:
        answer = self._service.request(
            request.method, request.url, content=request.content, headers=request.headers
        )
        return answered(answer.status_code, answer.content, answer.headers.get("retry-after"))


def answered(status: int, content: bytes, retry_after: str | None = None) -> httpx2.Response:
    """Return an answer whose body was not read yet."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(content))


def operation_of(request: httpx2.Request) -> str:
    """Return the name of the operation that a request calls."""
    return request.url.path.rpartition("/")[2]


def lying(**lies: Callable[[Any], Any]) -> Middle:
    """Return what changes the successful answers of operations: name → function of the JSON value."""

    def middle(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        answer = forward(request)
        lie = lies.get(operation_of(request))
        if lie is None or answer.status_code != 200:
            return answer
        return answered(200, json.dumps(lie(json.loads(answer.read()))).encode())

    return middle


def honest(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Change nothing."""
    return forward(request)


@contextmanager
def connected(
    url: str | Path,
    *,
    middle: Middle = honest,
    memory: str | None = None,
    trust: Path | None = None,
    retries: int = RETRIES,
    slept: Callable[[float], None] = lambda _: None,
    **options: Any,
) -> Iterator[RemoteEngine]:
    """Yield a client of a service on the memories at `url`. Further options are those of `client_of`."""
    address = parse_address(HOST, memory, encrypted=False)
    with client_of(url, **options) as service:
        token = {"authorization": service.headers["authorization"]}
        client = httpx2.Client(transport=Between(service, middle), headers=token)
        transport = Transport(address, client, retries=retries, sleep=slept)
        with RemoteEngine(transport, Trusted(trust)) as remote:
            yield remote


def new_store(path: Path) -> str:
    """Create a store in a SQLite file, which several handles may have open, and return its URL."""
    url = f"sqlite:{path}"
    Engine.open(url).close()
    return url


@contextmanager
def serving(url: str, port: int = 0) -> Iterator[str]:
    """Run a service on a socket, and yield its address."""
    app = application(Memories(url, read_only=False), Access(KnownTokens(**USUAL), read_only=False))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
    with socket.create_server(("127.0.0.1", port)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
