"""Groups of near-duplicates: their members, the atom to keep, and their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError, LimitError, NotFoundError
from engine.index.copies.duplicates import DuplicateGroup, group_of, groups_of
from engine.text.simhash import near
from tests.index.copies.support import CHAIN, KETTLE, TRAIN, copy_of, kettles
from tests.support.engines import engine_on

COLUMNS = st.lists(
    st.sampled_from([0, 0b1, 0b111, 0b11111, 0b1111111, 1 << 63, 3 << 62, 0xFFFF << 20]), max_size=20
)


def ids_of(groups: list[DuplicateGroup]) -> list[list[str]]:
    """The ids of each group, the atom to keep first."""
    return [[group.keep.id, *(other.id for other in group.others)] for group in groups]


def connected(column: list[int]) -> list[list[int]]:
    """The groups according to a naive search."""
    groups: list[list[int]] = []
    left = set(range(len(column)))
    while left:
        group = {min(left)}
        while more := {place for place in left - group for one in group if near(column[one], column[place])}:
            group |= more
        left -= group
        groups.append(sorted(group))
    return [group for group in groups if len(group) > 1]


@given(COLUMNS)
def test_groups_are_what_near_pairs_connect(column: list[int]) -> None:
    """`groups_of` agrees with a naive search."""
    found = [group.tolist() for group in groups_of(np.array(column, np.uint64))]
    assert sorted(found) == connected(column)


@given(COLUMNS.filter(bool), st.data())
def test_the_group_of_one_is_the_group_it_is_in(column: list[int], data: st.DataObject) -> None:
    """`group_of` agrees with `groups_of`; an atom alone is its own group."""
    place = data.draw(st.integers(0, len(column) - 1))
    expected = next((group for group in connected(column) if place in group), [place])
    assert group_of(np.array(column, np.uint64), place).tolist() == expected


def test_copies_are_one_group() -> None:
    """Three texts with the same terms are a group, with tags and snippets; a fourth is not in it."""
    with kettles() as (engine, ids):
        (group,) = engine.duplicates()
        assert ids_of([group]) == [ids]
        assert (group.keep.tags, group.keep.title, group.keep.source) == (("kitchen",), None, None)
        assert group.others[1].snippet == copy_of(KETTLE, 2)
        assert [other.distance for other in group.others] == [0, 0]


def test_the_distance_is_that_to_the_atom_to_keep() -> None:
    """The distance is in bits from the atom to keep, the nearest first."""
    with engine_on() as engine:
        ids = [engine.add(text).subject for text in (CHAIN[0], CHAIN[2], CHAIN[1])]
        (group,) = engine.duplicates()
        assert ids_of([group]) == [[ids[0], ids[2], ids[1]]]
        assert [other.distance for other in group.others] == [2, 4]


def test_only_live_atoms_are_in_groups() -> None:
    """Tombstoned atoms and old versions are not in any group."""
    with kettles() as (engine, ids):
        engine.tombstone(ids[1])
        engine.revise(ids[2], content=TRAIN + "!")
        (group,) = engine.duplicates()
        assert ids[0] not in ids_of([group])[0]
        assert engine.duplicates(of=ids[0]) == engine.duplicates(of=ids[1]) == []
        assert engine.duplicates(of=ids[2]) == [group]


def test_short_texts_are_never_compared() -> None:
    """Texts of fewer than four distinct words are not in any group."""
    with engine_on() as engine:
        for source in ("a", "b"):
            engine.add("Yes, please.", source=source)
        assert engine.duplicates() == []


def test_the_oldest_is_kept() -> None:
    """The atom recorded first is kept, even if a revision gave it the newest ordinal."""
    with kettles() as (engine, ids):
        engine.revise(ids[0], content=copy_of(KETTLE, 9))
        assert ids_of(engine.duplicates()) == [ids]


def test_one_s_own_is_kept_before_what_came_from_elsewhere() -> None:
    """Internal atoms are kept before external ones, and these before quarantine."""
    with engine_on() as engine:
        ids = [
            engine.add(copy_of(KETTLE, number), provenance=name).subject
            for number, name in enumerate(["quarantine", "external", "internal"])
        ]
        assert ids_of(engine.duplicates())[0][0] == ids[2]
        engine.tombstone(ids[2])
        assert ids_of(engine.duplicates())[0][0] == ids[1]


def test_what_is_superseded_is_not_kept() -> None:
    """A correction is kept before the atom it supersedes; other edges have no effect."""
    with kettles() as (engine, ids):
        engine.link(ids[1], "supersedes", ids[0])
        assert ids_of(engine.duplicates())[0][0] == ids[1]
        engine.unlink(ids[1], "supersedes", ids[0])
        engine.link(engine.add(TRAIN, source="elsewhere").subject, "supersedes", ids[0])
        assert ids[0] in [group.keep.id for group in engine.duplicates()]


def test_groups_come_in_the_order_of_the_atoms_to_keep() -> None:
    """Groups are sorted by the ordinal of the atom to keep, up to the limit."""
    with kettles() as (engine, ids):
        trains = [engine.add(copy_of(TRAIN, number)).subject for number in range(2)]
        assert ids_of(engine.duplicates()) == [ids, trains]
        assert ids_of(engine.duplicates(limit=1)) == [ids]
        engine.revise(ids[0], content=copy_of(KETTLE, 9))
        assert ids_of(engine.duplicates()) == [trains, ids]


def test_a_group_is_found_from_each_of_its_atoms() -> None:
    """`of` returns the group of the atom, or nothing."""
    with kettles() as (engine, ids):
        trains = [engine.add(copy_of(TRAIN, number)).subject for number in range(2)]
        everything = engine.duplicates()
        assert [engine.duplicates(of=atom) for atom in [*ids, *trains]] == [everything[:1]] * 3 + [
            everything[1:]
        ] * 2
        assert engine.duplicates(of=engine.add("Something quite else, of which there is one.").subject) == []


def test_a_moment_of_the_past_has_its_own_groups() -> None:
    """With `as_of`, groups are those of that moment."""
    with kettles() as (engine, ids):
        with engine.as_of(2) as past:
            assert ids_of(past.duplicates()) == [ids[:2]]
        assert ids_of(engine.duplicates()) == [ids]


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (InvalidInputError, {"limit": 0}),
        (InvalidInputError, {"limit": -1}),
        (LimitError, {"limit": 10_001}),
        (InvalidInputError, {"of": "no id"}),
        (NotFoundError, {"of": "1f0c0000-0000-4000-8000-000000000001"}),
    ],
)
def test_what_cannot_be_listed_is_refused(error: type[Exception], asked: dict[str, int | str]) -> None:
    """A limit out of range, an invalid id and an unknown id raise errors."""
    with kettles() as (engine, _), pytest.raises(error):
        engine.duplicates(**asked)  # type: ignore[arg-type]
