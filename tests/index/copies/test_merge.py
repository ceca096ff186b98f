"""One merge: its events, its errors, and its traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.base.errors import (
    ConflictError,
    EngineError,
    InvalidInputError,
    LimitError,
    NotFoundError,
    RefusedError,
)
from engine.base.model import Receipt
from engine.commands import Merge, Tombstone
from engine.commands.merge import MergeGain, read_gain
from engine.ledger.layout import unpack
from proofs.codec import pack
from proofs.events import EventKind
from proofs.leaves import State
from tests.index.copies.support import CHAIN, KETTLE, TRAIN, Looks, copy_of, kettles, looks
from tests.support.engines import engine_on, refuses

NO_NEIGHBOUR = "1f0c0000-0000-4000-8000-000000000001"


def kinds(receipt: Receipt) -> list[EventKind]:
    """The kinds of the events of a command."""
    return [event.kind for event in receipt.events]


def test_a_merge_unites_tags_and_hides_the_other() -> None:
    """The kept atom gets the tags of both; the other is tombstoned with a reason."""
    with kettles() as (engine, ids):
        receipt = engine.merge(ids[0], ids[1])
        assert (receipt.subject, receipt.state) == (ids[0], State.LIVE)
        assert kinds(receipt) == [EventKind.TAGS_ADDED, EventKind.ATOM_TOMBSTONED, EventKind.EDGE_ADDED]
        kept, other = engine.get(ids[0]), engine.get(ids[1])
        assert (kept.tags, kept.version) == (("Chores", "kitchen"), 1)
        assert other.tombstone is not None
        assert other.tombstone.reason == f"merged into {ids[0]}"


def test_buckets_are_united_by_a_revision_where_they_differ() -> None:
    """The kept atom is revised only if it lacks a bucket of the other."""
    with kettles() as (engine, ids):
        receipt = engine.merge(ids[0], ids[2])
        assert kinds(receipt) == [
            EventKind.TAGS_ADDED,
            EventKind.ATOM_REVISED,
            EventKind.ATOM_TOMBSTONED,
            EventKind.EDGE_ADDED,
        ]
        assert looks(engine, ids[0]) == [Looks(("kitchen", "tea"), ("inbox", "work"), State.LIVE)]
        assert engine.get(ids[0]).content == KETTLE


def test_what_the_kept_one_has_is_no_event() -> None:
    """If the kept atom has all tags and buckets, only tombstone and edge are appended."""
    with kettles(tags=(["Tea", "kitchen"], ["tea"]), buckets=(["inbox", "work"], ["work"])) as (engine, ids):
        assert kinds(engine.merge(ids[0], ids[1])) == [EventKind.ATOM_TOMBSTONED, EventKind.EDGE_ADDED]


def test_the_edge_says_what_was_gained() -> None:
    """The data of the edge `supersedes` lists the tags and buckets that were gained."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[2])
        edge = engine.get_edge(ids[0], "supersedes", ids[2])
        assert unpack(edge.data, "data") == {"merged": {"tags": ["tea"], "buckets": ["work"]}}
        assert read_gain(edge.data) == MergeGain(("tea",), ("work",), None)


def test_all_events_of_a_merge_are_one_commit() -> None:
    """If another command of the batch fails, no event of the merge is appended."""
    with kettles() as (engine, ids):
        assert refuses(engine, NotFoundError, engine.apply, [Merge(ids[0], ids[2]), Tombstone(NO_NEIGHBOUR)])


