"""The claims that a proof can show. Whoever verifies a proof passes the claims (SPEC, section 20.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar, Final

from proofs import limits
from proofs.errors import ProofError
from proofs.forms import CONTROLS, WHITE_SPACE, edge_code
from proofs.hashing import DIGEST_BYTES, STORE_ID_BYTES
from proofs.leaves import ID_BYTES, Direction, Group, State, edge_key
from proofs.log import SIZE_MAX
from proofs.rows import is_term

IDENTITY_BYTES_MAX: Final = 1024


_FORBIDDEN: Final = re.compile(f"[{WHITE_SPACE}{CONTROLS}A-Z]")


_LABEL: Final = re.compile(r"[a-z0-9._-]{1,32}")


VALUES: Final = {
    Group.TAG: re.compile(".+"),
    Group.BUCKET: _LABEL,
    Group.KIND: _LABEL,
    Group.PROVENANCE: _LABEL,
    Group.SOURCE: re.compile(f"[^{CONTROLS}\u2028\u2029]+"),
    Group.DAY: re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}"),
}
"""The groups whose sets a claim can be about, with the form of their values. A tag has more rules."""


@dataclass(frozen=True)
class _AtomClaim:
    """A claim about one atom."""

    id: bytes

    def __post_init__(self) -> None:
        check_id(self.id)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self.id


@dataclass(frozen=True)
class AtomIs(_AtomClaim):
    """The claim that an atom is recorded and has the given state."""

    number: ClassVar[int] = 1
    state: State = State.LIVE
    opened: bool = True
    """True if the proof must open the payload: content, title and the other fields."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_state(self.state, self.opened)


@dataclass(frozen=True)
class NoAtom(_AtomClaim):
    """The claim that no atom with this id was ever recorded."""

    number: ClassVar[int] = 2


@dataclass(frozen=True)
class _EdgeClaim:
    """A claim about one edge. `code` is the code of the edge's type: one byte, or eight for a predicate."""

    src: bytes
    code: bytes
    dst: bytes

    def __post_init__(self) -> None:
        check_edge(self.src, self.code, self.dst)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return edge_key(self.src, self.code, self.dst)


