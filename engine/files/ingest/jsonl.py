"""Read JSON Lines: each line is an object and becomes one atom. Invalid lines are reported and skipped."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, BinaryIO, Final

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.limits import INTEGER_MAX, KEY_BYTES_MAX, TAGS_PER_ATOM_MAX
from engine.base.validation import tag as stored_tag
from engine.files.ingest.documents import BadItemError, JsonLine, Piece, Reference, Skipped
from engine.files.ingest.field_values import checked_content, checked_source, created_from_value, title_of
from engine.files.ingest.pieces import distinct_tags

LINE_BYTES_MAX = 4 << 20
_READ_BYTES: Final = 64 << 10


def parse_jsonl(
    stream: BinaryIO, source: str, *, line_bytes_max: int = LINE_BYTES_MAX
) -> Iterator[JsonLine | Skipped]:
    """Yield a `JsonLine` or `Skipped` for each line of `stream` that is not blank, in order.

    A line is one JSON object in UTF-8, parsed strictly (`engine.base.json_text`). These keys are read; null
    counts as absent, and all other keys are ignored:

    - `text` or `content`: the content. `text` takes precedence. If both are absent or the content is
      blank, the title is the content. A line without any of the three is invalid.
    - `id`: a string, the key of the atom.
    - `title`: a string.
    - `source`: a string; the default is the parameter `source`. With `session`, a string or an integer, the
      source is `<source>#<session>`: each session of a conversation is a separate source.
    - `seq`: an integer, the position of the atom.
    - `timestamp`: ISO 8601 (UTC if it has no offset), a year or a month, or seconds or milliseconds since
      1970 (negative before 1970), in the years 1 to 9999.
    - `tags`: a list of strings, or one string with tags separated by commas or spaces.
    - `authors`: a list of strings, or one string. The authors whose names the content does not contain are
      added to its end in a line `By …`, so that they can be searched for.
    - `links`: a list of strings, the `id`s of other lines of the same source.

    If `authors` or `links` is something else, it is not read, and a `Skipped` with `kept` precedes the line.

    Memory is bounded by one line plus about 150 bytes for each line without `id`, because occurrences of
    equal contents are counted over the whole file.

    Args:
        stream: The file. It is read to its end and not closed.
        source: The source of the file.
        line_bytes_max: The maximum number of bytes of a line. Longer lines are skipped without being held in
            memory.
    """
    seen: dict[bytes, int] = {}
    for number, raw in lines_of(stream, line_bytes_max):
        if raw is None:
            yield Skipped(source, f"the line is over {line_bytes_max} bytes long", number, kind="line")
            continue
        try:
            fields = _object(raw)
            line = _parse_line(fields, source, number, seen)
        except BadItemError as error:
            yield Skipped(source, str(error), number, kind="line")
            continue
        for key in ("authors", "links"):
            if _strings(fields, key) is None:
                reason = f"`{key}` is not a list of strings, and was not read"
                yield Skipped(source, reason, number, kept=True, kind="line")
        yield line


def lines_of(stream: BinaryIO, line_bytes_max: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number and bytes of each line that is not blank, with None as bytes if the line is too long.

    A byte order mark at the start of the file is removed.
    """
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
    """Return the object on a line; raise `BadItemError` if the line is not a JSON object."""
    try:
        value = parse(raw)
    except JsonError as error:
        raise BadItemError(str(error)) from None
    if not isinstance(value, dict):
        raise BadItemError("not a JSON object")
    return value


