"""The relations found in labelled texts."""

from __future__ import annotations

import pytest

from bench.labelled_relations import SETS, dreamt, labelled, score
from tests.knowledge.dreaming.relations.test_parsed import PACKAGE, needs_pipeline


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("pipeline", ["none", pytest.param(PACKAGE, marks=needs_pipeline)])
def test_labelled_relations_are_found(name: str, pipeline: str) -> None:
    """Most relations that a dream adds are right, and most labelled relations are found."""
    memory = labelled(name)
    found = score(memory, dreamt(memory, pipeline))
    assert found.precision >= 0.85, sorted(found.wrong)
    assert found.recall >= 0.6, sorted(found.missed)
