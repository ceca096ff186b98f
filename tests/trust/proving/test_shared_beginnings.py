"""Lists of edges whose positions begin with the same bytes as those of another end."""

from __future__ import annotations

from uuid import UUID

import pytest

from engine.engine import Engine
from proofs.claims import EdgesOf
from proofs.hashing import EDGES, edges_beginning, position
from proofs.leaves import Direction, edge_leaf
from proofs.verified import AllEdges
from proofs.verifier import verify

FROM, TO = Direction
ENDS = ((FROM, 5112), (TO, 4469)), ((FROM, 5141), (FROM, 10307))
"""Pairs of ends whose edges have positions that begin with the same three bytes, found by search."""

OTHERS = (1, 2, 3)


def named(number: int) -> str:
    """Return an atom's id as a caller gives it."""
    return str(UUID(bytes=raw(number)))


def raw(number: int) -> bytes:
    """Return an atom's id."""
    return number.to_bytes(16, "big")


def store_with(ends: tuple[tuple[Direction, int], ...]) -> Engine:
    """Return a store in which each end has an edge to or from each of OTHERS."""
    engine = Engine.open("memory:")
    for number in (*OTHERS, *(end for _, end in ends)):
        engine.add(f"Text {number}.", id=named(number))
    for direction, end in ends:
        for other in OTHERS:
            first, second = (end, other) if direction is FROM else (other, end)
            engine.link(named(first), "related_to", named(second))
    return engine


@pytest.mark.parametrize("code", [None, b"\1", b"\6"])
@pytest.mark.parametrize("asked", [0, 1])
@pytest.mark.parametrize("ends", ENDS)
def test_ends_in_one_subtree_are_told_apart(
    ends: tuple[tuple[Direction, int], ...], asked: int, code: bytes | None
) -> None:
    """A list is complete, and shows no edge of another atom or direction that shares its subtree."""
    places = {edges_beginning(direction, raw(end), None) for direction, end in ends}
    assert places == {position(EDGES, edge_leaf(*ends[0][:1], raw(ends[0][1]), b"\1", raw(1)))[:3]}
    engine, (direction, end) = store_with(ends), ends[asked]
    claim = EdgesOf(raw(end), direction, code)
    proof = engine.prove([claim])
    (shown,) = verify(proof.data, proof.basis, [claim])
    assert isinstance(shown, AllEdges)
    assert [edge.other for edge in shown.edges] == ([] if code == b"\6" else [raw(n) for n in OTHERS])
