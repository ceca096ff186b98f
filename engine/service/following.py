"""Following a memory: its events as server-sent events, in the order of the journal.

A client that was cut off goes on with the header `Last-Event-ID`, which browsers send by themselves.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from engine.base.errors import EngineError, InvalidInputError
from engine.base.json_text import dumped
from engine.base.scope import Scope
from engine.service.answers import HEADERS
from engine.service.calls import Calls

POLL_SECONDS: Final = 0.5
"""The time, in seconds, between two looks at the head of a memory. All of its followers share a look."""

SIGN_SECONDS: Final = 15.0
"""The time, in seconds, after which a quiet stream sends an empty comment."""


@dataclass
class _Look:
    """The last look at the head of a memory."""

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
