"""Tests of the commands on one atom: Add, Revise, Tombstone and Revive."""

from __future__ import annotations

import pytest

from engine.base.errors import ConflictError, RefusedError
from engine.engine import Engine
from proofs.events import EventKind
from proofs.leaves import State
from tests.support.engines import engine_on, refuses, unchanged_by
from tests.support.workloads import id_of

TEXT = "The kettle is descaled on Mondays."


@pytest.fixture
def engine() -> Engine:
    """Return a memory with one atom that has a title, a tag and a key of meta."""
    engine = engine_on()
    engine.add(TEXT, id=id_of(1), title="Kettle", tags=["kitchen"], meta={"room": 4})
    return engine


def kinds(engine: Engine) -> list[EventKind]:
    """Return the kinds of the events of the atom, oldest first."""
    return [item.kind for item in engine.history(id_of(1))]


def test_an_added_atom_is_one_event_with_all_its_fields(engine: Engine) -> None:
    """The atom is live, has version 1, and is returned with the fields that were given."""
    atom = engine.get(id_of(1))
    assert kinds(engine) == [EventKind.ATOM_ADDED]
    assert (atom.content, atom.title, atom.tags, atom.meta) == (TEXT, "Kettle", ("kitchen",), {"room": 4})
    assert (atom.state, atom.version, atom.ordinal) == (State.LIVE, 1, 0)


def test_the_same_text_without_an_id_is_the_same_atom() -> None:
    """Adding a text again, from the same source, appends nothing and names the first atom."""
    engine = engine_on()
    first = engine.add(TEXT, source="notes.md")
    assert unchanged_by(engine, lambda: engine.add(TEXT, source="notes.md"))
    assert engine.add(TEXT, source="notes.md").subject == first.subject
    assert engine.add(TEXT, source="other.md").subject != first.subject


def test_a_second_occurrence_of_a_text_is_another_atom() -> None:
    """With another `occurrence`, the same text of the same source is added as its own atom."""
    engine = engine_on()
    first, second = (engine.add(TEXT, source="notes.md", occurrence=number) for number in (0, 1))
    assert first.subject != second.subject


def test_other_content_under_a_given_id_is_a_conflict(engine: Engine) -> None:
    """An id that the caller gives names one text; another text under it is refused."""
    assert unchanged_by(engine, lambda: engine.add(TEXT, id=id_of(1)))
    assert refuses(engine, ConflictError, engine.add, "Another text.", id=id_of(1))


def test_a_revision_changes_what_it_names_and_keeps_the_rest(engine: Engine) -> None:
    """A new content leaves title, tags and meta; the atom gets the next version and a new ordinal."""
    engine.revise(id_of(1), content="The kettle is descaled on Fridays.")
    atom = engine.get(id_of(1))
    assert kinds(engine) == [EventKind.ATOM_ADDED, EventKind.ATOM_REVISED]
    assert (atom.content, atom.title) == ("The kettle is descaled on Fridays.", "Kettle")
    assert (atom.tags, atom.meta, atom.version) == (("kitchen",), {"room": 4}, 2)


def test_a_revision_to_the_same_value_is_no_event(engine: Engine) -> None:
    """A revision after which the atom would be the same appends nothing."""
    assert unchanged_by(engine, lambda: engine.revise(id_of(1), content=TEXT, title="Kettle"))


def test_true_and_one_are_different_values_of_meta() -> None:
    """A revision of meta from 1 to True is an event, although the two are equal in Python."""
    engine = engine_on()
    engine.add(TEXT, id=id_of(1), meta={"open": 1})
    engine.revise(id_of(1), meta={"open": True})
    assert engine.get(id_of(1)).meta["open"] is True


def test_hiding_and_reviving_are_one_event_each(engine: Engine) -> None:
    """A tombstone keeps its reason until the atom is revived; a second revival appends nothing."""
    engine.tombstone(id_of(1), "no longer true")
    tombstone = engine.get(id_of(1)).tombstone
    assert tombstone is not None
    assert tombstone.reason == "no longer true"
    engine.revive(id_of(1))
    assert kinds(engine)[1:] == [EventKind.ATOM_TOMBSTONED, EventKind.ATOM_REVIVED]
    assert engine.get(id_of(1)).tombstone is None
    assert unchanged_by(engine, lambda: engine.revive(id_of(1)))


def test_an_erased_atom_comes_back_only_by_force(engine: Engine) -> None:
    """An erased text is refused, as a revival and as a new atom, unless the caller insists."""
    engine.erase(id_of(1), "asked for")
    assert refuses(engine, RefusedError, engine.revive, id_of(1))
    assert refuses(engine, RefusedError, engine.add, TEXT, id=id_of(1))
    assert engine.add(TEXT, id=id_of(1), force=True).state is State.LIVE
