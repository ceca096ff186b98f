"""What a superseded atom is known by."""

from typing import Final

SUPERSEDED: Final = "superseded"
"""The tag of an atom that another one took the place of: no answer to a question unless asked for."""
