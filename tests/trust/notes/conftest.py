"""The command line of tests.cli, for tests of checkpoints."""

from tests.cli.conftest import bare, cli, surroundings

__all__ = ["bare", "cli", "surroundings"]
