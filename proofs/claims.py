"""What can be claimed of a store: the half of a proof that the verifier brings along (SPEC: Proofs)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from proofs import limits
from proofs.leaves import State, edge_key
from proofs.log import SIZE_MAX
from proofs.subjects import (
    check_edge,
    check_id,
    check_identity,
    check_number,
    check_opened,
    check_root,
    check_state,
    check_term,
)


@dataclass(frozen=True)
class _AtomClaim:
    """A claim about one atom."""

    id: bytes

    def __post_init__(self) -> None:
        check_id(self.id)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.id


@dataclass(frozen=True)
class AtomIs(_AtomClaim):
    """The atom is recorded, and in this state."""

    number: ClassVar[int] = 1
    state: State = State.LIVE
    opened: bool = True
    """Whether the proof is to open the payload: content, title and the rest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_state(self.state, self.opened)


@dataclass(frozen=True)
class NoAtom(_AtomClaim):
    """No atom of this id was ever recorded."""

    number: ClassVar[int] = 2


@dataclass(frozen=True)
class _EdgeClaim:
    """A claim about one edge. `code` is its type's: one byte, or the two of a predicate."""

    src: bytes
    code: bytes
    dst: bytes

    def __post_init__(self) -> None:
        check_edge(self.src, self.code, self.dst)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return edge_key(self.src, self.code, self.dst)


@dataclass(frozen=True)
class EdgeIs(_EdgeClaim):
    """The edge is recorded, and in this state."""

    number: ClassVar[int] = 3
    state: State = State.LIVE
    opened: bool = True
    """Whether the proof is to open the payload: weight and data."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_state(self.state, self.opened)


@dataclass(frozen=True)
class NoEdge(_EdgeClaim):
    """No such edge was ever recorded."""

    number: ClassVar[int] = 4


@dataclass(frozen=True)
class _AtomTagClaim(_AtomClaim):
    """A claim about one atom and a tag by its identity (`proofs.sets.tag_identity` of the tag)."""

    identity: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_identity(self.identity)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.id + self.identity.encode()


@dataclass(frozen=True)
class HasTag(_AtomTagClaim):
    """The atom is live and has the tag."""

    number: ClassVar[int] = 5


@dataclass(frozen=True)
class LacksTag(_AtomTagClaim):
    """The atom is live and lacks the tag."""

    number: ClassVar[int] = 6


@dataclass(frozen=True)
class _TagClaim:
    """A claim about everything there is, and a tag."""

    identity: str

    def __post_init__(self) -> None:
        check_identity(self.identity)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.identity.encode()


@dataclass(frozen=True)
class AtomsTagged(_TagClaim):
    """Which live atoms have the tag: these and no others, and at least one."""

    number: ClassVar[int] = 7


@dataclass(frozen=True)
class NoneTagged(_TagClaim):
    """No live atom has the tag."""

    number: ClassVar[int] = 8


@dataclass(frozen=True)
class _TermClaim:
    """A claim about everything there is, and an analysed term."""

    term: str

    def __post_init__(self) -> None:
        check_term(self.term)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.term.encode()


@dataclass(frozen=True)
class AtomsMentioning(_TermClaim):
    """Which live atoms have the term in their text: these and no others, and at least one."""

    number: ClassVar[int] = 9


@dataclass(frozen=True)
class NoneMentioning(_TermClaim):
    """No live atom has the term in its text."""

    number: ClassVar[int] = 10


@dataclass(frozen=True)
class EventIs:
    """Event `seq` is in the log."""

    number: ClassVar[int] = 11
    seq: int
    opened: bool = True
    """Whether the proof is to open the payload."""

    def __post_init__(self) -> None:
        check_number("a seq", self.seq, 0, limits.SEQ_MAX)
        check_opened(self.opened)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.seq.to_bytes(8, "big")


@dataclass(frozen=True)
class LogBegins:
    """The log begins with the log of `size` events that has this log root."""

    number: ClassVar[int] = 12
    size: int
    root: bytes

    def __post_init__(self) -> None:
        check_number("a size", self.size, 1, SIZE_MAX)
        check_root(self.root)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.size.to_bytes(8, "big") + self.root


@dataclass(frozen=True)
class _RootClaim:
    """A claim about an overall root."""

    root: bytes

    def __post_init__(self) -> None:
        check_root(self.root)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.root


@dataclass(frozen=True)
class RootRecorded(_RootClaim):
    """A checkpoint event in the log holds this overall root."""

    number: ClassVar[int] = 13


@dataclass(frozen=True)
class BeginsWithRoot(_RootClaim):
    """The log begins with that of this store when its overall root was this one."""

    number: ClassVar[int] = 14


StateClaim = (
    AtomIs
    | NoAtom
    | EdgeIs
    | NoEdge
    | HasTag
    | LacksTag
    | AtomsTagged
    | NoneTagged
    | AtomsMentioning
    | NoneMentioning
)
"""Needs the roots of the namespaces."""

LogClaim = EventIs | LogBegins | RootRecorded | BeginsWithRoot
"""Needs only the root of the log."""

Claim = StateClaim | LogClaim

ALL: Final[dict[int, type[Claim]]] = {
    kind.number: kind
    for kind in (
        AtomIs,
        NoAtom,
        EdgeIs,
        NoEdge,
        HasTag,
        LacksTag,
        AtomsTagged,
        NoneTagged,
        AtomsMentioning,
        NoneMentioning,
        EventIs,
        LogBegins,
        RootRecorded,
        BeginsWithRoot,
    )
}
"""Number → claim. Numbers are part of the format: append only."""

LISTS: Final = (AtomsTagged, NoneTagged, AtomsMentioning, NoneMentioning)
"""Claims about every atom there is: they need the number of ordinals, which the index gives."""
