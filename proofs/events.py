"""Decoded journal events: one header and one body each, and the further fields of bodies (SPEC, section 3.4).

Headers are public and permanent; bodies hold all personal data and can be destroyed. Headers and bodies are
tuples, because a bulk run creates millions of them. The last fields of every body are the further fields: its
encoding has them in a map at its end. Each of them is None if it is absent. Every body has the fields
`request`, the key that the client chose for its request, and `origin`, the producer of the event. The body of
an atom also has the fields `meta`, `aliases` and `folder`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final, NamedTuple

import cbor2

from proofs import limits
from proofs.forms import FormError, many, text

Scalar = bool | int | float | str
"""The type of a value in `meta`."""


_META_KEY: Final = text(limits.META_KEY_BYTES_MAX, 1)


_META_TEXT: Final = text(limits.META_TEXT_BYTES_MAX)


class EventKind(IntEnum):
    """The kind of an event.

    The numbering is append-only: a number is never reused or given a different meaning.
    """

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
"""The kinds of events that destroy the payloads of earlier events on the same subject.

The payload of an earlier event is kept only if the earlier event is itself of one of these kinds.
"""

RESERVED_KINDS = {12: "analyzer_changed"}
"""Reserved kind numbers, which this format version neither writes nor accepts."""


class GenesisDetail(NamedTuple):
    """The detail of the first event: the store's id, and the analyzer that the store uses for texts."""

    store_id: bytes
    analyzer: str
    fingerprint: bytes


class AtomDetail(NamedTuple):
    """The detail of an event on one atom. `ordinal` is the ordinal of the atom's content after the event."""

    id: bytes
    ordinal: int
    replaced: int | None
    """The ordinal of the content that a revision replaces, or None for every other kind of event."""


class TypeDetail(NamedTuple):
    """The detail that assigns a two-byte code to a predicate; the name of the predicate is in the body."""

    code: bytes


class EdgeDetail(NamedTuple):
    """The detail of an event on one edge."""

    src: bytes
    type: bytes
    dst: bytes


class CheckpointDetail(NamedTuple):
    """The detail of a checkpoint: the overall root of the store just before this event."""

    root: bytes


Detail = GenesisDetail | AtomDetail | TypeDetail | EdgeDetail | CheckpointDetail


class GenesisBody(NamedTuple):
    """The body of the first event: the secret key with which atom ids are computed.

    Without this key, an id reveals nothing about the content of its atom.
    """

    id_key: bytes
    request: str | None = None
    origin: str | None = None


class AtomBody(NamedTuple):
    """The body that holds a whole atom. The body of a revision is complete, too: it repeats every field."""

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
    """The time at which the text was written, in µs since 1970 UTC (negative before 1970). None means the
    time of the event.
    """
    occurrence: int
    """The number of equal texts that precede this text in the same source.

    The default id of the atom depends on this number.
    """
    key: str | None = None
    """The caller's own name for the atom within the source, or None.

    If there is a name, the id of the atom is derived from the name.
    """
    request: str | None = None
    origin: str | None = None
    meta: dict[str, Scalar] | None = None
    """The caller's own fields of the atom, in canonical order. The dictionary is never modified."""
    aliases: tuple[str, ...] | None = None
    """Alternative names of the subject of the text."""
    folder: str | None = None
    """The folder that contains the source."""


class TagsBody(NamedTuple):
    """The body of an event that adds tags to an atom or removes tags. It holds these tags."""

    tags: tuple[str, ...]
    request: str | None = None
    origin: str | None = None


class ReasonBody(NamedTuple):
    """The body that holds the reason for a tombstone, a revival, or the removal or erasure of an edge.

    The text of the reason may be empty.
    """

    reason: str
    request: str | None = None
    origin: str | None = None


class ErasedBody(NamedTuple):
    """The reason why an atom's content was destroyed, and the hashes of the content.

    This body is never destroyed.
    """

    reason: str
    contents: tuple[bytes, ...]
    """The `proofs.hashing.destroyed_hash` of each content, ascending.

    Anyone who has the key of atom ids can test whether a guessed text is one of the destroyed contents.
    """
    request: str | None = None
    origin: str | None = None


