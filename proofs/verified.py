"""What a verifier hands out once everything holds: a type of its own for each thing that can be shown.

Objects of these types made by anybody but `proofs.verify` show nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from proofs.claims import (
    AtomIs,
    AtomsMentioning,
    AtomsTagged,
    BeginsWithRoot,
    EdgeIs,
    EventIs,
    HasTag,
    LacksTag,
    LogBegins,
    NoAtom,
    NoEdge,
    NoneMentioning,
    NoneTagged,
    RootRecorded,
)
from proofs.events import AtomBody, Body, EdgeBody, Header
from proofs.leaves import Value


@dataclass(frozen=True, slots=True)
class _RecordedAtom:
    claim: AtomIs
    value: Value


@dataclass(frozen=True, slots=True)
class LiveAtom(_RecordedAtom):
    """The atom is live; `body` is its content and the rest, if the proof opens it.

    The tags in `body` are those it was written with; which it has now, `Tagged` and `Untagged` say.
    """

    body: AtomBody | None


@dataclass(frozen=True, slots=True)
class TombstonedAtom(_RecordedAtom):
    """The atom is hidden and kept; `body` is its content and the rest, if the proof opens it."""

    body: AtomBody | None


@dataclass(frozen=True, slots=True)
class ErasedAtom(_RecordedAtom):
    """The atom was recorded, and its content is destroyed."""


@dataclass(frozen=True, slots=True)
class AbsentAtom:
    """No atom of this id was ever recorded."""

    claim: NoAtom


@dataclass(frozen=True, slots=True)
class _RecordedEdge:
    claim: EdgeIs
    value: Value


@dataclass(frozen=True, slots=True)
class LiveEdge(_RecordedEdge):
    """The edge is live; `body` is its weight and data, if the proof opens them."""

    body: EdgeBody | None


@dataclass(frozen=True, slots=True)
class TombstonedEdge(_RecordedEdge):
    """The edge was removed; `body` is its weight and data, if the proof opens them."""

    body: EdgeBody | None


@dataclass(frozen=True, slots=True)
class ErasedEdge(_RecordedEdge):
    """The edge was recorded, and its weight and data are destroyed."""


@dataclass(frozen=True, slots=True)
class AbsentEdge:
    """No such edge was ever recorded."""

    claim: NoEdge


@dataclass(frozen=True, slots=True)
class Tagged:
    """The live atom has the tag."""

    claim: HasTag
    value: Value


@dataclass(frozen=True, slots=True)
class Untagged:
    """The live atom lacks the tag."""

    claim: LacksTag
    value: Value


@dataclass(frozen=True, slots=True)
class ListedAtom:
    """One atom of a complete list."""

    id: bytes
    value: Value
    tf: int | None = None
    """How often its text has the term, at most 255; None in a list by tag."""


@dataclass(frozen=True, slots=True)
class AllTagged:
    """The live atoms that have the tag, by ordinal; there are no others."""

    claim: AtomsTagged
    atoms: tuple[ListedAtom, ...]
    ordinals: int
    """N: how many ordinals there are, dead ones too."""


@dataclass(frozen=True, slots=True)
class TagUnused:
    """No live atom has the tag."""

    claim: NoneTagged
    ordinals: int


@dataclass(frozen=True, slots=True)
class AllMentioning:
    """The live atoms whose text has the term, by ordinal; there are no others."""

    claim: AtomsMentioning
    atoms: tuple[ListedAtom, ...]
    ordinals: int


@dataclass(frozen=True, slots=True)
class TermUnused:
    """No live atom has the term in its text."""

    claim: NoneMentioning
    ordinals: int


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """The event is in the log; `body` is what its payload says, if the proof opens it."""

    claim: EventIs
    header: Header
    body: Body | None


@dataclass(frozen=True, slots=True)
class LogPrefix:
    """The log begins with the claimed one."""

    claim: LogBegins | BeginsWithRoot
    size: int
    """How many events the claimed one has."""
    into: int
    """How many events the log that begins with it has."""


@dataclass(frozen=True, slots=True)
class RecordedRoot:
    """The checkpoint event `header` in the log holds the claimed overall root, of the events before it."""

    claim: RootRecorded
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
    | LoggedEvent
    | LogPrefix
    | RecordedRoot
)
