"""The compiled functions for events that add atoms give the values of their twins."""

from __future__ import annotations

from itertools import product
from typing import Any

from engine.ledger.adding import added_twin, default_ids_twin
from engine.ledger.runs import Run
from hypothesis import given
from hypothesis import strategies as st

from proofs.events import AtomBody
from proofs.log import Frontier
from tests.kernels.native import native

texts = st.text(max_size=300) | st.sampled_from(("", "note", "x" * 70_000, "ä" * 150))
numbers = st.integers(0, (1 << 63) - 1) | st.sampled_from((0, 23, 24, 255, 256, 65535, 65536, 1 << 32))
META_KEYS = st.text("abc", min_size=1, max_size=3)
maps = st.dictionaries(META_KEYS, st.booleans() | st.integers(-(1 << 53), 1 << 53) | texts, min_size=1)


def canonical(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the map in the order in which the engine stores it."""
    return {key: meta[key] for key in sorted(meta, key=lambda key: (len(key), key))}


bodies = st.builds(
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
    occurrence=numbers,
    key=st.none() | texts,
    request=st.none() | texts,
    origin=st.none() | texts,
    meta=st.none() | maps.map(canonical),
    aliases=st.none() | st.lists(texts, max_size=3).map(tuple),
    folder=st.none() | texts,
)
ID = st.binary(min_size=16, max_size=16)
SALT = st.binary(min_size=32, max_size=32)
KEY = bytes(range(32))


def frontier_of(size: int) -> Frontier:
    """Return a frontier of this size. Its hashes are not those of any log."""
    subtrees = b"".join(bytes([at]) * 32 for at in range(size.bit_count()))
    return Frontier.from_bytes(size.to_bytes(8, "big") + subtrees)


def assert_equal(found: Any, run: Run) -> None:
    """Check that the kernel returned the rows, commitments, leaves and frontier of the twin's run."""
    rows, entries, frontier, total = run
    assert found is not None
    assert found[0] == rows
    assert list(found[0]) == list(rows)
    assert found[1] == [entry.header.commitment for entry in entries]
    assert found[2] == [entry.leaf for entry in entries]
    assert found[3:] == (frontier.to_bytes(), total)


@given(
    numbers.filter(lambda size: size < 1 << 62),
    st.integers(0, (1 << 32) - 1000),
    st.dictionaries(ID, st.tuples(bodies, SALT, numbers), max_size=5),
    st.integers(0, 600),
)
def test_added_rows(
    size: int, ordinal: int, atoms: dict[bytes, tuple[AtomBody, bytes, int]], more: int
) -> None:
    """Rows, commitments, leaves and frontier are the twin's, also of runs that use several threads."""
    ids, values = list(atoms), list(atoms.values())
    if values:
        ids += [
            number.to_bytes(16, "little") for number in range(1, more) if number.to_bytes(16) not in atoms
        ]
        values += [values[number % len(atoms)] for number in range(len(ids) - len(values))]
    raw_bodies = [value[0] for value in values]
    salts, times = [value[1] for value in values], [value[2] for value in values]
    run = added_twin(
        frontier_of(size),
        ordinal,
        "user",
        ids,
        raw_bodies,
        salts,
        times,
    )
    found = native().added_rows(frontier_of(size).to_bytes(), ordinal, "user", ids, raw_bodies, salts, times)
    assert_equal(found, run)


def test_fields_at_the_end_of_a_record_are_left_out() -> None:
    """The rows are the twin's for every choice of the fields that may be missing."""
    for given_fields in product((False, True), repeat=5):
        title, source, key = (
            text if there else None for text, there in zip("tsk", given_fields[:3], strict=True)
        )
        sequence, trust = (0 if there else None for there in given_fields[3:])
        body = AtomBody("text", title, "note", (), ("inbox",), source, sequence, "x", trust, None, 0, key)
        arguments = (0, "user", [bytes(16)], [body], [bytes(32)], [5])
        found = native().added_rows(bytes(8), *arguments)
        assert found is not None
        assert found[0] == added_twin(Frontier(), *arguments).rows


@given(st.lists(bodies, max_size=5))
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


@given(st.sampled_from(("id", "body", "salt", "time", "frontier")), st.integers(0, 17), junk, bodies)
def test_unusual_arguments_are_declined_or_right(place: str, field: int, value: Any, body: AtomBody) -> None:
    """With arguments that the twin refuses or that are unusual, the kernel declines or equals its twin."""
    parts: dict[str, Any] = {
        "id": bytes(16),
        "body": body,
        "salt": bytes(32),
        "time": 1,
        "frontier": bytes(8),
    }
    if place == "body":
        fields = list(body)
        fields[field : field + 1] = [value] if field < 17 else [value, value]
        parts["body"] = tuple(fields) if field == 17 else AtomBody._make(fields)
    elif place == "frontier":
        parts["frontier"] = value if isinstance(value, bytes) else bytes([255] * 8)
    else:
        parts[place] = value
    found = native().added_rows(
        parts["frontier"], 0, "user", [parts["id"]], [parts["body"]], [parts["salt"]], [parts["time"]]
    )
    ids = native().default_ids(KEY, [parts["body"]])
    if ids is not None:
        assert ids == default_ids_twin(KEY, [parts["body"]])
    if found is not None:
        frontier = Frontier.from_bytes(parts["frontier"])
        expected = added_twin(
            frontier, 0, "user", [parts["id"]], [parts["body"]], [parts["salt"]], [parts["time"]]
        )
        assert found[0] == expected.rows
