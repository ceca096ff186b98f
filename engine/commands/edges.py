"""Commands on edges and predicates, by ids and by entities' names (docs/commands.md).

In triples of words, such as `daemon → listens_on → unix_socket`, entities are named, not looked up: each is
made the first time its name is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from cbor2 import CBORTag

from engine.base import limits, validation
from engine.base.errors import ConflictError, CorruptionError, InvalidInputError, LimitError, NotFoundError
from engine.base.model import Receipt
from engine.base.validation import atom_id, show_id
from engine.commands.atoms import Add, Revive, live, recorded
from engine.commands.base import Transaction, receipt
from engine.ledger.codec import unpack
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_key, entity_name, predicate
from engine.ledger.records import Lookup, type_code, type_name
from proofs.codec import pack
from proofs.events import EdgeBody, EdgeDetail, EventKind, ReasonBody, TypeBody, TypeDetail
from proofs.leaves import EdgeType, State

TypeName = EdgeType | str
"""An edge type: a built-in one, or the name of a built-in or registered one."""


def known_type(rows: Lookup, given: object) -> bytes:
    """The code of an edge type.

    Raises:
        InvalidInputError: the name could not be one of a type.
        NotFoundError: no type of this name is built in or registered.
    """
    if isinstance(given, EdgeType):
        return bytes([given])
    name = validation.label(given, "edge type")
    code = type_code(rows, name)
    if code is None:
        raise NotFoundError(
            f"edge type {name!r} is neither built in nor registered",
            hint="built in: "
            + ", ".join(kind.name.lower() for kind in EdgeType)
            + "; or register it first (--register)",
        )
    return code


@dataclass(frozen=True, slots=True)
class RegisterType:
    """Have a predicate of this name."""

    name: str

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is built in or registered."""
        name = validation.label(self.name, "edge type")
        if type_code(tx.rows, name) is not None:
            return receipt(name, State.LIVE)
        detail, body = TypeDetail(tx.next_type), TypeBody(name)
        return receipt(name, State.LIVE, tx.append(EventKind.EDGE_TYPE_REGISTERED, None, detail, body))


