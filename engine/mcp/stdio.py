"""Serving one client over stdin and stdout."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from engine.base.interrupts import at_end
from engine.mcp.definition import Fields, Profile, Tool
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.lease import Lease
from engine.mcp.protocol import INTERNAL_ERROR, Params, ProtocolError, request_id
from engine.mcp.session import Session
from engine.mcp.wire import Wire

END_SECONDS: Final = 0.9
"""After the end of the input, or a signal, the process waits no longer than this for anything."""

_LOADED_EARLY: Final = ("engine.engine", "engine.mcp.arguments")
"""What the first call of a tool needs: imported once the first message has been answered."""

log = logging.getLogger(__name__)


def serve(profile: Profile, lease: Lease, refused: tuple[Tool, ...] = ()) -> None:
    """Serve until the input ends, the client goes, or SIGTERM or SIGINT comes; then release the store."""
    wire, limit = Wire(), _Limit()

    def end() -> None:
        """End the input, and soon after the process, whatever a call is doing."""
        limit.set()
        wire.end()

    try:
        with at_end(end):
            Server(Dispatcher(profile, lease, refused), wire).run(limit.set)
    finally:
        lease.close()
        limit.lift()
        wire.close()


class _Limit:
    """An end that nothing can put off: what was acknowledged is on the disk, whatever else was begun."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def set(self) -> None:
        """End the process in `END_SECONDS`, unless that is lifted."""
        self.lift()
        self._timer = threading.Timer(END_SECONDS, os._exit, [0])
        self._timer.daemon = True
        self._timer.start()

    def lift(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


@dataclass(eq=False, slots=True)
class _Request:
    """A request that may still be taken back."""

    id: int | str
    method: str
    params: Params
    cancelled: bool = False


class Server:
    """One connection. Requests that use the store run in threads; all others are answered in turn."""

    def __init__(self, dispatcher: Dispatcher, wire: Wire) -> None:
        """Answer on `wire` as `dispatcher` says."""
        self._dispatcher = dispatcher
        self._wire = wire
        self._session = Session(dispatcher.profile, dispatcher.methods)
        self._threads = ThreadPoolExecutor(THREADS, "call")
        self._running: set[_Request] = set()
        self._lock = threading.Lock()

    def run(self, at_end: Callable[[], object]) -> None:
        """Serve until the input ends, call `at_end`, and wait until all that was asked is answered."""
        early = list(_LOADED_EARLY)
        with self._threads:
            for message in self._wire.messages():
                self._take(message)
                while early:
                    self._threads.submit(import_module, early.pop(0))
            at_end()

    def _take(self, message: Fields) -> None:
        given, params = request_id(message), message.get("params") or {}
        if "method" not in message:
            return  # an answer, to nothing that was asked
        if given is not None:
            self._ask(_Request(given, message["method"], params))
        elif message["method"] == "notifications/cancelled":
            self._cancel(params.get("requestId"))
        else:
            self._session.notified(message["method"])

    def _ask(self, request: _Request) -> None:
        try:
            result = self._session.begin(request.method, request.params)
        except ProtocolError as error:
            self._wire.send_error(request.id, error)
            return
        if result is not None:
            self._wire.send({"id": request.id, "result": self._session.finish(request.method, result)})
        elif request.method in WAITING:
            with self._lock:
                self._running.add(request)
            self._threads.submit(self._answer, request)
        else:
            self._answer(request)

    def _cancel(self, given: object) -> None:
        """Leave a request unanswered; if it has not been begun, it never is."""
        with self._lock:
            for request in self._running:
                request.cancelled |= type(given) is type(request.id) and given == request.id

    def _answer(self, request: _Request) -> None:
        if request.cancelled or self._wire.ended:
            return
        try:
            result = self._dispatcher.answer(request.method, request.params)
            message = {"result": self._session.finish(request.method, result)}
        except ProtocolError as error:
            message = {"error": error.fields}
        except Exception:
            log.exception("the request %s failed unexpectedly", request.method)
            message = {"error": ProtocolError(INTERNAL_ERROR, "Internal server error").fields}
        with self._lock:
            self._running.discard(request)
        if not request.cancelled:
            self._wire.send({"id": request.id, **message})
