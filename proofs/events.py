"""Decoded journal events: one header and one body each, and the further fields of bodies (SPEC, section 3.4).

Headers are public and permanent; bodies hold all personal data and can be destroyed. Headers and bodies are
tuples, because a bulk run creates millions of them. The last fields of every body are the further fields: its
encoding has them in a map at its end. Each of them is None if it is absent. Every body has the fields
`request`, the key that the client chose for its request, and `pipeline`, what made the event. The body of an
atom also has the fields `meta`, `aliases` and `folder`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
    FOREIGN_HEAD = 14
    VERSION_NOTED = 15
    ATOM_NOTED = 16
    EDGE_NOTED = 17
    FACT_32, FACT_33, FACT_34, FACT_35, FACT_36, FACT_37, FACT_38, FACT_39 = range(32, 40)
    FACT_40, FACT_41, FACT_42, FACT_43, FACT_44, FACT_45, FACT_46, FACT_47 = range(40, 48)
    FACT_48, FACT_49, FACT_50, FACT_51, FACT_52, FACT_53, FACT_54, FACT_55 = range(48, 56)
    FACT_56, FACT_57, FACT_58, FACT_59, FACT_60, FACT_61, FACT_62, FACT_63 = range(56, 64)

    @property
    def word(self) -> str:
        """The name in the form in which people read it, such as `atom_added` or `fact 40`."""
        return self.name.lower().replace("fact_", "fact ")


FACT_KINDS = frozenset(map(EventKind, range(32, 64)))
"""The kinds of facts: events with opaque data, which change no state that a root covers.

A fact may be about an atom. Then it is destroyed together with the atom's other events.
"""

ERASING_KINDS = frozenset({EventKind.ERASED, EventKind.EDGE_ERASED})
"""The kinds of events that destroy the payloads of earlier events on the same subject.

The payload of an earlier event is kept only if the earlier event is itself of one of these kinds.
"""

RESERVED_KINDS = {12: "analyzer_changed"}
"""Reserved kind numbers, which this format version neither writes nor accepts."""


class GenesisDetail(NamedTuple):
    """The detail of the first event: the store's id, its analyzer, and what its roots depend on."""

    store_id: bytes
    analyzer: str
    fingerprint: bytes
    label_commitment: bytes
    """The `proofs.hashing.label_commitment` of the label key."""
    rules: int
    """The version of the namespaces and of the groups of sets (`proofs.hashing.RULES`)."""


class AtomDetail(NamedTuple):
    """The detail of an event on one atom. `ordinal` is the ordinal of the atom's content after the event."""

    id: bytes
    ordinal: int
    replaced: int | None = None
    """The ordinal of the content that a revision replaces. Only the header of a revision has this field."""


class TypeDetail(NamedTuple):
    """The detail that registers a predicate: its code, which follows from the name in the body."""

    code: bytes


class EdgeDetail(NamedTuple):
    """The detail of an event on one edge."""

    src: bytes
    type: bytes
    dst: bytes


class CheckpointDetail(NamedTuple):
    """The detail of a checkpoint: the overall root of the store just before this event."""

    root: bytes


class ForeignHeadDetail(NamedTuple):
    """The detail of an event that says that this store saw a state of another store."""

    store_id: bytes
    size: int
    """The number of events of the other store, at least 1."""
    log_root: bytes
    """The root of the log of the other store at this size."""
    root: bytes | None
    """The overall root of the other store at this size, or None if it is not known."""

    def states(self, store_id: bytes, size: int, root: bytes) -> bool:
        """Return whether this is the head of a store with this id, size and overall root."""
        return (store_id, size, root) == (self.store_id, self.size, self.root)


class FactDetail(NamedTuple):
    """The detail of a fact: the atom that it is about, which need not be recorded, or None."""

    id: bytes | None


Detail = (
    GenesisDetail | AtomDetail | TypeDetail | EdgeDetail | CheckpointDetail | ForeignHeadDetail | FactDetail
)


class Origin(NamedTuple):
    """The event of another store that an event takes in or restates."""

    store_id: bytes
    seq: int
    kind: int
    """The number of the kind of the other event."""
    commitment: bytes
    time: int
    """The time of the other event in µs since 1970 UTC: the time at which the change happened."""


class GenesisBody(NamedTuple):
    """The body of the first event: the secrets of the store."""

    id_key: bytes
    """The key of atom ids. Without it, an id reveals nothing about the content of its atom."""
    label_key: bytes
    """The key of the labels of terms and sets."""
    row_key: bytes
    """The key from which the salts of hashed rows are computed."""
    request: str | None = None
    pipeline: str | None = None


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
    occurrence: int | None
    """The number of equal texts that precede this text in the same source.

    The default id of the atom depends on this number, unless it is None: then the id depends on the key or,
    without a key, on the sequence.
    """
    key: str | None = None
    """The caller's own name for the atom within the source, or None.

    If there is a name, the id of the atom is derived from the name.
    """
    request: str | None = None
    pipeline: str | None = None
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
    pipeline: str | None = None


