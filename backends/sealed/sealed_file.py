"""A file that is encrypted under the key of a sealed store.

The first line is the header of the store, so that the file can be opened without the store. Chunks follow:
the length of a chunk in 4 bytes, then the encrypted chunk, which is bound to its number and to whether it is
the last one. A file that was cut off, or whose chunks were exchanged, does not decrypt.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO

from backends.errors import BackendCorrupt
from backends.sealed.key_sources import unlocked
from backends.sealed.seal import Seal, decode_header

BEGINS = b'{"sealed": '
"""The first bytes of a sealed file. No export of a journal begins with them."""

_CHUNK_BYTES = 64 << 10
_HEADER_MAX = 64 << 10


class SealedWriter:
    """Writes an encrypted file. Call it with the next bytes, and `finish` after the last ones."""

    def __init__(self, write: Callable[[bytes], object], seal: Seal) -> None:
        self._write = write
        self._cipher = seal.for_file()
        self._waiting = bytearray()
        self._number = 0
        write(seal.header.encode() + b"\n")

    def __call__(self, raw: bytes) -> None:
        """Add bytes to the file."""
        self._waiting += raw
        while len(self._waiting) > _CHUNK_BYTES:
            self._put(_CHUNK_BYTES, b"more")

    def finish(self) -> None:
        """Write what is left. Without this call, the file is damaged."""
        self._put(len(self._waiting), b"last")

    def _put(self, size: int, mark: bytes) -> None:
        chunk = bytes(self._waiting[:size]) + b"\n"
        del self._waiting[:size]
        raw = self._cipher.encrypt(chunk, [self._number.to_bytes(8, "big"), mark])
        self._number += 1
        self._write(len(raw).to_bytes(4, "big") + raw)


class _Chunks(io.RawIOBase):
    """The decrypted bytes of an encrypted file; `stream` is at the first chunk."""

    def __init__(self, stream: BinaryIO, seal: Seal) -> None:
        self._stream = stream
        self._cipher = seal.for_file()
        self._chunk = b""
        self._number = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._chunk and not self._ended:
            self._next()
        part = self._chunk[: len(buffer)]
        self._chunk = self._chunk[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _next(self) -> None:
        from cryptography.exceptions import InvalidTag

        size = int.from_bytes(self._stream.read(4), "big")
        raw = self._stream.read(size) if size <= 2 * _CHUNK_BYTES else b""
        for mark in (b"more", b"last"):
            try:
                self._chunk = self._cipher.decrypt(raw, [self._number.to_bytes(8, "big"), mark])[:-1]
            except (InvalidTag, ValueError):
                continue
            self._number += 1
            self._ended = mark == b"last"
            if self._ended and self._stream.read(1):
                break
            return
        raise BackendCorrupt("the sealed file is damaged or incomplete")


def opened_file(stream: io.BufferedReader, key: Seal | None = None) -> tuple[BinaryIO, Seal | None]:
    """Return a stream of the plain bytes of a file, and the key of the file, or None if it is not sealed.

    `key` is the key that is tried first; see `unlocked`.

    Raises:
        BackendLocked: there is no key, or it is wrong.
        BackendCorrupt: the file is damaged; also raised while the stream is read.
    """
    if not stream.peek(len(BEGINS)).startswith(BEGINS):
        return stream, None
    seal = unlocked(decode_header(stream.readline(_HEADER_MAX)), key)
    return io.BufferedReader(_Chunks(stream, seal)), seal
