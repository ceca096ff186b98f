"""Previews of reverts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError, LimitError, NotFoundError
from engine.commands import Add, Link, Tag
from engine.engine import Engine
from tests.store.test_revert import grown
from tests.support.engines import engine_on
from tests.support.workloads import id_of


@given(st.integers(0, 10_000), st.integers(6, 30))
def test_the_preview_is_what_the_revert_then_does(seed: int, count: int) -> None:
    """The outcomes and the differences are those of the later revert, and nothing is written."""
    engine, size, rest = grown(count, seed)
    for command in rest:
        engine.apply([command])  # type: ignore[list-item]
    before = engine.size
    foreseen = engine.revertible(size, limit=1_000)
    assert engine.size == before
    assert list(foreseen.outcomes) == engine.revert(size)
    assert foreseen.changes == engine.diff(before - 1)
    assert (foreseen.events, foreseen.subjects) == (before - size, len(foreseen.outcomes))


def dreamt() -> tuple[Engine, int]:
    """An engine in which a dreamer tags and links two texts, and the seq of the first of these events."""
    engine = engine_on()
    engine.apply([Add("Tea.", id=id_of(1)), Add("Water.", id=id_of(2))])
    size = engine.size
    engine.apply([Tag(id_of(1), ["dreamt"]), Link(id_of(1), "references", id_of(2))], actor="dreamer")
    engine.apply([Tag(id_of(2), ["mine"])], actor="me")
    return engine, size


def test_the_changes_of_one_actor_are_named() -> None:
    """Atoms with their fields, and edges; nothing of other actors."""
    engine, size = dreamt()
    found = engine.revertible(size, actor="dreamer")
    assert (found.events, found.subjects) == (2, 2)
    (atom,), (edge,) = found.changes.atoms, found.changes.edges
    assert (atom.id, atom.change, atom.fields) == (id_of(1), "changed", {"tags": (("dreamt",), ())})
    assert (edge.src, edge.dst, edge.change) == (id_of(1), id_of(2), "removed")


def test_only_so_many_subjects_are_reverted_as_are_asked_for() -> None:
    """The one changed last comes first; the counts are those of all."""
    engine, size = dreamt()
    all_of_them, one = engine.revertible(size), engine.revertible(size, limit=1)
    assert [outcome.subject for outcome in one.outcomes] == [id_of(2)]
    assert one.outcomes == all_of_them.outcomes[:1]
    assert replace(one, outcomes=(), changes=all_of_them.changes) == replace(all_of_them, outcomes=())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"start": 99}, NotFoundError),
        ({"start": 2, "stop": 1}, InvalidInputError),
        ({"start": 0, "limit": 0}, InvalidInputError),
        ({"start": 0, "limit": 1_001}, LimitError),
    ],
)
def test_a_range_or_limit_that_is_not_valid_is_refused(
    options: dict[str, Any], error: type[Exception]
) -> None:
    """As `revert` refuses it."""
    engine, _ = dreamt()
    with pytest.raises(error):
        engine.revertible(**options)
