"""The relations found in labelled texts."""

from __future__ import annotations

import pytest

from bench.labelled_relations import dreamt, labelled, score
from tests.knowledge.dreaming.pipeline import PACKAGE, needs_pipeline

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["home", "work"])
@pytest.mark.parametrize("pipeline", ["none", pytest.param(PACKAGE, marks=needs_pipeline)])
def test_labelled_relations_are_found(name: str, pipeline: str) -> None:
    """At least nine of ten relations are right, and at least four of ten labelled relations are found."""
    memory = labelled(name)
    found = score(memory, dreamt(memory, pipeline))
    assert found.precision >= 0.9, sorted(found.wrong)
    assert found.recall >= 0.4, sorted(found.missed)
