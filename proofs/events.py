"""What the journal holds, decoded: one header and one body an event (SPEC, section 3.4).

Headers are public and permanent; bodies carry everything personal and can be destroyed. Tuples,
because a bulk run makes millions of them. The last fields of every body are those of `proofs.further`, None
where they are absent: `request`, a client's own key of what it asked for; `origin`, what made the event;
and of an atom's body `meta`, `aliases` and `folder`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from proofs.further import Scalar


class EventKind(IntEnum):
    """What happened. Append-only numbering: a number is never reused or given another meaning."""

    GENESIS = 0
    ATOM_ADDED = 1
    ATOM_REVISED = 2
    ATOM_TOMBSTONED = 3
    ATOM_REVIVED = 4
    TAGS_ADDED = 5
    TAGS_REMOVED = 6
    EDGE_TYPE_REGISTERED = 7
    EDGE_ADDED = 8
    EDGE_REMOVED = 9
    CHECKPOINT = 10
    ERASED = 11
    EDGE_ERASED = 13


ERASING_KINDS = frozenset({EventKind.ERASED, EventKind.EDGE_ERASED})
"""What destroys the payloads of all earlier events on the same subject, but for those of these kinds."""

RESERVED_KINDS = {12: "analyzer_changed"}
"""Numbers that are taken and that this format version neither writes nor accepts."""


class GenesisDetail(NamedTuple):
    """The first event: who this store is and how it reads text."""

    store_id: bytes
    analyzer: str
    fingerprint: bytes


class AtomDetail(NamedTuple):
    """An event on one atom; `ordinal` is the one its current content has after the event."""

    id: bytes
    ordinal: int
    replaced: int | None
    """The ordinal that a revision makes dead; None in every other kind."""


class TypeDetail(NamedTuple):
    """A predicate gets its two-byte code; the name is in the body."""

    code: bytes


class EdgeDetail(NamedTuple):
    """An event on one edge."""

    src: bytes
    type: bytes
    dst: bytes


class CheckpointDetail(NamedTuple):
    """The overall root of the log that ends just before this event."""

    root: bytes


Detail = GenesisDetail | AtomDetail | TypeDetail | EdgeDetail | CheckpointDetail


class GenesisBody(NamedTuple):
    """The secret that keys atom ids, so that an id tells nothing about a content."""

    id_key: bytes
    request: str | None = None
    origin: str | None = None


class AtomBody(NamedTuple):
    """An atom in full; a revision repeats all of it."""

    content: str
    title: str | None
    kind: str
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    source: str | None
    sequence: int | None
    provenance: str
    trust: int | None
    created: int | None
    """When the text was written, in µs UTC, negative before 1970; None: the event's own time counts."""
    occurrence: int
    """How many equal texts come before this one in its source: part of the default id."""
    key: str | None = None
    """The caller's own name for the atom within its source; the id follows from it when given."""
    request: str | None = None
    origin: str | None = None
    meta: dict[str, Scalar] | None = None
    """What the caller keeps with the atom, in canonical order; never changed in place."""
    aliases: tuple[str, ...] | None = None
    """Other names of what the text is about."""
    folder: str | None = None
    """Which folder the source belongs to."""


class TagsBody(NamedTuple):
    """The tags that an event adds or removes."""

    tags: tuple[str, ...]
    request: str | None = None
    origin: str | None = None


class ReasonBody(NamedTuple):
    """Why something was hidden or shown again; may be empty."""

    reason: str
    request: str | None = None
    origin: str | None = None


class ErasedBody(NamedTuple):
    """Why an atom's content was destroyed, and what it is recognised by. It stays when all else is gone."""

    reason: str
    contents: tuple[bytes, ...]
    """`proofs.hashing.destroyed_hash` of each content, ascending: who has the id key can test guesses."""
    request: str | None = None
    origin: str | None = None


class TypeBody(NamedTuple):
    """The name of a predicate."""

    name: str
    request: str | None = None
    origin: str | None = None


class EdgeBody(NamedTuple):
    """An edge's weight (four bytes, IEEE 754 binary32, big-endian) and its opaque CBOR data."""

    weight: bytes
    data: bytes
    request: str | None = None
    origin: str | None = None


class CheckpointBody(NamedTuple):
    """The roots of the namespaces, in the order of `engine.ledger.layout.NAMESPACES`."""

    roots: tuple[bytes, ...]
    request: str | None = None
    origin: str | None = None


Body = GenesisBody | AtomBody | TagsBody | ReasonBody | ErasedBody | TypeBody | EdgeBody | CheckpointBody


class Header(NamedTuple):
    """The public half of an event."""

    seq: int
    time: int
    """µs UTC, never smaller than the event before; order never depends on it."""
    kind: EventKind
    actor: str
    commitment: bytes
    """Binds the payload, and is the event's id."""
    prev: int | None
    """The seq of the event before this one on the same subject."""
    detail: Detail


class Entry(NamedTuple):
    """One event as the fold and the followers see it."""

    header: Header
    body: Body | None
    """None where the payload was destroyed; folding goes on without it."""
    leaf: bytes
    """The header's leaf hash in the log: what cursors name."""