def test_a_merge_twice_is_no_event() -> None:
    """Repeating a merge appends nothing, even if the kept atom lost tags or was hidden."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[1])
        engine.untag(ids[0], "chores")
        assert not engine.merge(ids[0], ids[1]).changed
        engine.tombstone(ids[0])
        assert not engine.merge(ids[0], ids[1]).changed


def test_merged_atoms_are_no_duplicates_any_more() -> None:
    """After merging its others, the group is gone."""
    with kettles() as (engine, ids):
        engine.apply([Merge(ids[0], ids[1]), Merge(ids[0], ids[2])])
        assert engine.duplicates() == []


def test_only_near_duplicates_are_merged_unless_forced() -> None:
    """Other atoms raise an error with their distance; `force` merges them."""
    with kettles() as (engine, ids):
        train = engine.add(TRAIN, source="elsewhere").subject
        assert refuses(engine, RefusedError, engine.merge, ids[0], train)
        with pytest.raises(
            RefusedError, match=r"differ in \d\d bits; near-duplicates differ in fewer than 3"
        ):
            engine.merge(ids[0], train)
        assert engine.merge(ids[0], train, force=True).changed


def test_short_texts_are_merged_only_by_force() -> None:
    """Texts too short for a fingerprint are only merged with `force`."""
    with engine_on() as engine:
        ids = [engine.add("Yes, please.", source=source).subject for source in ("a", "b")]
        with pytest.raises(RefusedError, match="too short"):
            engine.merge(*ids)
        assert engine.merge(*ids, force=True).changed


@pytest.mark.parametrize("title", [None, "On the sea, in the kitchen"])
@pytest.mark.parametrize("other", [CHAIN[1], CHAIN[2], CHAIN[0] + "!", KETTLE])
def test_a_merge_compares_as_the_groups_do(title: str | None, other: str) -> None:
    """Two atoms can be merged without force if and only if they are a group."""
    with engine_on() as engine:
        keep = engine.add(CHAIN[0], title=title).subject
        atom = engine.add(other).subject
        if engine.duplicates():
            assert engine.merge(keep, atom).changed
        else:
            assert refuses(engine, RefusedError, engine.merge, keep, atom)


def test_what_is_superseded_cannot_be_kept() -> None:
    """Merging an atom into one that it supersedes raises an error, even with `force`."""
    with kettles() as (engine, ids):
        engine.link(ids[1], "supersedes", ids[0])
        assert refuses(engine, ConflictError, engine.merge, ids[0], ids[1], force=True)
        assert engine.merge(ids[1], ids[0]).changed


def test_an_edge_that_was_removed_says_nothing() -> None:
    """Once the edge `supersedes` is removed, the atom can be merged."""
    with kettles() as (engine, ids):
        engine.link(ids[1], "supersedes", ids[0])
        engine.unlink(ids[1], "supersedes", ids[0])
        assert engine.merge(ids[0], ids[1]).changed


def test_an_atom_is_not_merged_into_itself() -> None:
    """Merging an atom into itself raises an error."""
    with kettles() as (engine, ids), pytest.raises(InvalidInputError, match="into itself"):
        engine.merge(ids[0], ids[0], force=True)


@pytest.mark.parametrize(
    ("error", "keep", "other"),
    [
        (InvalidInputError, 0, 0),
        (NotFoundError, 0, None),
        (NotFoundError, None, 0),
        (InvalidInputError, 0, "no id"),
        (ConflictError, 0, 1),
        (ConflictError, 1, 0),
        (ConflictError, 0, 2),
        (ConflictError, 2, 0),
    ],
)
def test_a_merge_that_makes_no_sense_is_refused(
    error: type[EngineError], keep: int | None, other: int | str | None
) -> None:
    """The same, unknown, tombstoned and otherwise merged atoms raise errors."""
    with kettles() as (engine, ids):
        more = engine.add(copy_of(KETTLE, 7)).subject
        engine.tombstone(ids[1])
        engine.merge(more, ids[2])
        names = [
            given if isinstance(given, str) else NO_NEIGHBOUR if given is None else ids[given]
            for given in (keep, other)
        ]
        assert refuses(engine, error, engine.merge, *names, force=True)


def test_what_is_merged_elsewhere_says_where() -> None:
    """The error names the atom that the other was merged into, with a hint."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[1])
        with pytest.raises(ConflictError, match=f"merged into {ids[0]}") as caught:
            engine.merge(ids[2], ids[1])
        assert f"engine unmerge {ids[1]}" in caught.value.hint


