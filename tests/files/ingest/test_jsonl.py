"""Reading JSON Lines into pieces."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.json_text import DEPTH_MAX
from engine.files.ingest.documents import JsonLine, Piece, Reference, Skipped
from engine.files.ingest.field_values import EPOCH
from engine.files.ingest.jsonl import parse_jsonl


def _parsed(raw: bytes, line_bytes_max: int = 1000) -> list[JsonLine | Skipped]:
    return list(parse_jsonl(io.BytesIO(raw), "s/f.jsonl", line_bytes_max=line_bytes_max))


def _one(**fields: object) -> JsonLine | Skipped:
    (item,) = _parsed(json.dumps(fields).encode())
    return item


def _piece(**fields: object) -> Piece:
    item = _one(text="x", **fields)
    assert isinstance(item, JsonLine), item
    return item.piece


def test_every_key_is_read() -> None:
    """A line with all keys is read completely."""
    item = _one(
        id="k",
        text="t",
        title="T",
        source="s",
        session=2,
        seq=7,
        timestamp="1970-01-01T01:00+01:00",
        tags=["a"],
    )
    piece = Piece("t", "T", ("a",), None, (), 0, "k", 7)
    assert item == JsonLine("s#2", 1, piece)


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        (
            {"text": "A text.\n", "authors": ["Ada Low", " Bo  Ek ", "Ada Low", ""]},
            "A text.\n\nBy Ada Low; Bo Ek",
        ),
        ({"text": "A text by Ada Low.", "authors": ["Ada Low", "Bo Ek"]}, "A text by Ada Low.\n\nBy Bo Ek"),
        ({"text": "A text by Ada Low.\n", "authors": "Ada Low"}, "A text by Ada Low.\n"),
        ({"title": "Kettles", "authors": "Ada Low"}, "Kettles\n\nBy Ada Low"),
        ({"text": "A text.", "authors": []}, "A text."),
    ],
)
def test_authors_are_named_at_the_end(fields: dict[str, object], content: str) -> None:
    """The content ends with the authors whom it does not name."""
    item = _one(**fields)
    assert isinstance(item, JsonLine), item
    assert item.piece.content == content


def test_links_are_the_ids_of_other_lines() -> None:
    """Links are read once each, in their order."""
    piece = _piece(links=["9", " a  b ", "9", ""])
    assert piece.links == (Reference("9", None, "id"), Reference(" a  b ", None, "id"))


@pytest.mark.parametrize("key", ["authors", "links"])
@pytest.mark.parametrize("value", [7, {"name": "Ada"}, ["Ada", 7], [["Ada"]]])
def test_authors_and_links_of_another_form_are_reported(key: str, value: object) -> None:
    """A line whose authors or links are not strings is ingested without them, after a warning."""
    warning, item = _parsed(json.dumps({"text": "x", key: value}).encode())
    assert warning == Skipped(
        "s/f.jsonl", f"`{key}` is not a list of strings, and was not read", 1, kept=True
    )
    assert isinstance(item, JsonLine)
    assert (item.piece.content, item.piece.links) == ("x", ())


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_title_without_a_text_is_the_content(text: str | None) -> None:
    """A line with a title and no text becomes an atom with this title, which is also its content."""
    item = _one(text=text, title="Buy milk")
    assert item == JsonLine("s/f.jsonl", 1, Piece("Buy milk", "Buy milk", (), 0, (), None, None, None))


@pytest.mark.parametrize(
    ("given_time", "year"), [("1789-07-14", 1789), ("0001-01-01", 1), ("1958", 1958), (-86_400, 1969)]
)
def test_a_line_may_be_of_any_year(given_time: str | int, year: int) -> None:
    """A time before 1970 is kept, as text and as a number below 0."""
    created = _piece(timestamp=given_time).created
    assert created is not None
    assert (EPOCH + timedelta(microseconds=created)).year == year


def test_only_a_text_is_needed() -> None:
    """`content` can replace `text`, null counts as absent, and the default source is the file."""
    item = _one(content="t", id=None, title=None, unknown={"a": [1]})
    assert item == JsonLine("s/f.jsonl", 1, Piece("t", None, (), 0, (), None, None, None))


@pytest.mark.parametrize(
    ("given_time", "created"),
    [
        ("2023-05-08T13:56:00", 1_683_554_160_000_000),
        ("2023-05-08T15:56:00.000001+02:00", 1_683_554_160_000_001),
        (1_683_554_160, 1_683_554_160_000_000),
        (1_683_554_160_123, 1_683_554_160_123_000),
        (1_683_554_160.5, 1_683_554_160_500_000),
    ],
)
def test_times_are_microseconds_utc(given_time: object, created: int) -> None:
    """ISO 8601, seconds and milliseconds are converted to µs UTC, and UTC is the default offset."""
    assert _piece(timestamp=given_time).created == created


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a"', "not JSON"),
        (b'["text"]', "not a JSON object"),
        (b'{"text": NaN}', "NaN"),
        (b'{"text": "a", "text": "b"}', "twice"),
        (b'{"text": "a", "x": {"y": 1, "y": 2}}', "twice"),
        (b'{"text": "\xff"}', "not UTF-8 at byte 10"),
        (b'{"text": "\\ud800"}', "surrogate"),
        (b'{"text": "\\u0000"}', "U+0000"),
        (b'{"text": "\\uffff"}', "U+FFFF"),
        (b'{"text": " "}', "blank"),
        (b'{"text": 1}', "must be a string"),
        (b'{"title": " "}', "no content"),
        (b'{"text": "a", "id": 1}', "`id`"),
        (b'{"text": "a", "id": ""}', "`id`"),
        (b'{"text": "a", "seq": true}', "`seq`"),
        (b'{"text": "a", "seq": -1}', "`seq`"),
        (b'{"text": "a", "session": 1.5}', "`session`"),
        (b'{"text": "a", "source": "a\\nb"}', "source"),
        (b'{"text": "a", "timestamp": "yesterday"}', "`timestamp`"),
        (b'{"text": "a", "timestamp": 1e999}', "too large"),
        (b'{"text": "a", "timestamp": true}', "`timestamp`"),
        (b'{"text": "a", "tags": {"a": 1}}', "`tags`"),
        (b'{"text": "a", "tags": [1]}', "tag"),
        (b'{"text": "a", "seq": 1' + b"0" * 5000 + b"}", "not JSON"),
        (b'{"text": "a", "x": ' + b"[" * DEPTH_MAX + b"]" * DEPTH_MAX + b"}", "nested"),
        (b'{"text": "a", "x": ' + b"[" * 100_000, "nested"),
    ],
)
def test_a_bad_line_is_reported_and_the_rest_goes_in(line: bytes, reason: str) -> None:
    """An invalid line is reported with its number, and the lines around it are read."""
    good = b'{"text": "good"}\n'
    first, bad, last = _parsed(good + line + b"\n" + good, 200_000)
    assert isinstance(first, JsonLine)
    assert isinstance(last, JsonLine)
    assert isinstance(bad, Skipped)
    assert (bad.line, reason in bad.reason) == (2, True), bad


def test_lines_end_as_they_may() -> None:
    """A byte order mark, blank lines, CRLF and a missing last line end are accepted."""
    items = _parsed(b'\xef\xbb\xbf{"text":"a"}\r\n\n \n{"text":"b"}')
    assert [item.line for item in items if isinstance(item, JsonLine)] == [1, 4]


def test_a_line_of_any_length_is_skipped_in_bounded_memory() -> None:
    """A line over the limit is skipped in bounded memory, and the next line is read."""

    class Endless(io.RawIOBase):
        left = 100 << 20

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any, /) -> int:
            if self.left <= 0:
                return 0
            size = min(len(buffer), self.left)
            buffer[:size] = b"x" * size
            self.left -= size
            if self.left == 0:
                buffer[size - 1 : size] = b"\n"
                tail.append(size)
            return size

    tail: list[int] = []
    stream = io.BufferedReader(Endless())
    items = list(parse_jsonl(stream, "s", line_bytes_max=1 << 20))
    assert (len(tail), [(type(item), item.line) for item in items]) == (1, [(Skipped, 1)])


def test_a_line_of_exactly_the_limit_is_read() -> None:
    """A line of exactly the limit, including its line end, is read."""
    line = b'{"text":"a"}\n'
    assert isinstance(_parsed(line, len(line))[0], JsonLine)
    assert isinstance(_parsed(line, len(line) - 1)[0], Skipped)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["s", "t"]), st.booleans()), max_size=20))
def test_occurrences_are_counted_for_each_source(lines: list[tuple[str, str, bool]]) -> None:
    """Occurrences count earlier equal lines without id in the same source."""
    raw = "\n".join(
        json.dumps({"text": text, "source": source} | ({"id": "k"} if keyed else {}))
        for text, source, keyed in lines
    )
    found = [item.piece.occurrence for item in _parsed(raw.encode()) if isinstance(item, JsonLine)]
    expected = [None if line[2] else lines[:number].count(line) for number, line in enumerate(lines)]
    assert found == expected


@given(st.binary(max_size=200))
def test_it_is_total(raw: bytes) -> None:
    """Any bytes give pieces and reports, without an exception."""
    assert all(isinstance(item, (JsonLine, Skipped)) for item in _parsed(raw, 50))


@given(
    st.dictionaries(
        st.sampled_from(["text", "id", "seq", "timestamp", "tags", "session", "source"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=9)
        | st.lists(st.text(max_size=3), max_size=3),
    )
)
def test_any_value_is_read_or_refused(fields: dict[str, object]) -> None:
    """A value of any type under a known key is read or refused, without an exception."""
    assert isinstance(_one(**fields), (JsonLine, Skipped))


def test_a_timestamp_of_hundreds_of_digits_is_reported() -> None:
    """A timestamp larger than any float is reported, and only its line is skipped."""
    raw = b'{"text": "a", "timestamp": 1' + b"0" * 400 + b'}\n{"text": "b"}\n'
    first, second = _parsed(raw)
    assert isinstance(first, Skipped)
    assert first.reason.startswith("`timestamp` must be")
    assert isinstance(second, JsonLine)