class ReasonBody(NamedTuple):
    """The body that holds the reason for a tombstone, a revival, or the removal or erasure of an edge.

    The text of the reason may be empty.
    """

    reason: str
    request: str | None = None
    pipeline: str | None = None


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
    pipeline: str | None = None


class TypeBody(NamedTuple):
    """The body of an event that assigns a code to a predicate: the name of the predicate."""

    name: str
    request: str | None = None
    pipeline: str | None = None


class EdgeBody(NamedTuple):
    """The body of an edge: its weight (four bytes, IEEE 754 binary32, big-endian) and opaque CBOR data."""

    weight: bytes
    data: bytes
    request: str | None = None
    pipeline: str | None = None


class CheckpointBody(NamedTuple):
    """The body of a checkpoint: the name and root of each namespace, ascending by name."""

    roots: tuple[tuple[str, bytes], ...]
    request: str | None = None
    pipeline: str | None = None


class ForeignHeadBody(NamedTuple):
    """The body of an event about another store: the checkpoint note with its head, or None."""

    note: str | None
    request: str | None = None
    pipeline: str | None = None


class AtomNotedBody(NamedTuple):
    """The body of an event that records a statement about an atom without an effect: a reason, and tags.

    The reason is None if an erasure reaches the statement, or if its payload is destroyed in the other store.
    """

    reason: str | None
    tags: tuple[str, ...]
    request: str | None = None
    pipeline: str | None = None


class EdgeNotedBody(NamedTuple):
    """The body of an event that records a statement about an edge without an effect.

    The weight and the data are those of an edge that was added. All three fields are None if the payload is
    destroyed in the other store.
    """

    weight: bytes | None
    data: bytes | None
    reason: str | None
    request: str | None = None
    pipeline: str | None = None


class FactBody(NamedTuple):
    """The body of a fact: bytes that this version does not interpret."""

    data: bytes
    request: str | None = None
    pipeline: str | None = None


Body = (
    GenesisBody
    | AtomBody
    | TagsBody
    | ReasonBody
    | ErasedBody
    | TypeBody
    | EdgeBody
    | CheckpointBody
    | ForeignHeadBody
    | AtomNotedBody
    | EdgeNotedBody
    | FactBody
)


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
    """The seq of the previous event on the same subject.

    None for the first event on a subject, and always for an event without a subject.
    """
    detail: Detail
    origin: Origin | None = None
    """The event of another store that this event takes in or restates, or None."""


class Entry(NamedTuple):
    """One event, as passed to the fold (which computes the state) and to the followers (which index it)."""

    header: Header
    body: Body | None
    """The body, or None if the payload was destroyed."""
    leaf: bytes
    """The hash of the header as a leaf of the log."""

    @property
    def time(self) -> int:
        """The time at which the change happened: the time of the origin or, without one, of the header."""
        header = self.header
        return header.time if header.origin is None else header.origin.time


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
    ("pipeline", text(limits.PIPELINE_BYTES_MAX, 1)),
    ("meta", is_meta),
    ("aliases", many(text(limits.ALIAS_BYTES_MAX, 1), limits.ALIASES_MAX, 1)),
    ("folder", text(limits.FOLDER_BYTES_MAX, 1)),
)
"""The name and check of each further field, indexed by the number of the field."""
OF_EVERY_BODY: Final = (0, 1)
"""The numbers of the further fields that every body may have. The body of an atom may have all of them."""


def further_numbers(make: object) -> Sequence[int]:
    """Return the numbers of the further fields of bodies of the class `make`, in the order of its fields."""
    return range(len(FURTHER)) if make is AtomBody else OF_EVERY_BODY


def read_further(value: Any, allowed: Sequence[int], where: str) -> dict[str, Any]:
    """Return the further fields in the map `value` at the end of a body.

    Only the fields with the numbers in `allowed` are accepted.

    Raises:
        FormError: `value` is not a map of allowed fields, or the map is empty.
    """
    if type(value) is not dict or not value:
        raise FormError(f"{where}: the item after the fields is not a map of further fields")
    found: dict[str, Any] = {}
    for number, item in value.items():
        if type(number) is not int or number not in allowed or not FURTHER[number][1](item):
            raise FormError(f"{where}: further field {number!r:.20} is malformed")
        name = FURTHER[number][0]
        found[name] = tuple(item) if type(item) is list else item
    return found