def _parse_line(fields: dict[str, Any], file_source: str, number: int, seen: dict[bytes, int]) -> JsonLine:
    """Return the line as a piece, or raise `BadItemError`; a piece without id is counted in `seen`."""
    text = _text(fields, "text")
    content = text if text is not None else _text(fields, "content")
    named = _text(fields, "title")
    title = None if named is None else title_of(named)
    if title is not None and not (content or "").strip():
        content = title
    if content is None:
        raise BadItemError("there is no content: the key `text`, `content` or `title` is required")
    content = checked_content(_signed(content, _strings(fields, "authors") or ()))
    source = _source(fields, file_source)
    own_id = _text(fields, "id")
    if own_id is not None and not 0 < len(own_id.encode("utf-8", "replace")) <= KEY_BYTES_MAX:
        raise BadItemError(f"`id` must be 1 to {KEY_BYTES_MAX} bytes long")
    sequence = _sequence(fields)
    piece = Piece(
        content=content,
        title=title,
        tags=_tags(fields),
        created=_created(fields),
        sequence=sequence,
        occurrence=None if own_id is not None or sequence is not None else _count(seen, source, content),
        links=tuple(Reference(one, None, "id") for one in dict.fromkeys(_strings(fields, "links") or ())),
        id=own_id,
    )
    return JsonLine(source, number, piece)


def _count(seen: dict[bytes, int], source: str, content: str) -> int:
    """Return the number of earlier occurrences of this content in this source, and increment the number."""
    key = blake2b(f"{len(source)}:{source}{content}".encode(), digest_size=16).digest()
    count = seen.get(key, 0)
    seen[key] = count + 1
    return count


def _text(fields: dict[str, Any], key: str) -> str | None:
    """Return the string under `key`, or None if the value is null or absent.

    Raises:
        BadItemError: the value is something else.
    """
    value = fields.get(key)
    if value is not None and not isinstance(value, str):
        raise BadItemError(f"`{key}` must be a string")
    return value


def _strings(fields: dict[str, Any], key: str) -> tuple[str, ...] | None:
    """Return the strings under `key` that are not blank, or None if the value is not a list of strings.

    An absent value counts as an empty list, and a string counts as a list of one string.
    """
    value = fields.get(key)
    items = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        return None
    return tuple(item for item in items if item.strip())


def _signed(content: str, authors: Sequence[str]) -> str:
    """Return the content with a last line that names the authors whom it does not name yet."""
    names = dict.fromkeys(" ".join(author.split()) for author in authors)
    missing = [name for name in names if name not in content]
    return f"{content.rstrip()}\n\nBy {'; '.join(missing)}" if missing else content


def _source(fields: dict[str, Any], file_source: str) -> str:
    """Return the source of the line, with the session if there is one.

    Raises:
        BadItemError: the source or the session is invalid.
    """
    source = _text(fields, "source")
    source = source if source is not None else file_source
    session = fields.get("session")
    if session is not None:
        if isinstance(session, bool) or not isinstance(session, (int, str)):
            raise BadItemError("`session` must be a string or an integer")
        source = f"{source}#{session}"
    return checked_source(source)


def _sequence(fields: dict[str, Any]) -> int | None:
    """Return the value of `seq`, or raise `BadItemError` if it is invalid."""
    value = fields.get("seq")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INTEGER_MAX:
        raise BadItemError(f"`seq` must be an integer from 0 to {INTEGER_MAX}")
    return value


def _created(fields: dict[str, Any]) -> int | None:
    """Return the value of `timestamp` in µs UTC, or raise `BadItemError` if it is invalid."""
    value = fields.get("timestamp")
    if value is None:
        return None
    if (created := created_from_value(value)) is None:
        raise BadItemError(
            "`timestamp` must be ISO 8601, or seconds or milliseconds since 1970, in the years 1 to 9999"
        )
    return created


def _tags(fields: dict[str, Any]) -> tuple[str, ...]:
    """Return the value of `tags`, or raise `BadItemError` if it is invalid."""
    value = fields.get("tags")
    if value is None:
        return ()
    words: Any = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(words, list):
        raise BadItemError("`tags` must be a list of strings")
    try:
        tags = distinct_tags(stored_tag(word) for word in words)
    except InvalidInputError as error:
        raise BadItemError(str(error)) from None
    if len(tags) > TAGS_PER_ATOM_MAX:
        raise BadItemError(f"there are {len(tags)} tags; at most {TAGS_PER_ATOM_MAX} are allowed")
    return tags
