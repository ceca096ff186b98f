"""Serving one client over stdin and stdout: the front at once, the SDK as soon as it is there."""

from __future__ import annotations

import json
import logging
import os
import threading
from importlib import import_module
from typing import IO, TYPE_CHECKING, Final, cast

from engine.base.interrupts import at_end
from engine.mcp.definition import Profile, Tool
from engine.mcp.front import first_answer
from engine.mcp.lease import Lease
from engine.mcp.wire import Wire

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

END_SECONDS: Final = 0.2
"""After the end of the input, the process waits no longer than this for a call that is still running."""

SIGNAL_SECONDS: Final = 0.9
"""After a signal, no longer than this for anything."""

log = logging.getLogger(__name__)


def serve(profile: Profile, lease: Lease, refused: tuple[Tool, ...] = ()) -> None:
    """Serve until the input ends, the client goes, or SIGTERM or SIGINT comes; then release the store."""
    wire, limit = Wire(), _Limit()
    wire.at_end = lambda: limit.set(END_SECONDS)

    def end() -> None:
        """End the input, and soon after the process, whatever a call is doing."""
        wire.end()
        limit.set(SIGNAL_SECONDS)

    try:
        with at_end(end):
            loading = _Loading()
            line = wire.readline()
            if not line:
                return
            answer = first_answer(profile, json.loads(line))
            if answer is not None:
                wire.send(answer)
            wire.replay(line, answer)
            loading.wait()
            _serve_by_sdk(profile, lease, refused, wire)
    finally:
        lease.close()
        limit.lift()
        wire.close()


class _Limit:
    """An end that nothing can put off: what was acknowledged is on the disk, whatever else was begun."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def set(self, seconds: float) -> None:
        self.lift()
        self._timer = threading.Timer(seconds, os._exit, [0])
        self._timer.daemon = True
        self._timer.start()

    def lift(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _Loading:
    """The SDK, being imported beside the front."""

    def __init__(self) -> None:
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._load, name="sdk", daemon=True)
        self._thread.start()

    def _load(self) -> None:
        try:
            import_module("engine.mcp.server")
            import_module("mcp.server.stdio")
        except BaseException as problem:  # noqa: BLE001  raised again where somebody waits for it
            self._problem = problem

    def wait(self) -> None:
        self._thread.join()
        if self._problem is not None:
            raise self._problem


def _serve_by_sdk(profile: Profile, lease: Lease, refused: tuple[Tool, ...], wire: Wire) -> None:
    import anyio
    import mcp_types
    from mcp.server.stdio import stdio_server

    from engine.mcp.server import server_of

    server: Server[object] = server_of(profile, lease, refused=refused)
    wire.check = lambda line: mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)

    async def run() -> None:
        # All that the SDK asks of its files is readline, write and flush.
        file = anyio.wrap_file(cast("IO[str]", wire))
        async with stdio_server(file, file) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
