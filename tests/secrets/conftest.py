"""The command line of `tests.cli` for these tests, too."""

from tests.cli.conftest import bare, cli, pair, surroundings

__all__ = ["bare", "cli", "pair", "surroundings"]
