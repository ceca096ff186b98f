"""After any history a claim is proved exactly if it holds for a naive reference."""

from __future__ import annotations

import pytest

from backends.memory import MemoryBackend
from tests.model.proving import ProvingMachine
from tests.model.test_machine import check
from tests.support.soak import times

pytestmark = pytest.mark.slow


def in_memory() -> ProvingMachine:
    """Return a machine on a memory store."""
    return ProvingMachine(MemoryBackend, lambda backend: backend)


def test_any_claim_after_any_history() -> None:
    """Claims are proved exactly if they hold for the reference, against roots and checkpoints."""
    check(in_memory, examples=times(40), steps=25)


@pytest.mark.soak
def test_any_claim_after_any_history_for_long() -> None:
    """Claims are proved exactly if they hold, in a thousand runs of a hundred steps."""
    check(in_memory, examples=1000, steps=100)
