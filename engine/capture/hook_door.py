"""The door of hooks: a server that has a memory open answers the hooks of the same user on this machine.

A hook that opens the memory itself needs most of its time to load the program. If `engine mcp` runs on the
same store, which a client starts for its sessions anyway, the hook only passes its event on. The door is a
socket in a folder that only the user can enter, one for each store. If no server answers, the hook opens the
memory itself.

This module imports only what a hook can load in a few milliseconds.
"""

from __future__ import annotations

import json
import os
import threading
from binascii import crc32
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import socket

BYTES_MAX: Final = 8 << 20
"""The maximum size of a request."""

SECONDS: Final = 1.0
"""The time in which a hook must have sent its request."""

Handle = Callable[[str, int, Any], tuple[str, Callable[[], object] | None]]
"""A function of a client, a budget and an event. It returns the answer, and what to do after it was sent."""


def _place(store: str, *, create: bool = False) -> str:
    """Return the path of the socket for a store.

    Raises:
        OSError: there is no folder that only the user can enter.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or f"/tmp/memroot-{os.getuid()}"  # noqa: S108  checked below
    folder = Path(base) / "memroot"
    if create:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in (folder, folder.parent):
        status = one.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise PermissionError(f"others can write to {one}")
    return str(folder / f"{crc32(store.encode()):08x}.hooks")


def ask(store: str, client: str, budget: int, event: bytes, seconds: float) -> str | None:
    """Return the answer of a server that has the store open; None if there is no such server.

    Raises:
        OSError: a server is there, but did not answer within `seconds`.
    """
    try:
        place = _place(store)
        os.stat(place)  # noqa: PTH116  most hooks find no door, and need not load what opens one
    except OSError:
        return None
    import socket

    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(seconds)
        try:
            door.connect(place)
        except OSError:
            return None
        door.sendall(json.dumps([store, client, budget]).encode() + b"\n" + event)
        door.shutdown(socket.SHUT_WR)
        return _received(door).decode()


def listen(store: str, handle: Handle, prepare: Callable[[], object] = bool) -> None:
    """Answer the hooks of a store in a thread, until the process ends; do nothing if another process does.

    The thread calls `prepare` first, so that the first hook need not wait for what is loaded only once.
    """
    import socket

    with suppress(OSError):
        place = _place(store, create=True)
        with socket.socket(socket.AF_UNIX) as other, suppress(OSError):
            other.connect(place)
            return
        with suppress(FileNotFoundError):
            os.unlink(place)  # noqa: PTH108  it was left by a process that was killed
        door = socket.socket(socket.AF_UNIX)
        door.bind(place)
        door.listen()
        threading.Thread(target=_accept, args=(door, store, handle, prepare), daemon=True).start()


def _accept(door: socket.socket, store: str, handle: Handle, prepare: Callable[[], object]) -> None:
    with suppress(Exception):
        prepare()
    while True:
        connection = door.accept()[0]
        threading.Thread(target=_answer, args=(connection, store, handle), daemon=True).start()


def _answer(connection: socket.socket, store: str, handle: Handle) -> None:
    # A hook that sends something else, or is gone, gets no answer.
    with suppress(Exception):
        with connection:
            connection.settimeout(SECONDS)
            head, _, event = _received(connection).partition(b"\n")
            named, client, budget = json.loads(head)
            if named != store:
                return
            answer, later = handle(client, budget, json.loads(event))
            connection.sendall(answer.encode())
        if later is not None:
            later()


def _received(connection: socket.socket) -> bytes:
    parts, size = [], 0
    while size <= BYTES_MAX and (part := connection.recv(1 << 16)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
