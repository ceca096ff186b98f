"""Commands on edges and predicates; atoms are given by id, entities by name (docs/commands.md).

A relation is written as three words, such as `daemon → listens_on → unix_socket`: the first and the last are
names of entities. An entity is created when its name is first used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from cbor2 import CBORTag

from engine.base import limits, validation
from engine.base.errors import ConflictError, CorruptionError, InvalidInputError, LimitError, NotFoundError
from engine.base.model import Receipt
from engine.base.validation import atom_id, show_id
from engine.commands.atoms import Add, Revive, live, recorded
from engine.commands.known import refuse_awaited
from engine.commands.transaction import Transaction, receipt
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_key, entity_name, predicate
from engine.ledger.layout import unpack
from engine.ledger.queries import recorded_type_code
from engine.ledger.records import Lookup, type_name
from proofs.codec import pack
from proofs.events import EdgeBody, EdgeDetail, EventKind, ReasonBody, TypeBody, TypeDetail
from proofs.hashing import predicate_code
from proofs.leaves import EdgeType, State

TypeName = EdgeType | str
"""An edge type: a built-in type, or the name of a built-in or registered type."""


KNOWN_TYPES: Final = "use the predicate of a recorded relation, or a built-in type: " + ", ".join(
    kind.name.lower() for kind in EdgeType
)
"""What to do about an unknown type in a query, and instead of registering the type."""


class UnknownTypeError(NotFoundError):
    """No built-in or registered edge type has this name."""


def known_type(rows: Lookup, name_or_type: object) -> bytes:
    """Return the code of an edge type.

    Raises:
        InvalidInputError: The name is not a valid name of a type.
        UnknownTypeError: No built-in or registered type has this name.
    """
    if isinstance(name_or_type, EdgeType):
        return bytes([name_or_type])
    name = validation.label(name_or_type, "edge type")
    code = recorded_type_code(rows, name)
    if code is None:
        raise _unknown(name)
    return code


def _unknown(name: str) -> UnknownTypeError:
    return UnknownTypeError(f"edge type {name!r} is neither built in nor registered", hint=KNOWN_TYPES)


@dataclass(frozen=True, slots=True)
class RegisterType:
    """Register a predicate (a new edge type) with this name."""

    name: str

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that registers the predicate, or no event if the type is built in or registered.

        Raises:
            InvalidInputError: The name is not a label.
        """
        name = validation.label(self.name, "edge type")
        if tx.type_code(name) is not None:
            return receipt(name, State.LIVE)
        detail, body = TypeDetail(predicate_code(tx.id_key, name)), TypeBody(name)
        return receipt(name, State.LIVE, tx.append(EventKind.EDGE_TYPE_REGISTERED, None, detail, body))


@dataclass(frozen=True, slots=True)
class Link:
    """Add an edge. Adding a live edge appends no event; a tombstoned edge is revived.

    `weight` is stored as an IEEE 754 binary32; `data` is opaque canonical CBOR of at most 4 KiB.
    """

    src: str
    type: TypeName
    dst: str
    weight: float = 1.0
    data: bytes = b""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds or revives the edge.

        No event is appended if the edge is live, even if it has a different weight or different data.

        Raises:
            NotFoundError: One of the atoms, or the type, was never recorded.
            ConflictError: One of the atoms is erased.
        """
        try:
            detail = _detail(tx, self.src, self.type, self.dst)
        except UnknownTypeError as error:
            error.hint = f"register the type first (register_type), or {KNOWN_TYPES}"
            raise
        body = EdgeBody(edge_weight(self.weight), edge_data(self.data))
        for end in (self.src, self.dst):
            if recorded(tx, end).state is State.ERASED:
                raise ConflictError(f"cannot link atom {show_id(atom_id(end))}: it is erased")
        before = tx.edge(*detail)
        subject = _subject(tx, detail)
        if before is not None and before.state is State.LIVE:
            return receipt(subject, State.LIVE)
        if before is not None and before.state is State.ERASED:
            refuse_awaited(tx, detail, before.last_seq)
        prev = None if before is None else before.last_seq
        return receipt(subject, State.LIVE, tx.append(EventKind.EDGE_ADDED, prev, detail, body))


@dataclass(frozen=True, slots=True)
class Unlink:
    """Hide an edge. The edge stays in the journal."""

    src: str
    type: TypeName
    dst: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that hides the edge, or no event if the edge is missing or already hidden."""
        detail = _detail(tx, self.src, self.type, self.dst)
        body = ReasonBody(validation.line(self.reason, "reason", limits.REASON_BYTES_MAX))
        before = tx.edge(*detail)
        subject = _subject(tx, detail)
        if before is None or before.state is not State.LIVE:
            return receipt(subject, State.TOMBSTONED if before is None else before.state)
        entry = tx.append(EventKind.EDGE_REMOVED, before.last_seq, detail, body)
        return receipt(subject, State.TOMBSTONED, entry)


def _detail(tx: Transaction, src: str, kind: TypeName, dst: str) -> EdgeDetail:
    code = bytes([kind]) if isinstance(kind, EdgeType) else tx.type_code(validation.label(kind, "edge type"))
    if code is None:
        raise _unknown(str(kind))
    detail = EdgeDetail(atom_id(src, "edge source"), code, atom_id(dst, "edge target"))
    if detail.src == detail.dst:
        raise InvalidInputError(
            f"an edge cannot lead from atom {show_id(detail.src)} to itself; an edge joins two atoms"
        )
    return detail


