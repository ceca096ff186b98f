"""Unmerging: what is removed from the kept atom, what stays, and what raises errors."""

from __future__ import annotations

import pytest

from engine.base.errors import ConflictError, NotFoundError
from engine.commands import Merge, Unmerge
from proofs.events import EventKind
from proofs.leaves import State
from tests.index.copies.support import Looks, kettles, looks
from tests.support.engines import engine_on, refuses

NO_NEIGHBOUR = "1f0c0000-0000-4000-8000-000000000001"


def test_unmerging_restores_both() -> None:
    """Tags, buckets and states are as before the merge, and the edge is gone."""
    with kettles() as (engine, ids):
        before = looks(engine, *ids)
        engine.merge(ids[0], ids[2])
        receipt = engine.unmerge(ids[2])
        assert (receipt.subject, receipt.state) == (ids[2], State.LIVE)
        assert [event.kind for event in receipt.events] == [
            EventKind.TAGS_REMOVED,
            EventKind.ATOM_REVISED,
            EventKind.ATOM_REVIVED,
            EventKind.EDGE_REMOVED,
        ]
        assert looks(engine, *ids) == before
        assert engine.edges(ids[0]) == []


def test_unmerging_twice_is_no_event() -> None:
    """Unmerging a live atom appends nothing."""
    with kettles() as (engine, ids):
        assert not engine.unmerge(ids[1]).changed
        engine.merge(ids[0], ids[1])
        assert engine.unmerge(ids[1]).changed
        assert not engine.unmerge(ids[1]).changed


def test_what_was_there_before_the_merge_stays() -> None:
    """A tag or bucket that both atoms had is not removed."""
    with kettles(tags=(["tea", "x"], ["Tea", "y"]), buckets=(["work"], ["work", "inbox"])) as (engine, ids):
        engine.merge(*ids)
        engine.unmerge(ids[1])
        assert looks(engine, ids[0]) == [Looks(("tea", "x"), ("work",), State.LIVE)]


def test_what_was_added_by_hand_stays() -> None:
    """Tags that the kept atom got otherwise, or again after losing them, stay."""
    with kettles(tags=([], ["a", "b"]), buckets=(["inbox"], ["inbox", "work"])) as (engine, ids):
        engine.merge(*ids)
        engine.tag(ids[0], "c")
        engine.untag(ids[0], "a")
        engine.tag(ids[0], "A")
        engine.revise(ids[0], buckets=["inbox"])
        engine.revise(ids[0], buckets=["inbox", "work"])
        engine.unmerge(ids[1])
        assert looks(engine, ids[0]) == [Looks(("A", "c"), ("inbox", "work"), State.LIVE)]


def test_what_was_revised_away_and_back_stays() -> None:
    """A tag that a revision dropped and that was added again stays."""
    with kettles(tags=([], ["a", "b"]), buckets=(["inbox"], ["inbox"])) as (engine, ids):
        engine.merge(*ids)
        engine.revise(ids[0], tags=["b"])
        engine.revise(ids[0], tags=["a", "b"])
        engine.unmerge(ids[1])
        assert engine.get(ids[0]).tags == ("a",)


def test_what_the_kept_one_lost_is_no_event() -> None:
    """If all gains are gone already, only the other atom and the edge change."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[1])
        engine.untag(ids[0], "chores")
        kinds = [event.kind for event in engine.unmerge(ids[1]).events]
        assert kinds == [EventKind.ATOM_REVIVED, EventKind.EDGE_REMOVED]


def test_a_revised_content_stays() -> None:
    """The current content of the kept atom does not change."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[2])
        engine.revise(ids[0], content="Another text.", title="Another")
        engine.unmerge(ids[2])
        kept = engine.get(ids[0])
        assert (kept.content, kept.title, kept.tags) == ("Another text.", "Another", ("kitchen",))


def test_what_was_tombstoned_otherwise_is_refused() -> None:
    """A tombstone without a merge raises an error with its reason."""
    with kettles() as (engine, ids):
        engine.tombstone(ids[1], "stale")
        assert refuses(engine, ConflictError, engine.unmerge, ids[1])
        with pytest.raises(
            ConflictError, match="was not merged; it was tombstoned for a different reason: stale"
        ):
            engine.unmerge(ids[1])