class TypeBody(NamedTuple):
    """The body of an event that assigns a code to a predicate: the name of the predicate."""

    name: str
    request: str | None = None
    origin: str | None = None


class EdgeBody(NamedTuple):
    """The body of an edge: its weight (four bytes, IEEE 754 binary32, big-endian) and opaque CBOR data."""

    weight: bytes
    data: bytes
    request: str | None = None
    origin: str | None = None


class CheckpointBody(NamedTuple):
    """The body of a checkpoint: the roots of the namespaces, in the order of `proofs.hashing.NAMESPACES`."""

    roots: tuple[bytes, ...]
    request: str | None = None
    origin: str | None = None


Body = GenesisBody | AtomBody | TagsBody | ReasonBody | ErasedBody | TypeBody | EdgeBody | CheckpointBody


class Header(NamedTuple):
    """The header of an event: the part that is public and is never destroyed."""

    seq: int
    time: int
    """The time of the event in µs since 1970 UTC, never earlier than the time of the previous event.

    The order of events does not depend on the time.
    """
    kind: EventKind
    actor: str
    commitment: bytes
    """The commitment to the payload; it is also the id of the event."""
    prev: int | None
    """The seq of the previous event on the same subject; None for the first event on a subject."""
    detail: Detail


class Entry(NamedTuple):
    """One event, as passed to the fold (which computes the state) and to the followers (which index it)."""

    header: Header
    body: Body | None
    """The body, or None if the payload was destroyed."""
    leaf: bytes
    """The hash of the header as a leaf of the log."""


def is_scalar(value: object) -> bool:
    """Return whether a value may occur in `meta`: a boolean, a number or a text.

    Each number has one form: an integer within ±(2^53 − 1), or a finite float that is not an integer.
    """
    if type(value) is int:
        return abs(value) <= limits.META_INTEGER_MAX
    if type(value) is float:
        return math.isfinite(value) and not value.is_integer()
    return type(value) is bool or _META_TEXT(value)


def is_meta(value: object) -> bool:
    """Return whether `value` may be the `meta` of an atom."""
    return (
        type(value) is dict
        and 0 < len(value) <= limits.META_ENTRIES_MAX
        and all(map(_META_KEY, value))
        and all(map(is_scalar, value.values()))
        and len(cbor2.dumps(value, canonical=True)) <= limits.META_BYTES_MAX
    )


FURTHER: Final[tuple[tuple[str, Callable[[Any], bool]], ...]] = (
    ("request", text(limits.REQUEST_BYTES_MAX, 1)),
    ("origin", text(limits.ORIGIN_BYTES_MAX, 1)),
    ("meta", is_meta),
    ("aliases", many(text(limits.ALIAS_BYTES_MAX, 1), limits.ALIASES_MAX, 1)),
    ("folder", text(limits.FOLDER_BYTES_MAX, 1)),
)
"""The name and check of each further field, indexed by the number of the field.

Every body may have the first two fields; the body of an atom may have all of them.
"""
OF_EVERY_BODY: Final = 2
"""The number of further fields that every body may have."""


def read_further(value: Any, allowed: int, where: str) -> dict[str, Any]:
    """Return the further fields in the map `value` at the end of a body.

    Only the first `allowed` fields of `FURTHER` are accepted.

    Raises:
        FormError: `value` is not a map of allowed fields, or the map is empty.
    """
    if type(value) is not dict or not value:
        raise FormError(f"{where}: the item after the fields is not a map of further fields")
    fields = {}
    for number, item in value.items():
        if type(number) is not int or not 0 <= number < allowed or not FURTHER[number][1](item):
            raise FormError(f"{where}: further field {number!r:.20} is malformed")
        fields[FURTHER[number][0]] = tuple(item) if type(item) is list else item
    return fields
