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

from engine.transfer.ingest.documents import Document, JsonLine, Piece, Reference, Skipped, SourceFile

READY: Final = b"memroot reads files\n"
"""The first bytes that the process that reads files writes."""

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
    """Return a list of files in the form in which `decode_files` reads it."""
    return dumps([(os.fsencode(file.path), file.source, file.format) for file in files])


def decode_files(raw: bytes) -> list[SourceFile]:
    """Return the files that `encode_files` was given."""
    return [SourceFile(Path(os.fsdecode(path)), *others) for path, *others in loads(raw)]


def encode_items(items: Iterable[Item]) -> list[Any]:
    """Return what was read from a Markdown or text file, in the form in which `decode_items` reads it."""
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
            [[link.target, link.fragment, link.kind] for link in piece.links],
            piece.created,
            piece.id,
            piece.sequence,
        ]
        for piece in item.pieces
    ]
    return [None, item.source, item.title, pieces, None]


def decode_items(values: list[Any]) -> list[Document | Skipped]:
    """Return the items that `encode_items` was given."""
    return [_decode(*value) for value in values]


def _decode(reason: str | None, source: str, third: Any, fourth: Any, kind: Any) -> Document | Skipped:
    if reason is not None:
        return Skipped(source, reason, third, fourth, kind)
    pieces = tuple(
        Piece(
            content,
            title,
            tuple(tags),
            occurrence,
            tuple(Reference(target, fragment, kind) for target, fragment, kind in links),
            created,
            key,
            sequence,
        )
        for content, title, tags, occurrence, links, created, key, sequence in fourth
    )
    return Document(source, third, pieces)
