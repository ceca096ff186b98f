"""The two ends of a pipe to a client: one JSON-RPC message on each line, UTF-8, and nothing else.

What cannot be a message is answered here; what the SDK writes is written with `<` and all that a terminal
might obey escaped. The file descriptors 0 and 1 themselves are turned away, so that nothing that anybody
prints gets between the messages.
"""

from __future__ import annotations

import json
import logging
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from engine.query.explore.form import dumped

LINE_BYTES_MAX: Final = 4 << 20
"""The longest message; that of the SDK over HTTP."""

GRACE_SECONDS: Final = 0.7
"""So long after the end of the input, answers that are still owed are waited for."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600

_READ_BYTES: Final = 1 << 16

log = logging.getLogger(__name__)

Message = dict[str, Any]


class Wire:
    """Lines in and out. `readline`, `write` and `flush` are those of a text file, for the SDK."""

    def __init__(self, incoming: int = 0, outgoing: int = 1) -> None:
        """Take over two file descriptors, those of stdin and stdout, until `close`."""
        self._taken = incoming, outgoing
        self._in, self._out = os.dup(incoming), os.dup(outgoing)
        self._wake, self._waker = os.pipe()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  a device, not a file
            os.dup2(nothing.fileno(), incoming)
        os.dup2(2, outgoing)
        self.check: Callable[[str], object] = json.loads
        """Raises for a line that the reader could not take."""
        self.at_end: Callable[[], None] = lambda: None
        """Called when the reader is told that the input has ended."""
        self._buffer = bytearray()
        self._skipping = False
        self._replay: list[str] = []
        self._foretold: Message | None = None
        self._owed: set[tuple[type, Any]] = set()
        self._state = threading.Condition()
        self._writing = threading.Lock()
        # A plain value: a signal may end the wire while any lock is held.
        self._ended = False

    def close(self) -> None:
        """Give the descriptors back."""
        for saved, fd in zip((self._in, self._out), self._taken, strict=True):
            os.dup2(saved, fd)
            os.close(saved)
        os.close(self._wake)
        os.close(self._waker)

    def end(self) -> None:
        """Have the input end here: for a signal, or a client that takes no more output."""
        self._ended = True
        with suppress(OSError):
            os.write(self._waker, b"!")

    # In

    def readline(self) -> str:
        """The next message that can be one; empty at the end."""
        while self._replay:
            # The front took it for JSON; whether the SDK can take it was not known yet.
            line = self._replay.pop()
            if self._is_message(line):
                return line
        while (raw := self._next()) is not None:
            read = self._decoded(raw)
            if read.strip() and self._is_message(read):
                return read
        self._settle()
        self.at_end()
        return ""

    def replay(self, line: str, answer: Message | None) -> None:
        """Have `line` read again; it has been answered by `answer`, if by anything."""
        self._replay.append(line)
        self._foretold = answer

    def _decoded(self, raw: bytes) -> str:
        """A line as text; empty, and answered, if it is none."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.send({"jsonrpc": "2.0", "id": None, "error": _problem(PARSE_ERROR, "this is not UTF-8")})
            return ""

    def _is_message(self, line: str) -> bool:
        """Whether a reader can take this line; one that it cannot is answered."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self.send({"jsonrpc": "2.0", "id": None, "error": _problem(PARSE_ERROR, "this is no JSON")})
            return False
        given = message.get("id") if isinstance(message, dict) else None
        known = given if type(given) in {int, str} else None
        try:
            self.check(line)
        except Exception:  # noqa: BLE001  whatever it dislikes, the client must hear something
            problem = _problem(INVALID_REQUEST, "this is no message of JSON-RPC 2.0 in valid Unicode")
            self.send({"jsonrpc": "2.0", "id": known, "error": problem})
            return False
        if isinstance(message, dict) and "method" in message:
            self._owe(message, known)
        return True

    def _owe(self, message: Message, given: int | str | None) -> None:
        with self._state:
            if given is not None:
                self._owed.add((type(given), given))
            elif message["method"] == "notifications/cancelled" and isinstance(message.get("params"), dict):
                cancelled = message["params"].get("requestId")
                if type(cancelled) in {int, str}:
                    self._owed.discard((type(cancelled), cancelled))

    def _next(self) -> bytes | None:
        """The next line; None at the end."""
        while not self._ended:
            end = self._buffer.find(b"\n")
            if end >= 0:
                raw = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                if self._skipping:
                    self._skipping = False
                    continue
                return raw
            if len(self._buffer) > LINE_BYTES_MAX:
                self._buffer.clear()
                if not self._skipping:
                    problem = _problem(INVALID_REQUEST, f"a message has over {LINE_BYTES_MAX} bytes")
                    self.send({"jsonrpc": "2.0", "id": None, "error": problem})
                self._skipping = True
            if not self._more():
                break
        return None

    def _more(self) -> bool:
        """Wait for input; False at its end."""
        ready, _, _ = select.select([self._in, self._wake], [], [])
        if self._wake in ready:
            return False
        with suppress(OSError):
            part = os.read(self._in, _READ_BYTES)
            self._buffer += part
            return bool(part)
        return False

    def _settle(self) -> None:
        if not self._ended:
            with self._state:
                self._state.wait_for(lambda: not self._owed or self._ended, GRACE_SECONDS)

    # Out

    def write(self, text: str) -> int:
        """Send what the SDK wrote, one message; not what the client has heard already."""
        message = json.loads(text)
        foretold = self._foretold
        if foretold is not None and message.get("id") == foretold["id"] and "method" not in message:
            self._foretold = None
            if message != foretold:
                log.warning(
                    "the first answer was %s; it should have been %s", dumped(foretold), dumped(message)
                )
            self._paid(message)
            return len(text)
        self.send(message)
        self._paid(message)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def send(self, message: Message) -> None:
        """Write one message, whole; if nobody takes it, this is the end."""
        rest = memoryview((dumped(message) + "\n").encode())
        with self._writing:
            while rest and not self._ended:
                try:
                    rest = rest[os.write(self._out, rest) :]
                except OSError:
                    self.end()

    def _paid(self, message: Message) -> None:
        if "method" not in message:
            with self._state:
                self._owed.discard((type(message.get("id")), message.get("id")))
                self._state.notify_all()


def _problem(code: int, text: str) -> Message:
    return {"code": code, "message": text}
