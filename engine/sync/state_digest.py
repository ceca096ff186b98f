"""The digest of the state, in which all stores of a family agree after a full exchange (SPEC, 24.11)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from blake3 import blake3

from backends.base import Reader
from engine.commands.concurrent import open_conflicts
from engine.commands.known import read_foreign_heads
from engine.ledger.layout import ATOM, EDGE_FROM, TYPE_BY_CODE
from engine.ledger.merging import stated_fields
from engine.ledger.queries import bodies_of
from engine.ledger.records import decode_atom, decode_edge, type_name
from proofs.codec import pack
from proofs.events import EdgeDetail
from proofs.hashing import FORMAT
from proofs.leaves import ID_BYTES, State

_ROLE: Final = f"memroot {FORMAT} state"
_TOGETHER: Final = 1024
"""The number of atoms whose bodies are read together."""


def state_digest(rows: Reader) -> bytes:
    """Return the digest. The memory that this needs does not grow with the number of atoms.

    Raises:
        CorruptionError: a row does not have the bytes that were written.
    """
    hasher = blake3(derive_key_context=_ROLE)
    for item in _items(rows):
        raw = pack(item)
        hasher.update(len(raw).to_bytes(4, "big") + raw)
    return hasher.digest()


def _items(rows: Reader) -> Iterator[list[Any]]:
    """Yield the items in the order of their bytes: first the short ones, then by kind, id or end."""
    yield from sorted(([0, raw.decode()] for _, raw in rows.scan_prefix(TYPE_BY_CODE)), key=pack)
    for key, raw in rows.scan_prefix(ATOM):
        if decode_atom(raw, key[len(ATOM) :]).state is State.ERASED:
            yield [1, key[len(ATOM) :], 2]
    conflicts, lost = open_conflicts(rows, read_foreign_heads(rows))
    named = [
        [3, _shown(rows, subject), [list(one.dot) for one in heads]] for subject, heads in conflicts.items()
    ]
    yield from sorted(named, key=pack)
    yield from sorted(([4, atom, *dot] for atom, dots in lost.items() for dot in dots), key=pack)
    yield from _atoms(rows)
    yield from _edges(rows)


def _shown(rows: Reader, subject: bytes | EdgeDetail) -> bytes | list[Any]:
    if isinstance(subject, EdgeDetail):
        return [subject.src, type_name(rows, subject.type), subject.dst]
    return subject


def _atoms(rows: Reader) -> Iterator[list[Any]]:
    stored = (decode_atom(raw, key[len(ATOM) :]) for key, raw in rows.scan_prefix(ATOM))
    kept = (one for one in stored if one.state is not State.ERASED)
    while some := list(islice(kept, _TOGETHER)):
        for one, body in zip(some, bodies_of(rows, some), strict=True):
            hidden = [one.tombstoned_at, one.tombstoned_reason, one.tombstoned_by]
            fields = [*stated_fields(body), body.sequence]
            yield [1, one.id, int(one.state), one.created, one.updated, *hidden, list(one.tags), fields]


def _edges(rows: Reader) -> Iterator[list[Any]]:
    source, items = b"", list[list[Any]]()
    for key, raw in rows.scan_prefix(EDGE_FROM):
        if (start := key[len(EDGE_FROM) :][:ID_BYTES]) != source:
            yield from sorted(items, key=pack)
            source, items = start, []
        one = decode_edge(raw)
        if one.state is not State.ERASED:
            ends = [one.src, type_name(rows, one.type), one.dst]
            hidden = [one.tombstoned_at, one.tombstoned_reason, one.tombstoned_by]
            items.append([2, *ends, int(one.state), one.weight, one.data, *hidden])
    yield from sorted(items, key=pack)
