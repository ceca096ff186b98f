"""The server for one client over stdin and stdout."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from engine.base.process import at_end
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.mcp_protocol import INTERNAL_ERROR, TOO_MANY_REQUESTS, Params, ProtocolError, request_id
from engine.mcp.tool_definition import Fields, Profile, Tool
from engine.mcp.wire import Wire
from engine.memory.lease import Lease

WAITING_MAX: Final = 256
"""The maximum number of requests that run or wait, for instance while another process has the store open.

Further requests are refused at once, so that a client cannot fill the memory of the server.
"""

SIGNAL_SECONDS: Final = 0.9
"""The seconds that the process waits for running calls after a signal arrives."""

INPUT_SECONDS: Final = 60.0
"""The seconds that the process waits for running calls after the input ends. A client that does not want to
wait for the answers sends SIGTERM.
"""

log = logging.getLogger(__name__)


def serve(profile: Profile, lease: Lease, refused: tuple[Tool, ...] = ()) -> None:
    """Serve until the input ends, the output closes, or SIGTERM or SIGINT arrives; then close the store."""
    wire = Wire()
    # The process may end even during a call, because every acknowledged event is already on disk.
    deadlines: list[threading.Timer] = []

    def end_within(seconds: float) -> None:
        deadlines.append(threading.Timer(seconds, os._exit, [0]))
        deadlines[-1].daemon = True
        deadlines[-1].start()

    def end() -> None:
        end_within(SIGNAL_SECONDS)
        wire.end()

    try:
        with at_end(end):
            Server(Dispatcher(profile, lease, refused, receipts=True), wire).run(
                lambda: end_within(INPUT_SECONDS)
            )
    finally:
        lease.close()
        wire.close()
        for deadline in deadlines:
            deadline.cancel()


@dataclass(eq=False, slots=True)
class _Request:
    """A request that can still be cancelled."""

    id: int | str
    method: str
    params: Params
    cancelled: bool = False


class Server:
    """One connection. Requests that use the store run in threads; all others are answered in order."""

    def __init__(self, dispatcher: Dispatcher, wire: Wire) -> None:
        """Send the answers of `dispatcher` over `wire`."""
        self._dispatcher = dispatcher
        self._wire = wire
        self._threads = ThreadPoolExecutor(THREADS, "call")
        self._running: set[_Request] = set()
        self._lock = threading.Lock()

    def run(self, at_end: Callable[[], object]) -> None:
        """Serve until the input ends; then call `at_end`, and wait until every request is answered."""
        loading: Future[object] | None = None
        with self._threads:
            for message in self._wire.messages():
                self._take(message)
                # Tool calls need this module, but the first answer must not wait for it.
                loading = loading or self._threads.submit(import_module, "engine.engine")
            at_end()

    def _take(self, message: Fields) -> None:
        given, method, params = request_id(message), message.get("method"), message.get("params") or {}
        if method is None:
            return  # a response to a request that this server never sent
        if given is None:
            if method == "notifications/cancelled":
                self._cancel(params.get("requestId"))
            return
        request = _Request(given, method, params)
        if method not in WAITING:
            self._answer(request)
            return
        with self._lock:
            full = len(self._running) >= WAITING_MAX
            if not full:
                self._running.add(request)
        if full:
            error = ProtocolError(TOO_MANY_REQUESTS, "Too many requests are waiting; try again later")
            self._wire.send({"id": given, "error": error.fields})
            return
        self._threads.submit(self._answer, request)

    def _cancel(self, given: object) -> None:
        """Cancel a request: no answer is sent, and the request is not run if it has not started."""
        with self._lock:
            for request in self._running:
                request.cancelled |= type(given) is type(request.id) and given == request.id

    def _answer(self, request: _Request) -> None:
        if not request.cancelled and not self._wire.ended:
            message = self._answered(request)
            if not request.cancelled:
                self._wire.send({"id": request.id, **message})
        with self._lock:
            self._running.discard(request)

    def _answered(self, request: _Request) -> Fields:
        try:
            return {"result": self._dispatcher.answer(request.method, request.params)}
        except ProtocolError as error:
            return {"error": error.fields}
        except Exception:
            log.exception("the request %s failed unexpectedly", ascii(request.method)[:80])
            return {"error": ProtocolError(INTERNAL_ERROR, "Internal server error").fields}
