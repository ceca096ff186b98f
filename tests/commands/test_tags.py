"""Tests of the commands Tag and Untag: which event they append, and when they append none."""

from __future__ import annotations

import pytest

from engine.base.errors import ConflictError, InvalidInputError, LimitError
from engine.commands import Tag, Untag
from engine.engine import Engine
from proofs.events import EventKind
from proofs.limits import TAGS_PER_ATOM_MAX
from tests.support.engines import engine_on, refuses, unchanged_by
from tests.support.workloads import id_of


@pytest.fixture
def engine() -> Engine:
    """Return a memory with one atom, which has the tags `Red` and `blue`."""
    engine = engine_on()
    engine.add("The kettle is descaled on Mondays.", id=id_of(1), tags=["Red", "blue"])
    return engine


def tags_of(engine: Engine) -> tuple[str, ...]:
    """Return the tags of the atom."""
    return engine.get(id_of(1)).tags


def test_new_tags_are_one_event_with_only_the_new_ones(engine: Engine) -> None:
    """One event adds all tags that the atom lacks; the event does not repeat those that it has."""
    (receipt,) = engine.apply([Tag(id_of(1), ["red", "green", "#Yellow"])])
    (event,) = receipt.events
    assert event.kind is EventKind.TAGS_ADDED
    assert list(engine.history(id_of(1)))[-1].detail["tags"] == ["green", "Yellow"]
    assert tags_of(engine) == ("blue", "green", "Red", "Yellow")


@pytest.mark.parametrize("spelling", ["red", "#red", "RED", "  Red "])
def test_a_tag_that_the_atom_has_in_any_spelling_is_no_event(engine: Engine, spelling: str) -> None:
    """The first spelling of a tag stays, and tagging again appends nothing."""
    assert unchanged_by(engine, lambda: engine.tag(id_of(1), spelling))
    assert tags_of(engine) == ("blue", "Red")


@pytest.mark.parametrize("spelling", ["red", "#red", "RED", "  Red "])
def test_untagging_takes_any_spelling(engine: Engine, spelling: str) -> None:
    """A tag is removed by each spelling of it; the event has the tag as the atom had it."""
    engine.untag(id_of(1), spelling)
    last = list(engine.history(id_of(1)))[-1]
    assert (last.kind, last.detail["tags"]) == (EventKind.TAGS_REMOVED, ["Red"])
    assert tags_of(engine) == ("blue",)


def test_untagging_what_the_atom_lacks_is_no_event(engine: Engine) -> None:
    """An atom without the tags is left as it is."""
    assert unchanged_by(engine, lambda: engine.untag(id_of(1), "green", "yellow"))


def test_untagging_removes_only_what_the_atom_has(engine: Engine) -> None:
    """Of several tags, the event names only those that the atom had."""
    (receipt,) = engine.apply([Untag(id_of(1), ["blue", "green"])])
    assert len(receipt.events) == 1
    assert list(engine.history(id_of(1)))[-1].detail["tags"] == ["blue"]


def test_a_tag_that_was_removed_can_be_added_in_another_spelling(engine: Engine) -> None:
    """After a tag was removed, its next spelling is the one that is kept."""
    engine.untag(id_of(1), "red")
    engine.tag(id_of(1), "RED")
    assert tags_of(engine) == ("blue", "RED")


def test_tags_may_come_from_an_iterator(engine: Engine) -> None:
    """A command can be decided more than once, although its tags were given as an iterator."""
    command = Untag(id_of(1), iter(["red"]))
    other = engine_on()
    other.add("Another text.", id=id_of(1), tags=["red"])
    assert [len(one.apply([command])[0].events) for one in (engine, other)] == [1, 1]


def test_no_tag_at_all_is_no_event(engine: Engine) -> None:
    """Tagging and untagging with an empty list append nothing."""
    assert unchanged_by(engine, lambda: engine.apply([Tag(id_of(1)), Untag(id_of(1))]))


@pytest.mark.parametrize("verb", ["tag", "untag"])
def test_what_is_no_tag_is_refused(engine: Engine, verb: str) -> None:
    """A tag that is empty after its `#` is refused by both commands, and nothing is written."""
    assert refuses(engine, InvalidInputError, getattr(engine, verb), id_of(1), "#")


@pytest.mark.parametrize("verb", ["tag", "untag"])
def test_a_hidden_atom_takes_no_tags(engine: Engine, verb: str) -> None:
    """A tombstoned atom must be revived first."""
    engine.tombstone(id_of(1))
    assert refuses(engine, ConflictError, getattr(engine, verb), id_of(1), "blue")


def test_too_many_tags_together_are_refused(engine: Engine) -> None:
    """The limit counts the tags that the atom has already; untagging makes room."""
    more = [f"t{number}" for number in range(TAGS_PER_ATOM_MAX - 1)]
    assert refuses(engine, LimitError, engine.tag, id_of(1), *more)
    engine.untag(id_of(1), "blue")
    engine.tag(id_of(1), *more)
    assert len(tags_of(engine)) == TAGS_PER_ATOM_MAX
