"""The tags that a question looks up, in a memory with many tags."""

from pyroaring import BitMap

from backends.memory import MemoryBackend
from engine.followers.tags import values
from engine.query.recall.atom_set import LOOK_UPS, TAGS_LISTED_MAX, AtomSet
from proofs.leaves import Group
from tests.support.engines import engine_on


def test_tags_are_the_same_before_and_after_they_are_listed() -> None:
    """A look-up gives the tags from its start on, however many look-ups there were before it."""
    backend = MemoryBackend()
    with engine_on(backend) as engine:
        for start in range(0, TAGS_LISTED_MAX + 60, 60):
            engine.add(f"Note {start}", tags=[f"tag{number:04}" for number in range(start, start + 60)])
        with engine._searching(None) as (view, rows):
            documents = view.store.index.view(rows).documents
            allowed = AtomSet(BitMap(range(documents)), documents, unfiltered=True)
            for _ in range(LOOK_UPS + 2):
                assert list(allowed.tags_from(rows, "tag0500")) == list(values(rows, Group.TAG, "tag0500"))
            assert allowed._tags is not None
