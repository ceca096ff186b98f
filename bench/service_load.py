"""Send requests to a service over connections that stay open, and time the answers.

Question: how many requests does a service answer in a second, and how long does a client wait?
Data: requests that the caller has prepared, so that nothing is encoded while the clock runs. Seed: that of
the caller. How: a closed loop: each client sends its next request when it has read the whole answer. This
module runs in a process of its own, with asyncio and plain sockets. It reports its own share of one core:
well below 1, it is not what limits the figures.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length: "


@dataclass(slots=True)
class Answers:
    """What came back."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    """The time of each answer, in seconds."""
    wrong: str = ""
    """The first answer whose status is not 200."""


class Client(asyncio.Protocol):
    """One connection, with one request under way."""

    def __init__(self, requests: Iterator[bytes], answers: Answers, until: float) -> None:
        """Send requests until a time of `time.perf_counter`."""
        self._requests = requests
        self._answers = answers
        self._until = until
        self._buffer = b""
        self._sent = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request (called by the event loop)."""
        self._transport: Any = transport
        self._next()

    def _next(self) -> None:
        request = None
        if time.perf_counter() < self._until and not self._answers.wrong:
            request = next(self._requests, None)
        if request is None:
            self._end()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)

    def _end(self) -> None:
        self._transport.close()
        if not self.done.done():
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Read (called by the event loop)."""
        self._buffer += data
        head = self._buffer.find(_END)
        if head < 0:
            return
        at = self._buffer.lower().find(_LENGTH, 0, head)
        length = int(self._buffer[at + len(_LENGTH) : head].split(b"\r\n", 1)[0])
        if len(self._buffer) < head + len(_END) + length:
            return
        self._answers.times.append(time.perf_counter() - self._sent)
        if not self._buffer.startswith(b"HTTP/1.1 200 "):
            self._answers.wrong = self._answers.wrong or self._buffer.decode("utf-8", "replace")
        self._buffer = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        """End (called by the event loop)."""
        if not self.done.done():
            self._answers.wrong = self._answers.wrong or f"the connection was closed: {exc}"
            self.done.set_result(None)


async def load(port: int, clients: int, seconds: float, requests: list[bytes]) -> Answers:
    """Send requests over `clients` connections for `seconds`, or until there are no more requests."""
    answers = Answers()
    left = iter(requests)
    began, cpu = time.perf_counter(), time.process_time()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: Client(left, answers, began + seconds), "127.0.0.1", port)
        for _ in range(clients)
    ]
    await asyncio.gather(*(client.done for _, client in made))
    answers.seconds = time.perf_counter() - began
    answers.cpu_seconds = time.process_time() - cpu
    return answers


def request(path: str, token: str, body: dict[str, Any]) -> bytes:
    """Return one request with a JSON body."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:%PORT%\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def main() -> None:
    """Read what to send from stdin as JSON, and write the answers to stdout as JSON."""
    given = json.load(sys.stdin)
    port = str(given["port"]).encode()
    requests = [
        request(given["path"], given["token"], body).replace(b"%PORT%", port, 1) for body in given["bodies"]
    ]
    answers = asyncio.run(load(given["port"], given["clients"], given["seconds"], requests))
    json.dump(asdict(answers), sys.stdout)


if __name__ == "__main__":
    main()
