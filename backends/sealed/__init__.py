"""Sealed stores: a store of any kind whose values only the holder of a key can read."""

from collections.abc import Callable

ask: list[Callable[[str], str]] = []
"""The function that shows a text to a person and returns the secret that the person types. It is empty unless
the process is a command in a terminal."""

held: list[bool] = []
"""Not empty if this process has had the key of a sealed store. Then its temporary stores are sealed, too."""
