"""What callers see: atoms, edges, receipts, and the enums that go with them."""

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
    """Which way edges are followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """When, why and by whom something was hidden."""

    at: int
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Atom:
    """One piece of text and all that is recorded of it. Times are µs UTC, negative before 1970."""

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
    """What its caller keeps with it."""
    aliases: tuple[str, ...] = ()
    """Other names of what it is about."""
    folder: str | None = None
    """Which folder its source belongs to."""


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
    """The payload's commitment, 64 hex digits: compare it after an in-doubt failure."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one command.

    No events means that everything was already so. `subject` is the atom's id, the edge as
    `src type dst`, the predicate's name, or empty for a checkpoint.
    """

    subject: str
    events: tuple[EventRef, ...]
    state: State

    @property
    def id(self) -> str:
        """The same as `subject`: of a command on an atom, the atom's id."""
        return self.subject

    @property
    def changed(self) -> bool:
        """Whether anything was appended."""
        return bool(self.events)


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One event on a subject, or in the log, in words."""

    seq: int
    time: int
    kind: EventKind
    actor: str
    subject: str
    event_id: str
    detail: dict[str, object]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The overall root of the log of `size` events, and the roots it is made of."""

    size: int
    root: str
    log_root: str
    namespaces: dict[str, str]
