"""After any history any claim is proved if it is so, and refused if it is not, by a naive reference."""

from __future__ import annotations

import pytest

from backends.memory import MemoryBackend
from tests.model.proving import ProvingMachine
from tests.model.test_machine import check
from tests.support.soak import times


def in_memory() -> ProvingMachine:
    """A machine on a memory store."""
    return ProvingMachine(MemoryBackend, lambda backend: backend)


def test_any_claim_after_any_history() -> None:
    """Never the other way, with what is shown as the reference has it, against roots and checkpoints."""
    check(in_memory, examples=times(60), steps=25)


@pytest.mark.soak
def test_any_claim_after_any_history_for_long() -> None:
    """As above, a thousand times a hundred steps."""
    check(in_memory, examples=1000, steps=100)
