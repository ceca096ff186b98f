"""Answers and requests of any length: the journal as lines, commands line by line, and events as they happen.

A client that follows a memory gets its events as server-sent events, in the order of the journal. If it lost
its connection, it continues with the header `Last-Event-ID`, which browsers send by themselves.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, Final

import anyio
import anyio.from_thread
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from engine.base.errors import (
    EngineError,
    InvalidInputError,
)
from engine.base.json_text import JsonError, dumped, encode, parse
from engine.base.scopes import Scope
from engine.clients.wire.operations import command_shape
from engine.service.operation_calls import (
    HEADERS,
    LINES,
    Calls,
    Lines,
    acting,
    idempotency_key,
    line,
    problem,
)

LINE_BYTES_MAX: Final = 8 << 20
"""The longest line of a bulk request."""

BATCH: Final = 1_000
"""The largest number of commands that a bulk request carries out at once."""

BATCH_BYTES: Final = 4 << 20
"""The number of bytes of lines after which a bulk request carries out the commands that it has read."""

SPOOLED_BYTES: Final = 4 << 20
"""The number of bytes of receipts that a bulk request keeps in memory; the others go to a file."""

POLL_SECONDS: Final = 0.5
"""The time, in seconds, between two reads of the head of a memory. All streams about a memory share one
read."""

SIGN_SECONDS: Final = 15.0
"""The time, in seconds, after which a quiet stream sends an empty comment."""


@dataclass
class WholeJournal:
    """The endpoints that send or receive any number of events: `export` and `bulk`."""

    calls: Calls

    async def export(self, request: Request) -> Response:
        """Answer `GET /v1/memories/{memory}/export` with the journal as lines of JSON."""
        memory, _ = await self.calls.granted(request, Scope.READ)
        await self.calls.run(partial(self.calls.size, memory))
        return Lines(self._parts(memory), partial(self.calls.may_go_on, request, memory))

    async def _parts(self, memory: str) -> AsyncGenerator[bytes, None]:
        send, receive = anyio.create_memory_object_stream[bytes](2)

        def produce() -> None:
            with self.calls.memories.use(memory) as engine:
                engine.export(lambda part: anyio.from_thread.run(send.send, part))

        async def run() -> None:
            # An answer that ends early closes `receive`, and so ends the export at its next part.
            async with send:
                with suppress(anyio.BrokenResourceError):
                    await self.calls.run(produce)

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
        end. An answer with an error states the number of commands that were carried out.
        """
        memory, grant = await self.calls.granted(request, Scope.WRITE)
        key = idempotency_key(request)
        done = 0
        receipts = tempfile.SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115  the answer closes it
        try:
            async for batch in _batches(request.stream()):
                carry_out = partial(self._apply, memory, grant.name, key, batch, done, receipts)
                done += await self.calls.run(carry_out)
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
        with self.calls.memories.use(memory) as engine:
            for receipt in acting(engine, actor, key).apply_part(commands, done):
                receipts.write(line(encode(receipt)))
        return len(commands)


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


@dataclass
class _Look:
    """The last read of the head of a memory."""

    size: int = 0
    at: float = float("-inf")
    lock: anyio.Lock = field(default_factory=anyio.Lock)


@dataclass
class Following:
    """The endpoint `/v1/memories/{memory}/events`."""

    calls: Calls
    _looks: dict[str, _Look] = field(default_factory=dict)

    async def events(self, request: Request) -> Response:
        """Answer with the events from `start` on, and with further events until the client closes."""
        memory, _ = await self.calls.granted(request, Scope.READ)
        start, head = _start(request), await self._head(memory)
        start = head if start is None else start
        return StreamingResponse(
            self._stream(request, memory, start), headers=HEADERS, media_type="text/event-stream"
        )

    async def _stream(self, request: Request, memory: str, start: int) -> AsyncIterator[str]:
        signed = anyio.current_time()
        yield ": following\n\n"
        while True:
            new = await self._head(memory) > start
            if new or anyio.current_time() - signed >= SIGN_SECONDS:
                signed = anyio.current_time()
                # The token may have been revoked since the stream began.
                if not await self.calls.may_go_on(request, memory):
                    return
                if not new:
                    yield ":\n\n"
            if new:
                part = await self.calls.run(partial(self.calls.events, memory, start, None))
                yield "".join(
                    f"id: {item['seq']}\nevent: {item['kind']}\ndata: {dumped(item)}\n\n" for item in part
                )
                start += len(part)
                continue
            await anyio.sleep(POLL_SECONDS)

    async def _head(self, memory: str) -> int:
        """Return the number of events of a memory, as of at most `POLL_SECONDS` ago."""
        look = self._looks.setdefault(memory, _Look())
        async with look.lock:
            if anyio.current_time() - look.at >= POLL_SECONDS:
                try:
                    look.size = await self.calls.run(partial(self.calls.size, memory))
                except EngineError:
                    self._looks.pop(memory, None)  # there may be no such memory
                    raise
                look.at = anyio.current_time()
            return look.size


def _start(request: Request) -> int | None:
    """Return the seq of the first event to send; None for those that are appended from now on."""
    after = request.headers.get("last-event-id")
    text = request.query_params.get("start") if after is None else after
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise InvalidInputError(
            f"{'start' if after is None else 'Last-Event-ID'} must be the seq of an event"
        )
    return int(text) + (after is not None)
