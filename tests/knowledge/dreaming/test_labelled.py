"""The names that the dreamer finds in texts whose names are labelled."""

from __future__ import annotations

import pytest

from bench.labelled import read_memory
from bench.labelled_names import add_labelled, score_names
from tests.support.engines import engine_on

PRECISION_MIN = 0.9
RECALL_MIN = 0.7


@pytest.mark.parametrize("name", ["home", "work"])
def test_names_are_found_as_a_reader_finds_them(name: str) -> None:
    """At least 9 of 10 found names are right, and at least 7 of 10 labelled names are found."""
    memory = read_memory(name)
    with engine_on() as engine:
        ids = add_labelled(engine, memory)
        engine.dream()
        for score in score_names(engine, ids, memory):
            assert score.precision >= PRECISION_MIN, score.wrong
            assert score.recall >= RECALL_MIN, score.missing
