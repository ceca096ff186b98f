"""The follower `meta-entries` leads from entries of meta to atoms, and forgets erased atoms."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Revise
from engine.base import limits
from engine.engine import Engine
from engine.followers.base import catch_up, drop, read_cursor
from engine.followers.meta_entries import MetaEntriesFollower, with_any
from engine.ledger.journal import read_entries
from engine.ledger.layout import META_ENTRIES
from proofs.events import Scalar
from tests.query.recall.support import id_of
from tests.support.engines import backend_of, engine_on

METAS: tuple[dict[str, Any] | None, ...] = (
    *({"project": "atlas"}, {"project": "atlas", "n": 1}, {"n": True}, {"n": "1"}, {"n": 0.5}, None),
)
ENTRIES: list[tuple[str, Scalar]] = [
    ("project", "atlas"),
    ("n", 1),
    ("n", True),
    ("n", "1"),
    ("n", 0.5),
    ("n", 2),
]

histories = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(METAS)), max_size=14)


def played(history: list[tuple[int, dict[str, Any] | None]]) -> tuple[Engine, list[Any]]:
    """Add an atom the first time that its number comes, revise it the second time, then erase it.

    Return the engine and the meta of each ordinal, None for an ordinal of an erased atom.
    """
    engine, seen = engine_on(), dict[int, list[int]]()
    metas: list[Any] = []
    for number, meta in history:
        ordinals = seen.setdefault(number, [])
        if len(ordinals) == 3:
            continue
        if not ordinals:
            engine.apply([Add(f"text {number}", meta=meta, id=id_of(number))])
        elif len(ordinals) == 1:
            engine.apply([Revise(id_of(number), content=f"new text {number}", meta=meta)])
        else:
            engine.erase(id_of(number), "not needed", probe=False)
            for ordinal in ordinals:
                metas[ordinal] = None
        ordinals.append(len(metas))
        metas += [meta] if len(ordinals) < 3 else []
        if number % 4 == 0:
            engine.catch_up()
    return engine, metas


def same(one: object, other: object) -> bool:
    """Return True if two values are equal and have the same type."""
    return type(one) is type(other) and one == other


@settings(max_examples=40, deadline=None)
@given(histories)
def test_an_entry_leads_to_all_versions_that_have_it(
    history: list[tuple[int, dict[str, Any] | None]],
) -> None:
    """After any history, an entry has the ordinals of the versions with this key, value and type."""
    engine, metas = played(history)
    engine.catch_up()
    for key, value in ENTRIES:
        having = [at for at, meta in enumerate(metas) if meta and same(meta.get(key), value)]
        assert list(with_any(backend_of(engine), key, [value])) == having


@settings(max_examples=25, deadline=None)
@given(histories, st.integers(1, 5))
def test_rows_do_not_depend_on_when_they_were_made(
    history: list[tuple[int, dict[str, Any] | None]], size: int
) -> None:
    """Rows that were updated between commands, erasures included, equal those of small batches."""
    engine, _ = played(history)
    engine.catch_up()
    backend = backend_of(engine)
    before = dict(backend.scan_prefix(META_ENTRIES))
    drop(backend, [MetaEntriesFollower()])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(limits, "FOLLOW_EVENTS_MAX", size)
        catch_up(backend, MetaEntriesFollower(), read_entries)
    assert dict(backend.scan_prefix(META_ENTRIES)) == before


def test_erasing_an_atom_removes_its_rows() -> None:
    """After the erasure of the only atom with an entry, no row is left."""
    engine, _ = played([(1, {"project": "atlas"})])
    engine.catch_up()
    assert dict(backend_of(engine).scan_prefix(META_ENTRIES))
    engine.erase(id_of(1), "secret", probe=False)
    engine.catch_up()
    assert dict(backend_of(engine).scan_prefix(META_ENTRIES)) == {}
    assert engine.verify().ok


def test_a_query_without_a_condition_on_meta_does_not_update_the_rows() -> None:
    """Recall, find and context leave the follower where it was; a condition on meta brings it to the head."""
    engine, _ = played([(1, {"project": "atlas"})])
    assert engine.recall("text").hits
    assert engine.find()
    assert engine.context("text").text
    assert read_cursor(backend_of(engine), "meta-entries") is None
    assert engine.find(meta={"project": "atlas"})
    cursor = read_cursor(backend_of(engine), "meta-entries")
    assert cursor is not None
    assert cursor.size == engine.size
