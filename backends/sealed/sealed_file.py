"""A file that is encrypted under the key of a sealed store.

The first line is the header of the store, so that the file can be opened without the store. A random id of 16
bytes and the chunks follow: the length of a chunk in 4 bytes, then the encrypted chunk, which is bound to the
file, to its number and to whether it is the last one. A file that was cut off, or whose chunks were
exchanged, does not decrypt.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import BinaryIO

from backends.errors import BackendCorrupt, BackendLocked
from backends.sealed.key_sources import unlocked
from backends.sealed.seal import Seal, decode_header

BEGINS = b'{"sealed": '
"""The first bytes of a sealed file. No export of a journal begins with them."""

_CHUNK_BYTES = 64 << 10
_HEADER_MAX = 64 << 10
_ID_BYTES = 16
_MORE, _LAST = b"more", b"last"


class SealedWriter:
    """Writes an encrypted file. Call it with the next bytes, and `finish` after the last ones."""

    def __init__(self, write: Callable[[bytes], object], seal: Seal) -> None:
        self._write = write
        self._close = seal.close
        self._waiting = bytearray()
        self._number = 0
        self._id = os.urandom(_ID_BYTES)
        write(seal.header.encode() + b"\n" + self._id)

    def __call__(self, raw: bytes) -> None:
        """Add bytes to the file."""
        self._waiting += raw
        while len(self._waiting) > _CHUNK_BYTES:
            self._put(_CHUNK_BYTES, _MORE)

    def finish(self) -> None:
        """Write what is left. Without this call, the file is damaged."""
        self._put(len(self._waiting), _LAST)

    def _put(self, size: int, mark: bytes) -> None:
        raw = self._close(_place(self._id, self._number, mark), bytes(self._waiting[:size]))
        del self._waiting[:size]
        self._number += 1
        self._write(len(raw).to_bytes(4, "big") + raw)


class _Chunks(io.RawIOBase):
    """The decrypted bytes of an encrypted file; `stream` is at the first chunk."""

    def __init__(self, stream: BinaryIO, seal: Seal) -> None:
        self._stream = stream
        self._open = seal.open
        self._id = stream.read(_ID_BYTES)
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
        size = int.from_bytes(self._stream.read(4), "big")
        raw = self._stream.read(size) if size <= 2 * _CHUNK_BYTES else b""
        for mark in (_MORE, _LAST):
            chunk = self._open(_place(self._id, self._number, mark), raw)
            if chunk is not None and (mark == _MORE or not self._stream.read(1)):
                self._chunk, self._ended = chunk, mark == _LAST
                self._number += 1
                return
        raise BackendCorrupt("the sealed file is damaged or incomplete")


def _place(file: bytes, number: int, mark: bytes) -> bytes:
    """Return what a chunk is bound to. No row of a store has such a key."""
    return b"\0memroot/file/" + file + number.to_bytes(8, "big") + mark


def opened_file(stream: io.BufferedReader, key: Seal | None = None) -> tuple[BinaryIO, Seal | None]:
    """Return a stream of the plain bytes of a file, and the key of the file, or None if it is not sealed.

    `key` is the key that is tried first; see `unlocked`.

    Raises:
        BackendLocked: there is no key, or it is wrong.
        BackendCorrupt: the file is damaged; also raised while the stream is read.
    """
    if not stream.peek(len(BEGINS)).startswith(BEGINS):
        return stream, None
    try:
        seal = unlocked(decode_header(stream.readline(_HEADER_MAX)), key)
    except BackendLocked as error:
        name = getattr(stream, "name", "the sealed file")
        raise BackendLocked(f"{name} cannot be read: {error}", hint=error.hint) from error
    return io.BufferedReader(_Chunks(stream, seal)), seal