def _subject(tx: Transaction, detail: EdgeDetail) -> str:
    return f"{show_id(detail.src)} {type_name(tx.rows, detail.type)} {show_id(detail.dst)}"


def edge_weight(value: object) -> bytes:
    """Return the weight of an edge as four bytes: an IEEE 754 binary32 number, big-endian.

    Raises:
        InvalidInputError: `value` is not a number, or it is NaN, infinite, negative zero, or too large for
            binary32.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInputError(f"weight must be a number, not {validation.quoted(value)}")
    try:
        packed = struct.pack(">f", value)
    except (OverflowError, struct.error):
        raise InvalidInputError(f"weight {validation.quoted(value)} does not fit in 32 bits") from None
    exponent = packed[0] & 0x7F, packed[1] & 0x80
    if exponent == (0x7F, 0x80) or packed == b"\x80\x00\x00\x00":
        raise InvalidInputError(
            f"weight must be a finite number other than negative zero, not {validation.quoted(value)}"
        )
    return packed


def edge_data(data: object) -> bytes:
    """Return `data` if it can be the data of an edge.

    Raises:
        InvalidInputError: `data` is not one item in canonical CBOR.
        LimitError: `data` is too long, or nested too deeply.
    """
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
        raise LimitError(f"edge data is nested more than {limits.CBOR_DEPTH_MAX} levels deep")
    for item in inner:
        _check_depth(item, depth - 1)


@dataclass(frozen=True, slots=True)
class Relate:
    """Add an edge of type `predicate` from the entity `subject` to the entity `object`.

    Entities and the predicate are created if they are missing, and hidden entities are revived. `source` is
    the atom that states the relation. The data of the edge contains the id of this atom, and the atom gets an
    edge of type `mentions` to each of the two entities.
    """

    subject: str
    predicate: str
    object: str
    source: str | None = None
    weight: float = 1.0
    force: bool = False
    """True to add the entities even if they were erased earlier."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that record the relation, or no event if it is already recorded completely.

        Raises:
            InvalidInputError: A name or the predicate is not valid, or `subject` and `object` are the same
                entity.
            NotFoundError: The source was never recorded.
            ConflictError: The source is hidden, or an atom that is not an entity has the key of one of the
                entities.
            RefusedError: An entity, or an atom with its name as content, was erased, and `force` is not set.
        """
        names = (
            entity_name(tx.screened(entity_name(self.subject), "entity name")),
            entity_name(tx.screened(entity_name(self.object), "entity name")),
        )
        kind = predicate(self.predicate)
        source = None if self.source is None else live(tx, self.source, "relate from")
        first = len(tx.events)
        ends = [_ensure_entity(tx, name, force=self.force) for name in names]
        _refuse_same_entity(ends, names)
        RegisterType(kind).decide(tx)
        data = b"" if source is None else pack({"source": source.id})
        edge = Link(ends[0], kind, ends[1], self.weight, data).decide(tx)
        if source is not None:
            RegisterType(MENTIONS).decide(tx)
            for end in ends:
                if atom_id(end) != source.id:
                    Link(show_id(source.id), MENTIONS, end).decide(tx)
        return receipt(edge.subject, State.LIVE, *tx.events[first:])


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Hide the edge of type `predicate` between two entities. The edge stays in the journal."""

    subject: str
    predicate: str
    object: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that hides the edge, or no event if the entities have no live edge of this type.

        Raises:
            NotFoundError: An entity or the predicate was never recorded.
        """
        names = entity_name(self.subject), entity_name(self.object)
        ends = []
        for name in names:
            atom = entity_id(tx.id_key, name)
            if tx.atom(atom) is None:
                raise NotFoundError(f"there is no entity named {validation.quoted(name)}")
            ends.append(show_id(atom))
        _refuse_same_entity(ends, names)
        return Unlink(ends[0], predicate(self.predicate), ends[1], self.reason).decide(tx)


def _ensure_entity(tx: Transaction, name: str, *, force: bool) -> str:
    """Return the id of the entity named `name`, after creating or reviving the entity if necessary."""
    atom = entity_id(tx.id_key, name)
    record = tx.atom(atom)
    if record is None or record.state is State.ERASED:
        return Add(name, kind=ENTITY, key=entity_key(name), force=force).decide(tx).subject
    if record.kind != ENTITY:
        raise ConflictError(
            f"atom {show_id(atom)} has the key of the entity {validation.quoted(name)}, but its kind is "
            f"{record.kind!r} and not {ENTITY!r}",
            hint="give that atom a different key, or choose a different name for the entity",
        )
    if record.state is State.TOMBSTONED:
        Revive(show_id(atom), "related", force).decide(tx)
    return show_id(atom)


def _refuse_same_entity(ends: list[str], names: tuple[str, str]) -> None:
    if ends[0] == ends[1]:
        first, second = map(validation.quoted, names)
        raise InvalidInputError(f"{first} and {second} are the same entity; a relation joins two entities")