@dataclass(frozen=True)
class EdgeIs(_EdgeClaim):
    """The claim that an edge is recorded and has the given state."""

    number: ClassVar[int] = 3
    state: State = State.LIVE
    opened: bool = True
    """True if the proof must open the payload: weight and data."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_state(self.state, self.opened)


@dataclass(frozen=True)
class NoEdge(_EdgeClaim):
    """The claim that an edge was never recorded."""

    number: ClassVar[int] = 4


@dataclass(frozen=True)
class _MemberClaim(_AtomClaim):
    """A claim about one atom and one set, as that of the atoms with a tag or a source."""

    value: str
    """The value that names the set; a tag is given by its identity (`proofs.leaves.tag_identity`)."""
    state: State = State.LIVE
    """The state of the atom, LIVE or TOMBSTONED: an erased atom is in no set."""
    group: Group = Group.TAG

    def __post_init__(self) -> None:
        super().__post_init__()
        check_value(self.group, self.value)
        check_kept(self.state)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self.id + bytes([self.group]) + self.value.encode()


@dataclass(frozen=True)
class HasTag(_MemberClaim):
    """The claim that an atom has the given state and has a tag, or another value of a group."""

    number: ClassVar[int] = 5


@dataclass(frozen=True)
class LacksTag(_MemberClaim):
    """The claim that an atom has the given state and does not have a tag, or another value of a group."""

    number: ClassVar[int] = 6


@dataclass(frozen=True)
class _ListClaim:
    """A claim about all live atoms, or about those whose ordinals are in a range: one page of a long list."""

    first: int = field(default=0, kw_only=True)
    """The first ordinal that the claim is about."""
    last: int = field(default=limits.ORDINAL_MAX, kw_only=True)
    """The last ordinal that the claim is about."""

    def __post_init__(self) -> None:
        check_number("the first ordinal", self.first, 0, limits.ORDINAL_MAX)
        check_number("the last ordinal", self.last, self.first, limits.ORDINAL_MAX)

    @property
    def _range(self) -> bytes:
        return self.first.to_bytes(4, "big") + self.last.to_bytes(4, "big")


@dataclass(frozen=True)
class _SetClaim(_ListClaim):
    """A claim about all live atoms and one set."""

    value: str
    """The value that names the set; a tag is given by its identity."""
    group: Group = Group.TAG

    def __post_init__(self) -> None:
        super().__post_init__()
        check_value(self.group, self.value)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self._range + bytes([self.group]) + self.value.encode()


@dataclass(frozen=True)
class AtomsTagged(_SetClaim):
    """The claim that the proof lists all live atoms that have a tag or another value; at least one."""

    number: ClassVar[int] = 7


@dataclass(frozen=True)
class NoneTagged(_SetClaim):
    """The claim that no live atom has a tag, or another value of a group."""

    number: ClassVar[int] = 8


@dataclass(frozen=True)
class _TermClaim(_ListClaim):
    """A claim about all live atoms and one term. The term is given in the form that the analyzer returns."""

    term: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_term(self.term)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self._range + self.term.encode()


@dataclass(frozen=True)
class AtomsMentioning(_TermClaim):
    """The claim that the proof lists all live atoms whose text has a term. The list has at least one atom."""

    number: ClassVar[int] = 9


@dataclass(frozen=True)
class NoneMentioning(_TermClaim):
    """The claim that the text of no live atom contains a term."""

    number: ClassVar[int] = 10


@dataclass(frozen=True)
class EventIs:
    """The claim that event `seq` is in the log."""

    number: ClassVar[int] = 11
    seq: int
    opened: bool = True
    """True if the proof must open the payload of the event."""

    def __post_init__(self) -> None:
        check_number("a seq", self.seq, 0, limits.SEQ_MAX)
        check_opened(self.opened)
        if self.opened and not self.seq:
            raise ProofError("input", "event 0 holds the keys of the store; claim it sealed")

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self.seq.to_bytes(8, "big")


@dataclass(frozen=True)
class LogBegins:
    """The claim that `root` is the root of the log of the first `size` events."""

    number: ClassVar[int] = 12
    size: int
    root: bytes

    def __post_init__(self) -> None:
        check_number("a size", self.size, 1, SIZE_MAX)
        check_root(self.root)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self.size.to_bytes(8, "big") + self.root


@dataclass(frozen=True)
class _RootClaim:
    """A claim about an overall root."""

    root: bytes

    def __post_init__(self) -> None:
        check_root(self.root)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self.root


@dataclass(frozen=True)
class RootRecorded(_RootClaim):
    """The claim that a checkpoint event in the log records the given overall root."""

    number: ClassVar[int] = 13


@dataclass(frozen=True)
class BeginsWithRoot(_RootClaim):
    """The claim that the log begins with the log of an earlier state, whose overall root was `root`."""

    number: ClassVar[int] = 14


@dataclass(frozen=True)
class EdgesOf(_AtomClaim):
    """The claim that the proof lists all edges from or to an atom that were recorded, and their states."""

    number: ClassVar[int] = 15
    direction: Direction = Direction.FROM
    code: bytes | None = None
    """The code of the only edge type that the claim is about, or None for all types."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.direction) is not Direction:
            raise ProofError("input", "a direction must be one of proofs.leaves.Direction")
        if self.code is not None:
            check_code(self.code)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return bytes([self.direction]) + self.id + (self.code or b"")


@dataclass(frozen=True)
class TagsOf(_AtomClaim):
    """The claim that the proof lists all tags of an atom, by their identities."""

    number: ClassVar[int] = 16
    state: State = State.LIVE
    """The state of the atom, LIVE or TOMBSTONED."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_kept(self.state)


@dataclass(frozen=True)
class HeadSeen:
    """The claim that the store recorded that it saw an overall root of another store."""

    number: ClassVar[int] = 17
    store_id: bytes
    """The id of the other store."""
    size: int
    """The number of events that the root covers."""
    root: bytes

    def __post_init__(self) -> None:
        if type(self.store_id) is not bytes or len(self.store_id) != STORE_ID_BYTES:
            raise ProofError("input", f"a store id has {STORE_ID_BYTES} bytes")
        check_number("a size", self.size, 1, limits.SEQ_MAX + 1)
        check_root(self.root)

    @property
    def subject(self) -> bytes:
        """The key by which claims of the same class are sorted."""
        return self.store_id + self.size.to_bytes(8, "big") + self.root


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
    | EdgesOf
    | TagsOf
)
"""Every claim about the state of the store. Its verification needs the roots of the namespaces."""

LogClaim = EventIs | LogBegins | RootRecorded | BeginsWithRoot | HeadSeen
"""Every claim about the log. Its verification needs only the root of the log."""

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
        EdgesOf,
        TagsOf,
        HeadSeen,
    )
}
"""Claim number → claim class. The numbers are part of the proof format, so entries are only appended."""

LISTS: Final = (AtomsTagged, NoneTagged, AtomsMentioning, NoneMentioning)
"""The classes of claims about all live atoms. Their verification needs the index's number of ordinals."""

