"""The few values of `engine.base.model` that every open store needs. To load all of them takes 5 ms more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from proofs.events import EventKind


@dataclass(frozen=True, slots=True)
class EventRef:
    """A reference to an event that a command appended."""

    seq: int
    kind: EventKind
    event_id: str
    """The commitment to the event's payload, as 64 hexadecimal digits; `Engine.was_kept` takes this value."""


class Direction(StrEnum):
    """The direction in which edges are followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


class Unchanged(Enum):
    """The type of the constant `UNCHANGED`: an enumeration that has no other member."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""A field of `Revise` that has this value is not changed in the atom."""
