"""The value of a field that a command leaves unchanged."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Unchanged(Enum):
    """The type of the constant `UNCHANGED`: an enumeration that has no other member."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""A field of `Revise` that has this value is not changed in the atom."""
