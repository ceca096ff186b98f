"""What can be claimed of a store: the half of a proof that the verifier brings along (SPEC: Proofs)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from proofs import limits
from proofs.errors import ProofError
from proofs.forms import edge_code
from proofs.hashing import DIGEST_BYTES
from proofs.leaves import State, edge_key
from proofs.log import SIZE_MAX
from proofs.rows import is_term
from proofs.sets import tag_identity

ID_BYTES: Final = 16
IDENTITY_BYTES_MAX: Final = 1024


@dataclass(frozen=True)
class _OfAtom:
    """A claim about one atom."""

    id: bytes

    def __post_init__(self) -> None:
        _check_id(self.id)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.id


@dataclass(frozen=True)
class AtomIs(_OfAtom):
    """The atom is recorded, and in this state."""

    number: ClassVar[int] = 1
    state: State = State.LIVE
    opened: bool = True
    """Whether the proof is to open the payload: content, title and the rest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_state(self.state, self.opened)


@dataclass(frozen=True)
class NoAtom(_OfAtom):
    """No atom of this id was ever recorded."""

    number: ClassVar[int] = 2


@dataclass(frozen=True)
class _OfEdge:
    """A claim about one edge. `code` is its type's: one byte, or the two of a predicate."""

    src: bytes
    code: bytes
    dst: bytes

    def __post_init__(self) -> None:
        _check_edge(self.src, self.code, self.dst)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return edge_key(self.src, self.code, self.dst)


@dataclass(frozen=True)
class EdgeIs(_OfEdge):
    """The edge is recorded, and in this state."""

    number: ClassVar[int] = 3
    state: State = State.LIVE
    opened: bool = True
    """Whether the proof is to open the payload: weight and data."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_state(self.state, self.opened)


@dataclass(frozen=True)
class NoEdge(_OfEdge):
    """No such edge was ever recorded."""

    number: ClassVar[int] = 4


@dataclass(frozen=True)
class _OfAtomAndTag(_OfAtom):
    """A claim about one atom and a tag, whose identity is that of `proofs.sets.tag_identity`."""

    identity: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_identity(self.identity)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.id + self.identity.encode()


@dataclass(frozen=True)
class HasTag(_OfAtomAndTag):
    """The atom is live and has the tag."""

    number: ClassVar[int] = 5


@dataclass(frozen=True)
class LacksTag(_OfAtomAndTag):
    """The atom is live and lacks the tag."""

    number: ClassVar[int] = 6


@dataclass(frozen=True)
class _OfTag:
    """A claim about everything there is, and a tag."""

    identity: str

    def __post_init__(self) -> None:
        _check_identity(self.identity)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.identity.encode()


@dataclass(frozen=True)
class AtomsTagged(_OfTag):
    """Which live atoms have the tag: these and no others, and at least one."""

    number: ClassVar[int] = 7


@dataclass(frozen=True)
class NoneTagged(_OfTag):
    """No live atom has the tag."""

    number: ClassVar[int] = 8


@dataclass(frozen=True)
class _OfTerm:
    """A claim about everything there is, and an analysed term."""

    term: str

    def __post_init__(self) -> None:
        _check_term(self.term)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.term.encode()


@dataclass(frozen=True)
class AtomsMentioning(_OfTerm):
    """Which live atoms have the term in their text: these and no others, and at least one."""

    number: ClassVar[int] = 9


@dataclass(frozen=True)
class NoneMentioning(_OfTerm):
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
        _check_number("a seq", self.seq, 0, limits.SEQ_MAX)
        _check_opened(self.opened)

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
        _check_number("a size", self.size, 1, SIZE_MAX)
        _check_root(self.root)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.size.to_bytes(8, "big") + self.root


@dataclass(frozen=True)
class _OfRoot:
    """A claim about an overall root."""

    root: bytes

    def __post_init__(self) -> None:
        _check_root(self.root)

    @property
    def subject(self) -> bytes:
        """What claims of one number are sorted by."""
        return self.root


@dataclass(frozen=True)
class RootRecorded(_OfRoot):
    """A checkpoint event in the log holds this overall root."""

    number: ClassVar[int] = 13


@dataclass(frozen=True)
class BeginsWithRoot(_OfRoot):
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


def _check_id(given: object) -> None:
    if type(given) is not bytes or len(given) != ID_BYTES or not any(given):
        raise ProofError("input", f"an atom's id has {ID_BYTES} bytes, not all zero")


def _check_state(given: object, opened: object) -> None:
    _check_opened(opened)
    if type(given) is not State:
        raise ProofError("input", "a state is one of proofs.leaves.State")
    if opened and given is State.ERASED:
        raise ProofError("input", "what is erased has no payload to open")


def _check_opened(given: object) -> None:
    if type(given) is not bool:
        raise ProofError("input", "whether a payload is opened is true or false")


def _check_edge(src: object, code: object, dst: object) -> None:
    _check_id(src)
    _check_id(dst)
    if src == dst:
        raise ProofError("input", "an edge joins two atoms, and not one to itself")
    if not edge_code(code):
        raise ProofError("input", "the code of an edge type is 01 to 7F, or two bytes from 8000 on")


def _check_identity(given: object) -> None:
    if type(given) is not str or not 0 < len(_utf8(given)) <= IDENTITY_BYTES_MAX:
        raise ProofError("input", f"a tag's identity is text of 1 to {IDENTITY_BYTES_MAX} bytes")
    # Of what no tag can be called, absence is always true and says nothing.
    if tag_identity(given) != given or given[0] == "#" or given.split() != [given]:
        raise ProofError("input", f"no tag has the identity {given!r}: see proofs.sets.tag_identity")


def _check_term(given: object) -> None:
    if type(given) is not str or not is_term(_utf8(given)):
        raise ProofError("input", "a term is text of 1 to 64 bytes, of which the first is above 01")
    if given.split() != [given] or any("A" <= letter <= "Z" for letter in given):
        raise ProofError("input", f"no text has the term {given!r}: a term has no white space and no A to Z")


def _utf8(given: str) -> bytes:
    try:
        return given.encode()
    except UnicodeEncodeError as error:
        raise ProofError("input", "text must not have lone surrogates") from error


def _check_root(given: object) -> None:
    if type(given) is not bytes or len(given) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")


def _check_number(what: str, given: object, least: int, most: int) -> None:
    if type(given) is not int or not least <= given <= most:
        raise ProofError("input", f"{what} is a whole number from {least} to {most}")
