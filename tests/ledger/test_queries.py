"""Tests of reads of single items: abbreviated ids, tags with counts, history, the log, status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine import Filters
from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.commands import Add
from engine.engine import Engine
from proofs.events import EventKind
from tests.support.engines import backend_of, engine_on, unchanged_by
from tests.support.workloads import commands, id_of

ONE = "abcd0000-0000-8000-8000-000000000001"
TWO = "abcd0000-0000-8000-8000-000000000002"
FAR = "ffffffff-ffff-ffff-ffff-ffffffffffff"


def three() -> Engine:
    """Return an engine with three atoms, of which two have ids with the same first digits."""
    engine = engine_on()
    engine.apply(
        [Add("one", id=ONE, tags=["Red"]), Add("two", id=TWO, tags=["red", "é"]), Add("far", id=FAR)]
    )
    return engine


@pytest.mark.parametrize("given", ["ffff", "ffffffff-ff", FAR])
def test_an_abbreviated_id_identifies_the_only_match(given: str) -> None:
    """At least four digits with which exactly one id begins identify the atom."""
    assert three().resolve(given) == FAR


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("abcd", ConflictError),
        ("abcd0000-0000-8000-8000-00000000000", ConflictError),
        ("beef", NotFoundError),
        ("fff", InvalidInputError),
        ("", InvalidInputError),
        ("wxyz", InvalidInputError),
        ("ffff ", InvalidInputError),
        ("FFFF", InvalidInputError),
        (FAR.upper(), InvalidInputError),
        (FAR.replace("-", ""), InvalidInputError),
    ],
)
def test_an_invalid_abbreviated_id_is_rejected(given: str, error: type[EngineError]) -> None:
    """Ambiguous, unknown, too short and non-hexadecimal ids each raise an error of their own."""
    with pytest.raises(error):
        three().resolve(given)


def test_tags_are_counted_over_live_atoms() -> None:
    """Tags are returned in caseless form with the current number of live atoms."""
    engine = three()
    assert engine.tags().people == {"red": 2, "é": 1}
    engine.revise(ONE, title="new")
    engine.tombstone(TWO)
    assert engine.tags().people == {"red": 1}


def test_a_history_has_every_event_on_its_subject() -> None:
    """`history` returns exactly the events on an atom, oldest first, with their details."""
    engine = three()
    engine.tag(ONE, "blue")
    engine.tombstone(ONE, "old")
    engine.revive(ONE)
    items = engine.history(ONE)
    kinds = [EventKind.ATOM_ADDED, EventKind.TAGS_ADDED, EventKind.ATOM_TOMBSTONED, EventKind.ATOM_REVIVED]
    assert [item.kind for item in items] == kinds
    assert {item.subject for item in items} == {ONE}
    assert items[2].detail["reason"] == "old"


def test_the_log_has_every_event_once_in_order() -> None:
    """`log` returns the events from `start` up to but excluding `stop`, without the id key."""
    engine = engine_on()
    engine.apply(commands(30))
    whole = list(engine.log())
    assert [item.seq for item in whole] == list(range(engine.size))
    assert list(engine.log(3, 7)) == whole[3:7]
    assert list(engine.log(engine.size)) == []
    assert "id_key" not in whole[0].detail


def test_the_log_is_as_of_the_call() -> None:
    """Events that are appended after the call are not in the log that it returns."""
    engine = engine_on()
    engine.apply(commands(10))
    items, size = engine.log(), engine.size
    engine.add("later")
    assert len(list(items)) == size


def test_status_writes_nothing() -> None:
    """`status` returns the position of each follower and writes no row."""
    engine = three()
    assert unchanged_by(engine, engine.status)
    before = engine.status()
    assert (before.events, before.contents, before.live_atoms) == (4, 3, 3)
    followers = {"index": 0, "tags": 0, "trees": 0, "log": 0, "names": 0, "meta-entries": 0, "requests": 0}
    assert before.followers == {"records": 4, **followers}
    engine.catch_up()
    assert engine.status().followers == dict.fromkeys(before.followers, 4)
    assert engine.status().live_atoms == 3


def test_two_stores_are_never_the_same() -> None:
    """The same commands in two stores with random keys and salts give different ids and roots."""
    first, second = Engine(type(backend_of(engine_on()))()), Engine(type(backend_of(engine_on()))())
    assert first.add("text").subject != second.add("text").subject
    assert first.root().root != second.root().root


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.apply(5),
        lambda engine: engine.apply([5]),
        lambda engine: engine.apply([], if_head="x"),
        lambda engine: list(engine.apply_many(None)),
        lambda engine: engine.verify(expect=10**5000),
        lambda engine: engine.verify(expect="zz"),
        lambda engine: engine.was_kept("a", "b"),
        lambda engine: engine.find(limit=5, filters="x"),
        lambda engine: engine.find(limit=5, follow="x"),
        lambda engine: engine.recall("x", filters=Filters(sources=(None,))),  # type: ignore[arg-type]
        lambda engine: engine.edges(id_of(99)),
        lambda engine: engine.ingest([5]),
        lambda engine: engine.ingest(None),
        lambda engine: type(engine).open(None),
        lambda engine: type(engine).open("memory:", actor="BAD ACTOR"),
    ],
)
def test_invalid_arguments_raise_engine_errors(call: Callable[[Any], object]) -> None:
    """Arguments of a wrong type or value raise an EngineError."""
    with pytest.raises(EngineError):
        call(engine_on())
