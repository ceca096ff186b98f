"""Reading one file that was found: opened safely, decoded strictly, given to the parser of its format."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from engine.base.errors import RefusedError
from engine.transfer.ingest.documents import (
    ATOM_TOKENS,
    BadItemError,
    Document,
    Found,
    Skipped,
    Sourced,
)
from engine.transfer.ingest.jsonl import LINE_BYTES_MAX, parse_jsonl
from engine.transfer.ingest.pieces import distinct, parse_plain

if TYPE_CHECKING:
    from engine.secrets.filter import Screen

FILE_BYTES_MAX: Final = 64 << 20


def read_file(
    found: Found,
    *,
    file_bytes_max: int = FILE_BYTES_MAX,
    line_bytes_max: int = LINE_BYTES_MAX,
    tokens_max: int = ATOM_TOKENS,
    screen: Screen | None = None,
) -> Iterator[Document | Sourced | Skipped]:
    """What a file holds: reports, then one `Document`; or `Sourced` and reports for JSON lines, in order.

    Never raises for what is in the file or became of it; the file is `Skipped` instead.

    Args:
        found: the file, of `find_files`.
        file_bytes_max: larger Markdown and text files are skipped; JSON lines are streamed.
        line_bytes_max: longer JSON lines are skipped.
        tokens_max: the size of a piece of Markdown or text, in estimated tokens.
        screen: what the text passes before it is cut; a file or line that it refuses is skipped.
    """
    try:
        with opened(found.path) as stream:
            if found.format == "jsonl":
                lines = parse_jsonl(stream, found.source, line_bytes_max=line_bytes_max)
                yield from lines if screen is None else (_screened(screen, item) for item in lines)
                return
            raw = stream.read(file_bytes_max + 1)
        if len(raw) > file_bytes_max:
            raise BadItemError(f"over {file_bytes_max} bytes long")
        text = decode(raw)
    except BadItemError as error:
        yield Skipped(found.source, str(error))
        return
    except OSError as error:
        yield Skipped(found.source, f"cannot be read: {(error.strerror or 'failed').lower()}")
        return
    if screen is not None:
        try:
            text = screen.text(text, "the file")
        except RefusedError as error:
            yield Skipped(found.source, str(error), screen.line_of(text))
            return
    parse = parse_plain
    if found.format == "markdown":
        # markdown-it and PyYAML: only where they are needed
        from engine.transfer.ingest.markdown import parse_markdown as parse
    document, skipped = parse(text, found.source, tokens_max=tokens_max)
    yield from skipped
    yield document


def screened_files(screen: Screen | None, found: Iterable[Found | Skipped]) -> Iterator[Found | Skipped]:
    """Files and reports with names as they may be written; a file whose name is refused is skipped."""
    if screen is None:
        yield from found
        return
    taken: set[str] = set()
    for item in found:
        shown = screen.shown(item.source)
        if isinstance(item, Skipped):
            yield replace(item, source=shown)
            continue
        try:
            source = screen.text(item.source, "its name")
        except RefusedError as error:
            yield Skipped(shown, str(error))
            continue
        if source in taken:
            yield Skipped(shown, "another file has the same name but for what is a secret in it")
            continue
        taken.add(source)
        yield replace(item, source=source)


def _screened(screen: Screen, item: Sourced | Skipped) -> Sourced | Skipped:
    """A line as it may be written."""
    if isinstance(item, Skipped):
        return replace(item, source=screen.shown(item.source), reason=screen.shown(item.reason))
    try:
        piece = screen.value(item.piece, "the")
        source = screen.text(item.source, "source")
    except RefusedError as error:
        return Skipped(screen.shown(item.source), str(error), item.line)
    return replace(item, source=source, piece=replace(piece, tags=distinct(piece.tags)))


def decode(raw: bytes) -> str:
    r"""The text of a file: UTF-8, a byte order mark dropped, every line end as `\n`.

    Raises:
        BadItemError: a NUL byte, or not UTF-8.
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadItemError("not UTF-8 but UTF-16; save it as UTF-8")
    nul = raw.find(b"\x00")
    if nul >= 0:
        raise BadItemError(f"not text: NUL at byte {nul}")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise BadItemError(f"not UTF-8 at byte {error.start}") from None
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def opened(path: Path) -> BinaryIO:
    """The regular file at `path`, for reading.

    It may have been replaced since it was found: a link is not followed, a pipe does not block.

    Raises:
        BadItemError: it is not a regular file.
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadItemError("not a regular file")
    return os.fdopen(descriptor, "rb")
