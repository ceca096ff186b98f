"""The laws of docs/spec/merge.md on real stores, which play random histories beside the model."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.model.merge.test_merge_law import COUNTEREXAMPLES, HISTORIES
from tests.sync.support import play


@pytest.mark.parametrize("history", COUNTEREXAMPLES.values(), ids=COUNTEREXAMPLES)
def test_counterexamples_to_simpler_laws(history: str) -> None:
    """A history on which a simpler law fails does not break real stores either."""
    play(bytes.fromhex(history))


@given(HISTORIES)
@settings(max_examples=80)
def test_stores_agree(history: bytes) -> None:
    """However devices write, pull, erase and reopen, they agree with the law and with each other."""
    play(history)


@pytest.mark.soak
@given(HISTORIES)
@settings(max_examples=10_000)
def test_stores_agree_for_long(history: bytes) -> None:
    """The same holds for 10,000 histories."""
    play(history)
