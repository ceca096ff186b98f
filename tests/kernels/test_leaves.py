"""The compiled leaves of created atoms and edges equal those of the twin."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from engine.followers import trees
from proofs.events import (
    FACT_KINDS,
    AtomDetail,
    CheckpointDetail,
    Detail,
    EdgeDetail,
    Entry,
    EventKind,
    FactDetail,
    Header,
    TypeDetail,
)
from proofs.limits import ORDINAL_MAX, SEQ_MAX
from tests.kernels.native import native

IDS = st.binary(min_size=16, max_size=16)
HASHES = st.binary(min_size=32, max_size=32)
SEQS = st.integers(0, 300) | st.integers(0, SEQ_MAX)
ORDINALS = st.integers(0, 300) | st.integers(0, ORDINAL_MAX)
CODES = st.binary(min_size=1, max_size=8)
ON_EDGES = [EventKind.EDGE_ADDED, EventKind.EDGE_REMOVED, EventKind.EDGE_ERASED]
OTHER = [EventKind.EDGE_TYPE_REGISTERED, EventKind.CHECKPOINT, EventKind.FOREIGN_HEAD, *sorted(FACT_KINDS)]


def of(kinds: list[EventKind], details: st.SearchStrategy[Detail]) -> st.SearchStrategy[Entry]:
    """Return entries without bodies."""
    headers = st.builds(
        Header,
        SEQS,
        st.integers(0, 1 << 60),
        st.sampled_from(kinds),
        st.just("me"),
        HASHES,
        st.none() | SEQS,
        details,
    )
    return st.builds(Entry, headers, st.none(), HASHES)


ENTRIES = (
    of(
        [kind for kind in EventKind if kind not in {*ON_EDGES, *OTHER}],
        st.builds(AtomDetail, IDS, ORDINALS, st.none() | ORDINALS),
    )
    | of(ON_EDGES, st.builds(EdgeDetail, IDS, CODES, IDS))
    | of(
        OTHER,
        st.builds(TypeDetail, CODES)
        | st.builds(CheckpointDetail, HASHES)
        | st.builds(FactDetail, st.none() | IDS),
    )
)


@given(st.lists(ENTRIES, max_size=30))
def test_the_leaves_of_created_atoms_and_edges(entries: list[Entry]) -> None:
    """Both give the same digests, and the same positions of all other entries."""
    with patch.object(trees, "NATIVE", None):
        expected = trees.added_leaves(entries)
    assert native().added_leaves(entries) == expected
