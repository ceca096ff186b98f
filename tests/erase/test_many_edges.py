"""The erasure of an atom with very many edges, which takes several commits."""

from __future__ import annotations

import pytest

from engine.commands import Add, Link
from engine.engine import Engine
from engine.erase import destroy
from engine.ledger.queries import edges_at
from tests.support.workloads import id_of


def test_the_work_grows_with_the_edges_and_not_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records of the edges are read once for all commits, not again for each commit."""
    monkeypatch.setattr(destroy, "EDGES_AT_ONCE", 5)
    scans = []

    def counted(*args: object, **named: object) -> object:
        scans.append(args)
        return edges_at(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(destroy, "edges_at", counted)
    with Engine.open("memory:") as engine:
        atoms = range(1, 42)
        engine.apply([Add(f"Text {number}.", id=id_of(number)) for number in atoms])
        engine.apply([Link(id_of(1), "references", id_of(number)) for number in atoms[1:]])
        receipt = engine.erase(id_of(1), "asked for", probe=False)
        assert (receipt.edges, len(receipt.events)) == (40, 41)
        assert len(scans) == 1
        assert engine.verify().ok
