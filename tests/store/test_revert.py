"""Reverting events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.base.errors import InvalidInputError, NotFoundError
from engine.commands import Add, Link, Revise, Supersede, Tag, Tombstone
from engine.engine import Engine
from engine.store.revert import SUBJECTS_AT_ONCE
from tests.support.engines import engine_on
from tests.support.workloads import commands, id_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_US = 86_400_000_000


def grown(count: int, seed: int) -> tuple[Engine, int, list[object]]:
    """An engine after the first half of a history, its size then, and the second half."""
    made = commands(count, seed)
    engine = engine_on()
    for command in made[: count // 2]:
        engine.apply([command])
    return engine, engine.size, list(made[count // 2 :])


@given(st.integers(0, 10_000), st.integers(6, 40))
@example(26, 6)  # hidden and shown again in the range
def test_what_was_done_since_a_moment_can_be_taken_back(seed: int, count: int) -> None:
    """After reverting all events since a moment, the state equals that moment."""
    engine, size, rest = grown(count, seed)
    for command in rest:
        engine.apply([command])  # type: ignore[list-item]
    engine.revert(size)
    found = engine.diff(size - 1)
    assert (found.atoms, found.edges) == ((), ())


def test_times_stand_for_the_events_from_them_on() -> None:
    """A revert of the events from a time on, before another time, is that of the range of these events."""
    moments = iter([*range(9), *[9] * 9])
    with Engine(MemoryBackend(), clock=lambda: next(moments) * DAY_US) as engine:
        for number in range(8):
            engine.add(f"text {number}")
        times = [EPOCH + timedelta(days=day) for day in range(12)]
        for start, stop in ((3, 5), (8, 11), (9, 11), (4, 4)):
            seqs = [one.seqs for one in engine.revert(times[start], times[stop], dry_run=True)]
            expected = engine.revert(start, min(stop, engine.size), dry_run=True)
            assert seqs == [one.seqs for one in expected]
            assert engine.revertible(times[start], times[stop]).events == len(seqs)
        with pytest.raises(InvalidInputError, match="above stop"):
            engine.revert(times[5], times[3])
        assert [one.seqs for one in engine.revert(times[7])] == [(8,), (7,)]


@given(st.integers(0, 10_000), st.integers(6, 30))
def test_a_revert_can_be_reverted(seed: int, count: int) -> None:
    """Reverting a revert restores the state before it."""
    engine, size, rest = grown(count, seed)
    for command in rest:
        engine.apply([command])  # type: ignore[list-item]
    before = engine.size
    engine.revert(size)
    assume(engine.size > before)
    engine.revert(before)
    found = engine.diff(before - 1)
    assert (found.atoms, found.edges) == ((), ())


@given(st.integers(0, 10_000), st.integers(6, 30))
@example(1970, 6)  # nothing happened since
@example(30, 26)  # a tag put on twice and taken off in the range
def test_a_second_revert_of_the_same_appends_nothing(seed: int, count: int) -> None:
    """Reverting the same events again reports them as already undone."""
    engine, size, rest = grown(count, seed)
    for command in rest:
        engine.apply([command])  # type: ignore[list-item]
    stop = engine.size
    engine.revert(size, stop)
    after = engine.size
    again = engine.revert(size, stop)
    assert engine.size == after
    assert {one.outcome for one in again} <= {"already undone", "left"}


@given(st.integers(0, 10_000), st.integers(6, 30))
def test_a_dry_run_foretells_and_writes_nothing(seed: int, count: int) -> None:
    """A dry run reports the outcomes and events of the later revert."""
    engine, size, rest = grown(count, seed)
    for command in rest:
        engine.apply([command])  # type: ignore[list-item]
    before = engine.size
    foretold = engine.revert(size, dry_run=True)
    assert engine.size == before
    assert engine.revert(size) == foretold


def test_only_the_events_of_an_actor() -> None:
    """Events of other actors in the range are kept."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1))])
    size = engine.size
    engine.apply([Tag(id_of(1), ["dreamt"])], actor="dreamer")
    engine.apply([Tag(id_of(1), ["mine"])], actor="me")
    done = engine.revert(size, actor="dreamer")
    assert [one.seqs for one in done] == [(size,)]
    assert engine.get(id_of(1)).tags == ("mine",)


