"""Reading atoms and edges out of one snapshot, as callers see them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from backends.base import Reader
from engine.base.errors import ConflictError, CorruptionError, InvalidInputError, NotFoundError
from engine.base.model import Atom, Direction, Edge, Tombstone
from engine.base.validation import atom_id, show_id
from engine.ledger.codec import decode_header, unpack
from engine.ledger.fold import NO_ATOM
from engine.ledger.journal import body_in, read_entry, read_header
from engine.ledger.layout import ATOM, EDGE_FROM, EDGE_TO, atom_key, journal_key, ordinal_key, payload_key
from engine.ledger.records import (
    AtomRecord,
    EdgeRecord,
    Lookup,
    decode_atom,
    decode_edge,
    read_atom,
    type_name,
)
from proofs.events import AtomBody, Body
from proofs.leaves import State
from proofs.subjects import ID_BYTES

ID_DIGITS_MIN = 4
"""Fewest hexadecimal digits that may stand for an atom's id."""

_CANDIDATES_SHOWN = 5
_REBUILD = "run `engine rebuild`"


def resolve_id(rows: Reader, given: str) -> bytes:
    """The id that `given` stands for: a whole one, recorded or not, or the only recorded one that begins so.

    Raises:
        InvalidInputError: not hexadecimal digits, or fewer than 4.
        NotFoundError: no recorded id begins so.
        ConflictError: several do.
    """
    if not isinstance(given, str):
        raise InvalidInputError(f"an id must be text, not {type(given).__name__}")
    digits = given.replace("-", "").lower()
    if len(digits) >= 32:
        return atom_id(given)
    if len(digits) < ID_DIGITS_MIN or not set(digits) <= set("0123456789abcdef"):
        raise InvalidInputError(
            f"atom id {given[:80]!r} is not a UUID or the first {ID_DIGITS_MIN} digits or more of one"
        )
    first = bytes.fromhex(digits + "0" * (32 - len(digits)))
    last = bytes.fromhex(digits + "f" * (32 - len(digits)))
    rows_found = rows.scan(ATOM + first, ATOM + last + b"\x00")
    found = [key[len(ATOM) :] for key, _ in islice(rows_found, _CANDIDATES_SHOWN + 1)]
    if not found:
        raise NotFoundError(f"no atom's id begins with {digits}")
    if len(found) > 1:
        names = ", ".join(map(show_id, found[:_CANDIDATES_SHOWN]))
        more = " and more" if len(found) > _CANDIDATES_SHOWN else ""
        raise ConflictError(f"several atoms' ids begin with {digits}: {names}{more}", hint="give more digits")
    return found[0]


def get_record(rows: Lookup, atom: bytes) -> AtomRecord:
    """The record of an atom, in whatever state.

    Raises:
        NotFoundError: it was never recorded.
    """
    record = read_atom(rows, atom)
    if record is None:
        raise NotFoundError(f"atom {show_id(atom)} was never recorded")
    return record


def get_atom(rows: Lookup, id: str) -> Atom:  # noqa: A002
    """An atom, in whatever state.

    Raises:
        NotFoundError: it was never recorded.
    """
    return atom_of(rows, get_record(rows, atom_id(id)))


def body_of(rows: Lookup, record: AtomRecord) -> AtomBody:
    """The content of an atom and all that came with it.

    Raises:
        CorruptionError: the journal does not hold it.
    """
    return _atom_body(read_entry(rows, record.payload_seq).body, record.payload_seq)


def bodies_of(rows: Reader, records: Sequence[AtomRecord]) -> list[AtomBody]:
    """As `body_of` for each; reading them together was measured at two thirds of the time.

    Raises:
        CorruptionError: the journal does not hold one of them.
    """
    seqs = [record.payload_seq for record in records]
    headers = rows.multi_get([journal_key(seq) for seq in seqs])
    payloads = rows.multi_get([payload_key(seq) for seq in seqs])
    bodies = []
    for seq, header, payload in zip(seqs, headers, payloads, strict=True):
        if header is None:
            raise CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)
        bodies.append(_atom_body(body_in(rows, decode_header(header, seq), payload), seq))
    return bodies


def _atom_body(body: Body | None, seq: int) -> AtomBody:
    if not isinstance(body, AtomBody):
        raise CorruptionError(f"payload {seq} is not the content of an atom")
    return body


