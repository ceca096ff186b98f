"""The operations on one memory, `/v1/memories/{memory}/{operation}`, and the forms of answers."""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from engine.base import limits
from engine.base.errors import (
    EngineError,
    InvalidInputError,
    NotFoundError,
    SystemFailureError,
    TooManyRequestsError,
)
from engine.base.json_text import JsonError, dumped, encode, parse
from engine.base.scopes import Scope
from engine.base.validation import quoted
from engine.clients.wire.json_calls import Operation
from engine.clients.wire.operations import operations
from engine.clients.wire.problem_details import MEDIA_TYPE, STATUS, problem_fields, problem_of
from engine.engine import Engine
from engine.service.access import Access, Grant
from engine.service.served_memories import Memories
from engine.store.request_keys import KEY_BYTES_MAX

log: Final = logging.getLogger("engine.service")
BODY_BYTES_MAX: Final = 16 << 20
"""The largest body of a request that is read as a whole."""

THREADS: Final = 40
"""The largest number of calls that run at the same time."""

QUERIES: Final = max(2, os.cpu_count() or 1)
"""The largest number of operations that read at the same time. Threads that compute take turns at the
interpreter's lock, and each turn costs time: with 64 clients on 2 cores, 40 threads answered 115 recalls in a
second, 4 threads 213, and 2 threads 286 (measured, SQLite, 10,000 atoms)."""

STRANGERS: Final = 8
"""The largest number of tokens that are checked at the same time and were not valid before."""

KEY_HEADER: Final = "idempotency-key"
_KEY: Final = re.compile(rf"[!-~]{{1,{KEY_BYTES_MAX}}}")
LINES: Final = "application/x-ndjson"
HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
Result = TypeVar("Result")


@dataclass
class Calls:
    """The endpoints for one memory."""

    memories: Memories
    access: Access
    _limiter: anyio.CapacityLimiter | None = None
    _strangers: anyio.CapacityLimiter | None = None
    _queries: anyio.CapacityLimiter | None = None

    async def query(self, call: Callable[[], Result]) -> Result:
        """Return the result of an operation that reads, run in a thread."""
        if self._queries is None:
            self._queries = anyio.CapacityLimiter(QUERIES)
        return await anyio.to_thread.run_sync(call, limiter=self._queries)

    async def run(self, call: Callable[[], Result]) -> Result:
        """Return the result of a call that may wait, run in a thread."""
        if self._limiter is None:  # it belongs to the event loop, which does not exist before the first call
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(call, limiter=self._limiter)

    async def grant_of(self, request: Request) -> Grant:
        """Return the grant of the token of a request.

        The check may wait for the table of tokens. Tokens that were not valid before wait in threads of their
        own, so that wrong ones cannot use up the threads of the calls.

        Raises:
            UnauthorizedError: There is no valid token.
            TooManyRequestsError: The token was used too often.
        """
        # A busy token is in memory. Measured: without a thread for it, a small request costs a quarter less.
        cached = self.access.kept_grant_of(request)
        if cached is not None:
            return cached
        check = partial(self.access.grant_of, request)
        if not self.access.is_stranger(request):
            return await self.run(check)
        if self._strangers is None:
            self._strangers = anyio.CapacityLimiter(STRANGERS)
        return await anyio.to_thread.run_sync(check, limiter=self._strangers)

    async def granted(self, request: Request, scope: Scope) -> tuple[str, Grant]:
        """Return the memory that a request names, and the grant of its token.

        Raises:
            UnauthorizedError: There is no valid token.
            ForbiddenError: The token does not permit the operation.
            RefusedError: The service is read-only.
        """
        memory: str = request.path_params["memory"]
        grant = await self.grant_of(request)
        self.access.require(grant, scope, memory)
        return memory, grant

    async def operation(self, request: Request) -> Response:
        """Answer `GET` or `POST /v1/memories/{memory}/{operation}`."""
        name: str = request.path_params["operation"]
        operation = operations().get(name)
        if operation is None:
            await self.granted(request, Scope.READ)
            raise NotFoundError(
                f"there is no operation {quoted(name)}", hint="GET /v1/openapi.json describes the operations"
            )
        accepted = ("GET", "HEAD", "POST") if operation.is_read else ("POST",)
        if request.method not in accepted:
            raise HTTPException(405, headers={"allow": ", ".join(accepted)})
        memory, grant = await self.granted(request, operation.scope)
        arguments = operation.arguments(await _given(request, operation))
        if operation.streams:
            lines = await begun(self._log_lines(memory, **arguments))
            return Lines(lines, partial(self.may_go_on, request, memory))
        key = idempotency_key(request)
        run = self.query if operation.is_read else self.run
        return answer(await run(partial(self._call, operation, memory, grant.name, key, arguments)))

    def _call(
        self, found: Operation, memory: str, actor: str, key: str | None, arguments: dict[str, Any]
    ) -> Any:
        with self.memories.use(memory) as engine:
            return found.encoded(found.call(acting(engine, actor, key), arguments))

    async def may_go_on(self, request: Request, memory: str) -> bool:
        """Return True if the token of a request that reads is still valid, so that its answer may go on."""
        if self.access.is_kept(request, Scope.READ, memory):
            return True
        return await self.run(partial(self.access.still_permits, request, Scope.READ, memory))

    async def _log_lines(
        self, memory: str, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield the events of a memory as lines. The memory is not kept open between two parts."""
        while True:
            part = await self.run(partial(self.events, memory, start, stop))
            if not part:
                return
            yield b"".join(map(line, part))
            start += len(part)
            if start == stop:
                return

    def events(self, memory: str, start: int, stop: int | None) -> list[Any]:
        """Return the next events of a memory as JSON, at most as many as are read at once."""
        end = start + limits.FOLLOW_EVENTS_MAX
        with self.memories.use(memory) as engine:
            return [encode(item) for item in engine.log(start, end if stop is None else min(stop, end))]

    def size(self, memory: str) -> int:
        """Return the number of events of a memory.

        Raises:
            NotFoundError: There is no such memory. Once an answer has begun, this error can no longer be
            reported.
        """
        with self.memories.use(memory) as engine:
            return engine.size


async def begun(parts: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Return an iterator over `parts`.

    This function makes the first part, so that an error in it is raised here.
    """
    first = await anext(parts, b"")

    async def all_parts() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts):
            yield first
            async for part in parts:
                yield part

    return all_parts()


