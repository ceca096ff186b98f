"""The public names of `engine` under the name that is installed: `from memroot import Engine`."""

from __future__ import annotations

import engine


def __getattr__(name: str) -> object:
    """Return a public name of `engine`, which loads it."""
    return getattr(engine, name)


def __dir__() -> list[str]:
    """Return the public names of `engine`."""
    return dir(engine)
