"""The messages between an ingest and the process that reads files for it, in CBOR.

Both processes run the same version of the same code, and no message is stored, so the form of the messages
may change.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Final

from cbor2 import dumps, loads

from engine.files.ingest.documents import Document, JsonLine, Piece, Reference, Skipped, SourceFile

READY: Final = b"memroot reads files\n"
"""The first bytes that a reading process writes."""

Item = Document | JsonLine | Skipped


def send(stream: BinaryIO, message: object) -> None:
    """Write a message, preceded by its length in four bytes."""
    raw = dumps(message)
    stream.write(len(raw).to_bytes(4, "big"))
    stream.write(raw)


def receive(stream: BinaryIO) -> Any:
    """Read a message.

    Raises:
        EOFError: the stream ends before the end of the message.
    """
    raw = stream.read(size) if (size := int.from_bytes(stream.read(4), "big")) else b""
    if not raw or len(raw) != size:
        raise EOFError("the other process ended")
    return loads(raw)


def encode_files(files: Iterable[SourceFile]) -> bytes:
    """Encode a list of files for `decode_files`."""
    return dumps([(os.fsencode(file.path), file.source, file.format) for file in files])


def decode_files(raw: bytes) -> list[SourceFile]:
    """Decode the result of `encode_files`."""
    return [SourceFile(Path(os.fsdecode(path)), *others) for path, *others in loads(raw)]


def encode_items(items: Iterable[Item]) -> list[Any]:
    """Encode the items of a Markdown or text file for `decode_items`."""
    return [_encode(item) for item in items]


def _encode(item: Item) -> list[Any]:
    if isinstance(item, Skipped):
        return [item.reason, item.source, item.line, item.kept, item.kind]
    if isinstance(item, JsonLine):
        raise TypeError("lines of JSON Lines files are not sent")
    pieces = [
        [
            piece.content,
            piece.title,
            piece.tags,
            piece.occurrence,
            piece.links,
            piece.created,
            piece.id,
            piece.sequence,
            piece.aliases,
            piece.meta,
        ]
        for piece in item.pieces
    ]
    return [None, item.source, [item.title, item.left_out], pieces, None]


def decode_items(values: list[Any]) -> list[Document | Skipped]:
    """Decode the result of `encode_items`."""
    return [_decode(*value) for value in values]


def _decode(reason: str | None, source: str, third: Any, fourth: Any, kind: Any) -> Document | Skipped:
    if reason is not None:
        return Skipped(source, reason, third, fourth, kind)
    new = tuple.__new__  # half of the time of the constructor (measured)
    pieces = tuple(
        Piece(
            content,
            title,
            tuple(tags),
            occurrence,
            tuple([new(Reference, link) for link in links]),
            created,
            key,
            sequence,
            tuple(aliases),
            meta,
        )
        for content, title, tags, occurrence, links, created, key, sequence, aliases, meta in fourth
    )
    title, left_out = third
    return Document(source, title, pieces, left_out)
