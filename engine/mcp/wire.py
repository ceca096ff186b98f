"""The two ends of a pipe to a client: one JSON-RPC message on each line, UTF-8, and nothing else.

What is written has `<` and all that a terminal might obey escaped. The file descriptors 0 and 1 themselves
are turned away, so that nothing that anybody prints gets between the messages.
"""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from engine.base.json_text import dumped
from engine.mcp.definition import Fields
from engine.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, ProtocolError, check_message, request_id

LINE_BYTES_MAX: Final = 4 << 20
"""The longest message; that of the SDK over HTTP."""

_READ_BYTES: Final = 1 << 16


class Wire:
    """Messages in and out. One thread reads; any may send, and end it."""

    def __init__(self, incoming: int = 0, outgoing: int = 1) -> None:
        """Take over two file descriptors, those of stdin and stdout, until `close`."""
        self._taken = incoming, outgoing
        self._in, self._out = os.dup(incoming), os.dup(outgoing)
        self._wake, self._waker = os.pipe()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  a device, not a file
            os.dup2(nothing.fileno(), incoming)
        os.dup2(2, outgoing)
        self._writing = threading.Lock()
        # A plain value: a signal may end the wire while any lock is held.
        self.ended = False

    def close(self) -> None:
        """Give the descriptors back."""
        for saved, fd in zip((self._in, self._out), self._taken, strict=True):
            os.dup2(saved, fd)
            os.close(saved)
        os.close(self._wake)
        os.close(self._waker)

    def end(self) -> None:
        """Read and write no more: for a signal, or a client that takes no more output."""
        self.ended = True
        with suppress(OSError):
            os.write(self._waker, b"!")

    def messages(self) -> Iterator[Fields]:
        """What comes in, until the input ends. What is no message is answered and passed over."""
        for line in self._lines():
            if not line.strip():
                continue
            message = None
            try:
                message = _parsed(line)
                check_message(message)
            except ProtocolError as error:
                self.send_error(request_id(message), error)
            else:
                yield message

    def send(self, message: Fields) -> None:
        """Write one message, whole; if nobody takes it, this is the end."""
        rest = memoryview((dumped({"jsonrpc": "2.0", **message}) + "\n").encode())
        with self._writing:
            while rest and not self.ended:
                try:
                    rest = rest[os.write(self._out, rest) :]
                except OSError:
                    self.end()

    def send_error(self, request: int | str | None, error: ProtocolError) -> None:
        """Answer a request, or what might have been one, with an error."""
        self.send({"id": request, "error": error.fields})

    def _lines(self) -> Iterator[bytes]:
        """Lines without their end, and without those that are too long, which are answered."""
        buffer, skipping = bytearray(), False
        while part := self._part():
            buffer += part
            *whole, rest = buffer.split(b"\n")
            for line in whole:
                if self.ended:
                    return
                if not skipping:
                    yield bytes(line)
                skipping = False
            buffer = rest
            if len(buffer) > LINE_BYTES_MAX:
                if not skipping:
                    message = f"a message has over {LINE_BYTES_MAX} bytes"
                    self.send_error(None, ProtocolError(INVALID_REQUEST, message))
                buffer, skipping = bytearray(), True
        if buffer and not skipping and not self.ended:
            yield bytes(buffer)

    def _part(self) -> bytes:
        """Some input, once there is any; empty at its end."""
        if not self.ended:
            ready, _, _ = select.select([self._in, self._wake], [], [])
            if self._wake not in ready:
                with suppress(OSError):
                    return os.read(self._in, _READ_BYTES)
        return b""


def _parsed(line: bytes) -> Any:
    """What a line says in JSON.

    Raises:
        ProtocolError: nothing.
    """
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError:
        raise ProtocolError(PARSE_ERROR, "this is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "this is no JSON") from None
