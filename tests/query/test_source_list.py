"""The list of sources."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.engine import Engine


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["a.md", "b.md", "c", None]), st.booleans()), max_size=12))
def test_each_source_of_a_live_atom_is_listed_once(added: list[tuple[str | None, bool]]) -> None:
    """With the number of its live atoms; the source of the newest atom is the first."""
    with Engine.open("memory:") as engine:
        atoms = [engine.add(f"Text {at}.", source=source).id for at, (source, _) in enumerate(added)]
        for atom, (_, hides) in zip(atoms, added, strict=True):
            if hides:
                engine.tombstone(atom)
        live = [
            (source, atom) for atom, (source, hides) in zip(atoms, added, strict=True) if source and not hides
        ]
        listed = engine.sources()
        newest = dict(live)
        order = sorted(newest, key=lambda source: atoms.index(newest[source]), reverse=True)
        counts = Counter(source for source, _ in live)
        assert [(one.source, one.newest, one.atoms) for one in listed] == [
            (source, newest[source], counts[source]) for source in order
        ]
        assert engine.sources(limit=1) == listed[:1]


def test_a_limit_out_of_range_is_refused() -> None:
    """At least one source is asked for."""
    with Engine.open("memory:") as engine, pytest.raises(InvalidInputError, match="limit"):
        engine.sources(limit=0)
