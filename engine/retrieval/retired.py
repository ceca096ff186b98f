"""What was superseded stays away from answers, and so does what says almost the same.

A correction that is not told apart from its copies is undone by the next of them. A near-duplicate of a
superseded atom is left out as that is, but for the atom that superseded it: a correction often differs in
a single word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.border import atom_id, show_id
from engine.commands.merge import SUPERSEDES
from engine.queries import ids_at
from engine.records import read_edge
from engine.retrieval.duplicates import are_near
from proofs.leaves import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import BitMap

    from engine.retrieval.scene import Scene


class Retired:
    """The superseded atoms that no answer is to resemble."""

    def __init__(self, scene: Scene, superseded: BitMap) -> None:
        """`superseded`: their ordinals; empty where they were asked for."""
        import numpy as np

        self._scene = scene
        listed = np.frombuffer(superseded.to_array(), np.uint32).astype(np.int64)
        listed = listed[listed < scene.view.documents]
        prints = scene.view.facts.fingerprints[listed] if len(listed) else np.zeros(0, np.uint64)
        # 0 stands for a text too short to have a fingerprint.
        self._ordinals: NDArray[np.int64] = listed[prints > 0]
        self._prints: NDArray[np.uint64] = prints[prints > 0]

    def like(self, ordinal: int, id: str) -> str | None:  # noqa: A002  what it is called everywhere
        """The id of a superseded atom that this one nearly repeats, and did not supersede; else None."""
        if not len(self._prints):
            return None
        own = self._scene.view.facts.fingerprints[ordinal]
        if not own:
            return None
        near = self._ordinals[are_near(self._prints, own)].tolist()
        if not near:
            return None
        old = ids_at(self._scene.rows, near)
        edges = (read_edge(self._scene.rows, atom_id(id), SUPERSEDES, atom) for atom in old)
        if any(edge is not None and edge.state is State.LIVE for edge in edges):
            return None
        return show_id(old[0])
