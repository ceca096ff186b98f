"""The transport over stdin and stdout: one JSON-RPC message per line, in UTF-8.

`<` and control characters are escaped in messages. File descriptors 0 and 1 are redirected to other files,
so that no other output of the process can appear between the messages.
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
from engine.mcp.mcp_protocol import INVALID_REQUEST, PARSE_ERROR, ProtocolError, check_message, request_id
from engine.mcp.tool_definition import Fields

LINE_BYTES_MAX: Final = 4 << 20
"""The maximum length of a message in bytes. The SDK has the same limit for HTTP."""

_READ_BYTES: Final = 1 << 16


class Wire:
    """Reads and writes messages. One thread reads; any thread may send or call `end`."""

    def __init__(self, incoming: int = 0, outgoing: int = 1) -> None:
        """Take over the file descriptors of stdin and stdout until `close`."""
        self._taken = incoming, outgoing
        self._in, self._out = os.dup(incoming), os.dup(outgoing)
        self._wake, self._waker = os.pipe()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  a device, not a file
            os.dup2(nothing.fileno(), incoming)
        os.dup2(2, outgoing)
        self._writing = threading.Lock()
        # A plain attribute without a lock: a signal handler may set it while a lock is held.
        self.ended = False

    def close(self) -> None:
        """Restore the file descriptors of stdin and stdout."""
        for saved, fd in zip((self._in, self._out), self._taken, strict=True):
            os.dup2(saved, fd)
            os.close(saved)
        os.close(self._wake)
        os.close(self._waker)

    def end(self) -> None:
        """Stop reading and writing; called after a signal, or if the client no longer reads."""
        self.ended = True
        with suppress(OSError):
            os.write(self._waker, b"!")

    def messages(self) -> Iterator[Fields]:
        """Yield messages until the input ends. Invalid messages are answered with an error and skipped."""
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
        """Write one whole message; if the client does not read it, call `end`."""
        rest = memoryview((dumped({"jsonrpc": "2.0", **message}) + "\n").encode())
        with self._writing:
            while rest and not self.ended:
                try:
                    rest = rest[os.write(self._out, rest) :]
                except OSError:
                    self.end()

    def send_error(self, request: int | str | None, error: ProtocolError) -> None:
        """Send an error response; `id` is null if the request could not be read."""
        self.send({"id": request, "error": error.fields})

    def _lines(self) -> Iterator[bytes]:
        """Yield lines without their line ends; lines that are too long are answered with an error."""
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
                    message = f"a message is longer than {LINE_BYTES_MAX} bytes"
                    self.send_error(None, ProtocolError(INVALID_REQUEST, message))
                buffer, skipping = bytearray(), True
        if buffer and not skipping and not self.ended:
            yield bytes(buffer)

    def _part(self) -> bytes:
        """Wait for input and return it; return an empty value at the end of the input."""
        if not self.ended:
            ready, _, _ = select.select([self._in, self._wake], [], [])
            if self._wake not in ready:
                with suppress(OSError):
                    return os.read(self._in, _READ_BYTES)
        return b""


def _parsed(line: bytes) -> Any:
    """Parse a line of JSON.

    Raises:
        ProtocolError: the line is not valid UTF-8 or not valid JSON.
    """
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError:
        raise ProtocolError(PARSE_ERROR, "the message is not valid UTF-8") from None
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "the message is not valid JSON") from None
