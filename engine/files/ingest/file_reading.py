"""Read a file: open it safely, decode the text strictly, and parse the text according to its format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, Final

from engine.base.errors import RefusedError
from engine.files.ingest.documents import (
    ATOM_TOKENS,
    CONVERTED_BYTES_MAX,
    LIBRARIES,
    BadItemError,
    Converted,
    Document,
    JsonLine,
    Skipped,
    SourceFile,
    open_regular,
)
from engine.files.ingest.field_values import created_from_text, title_of
from engine.files.ingest.folder_walk import Found
from engine.files.ingest.jsonl import LINE_BYTES_MAX, parse_jsonl
from engine.files.ingest.pieces import (
    Cut,
    Section,
    blocks_of,
    distinct_tags,
    document,
    file_title,
    parse_plain,
    split,
)

if TYPE_CHECKING:
    from engine.commands.secrets.filter import Screen

FILE_BYTES_MAX: Final = 64 << 20
"""The maximum number of bytes of a Markdown or text file."""

NOT_UTF8: Final = "not UTF-8"


def read_file(
    file: SourceFile,
    *,
    file_bytes_max: int = FILE_BYTES_MAX,
    line_bytes_max: int = LINE_BYTES_MAX,
    tokens_max: int = ATOM_TOKENS,
    screen: Screen | None = None,
    convert: Callable[[bytes, str], Converted] | None = None,
) -> Iterator[Document | JsonLine | Skipped]:
    """Yield the `Skipped` reports of a file, and then its `Document`.

    For a JSON Lines file, yield a `JsonLine` or `Skipped` for each line, in order. A file that is invalid,
    missing or unreadable raises no exception, but is reported as `Skipped`.

    Args:
        file: The file, as returned by `find_files`.
        file_bytes_max: The maximum number of bytes of a Markdown or text file; larger files are skipped. JSON
            Lines files are streamed and may have any size.
        line_bytes_max: The maximum number of bytes of a JSON line; longer lines are skipped.
        tokens_max: The size of a piece of Markdown or text, in estimated tokens.
        screen: The secrets filter for texts before they are split. A file or line that the filter refuses is
            skipped.
        convert: `Converter.convert`; required for HTML, PDF and DOCX.
    """
    try:
        with open_regular(file.path) as stream:
            if file.format == "jsonl":
                lines = parse_jsonl(stream, file.source, line_bytes_max=line_bytes_max)
                yield from lines if screen is None else (_screened(screen, item) for item in lines)
                return
            raw = read_bytes(stream, CONVERTED_BYTES_MAX.get(file.format, file_bytes_max))
        content: str | Converted
        if file.format not in LIBRARIES:
            content = decode(raw)
        elif convert is not None:
            content = convert(raw, file.format)
        else:
            raise ValueError(f"no converter was given for {file.format}")
    except BadItemError as error:
        yield Skipped(file.source, str(error), kind=error.kind)
        return
    except OSError as error:
        yield Skipped(file.source, unreadable(error))
        return
    if screen is not None:
        try:
            content = screen.value(content, "the file")
        except RefusedError as error:
            line = screen.line_of(content) if isinstance(content, str) else None
            yield Skipped(file.source, str(error), line, kind="secret")
            return
    if isinstance(content, Converted):
        document, skipped = parse_converted(content, file.source, tokens_max=tokens_max)
    elif file.format == "markdown":
        # Imported here because markdown-it and PyYAML are slow to load.
        from engine.files.ingest.markdown import parse_markdown

        document, skipped = parse_markdown(content, file.source, tokens_max=tokens_max)
    else:
        document, skipped = parse_plain(content, file.source, tokens_max=tokens_max)
    yield from skipped
    yield document


def read_bytes(stream: BinaryIO, bytes_max: int) -> bytes:
    """Return the bytes of an open file; raise `BadItemError` if there are more than `bytes_max`."""
    raw = stream.read(bytes_max + 1)
    if len(raw) > bytes_max:
        raise BadItemError(f"the file is over {bytes_max} bytes long", "too large")
    return raw


def unreadable(error: OSError) -> str:
    """Return the reason to report for a file that the operating system does not let this process read."""
    return f"the file cannot be read: {(error.strerror or 'failed').lower()}"


def screened_files(screen: Screen | None, found: Iterable[Found]) -> Iterator[Found]:
    """Yield the files and reports after redacting secrets in their names.

    If the filter refuses the name of a file, yield a `Skipped` instead.
    """
    if screen is None:
        yield from found
        return
    seen: set[str] = set()
    for item in found:
        shown = screen.shown(item.source)
        if not isinstance(item, SourceFile):
            yield replace(item, source=shown)
            continue
        try:
            source = screen.text(item.source, "its name")
        except RefusedError as error:
            yield Skipped(shown, str(error), kind="secret")
            continue
        if source in seen:
            reason = "another file has the same name after secrets are redacted"
            yield Skipped(shown, reason, kind="same source")
            continue
        seen.add(source)
        yield replace(item, source=source)


def _screened(screen: Screen, item: JsonLine | Skipped) -> JsonLine | Skipped:
    """Return the line with secrets redacted, or `Skipped` if the filter refuses it."""
    if isinstance(item, Skipped):
        return replace(item, source=screen.shown(item.source), reason=screen.shown(item.reason))
    try:
        piece = screen.value(item.piece, "the")
        source = screen.text(item.source, "source")
    except RefusedError as error:
        return Skipped(screen.shown(item.source), str(error), item.line, kind="secret")
    return replace(item, source=source, piece=replace(piece, tags=distinct_tags(piece.tags)))


def decode(raw: bytes) -> str:
    r"""Decode the UTF-8 text of a file, without a byte order mark and with each line end as `\n`.

    Raises:
        BadItemError: the file contains a NUL byte or is not valid UTF-8.
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadItemError("the file is UTF-16, not UTF-8; save it as UTF-8", NOT_UTF8)
    nul = raw.find(b"\x00")
    if nul >= 0:
        raise BadItemError(f"the file is not text: there is a NUL at byte {nul}", "not text")
    return utf8_text(raw)