LABELLED: Final = (HasTag, LacksTag, TagsOf, *LISTS)
"""The classes of claims about sets and terms. Their verification needs the label key of the store."""


def check_id(value: object) -> None:
    """Raise ProofError if `value` is not the id of an atom."""
    if type(value) is not bytes or len(value) != ID_BYTES or not any(value):
        raise ProofError("input", f"an atom's id has {ID_BYTES} bytes, not all zero")


def check_state(value: object, opened: object) -> None:
    """Raise ProofError if `value` is not a state, or if the claim opens the payload of an erased subject."""
    check_opened(opened)
    if type(value) is not State:
        raise ProofError("input", "a state must be one of proofs.leaves.State")
    if opened and value is State.ERASED:
        raise ProofError("input", "an erased atom or edge has no payload to open; claim it sealed")


def check_opened(value: object) -> None:
    """Raise ProofError if `value` is not a boolean."""
    if type(value) is not bool:
        raise ProofError("input", "opened must be True or False")


def check_edge(src: object, code: object, dst: object) -> None:
    """Raise ProofError if no edge can have these ids and this type code."""
    check_id(src)
    check_id(dst)
    if src == dst:
        raise ProofError("input", "an edge must join two different atoms")
    check_code(code)


def check_code(code: object) -> None:
    """Raise ProofError if `code` is not the code of an edge type."""
    if not edge_code(code):
        raise ProofError(
            "input",
            "the code of an edge type is one byte from 01 to 7F, or eight bytes that begin with 80 to FF",
        )


def check_kept(value: object) -> None:
    """Raise ProofError if `value` is not the state of an atom that has its content: LIVE or TOMBSTONED."""
    if type(value) is not State or value is State.ERASED:
        raise ProofError("input", "a claim about the sets of an atom is about a live or a tombstoned atom")


def check_value(group: object, value: object) -> None:
    """Raise ProofError if no set of `group` can have the value `value`."""
    if type(group) is not Group or group not in VALUES:
        raise ProofError("input", "a group must be one of proofs.leaves.Group with values, as TAG or SOURCE")
    if group is Group.TAG:
        check_identity(value)
    elif (
        type(value) is not str
        or len(_utf8(value)) > limits.SOURCE_BYTES_MAX
        or not VALUES[group].fullmatch(value)
    ):
        raise ProofError("input", f"{value!r} is not a value of the group {group.name.lower()}")


def check_identity(value: object) -> None:
    """Raise ProofError if `value` cannot be the identity of a tag. Only ASCII is checked completely.

    A claim that no atom has such a tag would be true of every store and so show nothing. Beyond
    ASCII, case folding and normalisation are not checked, because that would need Unicode tables.
    """
    if type(value) is not str or not 0 < len(_utf8(value)) <= IDENTITY_BYTES_MAX:
        raise ProofError("input", f"a tag's identity is text of 1 to {IDENTITY_BYTES_MAX} bytes")
    if value[0] == "#" or _FORBIDDEN.search(value):
        raise ProofError(
            "input",
            f"{value!r} is not the identity of a tag: it must not begin with # or contain white space, "
            "control characters or A to Z",
        )


def check_term(value: object) -> None:
    """Raise ProofError if `value` cannot be a term.

    A claim that no atom contains such a term would be true of every store and so show nothing.
    """
    if type(value) is not str or not is_term(_utf8(value)):
        raise ProofError("input", "a term is text of 1 to 64 bytes, and its first byte is above 01")
    if _FORBIDDEN.search(value):
        raise ProofError(
            "input",
            f"{value!r} is not a term: it must not contain white space, control characters or A to Z",
        )


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ProofError("input", "text must not have lone surrogates") from error


def check_root(value: object) -> None:
    """Raise ProofError if `value` is not a root."""
    if type(value) is not bytes or len(value) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")


def check_number(what: str, value: object, least: int, most: int) -> None:
    """Raise ProofError if `value` is not an integer from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        raise ProofError("input", f"{what} must be an integer from {least} to {most}")
