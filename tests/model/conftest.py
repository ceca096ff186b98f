"""The stateful machine verifies after each history: its scratch stores go where those of tests.engine go."""

from tests.store.conftest import _scratch_in_memory

__all__ = ["_scratch_in_memory"]
