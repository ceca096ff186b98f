"""The endpoints for a service as a whole: the list of memories, health and metrics, and pages for browsers.

The pages are the window into the memories at `/`, and at `/verify` the page that checks a proof. They need no
token. They are the same for everybody, and request the contents of a memory with a token.
"""

from __future__ import annotations

import gzip
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from engine.base.errors import BusyError, EngineError, InvalidInputError
from engine.base.json_text import encode
from engine.base.scopes import Scope
from engine.service.guard import CONTENT_TYPE, Metrics
from engine.service.operation_calls import HEADERS, Calls, answer, object_of, problem
from engine.window.page import whole_page

log: Final = logging.getLogger("engine.service")
READY_SECONDS: Final = 5.0
"""The time in which the store must answer a read."""

KEPT_SECONDS: Final = 1.0
"""The time for which the result of a read is reused, because anybody may send this request."""

_FILES: Final = {"/": "index.html", "/verify": "verify.html"}
PATHS: Final = tuple(_FILES)
PAGE_HEADERS: Final = {
    "cache-control": "no-cache",
    # The page has a policy of its own; a policy in a page cannot say who may frame it.
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "vary": "accept-encoding",
    "x-content-type-options": "nosniff",
}


@dataclass
class Naming:
    """The endpoints that list and change memories as a whole."""

    calls: Calls

    async def listed(self, request: Request) -> Response:
        """Answer `GET /v1/memories` with the names that the token may read, and its scope on each."""
        grant = await self.calls.grant_of(request)
        names = await self.calls.run(self.calls.memories.names)
        scopes = {name: self.calls.access.scope_on(grant, name) for name in names}
        readable = {name: scope.name.lower() for name, scope in scopes.items() if scope is not None}
        return answer({"memories": list(readable), "scopes": readable})

    async def create(self, request: Request) -> Response:
        """Answer `POST /v1/memories`."""
        grant = await self.calls.grant_of(request)
        name = _name(await object_of(request))
        self.calls.access.require(grant, Scope.ADMIN, name)
        await self.calls.run(partial(self.calls.memories.create, name, grant.name))
        return answer({"name": name}, 201)

    async def described(self, request: Request) -> Response:
        """Answer `GET /v1/memories/{memory}` with counts and the root."""
        memory, _ = await self.calls.granted(request, Scope.READ)
        return answer(encode(await self.calls.run(partial(self.calls.memories.described, memory))))

    async def rename(self, request: Request) -> Response:
        """Answer `PATCH /v1/memories/{memory}`. The token must permit both names."""
        memory, grant = await self.calls.granted(request, Scope.ADMIN)
        new = _name(await object_of(request))
        self.calls.access.require(grant, Scope.ADMIN, new)
        await self.calls.run(partial(self.calls.memories.rename, memory, new))
        return answer({"name": new})

    async def delete(self, request: Request) -> Response:
        """Answer `DELETE /v1/memories/{memory}`."""
        memory, _ = await self.calls.granted(request, Scope.ADMIN)
        await self.calls.run(partial(self.calls.memories.delete, memory))
        return Response(None, 204, HEADERS)


def _name(body: dict[str, Any]) -> str:
    name = body.get("name")
    if not isinstance(name, str) or len(body) != 1:
        raise InvalidInputError("the body must be an object with the field name, which is a text")
    return name


@dataclass
class Health:
    """The endpoints `/health`, `/ready` and `/metrics`."""

    calls: Calls
    metrics: Metrics
    _asked: float = float("-inf")
    _error: EngineError | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    def __post_init__(self) -> None:
        """Show the clock in the metrics."""
        about = "Seconds by which the clock is ahead of the database's."
        self.metrics.watch(
            "memroot_clock_ahead_seconds", "gauge", about, lambda: self.calls.memories.clock_ahead
        )

    async def health(self, request: Request) -> Response:
        """Answer `GET /health`: the process answers. Needs no token."""
        del request
        return answer({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Answer `GET /ready`: the store answers a read. Needs no token and reveals nothing else."""
        del request
        async with self._lock:
            if time.monotonic() - self._asked >= KEPT_SECONDS:
                self._error = await self._read()
                self._asked = time.monotonic()
        return answer({"status": "ok"}) if self._error is None else problem(self._error)

    async def _read(self) -> EngineError | None:
        # A read that hangs keeps its thread, but this answer does not wait for it.
        with anyio.move_on_after(READY_SECONDS):
            try:
                await anyio.to_thread.run_sync(self.calls.memories.touch, abandon_on_cancel=True)
            except EngineError as error:
                log.warning("the store does not answer: %s", error.code)
                return BusyError("the store does not answer", hint="the log of the service states the reason")
            return None
        return BusyError("the store does not answer in time")

    async def counted(self, request: Request) -> Response:
        """Answer `GET /metrics` in the text format of Prometheus. Needs any valid token."""
        await self.calls.grant_of(request)
        with suppress(EngineError):  # then the last figure stands
            await self.calls.run(self.calls.memories.compare_clocks)
        return PlainTextResponse(self.metrics.text(), 200, HEADERS, CONTENT_TYPE)


async def page(request: Request) -> Response:
    """Answer with the page at the path of a request."""
    text = _compressed(request.url.path)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(text, 200, PAGE_HEADERS | {"content-encoding": "gzip"}, "text/html")
    return Response(gzip.decompress(text), 200, PAGE_HEADERS, "text/html")


def prepare() -> None:
    """Assemble the window, so that its first visitor does not wait for that."""
    _compressed("/")


@cache
def _compressed(path: str) -> bytes:
    return gzip.compress(whole_page(_FILES[path]).encode(), mtime=0)
