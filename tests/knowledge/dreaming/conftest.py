"""The command line of tests.cli; and scratch stores of verifications go where those of tests.engine go."""

from tests.cli.conftest import bare, cli, surroundings
from tests.store.conftest import _scratch_in_memory

__all__ = ["_scratch_in_memory", "bare", "cli", "surroundings"]
