"""For operators of the service: whether it runs, whether it can answer, and what it has done."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from engine.base.errors import BusyError, EngineError
from engine.service.answers import HEADERS, answer, problem
from engine.service.calls import Calls
from engine.service.metrics import CONTENT_TYPE, Metrics

log: Final = logging.getLogger("engine.service")

READY_SECONDS: Final = 5.0
"""The time in which the store must answer a read."""

KEPT_SECONDS: Final = 1.0
"""The time for which the result of a read is reused, because anybody may send this request."""


@dataclass
class Health:
    """The endpoints `/health`, `/ready` and `/metrics`."""

    calls: Calls
    metrics: Metrics
    _asked: float = float("-inf")
    _error: EngineError | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

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
        return PlainTextResponse(self.metrics.text(), 200, HEADERS, CONTENT_TYPE)
