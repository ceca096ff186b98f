"""The command line of `tests.cli`, for the command mirror."""

from tests.cli.conftest import bare, cli, pair, surroundings

__all__ = ["bare", "cli", "pair", "surroundings"]
