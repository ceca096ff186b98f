"""Properties of merging, for any tags and buckets and in any order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.commands import Merge, Unmerge
from engine.engine import Engine
from proofs.leaves import tag_identity
from tests.index.copies.support import Looks, kettles, live_texts, looks
from tests.support.engines import backend_of, fresh_rows, projection_rows, rows_of

pytestmark = pytest.mark.slow

LABELS = st.tuples(
    st.lists(st.sampled_from(["red", "Red", "tea", "two words", "STRASSE", "straße"]), max_size=4),
    st.lists(st.sampled_from(["inbox", "work", "home"]), max_size=3),
)
ATOMS = st.lists(LABELS, min_size=2, max_size=5)
Atoms = list[tuple[list[str], list[str]]]


def of(atoms: Atoms) -> tuple[list[list[str]], list[list[str]]]:
    """The arguments of `kettles`."""
    return [tags for tags, _ in atoms], [buckets for _, buckets in atoms]


def caseless(look: Looks) -> tuple[list[str], tuple[str, ...], int]:
    """The fields of the atoms with the tags in caseless form."""
    return [tag_identity(tag) for tag in look.tags], look.buckets, look.state


@settings(max_examples=60, deadline=None)
@given(ATOMS, st.data())
def test_merging_and_unmerging_restores_everything(atoms: Atoms, data: st.DataObject) -> None:
    """Unmerging in any order restores the state before the merges."""
    with kettles(*of(atoms)) as (engine, (keep, *others)):
        before = looks(engine, keep, *others)
        for other in data.draw(st.permutations(others)):
            engine.merge(keep, other)
        for other in data.draw(st.permutations(others)):
            engine.unmerge(other)
        assert looks(engine, keep, *others) == before
        assert engine.edges(keep, direction="both") == []


@settings(max_examples=60, deadline=None)
@given(ATOMS, st.data())
def test_merging_again_after_unmerging_is_merging(atoms: Atoms, data: st.DataObject) -> None:
    """Merging, unmerging and merging again equals one merge."""
    with kettles(*of(atoms)) as (engine, (keep, other, *rest)):
        engine.merge(keep, other)
        after = looks(engine, keep, other, *rest)
        for _ in range(data.draw(st.integers(1, 3))):
            engine.unmerge(other)
            engine.merge(keep, other)
        assert looks(engine, keep, other, *rest) == after


@settings(max_examples=60, deadline=None)
@given(ATOMS)
def test_deciding_again_appends_nothing(atoms: Atoms) -> None:
    """Repeating merges and unmerges changes no row."""
    with kettles(*of(atoms)) as (engine, (keep, *others)):
        for commands in ([Merge(keep, other) for other in others], [Unmerge(other) for other in others]):
            engine.apply(commands)
            rows = rows_of(backend_of(engine))
            assert not any(receipt.changed for receipt in engine.apply(commands))
            assert rows_of(backend_of(engine)) == rows


@settings(max_examples=60, deadline=None)
@given(ATOMS, st.data())
def test_the_order_of_merging_does_not_matter(atoms: Atoms, data: st.DataObject) -> None:
    """Any order of merging gives the same live texts, tags and buckets."""
    with kettles(*of(atoms)) as (engine, ids), kettles(*of(atoms)) as (other_engine, other_ids):
        for place in data.draw(st.permutations(range(1, len(ids)))):
            engine.merge(ids[0], ids[place])
        other_engine.apply([Merge(other_ids[0], other) for other in other_ids[1:]])
        assert live_texts(engine) == live_texts(other_engine)
        found = [[caseless(look) for look in looks(one, *ids)] for one in (engine, other_engine)]
        assert found[0] == found[1]


@settings(max_examples=60, deadline=None)
@given(ATOMS, st.data())
def test_the_kept_one_has_what_all_had(atoms: Atoms, data: st.DataObject) -> None:
    """The kept atom has the tags and buckets of all, and no others."""
    with kettles(*of(atoms)) as (engine, ids):
        everything = [caseless(look) for look in looks(engine, *ids)]
        keep = data.draw(st.sampled_from(ids))
        engine.apply([Merge(keep, other) for other in ids if other != keep])
        tags, buckets, _ = caseless(looks(engine, keep)[0])
        assert tags == sorted({tag for had, _, _ in everything for tag in had})
        assert set(buckets) == {bucket for _, had, _ in everything for bucket in had}


@settings(max_examples=30, deadline=None)
@given(ATOMS, st.data())
def test_merges_are_in_the_journal_whole(atoms: Atoms, data: st.DataObject) -> None:
    """A rebuild and a replay give the same rows, and the store verifies."""
    with kettles(*of(atoms)) as (engine, (keep, *others)):
        engine.apply([Merge(keep, other) for other in others])
        for other in data.draw(st.sets(st.sampled_from(others))):
            engine.unmerge(other)
        root, before = engine.root(), _projected(engine)
        assert engine.rebuild() == root
        assert _projected(engine) == before
        assert fresh_rows(backend_of(engine)) == rows_of(backend_of(engine))
        assert engine.verify().ok


def _projected(engine: Engine) -> dict[bytes, bytes]:
    engine.catch_up()
    return projection_rows(backend_of(engine))
