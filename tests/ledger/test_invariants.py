"""Tests of the invariants I1 to I15 other than those about proofs; each test name has the number."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends import open_backend
from backends.memory import MemoryBackend
from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.base.validation import atom_id, show_id
from engine.commands import Add, Command, Link, Tag
from engine.engine import Engine
from engine.followers.tags import LIVE, members
from engine.followers.trees import read_value
from engine.ledger.journal import read_log
from engine.ledger.records import read_atom
from engine.query.filters import Filters
from engine.query.graph.find import Follow
from proofs.events import EventKind
from proofs.hashing import EMPTY
from proofs.leaves import State
from tests.support.engines import (
    BEGIN,
    after,
    backend_of,
    engine_on,
    head_of,
    refuses,
    rows_of,
    ticking,
    unchanged_by,
)
from tests.support.workloads import commands, id_of

few = settings(max_examples=15, deadline=None)
SEEDS = st.integers(0, 10_000)


# I1: repeated commands


@few
@given(SEEDS)
def test_i1_a_repeated_command_appends_nothing(seed: int) -> None:
    """Repeating a command appends no event and changes no root, and the receipt has the same state."""
    engine = engine_on()
    for command in commands(25, seed):
        first = engine.apply([command])[0]
        root = engine.root()
        again = engine.apply([command])[0]
        assert (again.subject, again.state, again.events) == (first.subject, first.state, ())
        assert engine.root() == root


@pytest.mark.parametrize("field", ["title", "source", "sequence", "trust", "created"])
def test_i1_removing_a_field_twice_appends_nothing(field: str) -> None:
    """A second revision that sets an optional field to None appends no event."""
    engine = engine_on()
    engine.add("text", id=id_of(1), title="t", source="s", sequence=1, trust=1, created=1)
    gone: dict[str, Any] = {field: None}
    engine.revise(id_of(1), **gone)
    assert unchanged_by(engine, lambda: engine.revise(id_of(1), **gone))


# I2: order of independent events


def contents_of(engine: Engine) -> dict[Any, Any]:
    """Return the content and state of each atom and edge, without ordinals, seqs and times."""
    found: dict[Any, Any] = {}
    with head_of(engine) as rows:
        for key in rows_of(rows, "atoms"):
            record, value = read_atom(rows, key[2:]), read_value(rows, "atoms", key[2:])
            assert record is not None
            assert value is not None
            atom = engine.get(show_id(record.id))
            kept = (atom.content, atom.title, atom.kind, atom.tags, atom.buckets, atom.source, atom.version)
            found[atom.id] = (*kept, State(value.state), atom.state)
        for key in rows_of(rows, "edges-from"):
            src, code, dst = key[7:23], key[24:-17], key[-16:]
            value = read_value(rows, "edges", src + code + dst)
            assert value is not None
            found[src, code, dst] = (State(value.state), value.version)
    return found


def independent(seed: int) -> list[Command]:
    """Return commands on existing atoms that share no subject; an edge is a subject of its own."""
    chosen = random.Random(seed)
    pairs = [(one, other) for one in range(6) for other in range(6) if one != other]
    links: list[Command] = [Link(id_of(a), "part_of", id_of(b)) for a, b in chosen.sample(pairs, 6)]
    tags: list[Command] = [Tag(id_of(n), ["red"]) for n in range(6)]
    adds: list[Command] = [Add(f"more {n}", id=id_of(10 + n), tags=["blue"]) for n in range(4)]
    return [*links, *tags, *adds]


@few
@given(SEEDS, st.randoms(use_true_random=False))
def test_i2_order_of_independent_events_changes_numbers_only(seed: int, shuffled: random.Random) -> None:
    """Independent commands in any order give the same contents, states and versions of atoms and edges.

    The roots are equal only if the order is equal, because the values of leaves have seqs and commitments.
    """
    first: list[Command] = [Add(f"atom {n}", id=id_of(n)) for n in range(6)]
    made = independent(seed)
    other = made.copy()
    shuffled.shuffle(other)
    engine, another = after([*first, *made]), after([*first, *other])
    assert contents_of(engine) == contents_of(another)
    assert (engine.root() == another.root()) is (made == other)


# I3 to I6: tombstones


def hidden() -> Engine:
    """Return an engine with two linked, tagged atoms, of which the second is tombstoned."""
    engine = engine_on()
    engine.apply([Add("seen sea", id=id_of(1), tags=["red"]), Add("hidden sea", id=id_of(2), tags=["red"])])
    engine.apply([Link(id_of(1), "part_of", id_of(2))])
    engine.tombstone(id_of(2), "stale")
    return engine


def test_i3_a_tombstoned_atom_is_in_no_answer() -> None:
    """Searches and sets omit a tombstoned atom; `get` and `history` return it with its state."""
    engine = hidden()
    assert [one.id for one in engine.find(limit=9)] == [id_of(1)]
    assert [one.id for one in engine.find(limit=9, filters=Filters(tags=("red",)))] == [id_of(1)]
    assert engine.find(limit=9, from_=id_of(1), follow=Follow(max_hops=3)) == []
    assert [hit.id for hit in engine.recall("sea").hits] == [id_of(1)]
    assert engine.get(id_of(2)).state is State.TOMBSTONED
    assert [item.kind for item in engine.history(id_of(2))][-1] is EventKind.ATOM_TOMBSTONED
    with head_of(engine) as rows:
        assert list(members(rows, LIVE)) == [0]


def test_i3_a_second_tombstone_appends_nothing() -> None:
    """A second tombstone changes nothing: the first reason and the content are preserved."""
    engine = hidden()
    assert unchanged_by(engine, lambda: engine.tombstone(id_of(2), "another reason"))
    atom = engine.get(id_of(2))
    assert atom.tombstone is not None
    assert (atom.tombstone.reason, atom.content) == ("stale", "hidden sea")


def test_i4_adding_tombstoned_content_appends_nothing() -> None:
    """Adding the content of a tombstoned atom appends no event; the receipt has the state tombstoned."""
    engine = hidden()
    default = engine.add("by default id").subject
    engine.tombstone(default)
    for command in (Add("hidden sea", id=id_of(2)), Add("by default id")):
        assert engine.apply([command])[0].state is State.TOMBSTONED
        assert unchanged_by(engine, lambda command=command: engine.apply([command]))  # type: ignore[misc]


def test_i4_a_revived_atom_is_as_it_was() -> None:
    """Reviving an atom restores its content, tags and edges."""
    engine = hidden()
    before = engine.get(id_of(2), as_of=2)
    engine.revive(id_of(2))
    now = engine.get(id_of(2))
    assert (now.content, now.tags, now.version, now.ordinal) == (before.content, before.tags, 1, 1)
    assert now.tombstone is None
    assert [one.id for one in engine.find(limit=9, from_=id_of(1), follow=Follow())] == [id_of(2)]


@pytest.mark.parametrize("verb", ["tag", "untag", "revise"])
def test_i4_a_tombstoned_atom_takes_no_change(verb: str) -> None:
    """Changing a tombstoned atom raises ConflictError with a hint to revive it."""
    engine = hidden()
    with pytest.raises(ConflictError) as caught:
        engine.revise(id_of(2), title="new") if verb == "revise" else getattr(engine, verb)(id_of(2), "blue")
    assert "revive" in caught.value.hint


def test_i5_edges_of_a_tombstoned_atom_are_kept() -> None:
    """An edge to a tombstoned atom stays live and is returned by `edges`."""
    engine = hidden()
    assert engine.get_edge(id_of(1), "part_of", id_of(2)).state is State.LIVE
    assert [edge.dst for edge in engine.edges(id_of(1))] == [id_of(2)]


@pytest.mark.parametrize("verb", ["tombstone", "revive", "tag", "untag", "revise", "get", "history"])
def test_i6_an_unknown_atom_is_an_error_and_writes_nothing(verb: str) -> None:
    """Commands and queries on an unknown atom raise NotFoundError and write no row."""
    engine = hidden()
    more = ("red",) if verb in ("tag", "untag") else ()
    assert refuses(engine, NotFoundError, getattr(engine, verb), id_of(99), *more)


# I9: failed batches


@few
@given(SEEDS, st.integers(0, 8))
def test_i9_a_failed_batch_leaves_everything_as_it_was(seed: int, at: int) -> None:
    """A batch with one failing command at any position changes no row and no result."""
    made = commands(30, seed)
    engine, plain = (engine_on(clock=lambda: BEGIN) for _ in range(2))
    for one in (engine, plain):
        one.apply(made[:20])
    root, found = engine.root(), engine.find(limit=100)
    failing = [*made[20:][:at], Tag(id_of(99), ["red"]), *made[20:][at:]]
    assert refuses(engine, EngineError, engine.apply, failing)
    assert engine.root() == root
    assert engine.find(limit=100) == found
    for one in (engine, plain):
        one.apply(made[20:])
    assert engine.root() == plain.root()


def test_i9_another_head_is_a_conflict() -> None:
    """`if_head` rejects a batch if the journal has another size, and accepts it otherwise."""
    engine = after(commands(5))
    size = read_log(backend_of(engine)).size
    assert refuses(engine, ConflictError, engine.apply, [Add("text")], if_head=size - 1)
    assert engine.apply([Add("text")], if_head=size)[0].changed


# I10: empty namespaces


def test_i10_an_empty_namespace_has_the_empty_root() -> None:
    """An empty namespace has the empty root, and a set without members has no row and no leaf."""
    engine = engine_on()
    assert set(engine.root().namespaces.values()) == {EMPTY.hex()}
    plain = engine_on()
    for one in (engine, plain):
        one.add("text", id=id_of(1))
    engine.tag(id_of(1), "red", "blue")
    assert engine.root().namespaces["tags"] != plain.root().namespaces["tags"]
    engine.untag(id_of(1), "blue", "red")
    assert engine.root().namespaces["tags"] == plain.root().namespaces["tags"]
    assert rows_of(backend_of(engine), "tags") == rows_of(backend_of(plain), "tags")


# I13: the round trips are tested in tests/base/test_validation.py and tests/base/test_validation_tags.py
# I14: no external input


def test_i14_hashes_depend_on_commands_clock_and_salts_only(tmp_path: Path) -> None:
    """The same commands at another path and with reopening give the same journal and root."""
    roots, journals = [], []
    for place in ("one", "another/deeper place é"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        url, clock = f"sqlite:{tmp_path / place}", ticking()
        for at in range(0, 40, 10 if place == "one" else 20):
            with open_backend(url) as backend:
                engine = engine_on(backend, clock)
                engine.apply(commands(40)[at : at + (10 if place == "one" else 20)])
                roots.append(engine.root())
                journals.append(rows_of(backend, "journal", "payload"))
    assert roots[3] == roots[-1]
    assert journals[3] == journals[-1]


@few
@given(st.lists(st.integers(0, 1 << 60), min_size=1, max_size=12))
def test_i14_time_is_recorded_but_determines_no_order(times: list[int]) -> None:
    """If the clock jumps, recorded times still never decrease, and nothing else depends on them."""
    jumping = iter([*times, *[times[-1]] * 60])
    engine, steady = engine_on(clock=lambda: next(jumping)), engine_on()
    made = [Add(f"text {n}", created=0) for n in range(10)]
    assert engine.apply(made) == list(steady.apply(made))
    recorded = [item.time for item in engine.log()]
    assert recorded == sorted(recorded)
    assert engine.root().namespaces == steady.root().namespaces


def test_ids_follow_from_the_stores_key_source_and_content() -> None:
    """Default ids depend on the store's key, source, occurrence and key, and are UUIDs of version 8."""
    engine, other = engine_on(), Engine(MemoryBackend(), clock=lambda: 0)
    fields: list[dict[str, Any]] = [
        {},
        {"source": "a"},
        {"occurrence": 1},
        {"key": "k"},
        {"source": "a", "key": "k"},
    ]
    ids = [one.add("text", **given).subject for one in (engine, other) for given in fields]
    assert len(set(ids)) == len(ids)
    assert all(atom_id(one)[6] >> 4 == 8 and atom_id(one)[8] >> 6 == 2 for one in ids)
    with pytest.raises(InvalidInputError):
        engine.add("text", id="0" * 32)
