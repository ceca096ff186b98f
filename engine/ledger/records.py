"""Records: the current state of each atom, edge and predicate (SPEC: Records, Atom ids).

A change of a record is written in the same batch as the journal entry that causes it, because the next
command reads the record. This module defines the stored forms of records; `engine.base.model` defines the
values that callers receive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from blake3 import blake3

from engine.base import limits
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.ledger.layout import (
    COUNTERS,
    atom_key,
    edge_from_key,
    fields,
    type_code_key,
    unpack,
)
from proofs.codec import pack
from proofs.events import AtomBody, EventKind
from proofs.forms import edge_code, many, optional, raw_up_to, signed, sized, text, uint
from proofs.hashing import predicate_code
from proofs.leaves import EdgeType, State

ORDINAL_KINDS: Final = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.VERSION_NOTED})
"""The kinds of events that assign an ordinal to an atom."""


class Lookup(Protocol):
    """A source of single rows: a backend, a snapshot, or an overlay with rows that are not yet written."""

    def get(self, key: bytes, /) -> bytes | None:
        """Return the value of the row with this key, or None if there is no such row."""


class AtomRecord(NamedTuple):
    """An atom without its content. The content is stored only in the payload of event `payload_seq`."""

    id: bytes
    ordinal: int
    state: State
    version: int
    created_seq: int
    payload_seq: int
    last_seq: int
    title: str | None
    kind: str
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    source: str | None
    sequence: int | None
    key: str | None
    provenance: str
    trust: int | None
    created: int
    updated: int
    tombstoned_at: int | None
    tombstoned_reason: str
    tombstoned_by: str


class EdgeRecord(NamedTuple):
    """An edge. It is stored twice, under a forward and a backward key, with the same value."""

    src: bytes
    type: bytes
    dst: bytes
    state: State
    created_seq: int
    payload_seq: int
    last_seq: int
    weight: bytes
    data: bytes
    created_at: int
    created_by: str
    tombstoned_at: int | None
    tombstoned_reason: str
    tombstoned_by: str


class Counters(NamedTuple):
    """The counters of the records."""

    next_ordinal: int
    """The ordinal of the next atom."""
    predicates: int
    """The number of registered predicates."""
    early_facts: int
    """The number of atoms with a fact from before they were recorded. A row says which fact was the last."""


_SEQ = uint(limits.SEQ_MAX)
_LABEL = text(limits.LABEL_CHARS_MAX)
_STATES = tuple(map(State, range(len(State))))
_STATE = uint(max(State))
_HIDDEN = (optional(uint()), text(limits.REASON_BYTES_MAX), text(limits.LABEL_CHARS_MAX))
_ATOM_FIELDS = (
    sized(16),
    uint(limits.ORDINAL_MAX),
    _STATE,
    uint(),
    _SEQ,
    _SEQ,
    _SEQ,
    optional(text(limits.TITLE_BYTES_MAX)),
    _LABEL,
    many(text(limits.TAG_BYTES_MAX), limits.TAGS_PER_ATOM_MAX),
    many(_LABEL, limits.BUCKETS_PER_ATOM_MAX),
    optional(text(limits.SOURCE_BYTES_MAX)),
    optional(uint()),
    optional(text(limits.KEY_BYTES_MAX)),
    _LABEL,
    optional(uint(limits.TRUST_MAX)),
    signed(limits.CREATED_MIN, limits.INTEGER_MAX),
    uint(),
    *_HIDDEN,
)
LABELS = ("", "note", "inbox", "internal", "external", "quarantine", "entity")
"""The labels that a row stores as numbers. The number of a label is its position in this list, so entries may
only be added at the end."""
_CODES: dict[str, str | int] = {label: number for number, label in enumerate(LABELS)}

_ROW_DEFAULTS = (None, None, None, None, None, None, "", "")
"""The defaults of the last fields of an atom's row. A field is left out if it and all later fields have their
defaults."""
_ROW_MIN = 12
_ROW_MAX = _ROW_MIN + len(_ROW_DEFAULTS)

_EDGE_FIELDS = (
    sized(16),
    edge_code,
    sized(16),
    _STATE,
    _SEQ,
    _SEQ,
    _SEQ,
    sized(4),
    raw_up_to(limits.EDGE_DATA_BYTES_MAX),
    uint(),
    _LABEL,
    *_HIDDEN,
)
_COUNTER_FIELDS = (uint(limits.ORDINAL_MAX + 1), uint(), uint())


def encode_atom(record: AtomRecord) -> bytes:
    """Return the value of the row that stores an atom.

    The most common values take one byte or none. Seqs are close to each other, and so are times; therefore
    differences are written. Frequent labels are written as numbers. Defaults at the end are left out. The id
    is in the key of the row.
    """
    last = record.payload_seq
    row = [
        record.ordinal,
        record.state,
        record.version,
        last,
        last - record.created_seq,
        record.last_seq - last,
        record.created,
        record.updated - record.created,
        _CODES.get(record.kind, record.kind),
        record.tags,
        [_CODES.get(bucket, bucket) for bucket in record.buckets],
        _CODES.get(record.provenance, record.provenance),
        *record[11:13],
        record.title,
        record.key,
        record.trust,
        *record[18:],
    ]
    while len(row) > _ROW_MIN and row[-1] == _ROW_DEFAULTS[len(row) - _ROW_MIN - 1]:
        row.pop()
    return pack(row)


def decode_atom(raw: bytes, atom: bytes) -> AtomRecord:
    """Decode the record of `atom`.

    Raises:
        CorruptionError: `raw` is not the encoding of a record.
    """
    if NATIVE is not None:
        (values,) = NATIVE.decode_atoms([raw], [atom], _STATES)
        if values is not None:
            return tuple.__new__(AtomRecord, values)
    return decode_atom_twin(raw, atom)


def decode_atoms(rows: Sequence[bytes], atoms: Sequence[bytes]) -> list[AtomRecord]:
    """Decode the record of each of `atoms`.

    Raises:
        CorruptionError: a row is not the encoding of a record.
    """
    if NATIVE is None:
        return [decode_atom_twin(raw, atom) for raw, atom in zip(rows, atoms, strict=True)]
    # Measured: `tuple.__new__` takes half of the time of the constructor of a named tuple.
    return [
        decode_atom_twin(raw, atom) if values is None else tuple.__new__(AtomRecord, values)
        for raw, atom, values in zip(rows, atoms, NATIVE.decode_atoms(rows, atoms, _STATES), strict=True)
    ]


def decode_atom_twin(raw: bytes, atom: bytes) -> AtomRecord:
    """Do the work of `decode_atom` in Python."""
    where = f"atom record {atom.hex()}"
    row = unpack(raw, where)
    if type(row) is not list or not _ROW_MIN <= len(row) <= _ROW_MAX:
        raise CorruptionError(f"{where}: not an array of {_ROW_MIN} to {_ROW_MAX} fields")
    if len(row) > _ROW_MIN and row[-1] == _ROW_DEFAULTS[len(row) - _ROW_MIN - 1]:
        raise CorruptionError(f"{where}: its last field could be left out")
    row += _ROW_DEFAULTS[len(row) - _ROW_MIN :]
    if set(map(type, row[3:8])) != {int} or type(row[10]) is not list:
        raise CorruptionError(f"{where}: a seq, a time or the buckets are malformed")
    ordinal, state, version, last, since, until, created, later, kind, tags, buckets, provenance = row[:12]
    source, sequence, title, key, trust, *hidden = row[12:]
    value = [
        *(atom, ordinal, state, version, last - since, last, last + until, title, _text(kind), tags),
        *([_text(bucket) for bucket in buckets], source, sequence, key, _text(provenance), trust),
        *(created, created + later, *hidden),
    ]
    value = fields(value, _ATOM_FIELDS, where)
    value[2] = _STATES[value[2]]
    value[9], value[10] = tuple(value[9]), tuple(value[10])
    return AtomRecord._make(value)


def _text(label: object) -> object:
    """Return the label that `label` in a row stands for; if it is malformed, return a non-label value."""
    if type(label) is int and 0 <= label < len(LABELS):
        return LABELS[label]
    return label if type(label) is str and label not in _CODES else None


def encode_edge(record: EdgeRecord) -> bytes:
    """Return the value of the two rows that store an edge. The value is the same for both directions."""
    return pack(list(record))


def decode_edge(raw: bytes, where: str = "edge record") -> EdgeRecord:
    """Decode the record of an edge. `where` names the row in the error.

    Raises:
        CorruptionError: `raw` is not the encoding of an edge record.
    """
    value = fields(unpack(raw, where), _EDGE_FIELDS, where)
    value[3] = _STATES[value[3]]
    return EdgeRecord._make(value)


def encode_counters(counters: Counters) -> bytes:
    """Return the value of the row that stores the counters."""
    return pack(list(counters))


def read_counters(rows: Lookup) -> Counters:
    """Return the counters. If there is no row yet, return the counters of an empty store.

    Raises:
        CorruptionError: the row is malformed.
    """
    return decode_counters(rows.get(COUNTERS))


def decode_counters(raw: bytes | None) -> Counters:
    """Decode the row of the counters. For None, return the counters of an empty store.

    Raises:
        CorruptionError: the row is malformed.
    """
    if raw is None:
        return Counters(0, 0, 0)
    return Counters(*fields(unpack(raw, "counters"), _COUNTER_FIELDS, "counters"))


def read_atom(rows: Lookup, atom: bytes) -> AtomRecord | None:
    """Return the record of `atom`, or None if it was never recorded."""
    raw = rows.get(atom_key(atom))
    return None if raw is None else decode_atom(raw, atom)


def read_edge(rows: Lookup, src: bytes, code: bytes, dst: bytes) -> EdgeRecord | None:
    """Return the record of an edge in any state, or None if it was never recorded."""
    raw = rows.get(edge_from_key(src, code, dst))
    return None if raw is None else decode_edge(raw)


def type_name(rows: Lookup, code: bytes) -> str:
    """Return the name of an edge type, built in or registered.

    Raises:
        CorruptionError: the code is neither built in nor registered, or its name is damaged.
    """
    if len(code) == 1:
        try:
            return EdgeType(code[0]).name.lower()
        except ValueError:
            raise CorruptionError(f"edge type {code.hex()} is unknown to this version") from None
    raw = rows.get(type_code_key(code))
    if raw is None:
        raise CorruptionError(f"edge type {code.hex()} was never registered")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        where = f"the name of edge type {code.hex()} is damaged: {error}"
        raise CorruptionError(where, hint="run `engine rebuild`", family="types-by-code") from error


def type_code(rows: Lookup, id_key: bytes, name: str) -> bytes | None:
    """Return the code of an edge type, or None if there is no edge type with this name."""
    if name.upper() in EdgeType.__members__:
        return bytes([EdgeType[name.upper()]])
    code = predicate_code(id_key, name)
    return None if rows.get(type_code_key(code)) is None else code


class Described(Protocol):
    """The fields from which the id of an atom is derived.

    The object is an atom to add, or the body of an atom.
    """

    @property
    def source(self) -> str | None:
        """The source, or None."""

    @property
    def content(self) -> str:
        """The text."""

    @property
    def sequence(self) -> int | None:
        """The sort key within the source, or None."""

    @property
    def occurrence(self) -> int | None:
        """The number of equal texts that come earlier in the source.

        It is None if the key or, without a key, the sequence tells the atom from others.
        """

    @property
    def key(self) -> str | None:
        """The key that the caller gave, or None."""


def default_id_of(id_key: bytes, atom: Described) -> bytes:
    """Return the id that this atom gets if the caller gives no id."""
    if atom.key is not None:
        return id_of_key(id_key, atom.source, atom.key)
    if atom.occurrence is None and atom.sequence is not None:
        return id_of_sequence(id_key, atom.source, atom.content, atom.sequence)
    return id_of_occurrence(id_key, atom.source, atom.content, atom.occurrence or 0)


def id_of_occurrence(id_key: bytes, source: str | None, content: str, occurrence: int) -> bytes:
    """Return the default id of an atom that follows `occurrence` equal texts in its source."""
    return _default_id(id_key, 0, source, occurrence.to_bytes(8, "big") + content.encode())


def id_of_key(id_key: bytes, source: str | None, key: str) -> bytes:
    """Return the default id of an atom with a key."""
    return _default_id(id_key, 1, source, key.encode())


def id_of_sequence(id_key: bytes, source: str | None, content: str, sequence: int) -> bytes:
    """Return the default id of an atom whose caller gave its sequence."""
    return _default_id(id_key, 2, source, sequence.to_bytes(8, "big") + content.encode())


def _default_id(id_key: bytes, place: int, source: str | None, rest: bytes) -> bytes:
    """Return the id that an atom gets if the caller gives no id (SPEC: Atom ids).

    The id is the first 16 bytes of a BLAKE3 hash, with the version and variant bits of a UUIDv8 (RFC 9562).
    The hash is keyed with the store's id key. It covers, in this order: the number of the rule, `place` (u8);
    1 if there is a source, else 0 (u8); the length of the source (u32); the source; `rest`.
    """
    raw_source = (source or "").encode()
    head = bytes([place, source is not None]) + len(raw_source).to_bytes(4, "big") + raw_source
    digest = bytearray(blake3(head + rest, key=id_key).digest(16))
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return bytes(digest)


def default_ids(id_key: bytes, atoms: Sequence[AtomBody]) -> list[bytes]:
    """Return the result of `default_id_of` for each of `atoms`. A kernel takes half of the time."""
    if NATIVE is not None:
        ids: list[bytes] | None = NATIVE.default_ids(id_key, list(atoms))
        if ids is not None:
            return ids
    return default_ids_twin(id_key, atoms)


def default_ids_twin(id_key: bytes, atoms: Sequence[AtomBody]) -> list[bytes]:
    """Do the work of `default_ids` in Python."""
    return [default_id_of(id_key, atom) for atom in atoms]