@pytest.mark.parametrize("reason", ["merged into {}", "merged into nothing", "merged into " + NO_NEIGHBOUR])
def test_a_reason_alone_is_no_merge(reason: str) -> None:
    """A tombstone with the reason of a merge but without its edge raises an error."""
    with kettles() as (engine, ids):
        engine.tombstone(ids[1], reason.format(ids[0]))
        assert refuses(engine, ConflictError, engine.unmerge, ids[1])
        assert refuses(engine, ConflictError, engine.merge, ids[0], ids[1])


@pytest.mark.parametrize("reason", ["", "{}", "was merged into {}"])
def test_a_tombstone_after_a_revival_by_hand_is_no_merge(reason: str) -> None:
    """The edge of an earlier merge does not make a later tombstone a merge."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[1])
        engine.revive(ids[1])
        engine.tombstone(ids[1], reason.format(ids[0]))
        assert refuses(engine, ConflictError, engine.unmerge, ids[1])


def test_an_atom_never_recorded_is_not_found() -> None:
    """An unknown atom raises NotFoundError."""
    with engine_on() as engine:
        assert refuses(engine, NotFoundError, engine.unmerge, NO_NEIGHBOUR)


def test_a_kept_atom_that_is_gone_cannot_give_back() -> None:
    """Unmerging from a tombstoned kept atom with gains raises an error."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[1])
        engine.merge(ids[2], ids[0])
        assert refuses(engine, ConflictError, engine.unmerge, ids[1])
        with pytest.raises(
            ConflictError, match=f"the kept atom {ids[0]} .* is tombstoned: merged into {ids[2]}"
        ):
            engine.unmerge(ids[1])
        engine.apply([Unmerge(ids[0]), Unmerge(ids[1])])
        assert [look.state for look in looks(engine, *ids)] == [State.LIVE] * 3


def test_a_kept_atom_that_is_gone_with_nothing_to_give_back() -> None:
    """Without gains the other atom comes back in any case."""
    with kettles(tags=(["a"], ["a"]), buckets=(["inbox"], ["inbox"])) as (engine, ids):
        engine.merge(*ids)
        engine.tombstone(ids[0])
        engine.unmerge(ids[1])
        assert [look.state for look in looks(engine, *ids)] == [State.TOMBSTONED, State.LIVE]


def test_an_edge_removed_by_hand_still_says_what_was_gained() -> None:
    """Unmerging works although the merge's edge was removed."""
    with kettles() as (engine, ids):
        before = looks(engine, *ids)
        engine.merge(ids[0], ids[2])
        engine.unlink(ids[0], "supersedes", ids[2])
        assert not engine.merge(ids[0], ids[2]).changed
        engine.unmerge(ids[2])
        assert looks(engine, *ids) == before


def test_merging_again_after_a_revival_by_hand_forgets_nothing() -> None:
    """The gains of both merges are removed."""
    with kettles() as (engine, ids):
        before = looks(engine, ids[0])
        engine.merge(ids[0], ids[1])
        engine.revive(ids[1])
        engine.tag(ids[1], "new")
        engine.apply([Merge(ids[0], ids[1])])
        assert engine.get(ids[0]).tags == ("Chores", "kitchen", "new")
        engine.unmerge(ids[1])
        assert looks(engine, ids[0]) == before


def test_merging_again_without_gain_leaves_the_edge() -> None:
    """After a revival by hand, a merge without new gains only tombstones."""
    with kettles() as (engine, ids):
        engine.merge(ids[0], ids[1])
        engine.revive(ids[1])
        assert [event.kind for event in engine.merge(ids[0], ids[1]).events] == [EventKind.ATOM_TOMBSTONED]
        engine.unmerge(ids[1])
        assert engine.get(ids[0]).tags == ("kitchen",)


def test_an_edge_that_was_replaced_survives_merging_again() -> None:
    """A replaced edge is restored even after a second merge."""
    with kettles() as (engine, ids):
        engine.link(ids[0], "supersedes", ids[1], weight=0.5)
        engine.merge(ids[0], ids[1])
        engine.revive(ids[1])
        engine.tag(ids[1], "new")
        engine.merge(ids[0], ids[1])
        engine.unmerge(ids[1])
        (edge,) = engine.edges(ids[0])
        assert (edge.weight, edge.data) == (0.5, b"")


def test_an_edge_replaced_is_not_brought_back_where_it_was_removed() -> None:
    """A replaced edge is not restored if the merge's edge was removed by hand."""
    with kettles() as (engine, ids):
        engine.link(ids[0], "supersedes", ids[1], weight=0.5)
        engine.merge(ids[0], ids[1])
        engine.unlink(ids[0], "supersedes", ids[1])
        engine.unmerge(ids[1])
        assert engine.edges(ids[0]) == []