def test_a_merge_that_could_not_be_taken_back_is_refused() -> None:
    """Tags of over 4 KiB do not fit the edge, so nothing is written."""
    tags = [f"{number:03}" + "x" * 200 for number in range(30)]
    with kettles(tags=([], tags), buckets=(["inbox"], ["inbox"])) as (engine, ids):
        assert refuses(engine, LimitError, engine.merge, *ids)
        with pytest.raises(LimitError, match="to be reversible, a merge may add at most"):
            engine.merge(*ids)
        engine.tag(ids[0], *tags[:20])
        assert engine.merge(*ids).changed


def test_too_many_tags_are_refused() -> None:
    """A merge that would give an atom over 256 tags raises an error."""
    tags = [[f"{letter}{number}" for number in range(200)] for letter in "ab"]
    with kettles(tags=tags, buckets=(["inbox"], ["inbox"])) as (engine, ids):
        assert refuses(engine, LimitError, engine.merge, *ids)


def test_an_edge_of_one_s_own_is_replaced_and_comes_back() -> None:
    """An earlier edge `supersedes` is replaced, and restored by unmerging."""
    with kettles() as (engine, ids):
        engine.link(ids[0], "supersedes", ids[1], weight=0.3, data=pack("corrected"))
        before = engine.get_edge(ids[0], "supersedes", ids[1])
        assert kinds(engine.merge(ids[0], ids[1]))[-2:] == [EventKind.EDGE_REMOVED, EventKind.EDGE_ADDED]
        merged = engine.get_edge(ids[0], "supersedes", ids[1])
        assert read_gain(merged.data) == MergeGain(("Chores",), (), (before.weight, before.data))
        engine.unmerge(ids[1])
        after = engine.get_edge(ids[0], "supersedes", ids[1])
        assert (after.weight, after.data, after.state) == (before.weight, before.data, State.LIVE)


@pytest.mark.parametrize("bucket", ["inbox", "work"])
def test_ingesting_again_leaves_a_merge_alone(tmp_path: Path, bucket: str) -> None:
    """Ingesting unchanged files again changes nothing after a merge."""
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"---\ntitle: Kettle\ntags: [{name[0]}]\n---\n{KETTLE}\n")
    with engine_on() as engine:
        engine.ingest([tmp_path / "a.md"], root=tmp_path)
        engine.ingest([tmp_path / "b.md"], root=tmp_path, buckets=[bucket])
        (group,) = engine.duplicates()
        engine.merge(group.keep.id, group.others[0].id)
        kept = engine.get(group.keep.id)
        assert (set(kept.tags), set(kept.buckets)) == ({"a", "b"}, {"inbox", bucket})
        size = engine.size
        assert not engine.ingest([tmp_path]).changed
        assert engine.size == size


@pytest.mark.parametrize(
    "data",
    [
        b"",
        pack(None),
        pack({"page": 3}),
        pack({"merged": 1}),
        pack({"merged": {"tags": ["a"]}}),
        pack({"merged": {"tags": ["b", "a"], "buckets": []}}),
        pack({"merged": {"tags": [1], "buckets": []}}),
        pack({"merged": {"tags": [], "buckets": ["No Label"]}}),
        pack({"merged": {"tags": [], "buckets": [], "more": 1}}),
        pack({"merged": {"tags": [], "buckets": []}, "replaced": [1, b""]}),
        pack({"merged": {"tags": [], "buckets": []}, "replaced": [1.0, b"", 2]}),
        pack({"merged": {"tags": [], "buckets": []}, "more": 1}),
    ],
)
def test_data_of_other_edges_says_nothing_of_a_merge(data: bytes) -> None:
    """Only data that a merge writes is read as that of a merge."""
    assert read_gain(data) is None
