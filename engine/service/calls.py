"""The operations on one memory: `/v1/memories/{memory}/{operation}`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Final, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from engine.base import limits
from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.base.json_text import JsonError, parse
from engine.base.scope import Scope
from engine.base.validation import quoted
from engine.engine import Engine
from engine.service.access import Access, Grant
from engine.service.answers import HEADERS, LINES, answer, line, problem
from engine.service.memories import Memories
from engine.service.streams import Lines
from engine.store.request_keys import KEY_BYTES_MAX
from engine.wire.commands import command_shape
from engine.wire.encoding import encode
from engine.wire.operations import Operation, operations

BODY_BYTES_MAX: Final = 16 << 20
"""The largest body of a request that is read as a whole."""

LINE_BYTES_MAX: Final = 8 << 20
"""The longest line of a bulk request."""

BATCH: Final = 1_000
"""The largest number of commands that a bulk request carries out at once."""

BATCH_BYTES: Final = 4 << 20
"""The number of bytes of lines after which a bulk request carries out the commands that it has read."""

SPOOLED_BYTES: Final = 4 << 20
"""The number of bytes of receipts that a bulk request keeps in memory; the others go to a file."""

THREADS: Final = 40
"""The largest number of calls that run at the same time."""

QUERIES: Final = max(2, os.cpu_count() or 1)
"""The largest number of operations that read at the same time. Threads that compute take turns at the
interpreter's lock, and each turn costs time: with 64 clients on 2 cores, 40 threads answered 115 recalls in a
second, 4 threads 213, and 2 threads 286 (measured, SQLite, 10,000 atoms)."""

STRANGERS: Final = 8
"""The largest number of tokens that are checked at the same time and were not valid before."""

KEY_HEADER: Final = "idempotency-key"

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
        kept = self.access.kept_grant_of(request)
        if kept is not None:
            return kept
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
        found = operations().get(name)
        if found is None:
            await self.granted(request, Scope.READ)
            raise NotFoundError(
                f"there is no operation {quoted(name)}", hint="GET /v1/openapi.json describes the operations"
            )
        accepted = ("GET", "HEAD", "POST") if found.is_read else ("POST",)
        if request.method not in accepted:
            raise HTTPException(405, headers={"allow": ", ".join(accepted)})
        memory, grant = await self.granted(request, found.scope)
        arguments = found.arguments(await _given(request, found))
        if found.streams:
            lines = await begun(self._log_lines(memory, **arguments))
            return Lines(lines, partial(self.may_go_on, request, memory))
        key = idempotency_key(request)
        run = self.query if found.is_read else self.run
        return answer(await run(partial(self._call, found, memory, grant.name, key, arguments)))

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
            NotFoundError: There is no such memory. An answer that has begun could not tell this any more.
        """
        with self.memories.use(memory) as engine:
            return engine.size

    async def export(self, request: Request) -> Response:
        """Answer `GET /v1/memories/{memory}/export` with the journal as lines of JSON."""
        memory, _ = await self.granted(request, Scope.READ)
        await self.run(partial(self.size, memory))
        return Lines(self._parts(memory), partial(self.may_go_on, request, memory))

    async def _parts(self, memory: str) -> AsyncGenerator[bytes, None]:
        send, receive = anyio.create_memory_object_stream[bytes](2)

        def produce() -> None:
            with self.memories.use(memory) as engine:
                engine.export(lambda part: anyio.from_thread.run(send.send, part))

        async def run() -> None:
            # An answer that ends early closes `receive`, and so ends the export at its next part.
            async with send:
                with suppress(anyio.BrokenResourceError):
                    await self.run(produce)

        async with anyio.create_task_group() as tasks, receive:
            tasks.start_soon(run)
            try:
                async for part in receive:
                    yield part
            except GeneratorExit:  # the task group would wrap it
                return

    async def bulk(self, request: Request) -> Response:
        """Answer `POST /v1/memories/{memory}/bulk`: one command on each line, one receipt on each line.

        The commands are carried out in batches while the body arrives, and the receipts are sent after its
        end. An answer with an error tells the number of commands that were carried out.
        """
        memory, grant = await self.granted(request, Scope.WRITE)
        key = idempotency_key(request)
        done = 0
        receipts = tempfile.SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115  the answer closes it
        try:
            async for batch in _batches(request.stream()):
                carry_out = partial(self._apply, memory, grant.name, key, batch, done, receipts)
                done += await self.run(carry_out)
        except EngineError as error:
            receipts.close()
            return problem(error, done=done)
        except BaseException:
            receipts.close()
            raise
        receipts.seek(0)
        return StreamingResponse(_read(receipts), headers=HEADERS, media_type=LINES)

    def _apply(
        self, memory: str, actor: str, key: str | None, batch: list[bytes], done: int, receipts: IO[bytes]
    ) -> int:
        commands = [_command(text, done + at) for at, text in enumerate(batch)]
        with self.memories.use(memory) as engine:
            for receipt in acting(engine, actor, key).apply_part(commands, done):
                receipts.write(line(encode(receipt)))
        return len(commands)


async def begun(parts: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Return an iterator over `parts`. The first part is made here, so that its errors are raised here."""
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
        InvalidInputError: The key is empty, too long, or has other characters than visible ASCII.
    """
    key = request.headers.get(KEY_HEADER)
    if key is not None and not (0 < len(key) <= KEY_BYTES_MAX and key.isascii() and key.isprintable()):
        raise InvalidInputError(f"Idempotency-Key must have 1 to {KEY_BYTES_MAX} visible ASCII characters")
    return key


async def _given(request: Request, found: Operation) -> dict[str, Any]:
    """Return the arguments that a request gives, as JSON values."""
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


async def _batches(parts: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """Yield the lines of a body, in batches of a bounded number of lines and bytes."""
    batch: list[bytes] = []
    size = 0
    async for text in _lines(parts):
        batch.append(text)
        size += len(text)
        if len(batch) == BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


async def _lines(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    left = b""
    async for part in parts:
        *whole, left = (left + part).split(b"\n")
        for text in whole:
            if text.strip():
                yield text
        if len(left) > LINE_BYTES_MAX:
            raise InvalidInputError(f"a line has more than {LINE_BYTES_MAX} bytes")
    if left.strip():
        yield left


def _command(text: bytes, at: int) -> Any:
    where = f"line {at + 1}"
    try:
        value = parse(text, bytes_max=LINE_BYTES_MAX)
    except JsonError as error:
        raise InvalidInputError(f"{where} is not valid JSON: {error}") from error
    return command_shape().decode(value, where)


def _read(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(1 << 16):
            yield part
