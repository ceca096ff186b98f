"""The direction in which edges are followed."""

from __future__ import annotations

from enum import StrEnum


class Direction(StrEnum):
    """The direction in which edges are followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"
