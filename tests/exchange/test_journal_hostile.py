"""Hostile lines in exports are refused with an EngineError that names the line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import CorruptionError, EngineError
from engine.exchange.journal_lines import VERSION, canonical
from tests.exchange.journals import A_FILE, LINES, imported, refused

HOSTILE = [
    b"[" * 100_000 + b"\n",
    b'{"seq":' + b"1" * 10_000 + b"}\n",
    b'{"seq":NaN}\n',
    b'{"seq":0,"seq":0}\n',
    b"\xff\n",
    b"\n",
    b"null\n",
    b'{"end":true}\n',
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("at", [1, 2, len(LINES)])
def test_a_hostile_line_is_refused_by_its_number(line: bytes, at: int) -> None:
    """Deep nesting, huge numbers, NaN and repeated keys are refused by the number of the line."""
    with refused(at):
        imported(b"".join([*LINES[: at - 1], line, *LINES[at:]]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data(), value=JSON)
@settings(max_examples=150)
def test_any_value_in_any_field_is_refused(data: st.DataObject, value: object) -> None:
    """A value of a wrong type in any field is refused, and the line is named."""
    at = data.draw(st.integers(0, len(LINES) - 1))
    fields = inner = json.loads(LINES[at])
    while True:
        key = data.draw(st.sampled_from(sorted(inner)))
        if not isinstance(inner[key], dict) or data.draw(st.booleans()):
            break
        inner = inner[key]
    if type(inner[key]) is type(value) and inner[key] == value:
        return
    inner[key] = value
    raw = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    line = raw.encode("utf-8", "surrogatepass") + b"\n"
    with pytest.raises(CorruptionError, match=rf"^the file line ({at + 1}|\d+): "):
        imported(b"".join([*LINES[:at], line, *LINES[at + 1 :]]))


def test_a_line_over_its_bound_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is refused without being held in memory."""
    monkeypatch.setattr("engine.exchange.journal_import.LINE_BYTES_MAX", 1000)
    with refused(1, "over 1,000 bytes"):
        imported(b'"' + b"x" * 5000)


def test_another_version_is_refused() -> None:
    """An export of another format version is refused before any event is read."""
    head = json.loads(LINES[0])
    with refused(1, f"version {VERSION + 1}"):
        imported(canonical(head | {"version": VERSION + 1}))


def test_another_analyzer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export written with another analyzer is refused, because searches would miss words."""
    monkeypatch.setattr("engine.store.store.ANALYZER_NAME", "other-1")
    with pytest.raises(EngineError, match="this installation has other-1"):
        imported(A_FILE)
