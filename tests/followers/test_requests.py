"""The follower `requests` leads from the key of an actor to its events, and forgets destroyed events."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Tag, Tombstone
from engine.base import limits
from engine.engine import Engine
from engine.followers.base import catch_up, drop, read_cursor
from engine.followers.requests import Part, RequestsFollower, Seqs, joined, row_prefix, separated, stored_seqs
from engine.ledger.journal import read_entries, read_identity
from engine.ledger.layout import REQUESTS
from tests.query.recall.support import id_of
from tests.support.engines import backend_of, engine_on, put_rows

ACTORS = ("ann", "bob")
KEYS = ("k", "k#1", "k#0+2", "k#2+2", "other", None)

histories = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(ACTORS), st.sampled_from(KEYS), st.booleans()), max_size=16
)
History = list[tuple[int, str, str | None, bool]]


def played(history: History) -> tuple[Engine, dict[tuple[str, str], list[int]]]:
    """Add an atom the first time that its number comes, then tag it; erase it if the last value is true.

    Return the engine, and the seqs that each key of an actor should lead to.
    """
    engine, seqs = engine_on(), dict[int, list[tuple[int, str, str | None]]]()
    for at, (number, actor, request, erases) in enumerate(history):
        own = seqs.setdefault(number, [])
        if erases and own:
            engine.erase(id_of(number), "not needed", probe=False)
            own.clear()
            continue
        command = (
            Tag(id_of(number), [f"t{at}"]) if own else Add(f"{number} {at}", id=id_of(number), force=True)
        )
        (done,) = engine.apply([command], actor=actor, request=request)
        own += [(event.seq, actor, request) for event in done.events]
        if number == 0:
            engine.catch_up()
    expected: dict[tuple[str, str], list[int]] = {}
    for seq, actor, request in sorted(one for own in seqs.values() for one in own):
        if request is not None:
            expected.setdefault((actor, separated(request)[0]), []).append(seq)
    return engine, expected


def found(engine: Engine, actor: str, key: str) -> list[int]:
    """Return the seqs that a key leads to, once the follower is at the head."""
    engine.catch_up()
    return list(Seqs(stored_seqs(backend_of(engine), actor, key), ()))


@settings(max_examples=40, deadline=None)
@given(histories)
def test_a_key_leads_to_the_events_that_record_it(history: History) -> None:
    """After any history, the key of an actor has the events whose payloads exist and record the key."""
    engine, expected = played(history)
    for actor in ACTORS:
        for key in ("k", "k#1", "other"):
            assert found(engine, actor, key) == expected.get((actor, key), [])


@settings(max_examples=25, deadline=None)
@given(histories, st.integers(1, 5))
def test_rows_do_not_depend_on_when_they_were_made(history: History, size: int) -> None:
    """Rows that were updated between commands, erasures included, equal those of small batches."""
    engine, _ = played(history)
    engine.catch_up()
    backend = backend_of(engine)
    before = dict(backend.scan_prefix(REQUESTS))
    drop(backend, [RequestsFollower()])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(limits, "FOLLOW_EVENTS_MAX", size)
        catch_up(backend, RequestsFollower(), read_entries)
    assert dict(backend.scan_prefix(REQUESTS)) == before


def test_erasing_an_atom_removes_its_keys() -> None:
    """After the erasure of the only atom with a key, no row is left, and the memory verifies."""
    engine, _ = played([(1, "ann", "k", False)])
    assert found(engine, "ann", "k") == [1]
    engine.erase(id_of(1), "secret", probe=False)
    assert found(engine, "ann", "k") == []
    assert dict(backend_of(engine).scan_prefix(REQUESTS)) == {}
    assert engine.verify().ok


def test_commands_without_a_key_do_not_update_the_rows() -> None:
    """Adds and queries leave the follower where it was; a journal without keys has no rows."""
    engine = engine_on()
    engine.add("one")
    engine.apply([Add("two")], request="only recorded")
    assert engine.recall("one").hits
    assert read_cursor(backend_of(engine), "requests") is None
    plain = engine_on()
    plain.apply([Add("one"), Tombstone(plain.add("two").id)])
    plain.catch_up()
    assert dict(backend_of(plain).scan_prefix(REQUESTS)) == {}


@given(
    st.text(min_size=1, max_size=8),
    st.none() | st.builds(Part, st.integers(0, 10**12 - 1), st.integers(1, 9999)),
)
def test_a_key_and_its_part_can_be_told_apart(key: str, part: Part | None) -> None:
    """A text that was joined from a key and a part is separated into the same key and part."""
    if part is not None:
        assert separated(joined(key, part)) == (key, part)


def test_seqs_of_several_chunks_are_ascending() -> None:
    """Rows of several chunks, and events after them, are one ascending sequence."""
    backend = backend_of(engine_on())
    prefix = row_prefix(read_identity(backend).label_key, "ann", "k")
    put_rows(backend, {prefix + n.to_bytes(6, "big"): b"\x05\x00\x07\x00" for n in (0, 3, 1 << 40)})
    seqs = Seqs(stored_seqs(backend, "ann", "k"), [(1 << 57) + 1])
    assert list(seqs) == [5, 7, 3 * 65536 + 5, 3 * 65536 + 7, (1 << 56) + 5, (1 << 56) + 7, (1 << 57) + 1]
    assert seqs[-1] == (1 << 57) + 1
    assert seqs[1:3] == [7, 3 * 65536 + 5]
