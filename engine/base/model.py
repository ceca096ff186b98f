"""The values that callers give and receive: atoms, edges, receipts, checkpoints, directions."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.base.basic_values import UNCHANGED, Direction, EventRef, Unchanged
from proofs.events import EventKind, Scalar
from proofs.leaves import EdgeType, State

__all__ = [
    "UNCHANGED",
    "Atom",
    "Checkpoint",
    "Direction",
    "Edge",
    "EdgeType",
    "EventKind",
    "EventRef",
    "Held",
    "HistoryItem",
    "Receipt",
    "Scalar",
    "State",
    "Tombstone",
    "Unchanged",
]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A tombstone: the time (µs UTC) at which an atom or edge was removed, the reason, and the actor."""

    at: int
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Atom:
    """One text and everything that is recorded about it. Times are in µs UTC, negative before 1970."""

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
    """Additional fields that the caller defined."""
    aliases: tuple[str, ...] = ()
    """Alternative names of the subject of the text."""
    folder: str | None = None
    """The name of the folder to which the source belongs, or None."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One typed, directed edge between two atoms. Times are in µs UTC."""

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

    @property
    def place(self) -> tuple[str, str, str]:
        """The place of the edge in a list of edges: its source, type and target."""
        return self.src, self.type, self.dst


@dataclass(frozen=True, slots=True)
class Held:
    """The atom that holds a text already, which therefore was not added."""

    id: str
    equal: bool
    """True if the texts differ at most in white space and in the case of the letters A to Z."""
    distance: int
    """The number of bits in which the fingerprints of nearly equal texts differ; 0 for equal texts."""
    title: str | None
    snippet: str
    """The beginning of the atom's text, on one line."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of one command.

    If `events` is empty, the store already had the requested state. `subject` is an atom's id, an edge
    written as `src type dst`, or a predicate's name; for a checkpoint it is empty.
    """

    subject: str
    events: tuple[EventRef, ...]
    state: State
    held: Held | None = None
    """The atom named by `subject`, if it holds the text that was to be added; otherwise None."""

    @property
    def id(self) -> str:
        """The value of `subject`. For a command on an atom, this is the atom's id."""
        return self.subject

    @property
    def changed(self) -> bool:
        """True if the command appended an event."""
        return bool(self.events)


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One event in the history of an atom, an edge or the whole log, in readable form."""

    seq: int
    time: int
    kind: EventKind
    actor: str
    subject: str
    event_id: str
    detail: dict[str, object]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The overall root of a store with `size` events, and the roots from which that root is computed."""

    size: int
    root: str
    log_root: str
    namespaces: dict[str, str]
    state: str | None = None
    """The digest of the state, in which devices agree after a full exchange, if it was asked for."""
