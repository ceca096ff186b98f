"""Real notes at three past states: what was made by hand between the ingests survives."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine, State
from proofs.leaves import tag_identity
from tests.files.ingest.garden_states import ARCHIVE, live_atoms, live_through, unpack
from tests.support.shared_data import needs


@pytest.mark.soak
def test_what_was_made_by_hand_survives_two_further_states_of_the_garden(tmp_path: Path) -> None:
    """Tags, links and revisions stay; few atoms are hidden, and none whose text is still in a file."""
    needs(ARCHIVE)
    garden, work = unpack(tmp_path), tmp_path / "work"
    work.mkdir()
    with Engine.open(str(tmp_path / "store")) as engine:
        outcome = live_through(garden, work, engine)
        live = live_atoms(engine)
        texts = {atom.content for atom in live.values()}
        for id_, tags in outcome.tags.items():
            atom = engine.get(id_)
            assert tags <= set(map(tag_identity, atom.tags))
            assert atom.state is State.LIVE or atom.content not in texts
        for id_, text in outcome.revised.items():
            assert (live[id_].content, live[id_].state) == (text, State.LIVE)
        for src, dst in outcome.links:
            assert engine.get_edge(src, "related_to", dst).state is State.LIVE
        for before, step in zip(outcome.steps, outcome.steps[1:], strict=False):
            assert step.same > 0.99 * before.live
        assert not engine.ingest([work / "garden"], prune=True).changed
        assert engine.verify(expect=engine.root().root).ok
