"""Differences between two moments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InconsistentError, InvalidInputError, NotFoundError
from engine.commands import Add, Link
from engine.engine import Engine
from proofs.leaves import State
from tests.support.engines import BEGIN, engine_on
from tests.support.workloads import commands, id_of

Live = dict[str, tuple[object, ...]]


def live_atoms(engine: Engine, seq: int) -> Live:
    """The contents of every live atom as of an event, from a replay."""
    with engine.as_of(seq) as past:
        atoms = [found.atom for found in past.find(limit=10_000, form="full") if found.atom is not None]
    return {
        atom.id: (atom.content, atom.title, atom.kind, atom.tags, atom.buckets, atom.source, atom.sequence)
        for atom in atoms
    }


@given(st.integers(0, 10_000), st.integers(4, 30), st.data())
def test_a_diff_names_exactly_the_atoms_that_differ(seed: int, count: int, data: st.DataObject) -> None:
    """The changed atoms are those that differ between two replays."""
    engine = engine_on()
    for command in commands(count, seed):
        engine.apply([command])
    first = data.draw(st.integers(0, engine.size - 1))
    last = data.draw(st.integers(first, engine.size - 1))
    before, after = live_atoms(engine, first), live_atoms(engine, last)
    changes = {change.id: change for change in engine.diff(first, last).atoms}
    assert changes.keys() == {
        atom for atom in before.keys() | after.keys() if before.get(atom) != after.get(atom)
    }
    for atom, change in changes.items():
        assert (change.change in {"added", "revived"}) == (atom not in before)
        assert (change.change == "tombstoned") == (atom not in after)


@given(st.integers(0, 10_000), st.integers(4, 30), st.data())
def test_a_diff_names_exactly_the_edges_that_differ(seed: int, count: int, data: st.DataObject) -> None:
    """The changed edges are those that differ between two replays."""
    engine = engine_on()
    for command in commands(count, seed):
        engine.apply([command])
    first = data.draw(st.integers(0, engine.size - 1))
    last = data.draw(st.integers(first, engine.size - 1))
    before, after = live_edges(engine, first), live_edges(engine, last)
    changed = {(one.src, one.type, one.dst) for one in engine.diff(first, last).edges}
    assert changed == {edge for edge in before.keys() | after.keys() if before.get(edge) != after.get(edge)}


def live_edges(engine: Engine, seq: int) -> dict[tuple[str, str, str], tuple[float, bytes]]:
    """The live edges of all atoms as of an event, hidden atoms included."""
    subjects = {item.subject for item in engine.log() if item.kind.name == "ATOM_ADDED" and item.seq <= seq}
    found = {}
    with engine.as_of(seq) as past:
        for subject in subjects:
            for edge in past.edges(subject):
                if edge.state is State.LIVE:
                    found[edge.src, edge.type, edge.dst] = (edge.weight, edge.data)
    return found


def test_lines_of_a_content_that_changed() -> None:
    """Only changed lines are listed, with one line of context."""
    engine = engine_on()
    engine.apply([Add("a\nb\nc\nd\ne", id=id_of(1))])
    seq = engine.size - 1
    engine.revise(id_of(1), content="a\nb\nC\nd\ne")
    (change,) = engine.diff(seq).atoms
    assert change.lines() == [" b", "-c", "+C", " d"]


def test_moments_are_events_times_and_checkpoints() -> None:
    """An event, a time and a checkpoint note of one moment give the same size."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1))])
    note = engine.checkpoint_note().note
    size = engine.size
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=engine_time(engine))
    engine.apply([Add("two", id=id_of(2))])
    by_seq, by_note, by_time = (engine.diff(moment) for moment in (size - 1, note, time))
    assert by_seq == by_note == by_time
    assert [change.id for change in by_seq.atoms] == [id_of(2)]


def engine_time(engine: Engine) -> int:
    """The time of the last event, µs UTC."""
    last = list(engine.log())[-1]
    assert last.time >= BEGIN
    return last.time


def test_the_wrong_way_round_is_refused() -> None:
    """A first moment after the second raises an error."""
    engine = engine_on()
    engine.apply([Add("one"), Add("two")])
    with pytest.raises(InvalidInputError, match="earlier"):
        engine.diff(2, 1)
    with pytest.raises(NotFoundError):
        engine.diff(0, 99)
    with pytest.raises(InvalidInputError, match="checkpoint"):
        engine.diff("no note")


def test_predicates_and_checkpoints_are_told() -> None:
    """Predicates and checkpoints are listed and change no atom or edge."""
    engine = engine_on()
    engine.apply([Add("one", id=id_of(1)), Add("two", id=id_of(2))])
    seq = engine.size - 1
    engine.register_type("near")
    engine.checkpoint()
    found = engine.diff(seq)
    assert (found.atoms, found.edges, found.predicates) == ((), (), ("near",))
    assert found.checkpoints == (seq + 2,)
    engine.apply([Link(id_of(1), "near", id_of(2))])
    assert [one.change for one in engine.diff(seq + 2).edges] == ["added"]


def test_a_checkpoint_of_another_log_names_no_moment() -> None:
    """A checkpoint of another log raises an error, whatever its size."""
    engine, other = engine_on(), engine_on()
    engine.apply([Add("one", id=id_of(1))])
    other.apply([Add("two", id=id_of(1))])
    with pytest.raises(InconsistentError):
        engine.diff(other.checkpoint_note().note)
