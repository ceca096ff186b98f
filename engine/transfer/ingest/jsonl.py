"""JSON lines to atoms: one object, one line, one atom; a bad line is reported and the rest goes in."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, BinaryIO, Final

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.limits import INTEGER_MAX, KEY_BYTES_MAX, TAGS_PER_ATOM_MAX
from engine.base.validation import tag as kept_tag
from engine.transfer.ingest.checks import checked_content, checked_source, created_of_value, title_of
from engine.transfer.ingest.documents import BadItemError, Piece, Skipped, Sourced
from engine.transfer.ingest.pieces import distinct

LINE_BYTES_MAX = 4 << 20
_READ_BYTES: Final = 64 << 10


def parse_jsonl(
    stream: BinaryIO, source: str, *, line_bytes_max: int = LINE_BYTES_MAX
) -> Iterator[Sourced | Skipped]:
    """One `Sourced` or `Skipped` for every line of `stream` that is not blank, in order.

    A line is one JSON object in UTF-8, read strictly (`engine.base.json_text`). Keys, null counting
    as absent and all others being ignored:

    - `text` or `content`: the content, needed; `text` wins.
    - `id`: the caller's own key, a text.
    - `title`: a text.
    - `source`: a text; else the parameter. With `session`, a text or whole number, it is
      `<source>#<session>`: a conversation is one source for each of its sessions.
    - `seq`: a whole number, the caller's own position.
    - `timestamp`: ISO 8601 (UTC where it has no offset), or seconds or milliseconds since 1970.
    - `tags`: a list of texts, or one text with commas or spaces between.

    Memory is bounded by one line, and for lines without `id` by some 150 bytes each: their
    occurrences are counted over the whole file.

    Args:
        stream: read to its end, not closed.
        source: the file's.
        line_bytes_max: longer lines are skipped without being held in memory.
    """
    seen: dict[bytes, int] = {}
    for number, raw in lines_of(stream, line_bytes_max):
        if raw is None:
            yield Skipped(source, f"the line is over {line_bytes_max} bytes long", number)
            continue
        try:
            yield _sourced(_object(raw), source, number, seen)
        except BadItemError as error:
            yield Skipped(source, str(error), number)


def lines_of(stream: BinaryIO, line_bytes_max: int) -> Iterator[tuple[int, bytes | None]]:
    """Number and bytes of every line that is not blank, without a byte order mark; None for one too long."""
    number = 0
    while raw := stream.readline(line_bytes_max + 1):
        number += 1
        if len(raw) <= line_bytes_max:
            raw = raw.removeprefix(BOM_UTF8) if number == 1 else raw
            if raw.strip():
                yield number, raw
            continue
        while raw and not raw.endswith(b"\n"):
            raw = stream.readline(_READ_BYTES)
        yield number, None


def _object(raw: bytes) -> dict[str, Any]:
    """The object that a line is; raises `BadItemError`."""
    try:
        value = parse(raw)
    except JsonError as error:
        raise BadItemError(str(error)) from None
    if not isinstance(value, dict):
        raise BadItemError("not a JSON object")
    return value


def _sourced(fields: dict[str, Any], file_source: str, number: int, seen: dict[bytes, int]) -> Sourced:
    """The line as a piece; counts its content in `seen` unless it has an id; raises `BadItemError`."""
    text = _text(fields, "text")
    content = text if text is not None else _text(fields, "content")
    if content is None:
        raise BadItemError("no text: the key `text` or `content` is needed")
    checked_content(content)
    source = _source(fields, file_source)
    own_id = _text(fields, "id")
    if own_id is not None and not 0 < len(own_id.encode("utf-8", "replace")) <= KEY_BYTES_MAX:
        raise BadItemError(f"`id` must be 1 to {KEY_BYTES_MAX} bytes long")
    title = _text(fields, "title")
    piece = Piece(
        content=content,
        title=title_of(title) if title is not None else None,
        tags=_tags(fields),
        created=_created(fields),
        sequence=_sequence(fields),
        occurrence=0 if own_id is not None else _count(seen, source, content),
        links=(),
        id=own_id,
    )
    return Sourced(source, number, piece)


def _count(seen: dict[bytes, int], source: str, content: str) -> int:
    """How often this content came before in this source."""
    key = blake2b(f"{len(source)}:{source}{content}".encode(), digest_size=16).digest()
    count = seen.get(key, 0)
    seen[key] = count + 1
    return count


def _text(fields: dict[str, Any], key: str) -> str | None:
    """The text under `key`; raises `BadItemError` for anything else that is not null."""
    value = fields.get(key)
    if value is not None and not isinstance(value, str):
        raise BadItemError(f"`{key}` must be a text")
    return value


def _source(fields: dict[str, Any], file_source: str) -> str:
    """The source with its session; raises `BadItemError`."""
    source = _text(fields, "source")
    source = source if source is not None else file_source
    session = fields.get("session")
    if session is not None:
        if isinstance(session, bool) or not isinstance(session, (int, str)):
            raise BadItemError("`session` must be a text or a whole number")
        source = f"{source}#{session}"
    return checked_source(source)


def _sequence(fields: dict[str, Any]) -> int | None:
    """The caller's own position; raises `BadItemError`."""
    value = fields.get("seq")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INTEGER_MAX:
        raise BadItemError("`seq` must be a whole number of at least 0")
    return value


def _created(fields: dict[str, Any]) -> int | None:
    """The moment in µs UTC; raises `BadItemError`."""
    value = fields.get("timestamp")
    if value is None:
        return None
    if (created := created_of_value(value)) is None:
        raise BadItemError("`timestamp` must be ISO 8601, or seconds or milliseconds since 1970")
    return created


def _tags(fields: dict[str, Any]) -> tuple[str, ...]:
    """The tags; raises `BadItemError`."""
    value = fields.get("tags")
    if value is None:
        return ()
    words: Any = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(words, list):
        raise BadItemError("`tags` must be a list of texts")
    try:
        tags = distinct(kept_tag(word) for word in words)
    except InvalidInputError as error:
        raise BadItemError(str(error)) from None
    if len(tags) > TAGS_PER_ATOM_MAX:
        raise BadItemError(f"{len(tags)} tags; at most {TAGS_PER_ATOM_MAX} are allowed")
    return tags