def test_a_revision_on_top_is_left_and_named() -> None:
    """A content that was revised again is left as it is and reported."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1))])
    seq = engine.size
    engine.revise(id_of(1), content="two")
    engine.revise(id_of(1), content="three")
    (done,) = engine.revert(seq, seq + 1)
    assert (done.outcome, done.left) == ("left", (f"content: changed again by event {seq + 1}",))
    assert engine.get(id_of(1)).content == "three"


def test_what_another_revision_changed_stays() -> None:
    """Reverting a content keeps a title that was set later."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1))])
    seq = engine.size
    engine.revise(id_of(1), content="two")
    engine.revise(id_of(1), title="A title")
    engine.revert(seq, seq + 1)
    atom = engine.get(id_of(1))
    assert (atom.content, atom.title) == ("one", "A title")


def test_a_later_tombstone_stays() -> None:
    """Reverting a first hiding does not show an atom that was hidden again."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1))])
    seq = engine.size
    engine.tombstone(id_of(1), "a")
    engine.revive(id_of(1))
    engine.tombstone(id_of(1), "b")
    (done,) = engine.revert(seq, seq + 1)
    assert (done.outcome, done.left) == ("left", (f"state: changed again by event {seq + 2}",))
    assert engine.get(id_of(1)).tombstone is not None


def test_an_edge_comes_back_with_what_it_held() -> None:
    """An edge comes back with its weight and data."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1)), Add("two", id=id_of(2))])
    engine.apply([Link(id_of(1), "references", id_of(2), 0.25, b"\x01")])
    seq = engine.size
    engine.unlink(id_of(1), "references", id_of(2), "gone")
    engine.revert(seq)
    edge = engine.get_edge(id_of(1), "references", id_of(2))
    assert (edge.weight, edge.data, edge.tombstone) == (0.25, b"\x01", None)


def test_what_cannot_be_taken_back_says_so() -> None:
    """The genesis, a checkpoint and a predicate are reported as irreversible."""
    engine = engine_on()
    engine.register_type("near")
    engine.checkpoint()
    assert [(one.outcome, len(one.left)) for one in engine.revert(0)] == [("left", 1)] * 3


def test_a_supersession_taken_back_is_recalled_again() -> None:
    """After reverting a supersession the old atom is a hit again."""
    engine = engine_on()
    engine.apply([Add("The kettle is descaled on Mondays.", id=id_of(1)), Add("Tea.", id=id_of(2))])
    size = engine.size
    engine.apply([Supersede(id_of(1), id_of(2), "wrong")])
    assert id_of(1) not in [hit.id for hit in engine.recall("kettle").hits]
    engine.revert(size)
    assert engine.recall("kettle").hits[0].id == id_of(1)


def test_more_events_than_go_into_one_batch() -> None:
    """More subjects than fit one batch are all reverted."""
    engine = engine_on()
    list(engine.apply_many(Add(f"text {n}", id=id_of(n)) for n in range(SUBJECTS_AT_ONCE + 20)))
    done = engine.revert(1)
    assert len(done) == SUBJECTS_AT_ONCE + 20
    assert engine.find(limit=1) == []


@pytest.mark.parametrize(("start", "stop"), [(99, None), (0, 99), (-1, None), (0, -1)])
def test_a_range_that_the_journal_has_not_is_refused(start: int, stop: int | None) -> None:
    """A range beyond the journal raises an error and appends nothing."""
    engine = engine_on()
    engine.apply([Add("one"), Add("two")])
    before = engine.size
    with pytest.raises((NotFoundError, InvalidInputError)):
        engine.revert(start, stop)
    assert engine.size == before


def test_hiding_and_revising_are_taken_back_together() -> None:
    """A revision and a later hiding in one range are both reverted."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1))])
    size = engine.size
    engine.apply([Revise(id_of(1), content="two"), Tombstone(id_of(1), "x")])
    assert [one.outcome for one in engine.revert(size)] == ["undone"]
    assert engine.get(id_of(1)).content == "one"