@dataclass(frozen=True, slots=True)
class Link:
    """Have this edge. Adding a live one is no event; a tombstoned one comes back.

    `weight` is kept as an IEEE 754 binary32; `data` is opaque canonical CBOR of at most 4 KiB.
    """

    src: str
    type: TypeName
    dst: str
    weight: float = 1.0
    data: bytes = b""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the edge is live, whatever its weight and data.

        Raises:
            NotFoundError: an end was never recorded.
            ConflictError: an end is erased.
        """
        detail = _detail(tx, self.src, self.type, self.dst)
        body = EdgeBody(validation.weight(self.weight), _edge_data(self.data))
        for end in (self.src, self.dst):
            if recorded(tx, end).state is State.ERASED:
                raise ConflictError(f"cannot link atom {show_id(atom_id(end))}: it is erased")
        before = tx.edge(*detail)
        subject = _subject(tx, detail)
        if before is not None and before.state is State.LIVE:
            return receipt(subject, State.LIVE)
        prev = None if before is None else before.last_seq
        return receipt(subject, State.LIVE, tx.append(EventKind.EDGE_ADDED, prev, detail, body))


@dataclass(frozen=True, slots=True)
class Unlink:
    """Have this edge hidden, and kept. Where it is missing or hidden, there is no event."""

    src: str
    type: TypeName
    dst: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """One event where the edge is live."""
        detail = _detail(tx, self.src, self.type, self.dst)
        body = ReasonBody(validation.line(self.reason, "reason", limits.REASON_BYTES_MAX))
        before = tx.edge(*detail)
        subject = _subject(tx, detail)
        if before is None or before.state is not State.LIVE:
            return receipt(subject, State.TOMBSTONED if before is None else before.state)
        entry = tx.append(EventKind.EDGE_REMOVED, before.last_seq, detail, body)
        return receipt(subject, State.TOMBSTONED, entry)


def _detail(tx: Transaction, src: str, kind: TypeName, dst: str) -> EdgeDetail:
    detail = EdgeDetail(atom_id(src, "edge source"), known_type(tx.rows, kind), atom_id(dst, "edge target"))
    if detail.src == detail.dst:
        raise InvalidInputError(f"an edge from {show_id(detail.src)} to itself; edges join two atoms")
    return detail


def _subject(tx: Transaction, detail: EdgeDetail) -> str:
    return f"{show_id(detail.src)} {type_name(tx.rows, detail.type)} {show_id(detail.dst)}"


def _edge_data(data: object) -> bytes:
    if not isinstance(data, bytes):
        raise InvalidInputError(f"edge data must be CBOR bytes, not {type(data).__name__}")
    if len(data) > limits.EDGE_DATA_BYTES_MAX:
        raise LimitError(f"edge data has {len(data)} bytes; at most {limits.EDGE_DATA_BYTES_MAX} are allowed")
    if data:
        try:
            _check_depth(unpack(data, "edge data"), limits.CBOR_DEPTH_MAX)
        except CorruptionError as error:
            raise InvalidInputError(f"{error}; give one item in canonical CBOR") from error
    return data


def _check_depth(value: object, depth: int) -> None:
    inner: Iterable[object]
    if isinstance(value, CBORTag):
        inner = (value.value,)
    elif isinstance(value, Mapping):
        inner = (*value.keys(), *value.values())
    elif isinstance(value, (list, tuple, AbstractSet)):
        inner = value
    else:
        return
    if not depth:
        raise LimitError(f"edge data is nested over {limits.CBOR_DEPTH_MAX} deep")
    for item in inner:
        _check_depth(item, depth - 1)


@dataclass(frozen=True, slots=True)
class Relate:
    """Have an edge `predicate` from the entity `subject` to the entity `object`.

    Entities and predicate are made where they are missing, revived where they are hidden. With `source`,
    the atom that says so, the edge's data names it, and it has an edge `mentions` to both entities.
    """

    subject: str
    predicate: str
    object: str
    source: str | None = None
    weight: float = 1.0
    force: bool = False
    """Also entities that were erased."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where all of it is there.

        Raises:
            InvalidInputError: a name or the predicate breaks a rule, or both names are one entity's.
            NotFoundError: the source was never recorded.
            ConflictError: the source is hidden, or an atom of another kind has an entity's key.
            RefusedError: an entity was erased, or an atom with its name as content, and `force` is not set.
        """
        names = (
            entity_name(tx.screened(entity_name(self.subject), "entity name")),
            entity_name(tx.screened(entity_name(self.object), "entity name")),
        )
        kind = predicate(self.predicate)
        source = None if self.source is None else live(tx, self.source, "relate from")
        first = len(tx.entries)
        ends = [_have(tx, name, force=self.force) for name in names]
        _refuse_one(ends, names)
        RegisterType(kind).decide(tx)
        data = b"" if source is None else pack({"source": source.id})
        edge = Link(ends[0], kind, ends[1], self.weight, data).decide(tx)
        if source is not None:
            RegisterType(MENTIONS).decide(tx)
            for end in ends:
                if atom_id(end) != source.id:
                    Link(show_id(source.id), MENTIONS, end).decide(tx)
        return receipt(edge.subject, State.LIVE, *tx.entries[first:])


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Have the edge `predicate` between two entities hidden, and kept; the entities stay."""

    subject: str
    predicate: str
    object: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where there is no such live edge.

        Raises:
            NotFoundError: there never was such an entity or predicate.
        """
        names = entity_name(self.subject), entity_name(self.object)
        ends = []
        for name in names:
            atom = entity_id(tx.id_key, name)
            if tx.atom(atom) is None:
                raise NotFoundError(f"there never was an entity {validation.quoted(name)}")
            ends.append(show_id(atom))
        _refuse_one(ends, names)
        return Unlink(ends[0], predicate(self.predicate), ends[1], self.reason).decide(tx)


def _have(tx: Transaction, name: str, *, force: bool) -> str:
    """The id of the live entity of this name, made or revived where it takes that."""
    atom = entity_id(tx.id_key, name)
    record = tx.atom(atom)
    if record is None or record.state is State.ERASED:
        return Add(name, kind=ENTITY, key=entity_key(name), force=force).decide(tx).subject
    if record.kind != ENTITY:
        raise ConflictError(
            f"atom {show_id(atom)} has the key of the entity {validation.quoted(name)}, but its kind is "
            f"{record.kind!r}",
            hint="give that atom another key, or the entity another name",
        )
    if record.state is State.TOMBSTONED:
        Revive(show_id(atom), "related", force).decide(tx)
    return show_id(atom)


def _refuse_one(ends: list[str], names: tuple[str, str]) -> None:
    if ends[0] == ends[1]:
        first, second = map(validation.quoted, names)
        raise InvalidInputError(f"{first} and {second} are one entity; a relation joins two")
