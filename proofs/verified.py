"""The verified facts that `proofs.verify` returns: one class for each kind of fact, and their form in JSON.

Only objects returned by `proofs.verify` are verified. An object created in another way is not evidence.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any
from uuid import UUID

from proofs.claim_words import type_name, words_of
from proofs.claims import (
    AtomIs,
    AtomsMentioning,
    AtomsTagged,
    BeginsWithRoot,
    EdgeIs,
    EdgesOf,
    EventIs,
    HasTag,
    HeadSeen,
    LacksTag,
    LogBegins,
    NoAtom,
    NoEdge,
    NoneMentioning,
    NoneTagged,
    RootRecorded,
    TagsOf,
)
from proofs.events import AtomBody, Body, EdgeBody, Header
from proofs.leaves import Value

_IDS = frozenset({"id", "src", "dst", "other", "store_id"})


@dataclass(frozen=True, slots=True)
class _RecordedAtom:
    claim: AtomIs
    value: Value


@dataclass(frozen=True, slots=True)
class LiveAtom(_RecordedAtom):
    """The fact that an atom is live.

    `body` holds its content and other fields, or None if the proof does not open them. The tags in `body` are
    the tags that the atom was written with; `Tagged` and `Untagged` show its present tags.
    """

    body: AtomBody | None


@dataclass(frozen=True, slots=True)
class TombstonedAtom(_RecordedAtom):
    """The fact that an atom is tombstoned.

    `body` holds its content and other fields, or None if the proof does not open them.
    """

    body: AtomBody | None


@dataclass(frozen=True, slots=True)
class ErasedAtom(_RecordedAtom):
    """The fact that an atom was recorded and its content is erased."""


@dataclass(frozen=True, slots=True)
class AbsentAtom:
    """The fact that no atom with this id was ever recorded."""

    claim: NoAtom


@dataclass(frozen=True, slots=True)
class _RecordedEdge:
    claim: EdgeIs
    value: Value


@dataclass(frozen=True, slots=True)
class LiveEdge(_RecordedEdge):
    """The fact that an edge is live.

    `body` holds its weight and data, or None if the proof does not open them.
    """

    body: EdgeBody | None


@dataclass(frozen=True, slots=True)
class TombstonedEdge(_RecordedEdge):
    """The fact that an edge was removed.

    `body` holds its weight and data, or None if the proof does not open them.
    """

    body: EdgeBody | None


@dataclass(frozen=True, slots=True)
class ErasedEdge(_RecordedEdge):
    """The fact that an edge was recorded and its weight and data are erased."""


@dataclass(frozen=True, slots=True)
class AbsentEdge:
    """The fact that an edge was never recorded."""

    claim: NoEdge


@dataclass(frozen=True, slots=True)
class Tagged:
    """The fact that an atom in the claimed state has a tag."""

    claim: HasTag
    value: Value


@dataclass(frozen=True, slots=True)
class Untagged:
    """The fact that an atom in the claimed state does not have a tag."""

    claim: LacksTag
    value: Value


@dataclass(frozen=True, slots=True)
class ListedAtom:
    """One atom in the complete list of the live atoms with a tag or a term."""

    id: bytes
    value: Value
    tf: int | None = None
    """The number of times that the atom's text contains the term, at most 255; None in a list by tag."""


@dataclass(frozen=True, slots=True)
class AllTagged:
    """The fact that exactly the listed live atoms have a tag. They are in the order of their ordinals."""

    claim: AtomsTagged
    atoms: tuple[ListedAtom, ...]
    ordinals: int
    """N, the number of ordinals, including dead ordinals."""


@dataclass(frozen=True, slots=True)
class TagUnused:
    """The fact that no live atom has a tag."""

    claim: NoneTagged
    ordinals: int


@dataclass(frozen=True, slots=True)
class AllMentioning:
    """The fact that exactly the listed live atoms have a text that contains a term.

    The atoms are in the order of their ordinals.
    """

    claim: AtomsMentioning
    atoms: tuple[ListedAtom, ...]
    ordinals: int


@dataclass(frozen=True, slots=True)
class TermUnused:
    """The fact that the text of no live atom contains a term."""

    claim: NoneMentioning
    ordinals: int


@dataclass(frozen=True, slots=True)
class ListedEdge:
    """One edge in the complete list of the edges of an atom."""

    type: bytes
    """The code of the edge's type."""
    other: bytes
    """The id of the atom at the other end."""
    value: Value


@dataclass(frozen=True, slots=True)
class AllEdges:
    """The fact that exactly the listed edges were ever recorded in this direction (and of this type).

    Those whose value has the state live are all live edges. The edges are in the order of type and other end.
    """

    claim: EdgesOf
    edges: tuple[ListedEdge, ...]


@dataclass(frozen=True, slots=True)
class AllTags:
    """The fact that an atom has exactly these tags, given by their identities."""

    claim: TagsOf
    value: Value
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """The fact that an event is in the log.

    `body` is decoded from its payload, or None if the proof does not open it.
    """

    claim: EventIs
    header: Header
    body: Body | None


@dataclass(frozen=True, slots=True)
class LogPrefix:
    """The fact that the log begins with the claimed log."""

    claim: LogBegins | BeginsWithRoot
    size: int
    """The number of events in the claimed log."""
    into: int
    """The number of events in the later log, which begins with the claimed log."""


@dataclass(frozen=True, slots=True)
class RecordedRoot:
    """The fact that the checkpoint event `header` records the claimed root of the events before it."""

    claim: RootRecorded
    header: Header


@dataclass(frozen=True, slots=True)
class SeenHead:
    """The fact that the event `header` records that this store saw the claimed root of another store."""

    claim: HeadSeen
    header: Header


Verified = (
    LiveAtom
    | TombstonedAtom
    | ErasedAtom
    | AbsentAtom
    | LiveEdge
    | TombstonedEdge
    | ErasedEdge
    | AbsentEdge
    | Tagged
    | Untagged
    | AllTagged
    | TagUnused
    | AllMentioning
    | TermUnused
    | AllEdges
    | AllTags
    | LoggedEvent
    | LogPrefix
    | RecordedRoot
    | SeenHead
)


def to_plain(fact: Verified) -> dict[str, Any]:
    """Return a verified fact as a dictionary: the claim in words, the type of the fact, and its details.

    Bytes are in hex, ids are UUIDs, times are µs since 1970 in UTC.
    """
    details = {
        field.name: _plain(getattr(fact, field.name)) for field in fields(fact) if field.name != "claim"
    }
    result = {"claim": " ".join(words_of(fact.claim)), "shows": type(fact).__name__, **details}
    if isinstance(fact.claim, (AtomsMentioning, NoneMentioning)):
        result["about"] = "the term after analysis, not the word; a word can have several terms"
    return result


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, (ListedAtom, ListedEdge)):
        return {field.name: _plain(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(item, key) for key, item in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        if name == "weight":
            return struct.unpack(">f", value)[0]
        if name == "type":
            return type_name(value)
        return str(UUID(bytes=value)) if name in _IDS and len(value) == 16 else value.hex()
    return value.name.lower() if isinstance(value, IntEnum) else value