def atom_of(rows: Lookup, record: AtomRecord) -> Atom:
    """An atom with its content; of an erased one nothing is left that a payload said."""
    erased = record.state is State.ERASED
    body = NO_ATOM if erased else body_of(rows, record)
    return Atom(
        id=show_id(record.id),
        ordinal=record.ordinal,
        state=record.state,
        version=record.version,
        content=body.content,
        title=record.title,
        kind=record.kind,
        tags=record.tags,
        buckets=record.buckets,
        source=record.source,
        sequence=record.sequence,
        key=record.key,
        provenance=record.provenance,
        trust=record.trust,
        created=read_header(rows, record.created_seq)[0].time if erased else record.created,
        updated=record.updated,
        created_seq=record.created_seq,
        payload_seq=record.payload_seq,
        last_seq=record.last_seq,
        tombstone=_tombstone(record),
        meta=dict(body.meta or {}),
        aliases=body.aliases or (),
        folder=body.folder,
    )


def edge_of(rows: Lookup, record: EdgeRecord) -> Edge:
    """An edge with its type's name."""
    return Edge(
        src=show_id(record.src),
        type=type_name(rows, record.type),
        dst=show_id(record.dst),
        weight=struct.unpack(">f", record.weight)[0],
        data=record.data,
        created_at=record.created_at,
        created_by=record.created_by,
        state=record.state,
        tombstone=_tombstone(record),
        created_seq=record.created_seq,
        last_seq=record.last_seq,
    )


def _tombstone(record: AtomRecord | EdgeRecord) -> Tombstone | None:
    if record.tombstoned_at is None or not record.tombstoned_by:
        return None
    return Tombstone(record.tombstoned_at, record.tombstoned_reason, record.tombstoned_by)


def record_at(rows: Lookup, ordinal: int) -> AtomRecord:
    """The record of the atom that was given `ordinal`.

    Raises:
        CorruptionError: no atom was.
    """
    atom = rows.get(ordinal_key(ordinal))
    record = None if atom is None else read_atom(rows, atom)
    if record is None:
        raise _nobodys(ordinal)
    return record


def ids_at(rows: Reader, ordinals: Sequence[int]) -> list[bytes]:
    """The ids of the atoms that were given these ordinals.

    Raises:
        CorruptionError: one of them was given to no atom.
    """
    found = []
    for ordinal, atom in zip(ordinals, rows.multi_get(list(map(ordinal_key, ordinals))), strict=True):
        if atom is None:
            raise _nobodys(ordinal)
        found.append(atom)
    return found


def records_of(rows: Reader, atoms: Sequence[bytes]) -> list[AtomRecord]:
    """The records of atoms that must have one.

    Raises:
        CorruptionError: one of them has none.
    """
    found = []
    for atom, raw in zip(atoms, rows.multi_get(list(map(atom_key, atoms))), strict=True):
        if raw is None:
            raise CorruptionError(f"atom {show_id(atom)} has an ordinal and no record", hint=_REBUILD)
        found.append(decode_atom(raw, atom))
    return found


def _nobodys(ordinal: int) -> CorruptionError:
    return CorruptionError(f"ordinal {ordinal} belongs to no atom", hint=_REBUILD)


def edges_at(
    rows: Reader, atom: bytes, direction: Direction, codes: Sequence[bytes], *, tombstoned: bool = False
) -> Iterator[EdgeRecord]:
    """The edges at an atom in the order of (type, other end), tombstoned ones only if asked for.

    Erased ones are left out. Scans the prefix of one type for each of `codes`, all types where there are
    none. With both directions an edge out comes before an edge in of the same type and other end.
    """
    parts = []
    if direction is not Direction.IN:
        parts.append(_scan(rows, EDGE_FROM + atom + b"/", codes))
    if direction is not Direction.OUT:
        parts.append(_scan(rows, EDGE_TO + atom + b"/", codes))
    edges = parts[0] if len(parts) == 1 else merge(*parts, key=lambda edge: (edge.type, far_end(edge, atom)))
    wanted = {State.LIVE, State.TOMBSTONED} if tombstoned else {State.LIVE}
    return (edge for edge in edges if edge.state in wanted)


def _scan(rows: Reader, prefix: bytes, codes: Sequence[bytes]) -> Iterator[EdgeRecord]:
    for narrow in [prefix + code + b"/" for code in sorted(set(codes))] or [prefix]:
        for key, raw in rows.scan_prefix(narrow):
            yield decode_edge(raw, f"edge record {key.hex()}")


def data_of(edge: EdgeRecord) -> Mapping[str, Any]:
    """What an edge's data says by name; nothing where there is none, or it is no map."""
    data = unpack(edge.data, "edge data") if edge.data else None
    return data if isinstance(data, dict) else {}


def source_in(data: Mapping[str, Any]) -> bytes | None:
    """The atom that a relation's data names as its source (`engine.commands.edges`)."""
    named = data.get("source")
    return named if isinstance(named, bytes) and len(named) == ID_BYTES else None


def far_end(edge: EdgeRecord, atom: bytes) -> bytes:
    """The end of an edge that is not `atom`."""
    return edge.dst if edge.src == atom else edge.src
