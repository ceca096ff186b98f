"""Sealed stores: a store of any kind whose values only the holder of a key can read."""

from collections.abc import Callable

FILE, COMMAND = "ENGINE_KEY_FILE", "ENGINE_KEY_COMMAND"
"""The variables of the environment that name a file with a secret, or a command that prints it."""

ask: list[Callable[[str], str]] = []
"""The function that shows a text to a person and returns the secret that the person types. It is empty unless
the process is a command in a terminal."""

held: list[bool] = []
"""Not empty if this process has had the key of a sealed store. Then its temporary stores are sealed, too."""