def utf8_text(raw: bytes) -> str:
    """Decode a text as `decode` does, but allow NUL.

    Raises:
        BadItemError: the file is not valid UTF-8.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise BadItemError(f"the file is not valid UTF-8 at byte {error.start}", NOT_UTF8) from None
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_converted(
    found: Converted, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    """Parse a converted file into a document, and report what cannot be ingested.

    A text in Markdown is split in the same way as a Markdown file. If the text consists of pages, no piece
    covers parts of two pages. The title of a piece consists of a name and the number of the page. The name is
    the heading of the page or, without a heading, the title of the file.
    """
    if found.pages is None:
        from engine.files.ingest.markdown import parse_markdown  # slow to load

        return parse_markdown(_with_frontmatter(found), source, tokens_max=tokens_max)
    title = found.title or file_title(source)
    created = None if found.created is None else created_from_text(found.created)
    text, sections, titles = "", [], []
    for number, (heading, page) in enumerate(found.pages, 1):
        sections.append(Section((), blocks_of(page, len(text))))
        titles.append(title_of(f"{heading or title or 'page'}, page {number}"))
        text += page + "\n\n"
    cuts = (Cut(span, titles[number]) for span, number in split(text, sections, tokens_max))
    return document(text, source, title, cuts, created=created)


def _with_frontmatter(found: Converted) -> str:
    """Return the text, with its title and date as the frontmatter of a Markdown file."""
    fields = []
    if found.title is not None:
        fields.append(f"title: {json.dumps(found.title)}\n")
    if found.created is not None:
        fields.append(f"created: {json.dumps(found.created)}\n")
    return f"---\n{''.join(fields)}---\n{found.markdown}" if fields else found.markdown
