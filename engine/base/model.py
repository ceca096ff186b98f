"""The values that callers receive: atoms, edges, receipts, and their enums."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from proofs.events import EventKind
from proofs.further import Scalar
from proofs.leaves import EdgeType, State

__all__ = [
    "Atom",
    "Checkpoint",
    "Direction",
    "Edge",
    "EdgeType",
    "EventKind",
    "EventRef",
    "HistoryItem",
    "Receipt",
    "Scalar",
    "State",
    "Tombstone",
]


class Direction(StrEnum):
    """The direction in which edges are followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The time (µs UTC), the reason and the actor of a tombstone."""

    at: int
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Atom:
    """One piece of text and everything recorded about it. Times are µs UTC, negative before 1970."""

    id: str
    ordinal: int
    state: State
    version: int
    content: str
    title: str | None
    kind: str
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    source: str | None
    sequence: int | None
    key: str | None
    provenance: str
    trust: int | None
    created: int
    updated: int
    created_seq: int
    payload_seq: int
    last_seq: int
    tombstone: Tombstone | None
    meta: dict[str, Scalar] = field(default_factory=dict, hash=False)
    """The caller's own fields."""
    aliases: tuple[str, ...] = ()
    """Other names of the subject of the text."""
    folder: str | None = None
    """The folder that the source belongs to."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One typed, directed edge between two atoms. Times are µs UTC."""

    src: str
    type: str
    dst: str
    weight: float
    data: bytes
    created_at: int
    created_by: str
    state: State
    tombstone: Tombstone | None
    created_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class EventRef:
    """An event that a command appended."""

    seq: int
    kind: EventKind
    event_id: str
    """The payload's commitment, 64 hex digits. Compare it after an `InDoubtError`."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of one command.

    If `events` is empty, the store already had the requested state. `subject` is the atom's id, the edge as
    `src type dst`, the predicate's name, or empty for a checkpoint.
    """

    subject: str
    events: tuple[EventRef, ...]
    state: State

    @property
    def id(self) -> str:
        """The same as `subject`; for a command on an atom, the atom's id."""
        return self.subject

    @property
    def changed(self) -> bool:
        """True if the command appended an event."""
        return bool(self.events)


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One event of a subject or of the log, in readable form."""

    seq: int
    time: int
    kind: EventKind
    actor: str
    subject: str
    event_id: str
    detail: dict[str, object]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The overall root of the log of `size` events, and the roots it is computed from."""

    size: int
    root: str
    log_root: str
    namespaces: dict[str, str]