def acting(engine: Engine, actor: str, key: str | None) -> Engine:
    """Return an open memory with the actor of a token and the key of a request."""
    return engine.acting_as(actor, request=key)


def idempotency_key(request: Request) -> str | None:
    """Return the header `Idempotency-Key` of a request, or None.

    Raises:
        InvalidInputError: The header is given twice, or the key is empty, too long, or has other characters
            than visible ASCII.
    """
    keys = request.headers.getlist(KEY_HEADER)
    if not keys:
        return None
    if len(keys) > 1:
        raise InvalidInputError("a request has one header Idempotency-Key, not several")
    if not _KEY.fullmatch(keys[0]):
        raise InvalidInputError(
            f"Idempotency-Key must have 1 to {KEY_BYTES_MAX} visible ASCII characters, and no spaces"
        )
    return keys[0]


async def _given(request: Request, found: Operation) -> dict[str, Any]:
    """Return the arguments in a request, as JSON values."""
    if request.method != "POST":
        texts: dict[str, list[str]] = {}
        for name, text in request.query_params.multi_items():
            texts.setdefault(name, []).append(text)
        return found.read_query(texts)
    return await object_of(request)


async def object_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request; an empty body is an empty object.

    Raises:
        InvalidInputError: The body is not a JSON object.
        LimitError: The body is too large.
    """
    body = await request.body()
    if not body:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInputError("the body must be JSON", hint="send Content-Type: application/json")
    try:
        value = parse(body, bytes_max=BODY_BYTES_MAX)
    except JsonError as error:
        raise InvalidInputError(f"the body is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidInputError("the body must be a JSON object with the parameters")
    return value


class Lines(StreamingResponse):
    """Lines of JSON that are sent part by part.

    `may_go_on` is called before each part. If it returns False, the answer ends without its last chunk, so
    that no client takes the answer for complete.

    Args:
        parts: The parts of the answer.
        may_go_on: Returns False if the token of the request is no longer valid.
    """

    def __init__(self, parts: AsyncGenerator[bytes, None], may_go_on: Callable[[], Awaitable[bool]]) -> None:
        super().__init__(parts, headers=HEADERS, media_type=LINES)
        self._parts, self._may_go_on = parts, may_go_on

    async def stream_response(self, send: Send) -> None:
        """Send the answer (called by Starlette)."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._parts) as parts:
            async for part in parts:
                if not await self._may_go_on():
                    log.warning("an answer was cut off, because its token is no longer valid")
                    return
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def answer(value: Any, status: int = 200) -> Response:
    """Return an answer whose body is a JSON value."""
    return Response(dumped(value), status, HEADERS, "application/json")


def line(value: Any) -> bytes:
    """Return a JSON value as one line."""
    return f"{dumped(value)}\n".encode()


def for_client(error: EngineError) -> EngineError:
    """Return the error to send to a client.

    The message of a system failure names the place of the store, so only the log contains it.
    """
    if not isinstance(error, SystemFailureError):
        return error
    log.warning("a request failed: %s", error)
    return SystemFailureError("the service cannot do this now", hint="repeat the request later")


def problem(error: EngineError, **extra: Any) -> Response:
    """Return the answer for an error, with further fields."""
    status, body = problem_of(for_client(error))
    headers = dict(HEADERS)
    if status == STATUS["unauthorized"]:
        headers["www-authenticate"] = 'Bearer realm="memroot"'
    if status in (429, 503):
        headers["retry-after"] = str(error.seconds if isinstance(error, TooManyRequestsError) else 1)
    return Response(dumped(body | extra), status, headers, MEDIA_TYPE)


async def on_engine_error(request: Request, error: Exception) -> Response:
    """Answer a request that raised an EngineError."""
    del request
    assert isinstance(error, EngineError)  # noqa: S101  the application registers it for this class
    return problem(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer a request with a wrong path or method."""
    del request
    assert isinstance(error, HTTPException)  # noqa: S101  as above
    code = {404: "not_found", 405: "invalid"}.get(error.status_code, "failure")
    text = {
        404: "there is no such address; GET /v1/openapi.json describes all addresses",
        405: "the address does not accept this method",
    }.get(error.status_code, str(error.detail))
    body = problem_fields(error.status_code, code, text) | {"title": error.detail}
    return Response(dumped(body), error.status_code, HEADERS | dict(error.headers or {}), MEDIA_TYPE)


async def on_disconnect(request: Request, error: Exception) -> Response:
    """End a request whose client closed the connection before its body arrived. Nobody reads the answer."""
    del request, error
    return Response(status_code=400)


async def on_failure(request: Request, error: Exception) -> Response:
    """Answer a request that failed for an unexpected reason; log where, without any content."""
    del request
    place = "".join(traceback.format_tb(error.__traceback__))
    log.error("unexpected %s:\n%s", type(error).__name__, place)
    return problem(
        EngineError("the service failed", hint="the log of the service shows where; report the fault")
    )
