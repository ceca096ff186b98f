"""The compiled functions for the rows and ids of new events give the values of their twins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.ledger.appender import Draft, Run, encoded_twin
from engine.ledger.records import default_ids_twin
from proofs.events import (
    AtomBody,
    AtomDetail,
    EdgeBody,
    EdgeDetail,
    EventKind,
    Origin,
    ReasonBody,
    TagsBody,
    TypeBody,
    TypeDetail,
)
from tests.kernels.native import native

pytestmark = pytest.mark.slow

texts = st.text(max_size=300) | st.sampled_from(("", "note", "x" * 70_000, "ä" * 150))
numbers = st.integers(0, (1 << 63) - 1) | st.sampled_from((0, 23, 24, 255, 256, 65535, 65536, 1 << 32))
META_KEYS = st.text("abc", min_size=1, max_size=3)
maps = st.dictionaries(META_KEYS, st.booleans() | st.integers(-(1 << 53), 1 << 53) | texts, min_size=1)


def canonical(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the map in the order in which the engine stores it."""
    return {key: meta[key] for key in sorted(meta, key=lambda key: (len(key), key))}


atom_bodies = st.builds(
    AtomBody,
    content=texts,
    title=st.none() | texts,
    kind=texts,
    tags=st.lists(texts, max_size=30).map(tuple),
    buckets=st.lists(texts, max_size=3).map(tuple),
    source=st.none() | texts,
    sequence=st.none() | numbers,
    provenance=texts,
    trust=st.none() | numbers,
    created=st.none() | st.integers(-(1 << 55), 1 << 58),
    occurrence=st.none() | numbers,
    key=st.none() | texts,
    request=st.none() | texts,
    meta=st.none() | maps.map(canonical),
    aliases=st.none() | st.lists(texts, max_size=3).map(tuple),
    folder=st.none() | texts,
    pipeline=st.none() | texts,
)
further = st.none() | st.sampled_from(("", "text", "ä" * 60))
edge_bodies = st.builds(
    EdgeBody,
    weight=st.binary(min_size=4, max_size=4),
    data=st.binary(max_size=40) | st.sampled_from((b"", b"x" * 4096)),
    request=further,
    pipeline=further,
)
ID = st.binary(min_size=16, max_size=16)
SALT = st.binary(min_size=32, max_size=32)
KEY = bytes(range(32))
prevs = st.none() | numbers
atoms = st.builds(AtomDetail, ID, numbers)
revisions = st.builds(AtomDetail, ID, numbers, numbers)
origins = st.none() | st.builds(Origin, ID, numbers, st.integers(0, 63), SALT, numbers)
edges = st.builds(EdgeDetail, ID, st.binary(min_size=1, max_size=8), ID)
tags = st.builds(TagsBody, st.lists(texts, max_size=30).map(tuple), request=further, pipeline=further)
reasons = st.builds(ReasonBody, texts, request=further, pipeline=further)
TAGGING = EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED
HIDING = EventKind.ATOM_TOMBSTONED, EventKind.ATOM_REVIVED
drafts: st.SearchStrategy[Draft] = st.one_of(
    st.tuples(st.just(EventKind.ATOM_ADDED), prevs, atoms, atom_bodies, origins),
    st.tuples(st.just(EventKind.ATOM_REVISED), prevs, revisions, atom_bodies, origins),
    st.tuples(st.just(EventKind.EDGE_ADDED), prevs, edges, edge_bodies, origins),
    st.tuples(st.sampled_from((EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED)), prevs, atoms, tags, origins),
    st.tuples(
        st.sampled_from((EventKind.ATOM_TOMBSTONED, EventKind.ATOM_REVIVED)), prevs, atoms, reasons, origins
    ),
    st.tuples(st.just(EventKind.EDGE_REMOVED), prevs, edges, reasons, origins),
)


def frontier_of(size: int) -> bytes:
    """Return a frontier of this size. Its hashes are not those of any log."""
    return size.to_bytes(8, "big") + b"".join(bytes([at]) * 32 for at in range(size.bit_count()))


def assert_equal(found: Any, run: Run) -> None:
    """Check that the kernel returned the rows, commitments, leaves and frontier of the twin's run."""
    rows, entries, frontier, total = run
    assert found is not None
    assert found[0] == rows
    assert list(found[0]) == list(rows)
    assert found[1] == [entry.header.commitment for entry in entries]
    assert found[2] == [entry.leaf for entry in entries]
    assert found[3:] == (frontier, total)


@given(
    numbers.filter(lambda size: size < 1 << 62),
    st.sampled_from(("user", "", "ä")),
    st.lists(st.tuples(drafts, SALT, numbers), min_size=1, max_size=5),
    st.integers(0, 600),
)
def test_encoded_events(size: int, actor: str, values: list[tuple[Draft, bytes, int]], more: int) -> None:
    """Rows, commitments, leaves and frontier are the twin's, also of runs that use several threads."""
    run = [values[at % len(values)] for at in range(max(len(values), more))]
    made, salts, times = ([value[at] for value in run] for at in range(3))
    expected = encoded_twin(frontier_of(size), actor, made, salts, times)  # type: ignore[arg-type]
    assert_equal(native().encoded_events(frontier_of(size), actor, made, salts, times), expected)


def test_other_kinds_are_left_to_the_twin() -> None:
    """A run with an event of a rare kind is declined, wherever it stands."""
    common = (EventKind.ATOM_TOMBSTONED, 1, AtomDetail(bytes(16), 0), ReasonBody("why"), None)
    rare = (EventKind.EDGE_TYPE_REGISTERED, None, TypeDetail(b"\x80" * 8), TypeBody("causes"), None)
    for run in ([rare], [common, rare], [rare, common]):
        arguments = ([bytes(32)] * len(run), [1] * len(run))
        assert native().encoded_events(bytes(8), "user", run, *arguments) is None


@given(st.lists(atom_bodies, max_size=5))
def test_default_ids(values: list[AtomBody]) -> None:
    """The ids are those of the twin."""
    assert native().default_ids(KEY, values) == default_ids_twin(KEY, values)


junk: st.SearchStrategy[Any] = st.sampled_from(
    (
        None,
        1,
        -1,
        1 << 64,
        1.5,
        "\ud800",
        b"",
        b"x" * 31,
        (),
        ("\udfff",),
        [],
        {"b": 1, "a": 2},
        {"a": 0.5},
        True,
    )
)


@given(
    st.sampled_from(("prev", "detail", "body", "salt", "time", "frontier")), st.integers(0, 17), junk, drafts
)
def test_unusual_arguments_are_declined_or_right(place: str, field: int, value: Any, draft: Draft) -> None:
    """With arguments that the twin refuses or that are unusual, the kernel declines or equals its twin."""
    kind, prev, detail, body, _ = draft
    parts: dict[str, Any] = {
        "prev": prev,
        "detail": detail,
        "body": body,
        "salt": bytes(32),
        "time": 1,
        "frontier": bytes(8),
    }
    if place in {"detail", "body"}:
        fields = list(parts[place])
        length = len(fields)
        fields[field : field + 1] = [value] if field < length else [value, value]
        parts[place] = type(parts[place])._make(fields) if field < length else tuple(fields)
    elif place == "frontier":
        parts["frontier"] = value if isinstance(value, bytes) else bytes([255] * 8)
    else:
        parts[place] = value
    run = [(kind, parts["prev"], parts["detail"], parts["body"], None)]
    found = native().encoded_events(parts["frontier"], "user", run, [parts["salt"]], [parts["time"]])
    bodies: list[Any] = [parts["body"]]
    ids = native().default_ids(KEY, bodies) if kind is EventKind.ATOM_ADDED else None
    if ids is not None:
        assert ids == default_ids_twin(KEY, bodies)
    if found is not None:
        expected = encoded_twin(parts["frontier"], "user", run, [parts["salt"]], [parts["time"]])
        assert found[0] == expected.rows


@given(edges, edge_bodies)
def test_requests_and_pipelines_are_encoded(edge: EdgeDetail, body: EdgeBody) -> None:
    """Events with a request and a pipeline are not left to the twin: all of the dreamer's have one."""
    run: list[Draft] = [(EventKind.EDGE_ADDED, None, edge, body, None)]
    found = native().encoded_events(bytes(8), "user", run, [bytes(32)], [1])
    assert found is not None
    assert found[0] == encoded_twin(bytes(8), "user", run, [bytes(32)], [1]).rows
